"""Words in texts, and the clauses before and after a word: in "A but B", After(S, 'but', B) finds the clause B.

Words are matched whole, in upper or lower case.
"""

from __future__ import annotations

import re

import polars as pl

from crowdlogic.errors import RuleError
from crowdlogic.rules.predicates.definition import Kind, Role, documented

EDGE = r"(?:^|\W)"
"""What precedes a whole word; its end is the mirror image."""

LONGEST_WORD = 200
"""The longest word or phrase that a rule may look for."""


def phrase(word: str) -> str:
    """Return a pattern for a word or a phrase, with any spaces between its words."""
    return r"\s+".join(re.escape(part) for part in word.split())


def contains(texts: pl.Series, word: str) -> pl.Series:
    """Return whether each text contains the word."""
    _check_word(word)
    return texts.str.contains(rf"(?i){EDGE}{phrase(word)}(?:\W|$)")


def after(texts: pl.Series, word: str) -> pl.Series:
    """Return the text after the first occurrence of a word between other words; null if there is none."""
    return _clause(texts, word, rf"(?is)\w.*?\W{phrase(word)}(\W.*\w.*)$")


def before(texts: pl.Series, word: str) -> pl.Series:
    """Return the text before the first occurrence of a word between other words; null if there is none."""
    return _clause(texts, word, rf"(?is)^(.*?\w.*?)\W{phrase(word)}\W.*\w")


def _clause(texts: pl.Series, word: str, pattern: str) -> pl.Series:
    _check_word(word)
    # Few texts contain the word, and finding it is much faster than splitting the text at it.
    rows = contains(texts, word).arg_true()
    cut = texts.gather(rows).str.extract(pattern, 1).str.strip_chars()
    found = pl.Series(cut.name, [None], dtype=pl.String).new_from_index(0, len(texts))
    return found.scatter(rows, cut)


def _check_word(word: str) -> None:
    """Raise an error for a word that is too long to search for."""
    if len(word) > LONGEST_WORD:
        raise RuleError(f"the word {word!r:.80} has {len(word):,} characters; the maximum is {LONGEST_WORD:,}.")


CONTAINS = documented(
    "Contains(S, 'word')",
    "the text contains the complete word or phrase, in upper or lower case",
    (Kind.readable, Kind.word),
    Role.text,
    contains,
    units="documents",
)

AFTER = documented(
    "After(S, 'but', B)",
    'B is the text after the first "but" that stands between words',
    (Kind.readable, Kind.word, Kind.text),
    Role.text,
    after,
    units="documents",
)

BEFORE = documented(
    "Before(S, 'but', A)",
    'A is the text before the first "but" that stands between words',
    (Kind.readable, Kind.word, Kind.text),
    Role.text,
    before,
    units="documents",
)
