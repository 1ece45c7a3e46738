"""Functions of the text, for columns of texts at once.

Words are matched whole and whatever their case. Patterns run in a regular-expression engine whose time is linear in
the text, whatever the pattern (Rust's, through polars), and their size and time are bounded (`patterns.py`): a rule
file cannot hang the program. That engine has no backreferences and no look-around.
"""

from __future__ import annotations

import re

import polars as pl

from crowdlogic.errors import RuleError
from crowdlogic.rules.predicates.definition import Kind, Predicate, Role
from crowdlogic.rules.predicates.patterns import check_size, in_portions

EDGE = r"(?:^|\W)"
"""What precedes a whole word; its end is the mirror image."""

LONGEST_WORD = 200
"""The longest word or phrase that a rule may look for."""


def phrase(word: str) -> str:
    """A pattern for a word or a phrase, with any spaces between its words."""
    return r"\s+".join(re.escape(part) for part in word.split())


def contains(texts: pl.Series, word: str) -> pl.Series:
    """Whether each text contains the word."""
    _check_word(word)
    return texts.str.contains(rf"(?i){EDGE}{phrase(word)}(?:\W|$)")


def after(texts: pl.Series, word: str) -> pl.Series:
    """What follows the first such word that stands between words; null where there is none."""
    return _clause(texts, word, rf"(?is)\w.*?\W{phrase(word)}(\W.*\w.*)$")


def before(texts: pl.Series, word: str) -> pl.Series:
    """What precedes the first such word that stands between words; null where there is none."""
    return _clause(texts, word, rf"(?is)^(.*?\w.*?)\W{phrase(word)}\W.*\w")


def _clause(texts: pl.Series, word: str, pattern: str) -> pl.Series:
    _check_word(word)
    # Few texts have the word, and finding it is much quicker than cutting at it.
    rows = contains(texts, word).arg_true()
    cut = texts.gather(rows).str.extract(pattern, 1).str.strip_chars()
    found = pl.Series(cut.name, [None], dtype=pl.String).new_from_index(0, len(texts))
    return found.scatter(rows, cut)


def matches(texts: pl.Series, pattern: str) -> pl.Series:
    """Whether each text holds a match of the pattern."""
    check_size(pattern, "the pattern")
    try:
        return in_portions(texts, f"the pattern {pattern!r}", lambda some: some.str.contains(pattern))
    except pl.exceptions.PolarsError as problem:
        raise RuleError(f"the pattern {pattern!r} cannot be used: {_reason(problem)}.") from None


def _check_word(word: str) -> None:
    """Refuse a word that is none: searching for it would cost more than any text is worth."""
    if len(word) > LONGEST_WORD:
        raise RuleError(f"the word {word!r:.80} has {len(word):,} characters; the maximum is {LONGEST_WORD:,}.")


def _reason(problem: Exception) -> str:
    """What is wrong, out of a message that also draws the pattern and names the expression."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith("error: ")), lines[0] if lines else "")
    return reason.removeprefix("regex error: ").removeprefix("error: ").rstrip(".")


CONTAINS = Predicate(
    name="Contains",
    kinds=(Kind.readable, Kind.word),
    role=Role.text,
    units="documents",
    function=contains,
    example="Contains(S, 'word')",
    meaning="the text has the word or phrase, whole, whatever its case",
)

MATCHES = Predicate(
    name="Matches",
    kinds=(Kind.readable, Kind.pattern),
    role=Role.text,
    function=matches,
    example="Matches(S, 'pattern')",
    meaning="the text holds a match of the regular expression; a backslash is written twice",
)

AFTER = Predicate(
    name="After",
    kinds=(Kind.readable, Kind.word, Kind.text),
    role=Role.text,
    units="documents",
    function=after,
    example="After(S, 'but', B)",
    meaning='B is the text after the first "but" that stands between words',
)

BEFORE = Predicate(
    name="Before",
    kinds=(Kind.readable, Kind.word, Kind.text),
    role=Role.text,
    units="documents",
    function=before,
    example="Before(S, 'but', A)",
    meaning='A is the text before the first "but" that stands between words',
)
