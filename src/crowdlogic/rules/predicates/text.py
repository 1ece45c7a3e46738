"""Functions of the text, for columns of texts at once.

Words are matched whole and whatever their case. Patterns run in a regular-expression engine whose time is linear in
the text, whatever the pattern (Rust's, through polars), and their size and time are bounded (`patterns.py`): a rule
file cannot hang the program. That engine has no backreferences and no look-around.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from crowdlogic.errors import RuleError
from crowdlogic.rules.predicates.definition import Kind, Role, documented

# Regular expressions of rules, bounded: how large they are once repetitions are written out, and how long they run.
#
# The engine (Rust's, through polars) takes time linear in the text and in the size of the expression, whatever both
# are;
# but (?:a?[ab]?){40000} is 80,000 steps for every character. So the size is bounded, and the time is looked at
# between
# portions of the texts.

MAX_SIZE = 1000
"""The largest expression: characters, classes and groups, each as often as it is repeated."""

MAX_SECONDS = 20.0
"""Maximum time for an expression on all texts."""

PORTION = 1 << 16
"""Bytes of text between two looks at the clock."""

COUNT = re.compile(r"\{([0-9]{0,9})(,?)([0-9]{0,9})\}")
OPENING = re.compile(r"\?(?:P?<\w*>|[a-zA-Z-]*:?)")
BRACED = re.compile(r"[pPxuU]\{[^}]*\}")


def check_size(pattern: str, what: str) -> None:
    """Raise an error for an expression that is too large. `what` describes it in messages."""
    if len(pattern) > MAX_SIZE or expanded_size(pattern) > MAX_SIZE:
        raise RuleError(
            f"{what} {pattern!r:.80} is too large: with its repetitions written out it has more than {MAX_SIZE:,} "
            f"parts. Make it shorter, or its counts smaller."
        )


def expanded_size(pattern: str) -> int:
    """Return how many characters and classes an expression has, each as often as it is repeated."""
    sums, last, at = [0], 0, 0  # sums[depth]: of the open groups; last: the size of what a repetition repeats
    while at < len(pattern):
        sign, size = pattern[at], 1
        at += 1
        if sign == "(":
            sums.append(0)
            opening = OPENING.match(pattern, at)
            at = at if opening is None else opening.end()
            continue
        if sign == ")" and len(sums) > 1:
            size = max(sums.pop(), 1)
        elif sign == "\\":
            at = _skip_escape(pattern, at)
        elif sign == "[":
            at = _skip_class(pattern, at)
        elif sign == "{" and (count := COUNT.match(pattern, at - 1)):
            size = last * (max(int(number or 0) for number in (count[1], count[3])) - 1)
            at = count.end()
        elif sign in "*+?|^$":
            size = 0
        sums[-1] += max(size, 0)
        last = last if sign in "{*+?" else size
    return sum(sums)


def _skip_escape(pattern: str, at: int) -> int:
    """Return where what follows a backslash ends."""
    braced = BRACED.match(pattern, at)
    return at + 1 if braced is None else braced.end()


def _skip_class(pattern: str, at: int) -> int:
    """Return where a class in brackets ends, which may hold others."""
    depth, first = 1, at + (pattern[at : at + 1] == "^")
    while at < len(pattern) and depth:
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "[":
            depth += 1
        elif pattern[at] == "]" and at != first:
            depth -= 1
        at += 1
    return at


def in_portions(texts: pl.Series, what: str, search: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Search texts portion by portion, and give up when it takes too long.

    Args:
        texts: The texts.
        what: Name of the expression in messages.
        search: What it says of some texts.
    """
    if not len(texts):
        return search(texts)
    until = time.monotonic() + MAX_SECONDS
    # A portion ends at the text with which its bytes exceed PORTION
    filled = np.cumsum(texts.str.len_bytes().fill_null(0).to_numpy()) // PORTION
    starts = np.flatnonzero(np.diff(filled, prepend=-1))
    found = []
    for begin, end in zip(starts, [*starts[1:], len(texts)], strict=True):
        if time.monotonic() > until:
            raise RuleError(f"{what:.80} takes more than {MAX_SECONDS:g} seconds. Make it shorter or simpler.")
        found.append(search(texts.slice(int(begin), int(end - begin))))
    return pl.concat(found) if len(found) > 1 else found[0]


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
    """Return the text after the first such word that stands between words; null if there is none."""
    return _clause(texts, word, rf"(?is)\w.*?\W{phrase(word)}(\W.*\w.*)$")


def before(texts: pl.Series, word: str) -> pl.Series:
    """Return the text before the first such word that stands between words; null if there is none."""
    return _clause(texts, word, rf"(?is)^(.*?\w.*?)\W{phrase(word)}\W.*\w")


def _clause(texts: pl.Series, word: str, pattern: str) -> pl.Series:
    _check_word(word)
    # Few texts have the word, and finding it is much quicker than cutting at it.
    rows = contains(texts, word).arg_true()
    cut = texts.gather(rows).str.extract(pattern, 1).str.strip_chars()
    found = pl.Series(cut.name, [None], dtype=pl.String).new_from_index(0, len(texts))
    return found.scatter(rows, cut)


def matches(texts: pl.Series, pattern: str) -> pl.Series:
    """Return whether each text contains a match of the pattern."""
    check_size(pattern, "the pattern")
    try:
        return in_portions(texts, f"the pattern {pattern!r}", lambda some: some.str.contains(pattern))
    except pl.exceptions.PolarsError as problem:
        raise RuleError(f"the pattern {pattern!r} cannot be used: {_reason(problem)}.") from None


def _check_word(word: str) -> None:
    """Raise an error for a word that is too long to search for."""
    if len(word) > LONGEST_WORD:
        raise RuleError(f"the word {word!r:.80} has {len(word):,} characters; the maximum is {LONGEST_WORD:,}.")


def _reason(problem: Exception) -> str:
    """Return the reason from an error message that also shows the pattern."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith("error: ")), lines[0] if lines else "")
    return reason.removeprefix("regex error: ").removeprefix("error: ").rstrip(".")


CONTAINS = documented(
    "Contains(S, 'word')",
    "the text contains the complete word or phrase, in upper or lower case",
    (Kind.readable, Kind.word),
    Role.text,
    contains,
    units="documents",
)

MATCHES = documented(
    "Matches(S, 'pattern')",
    "the text contains a match of the regular expression; write each backslash twice",
    (Kind.readable, Kind.pattern),
    Role.text,
    matches,
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
