"""Regular expressions in rules: whether a text matches a pattern.

Patterns run in an engine without backreferences and look-around (Rust's, through polars), whose time is linear in the
text and in the size of the expression, so that no rule file can hang the program. An expression such as
(?:a?[ab]?){40000} still takes 80,000 steps for every character. Therefore the size is limited after repetitions are
written out, and the time is checked after every portion of the texts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from crowdlogic.errors import RuleError
from crowdlogic.rules.predicates.definition import Kind, Role, documented

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
    """Count the characters and classes of an expression, each as often as it is repeated."""
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
            braced = BRACED.match(pattern, at)  # such as \p{Lu}
            at = at + 1 if braced is None else braced.end()
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


def _skip_class(pattern: str, at: int) -> int:
    """Return the position after a class in brackets, which may contain other classes."""
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
    """Search texts portion by portion, and raise an error if the search takes too long.

    Args:
        texts: The texts.
        what: Name of the expression in messages.
        search: Function that searches some of the texts.
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


def matches(texts: pl.Series, pattern: str) -> pl.Series:
    """Return whether each text contains a match of the pattern."""
    check_size(pattern, "the pattern")
    try:
        return in_portions(texts, f"the pattern {pattern!r}", lambda some: some.str.contains(pattern))
    except pl.exceptions.PolarsError as problem:
        raise RuleError(f"the pattern {pattern!r} cannot be used: {_reason(problem)}.") from None


def _reason(problem: Exception) -> str:
    """Return the reason from an error message that also shows the pattern."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith("error: ")), lines[0] if lines else "")
    return reason.removeprefix("regex error: ").removeprefix("error: ").rstrip(".")


MATCHES = documented(
    "Matches(S, 'pattern')",
    "the text contains a match of the regular expression; write each backslash twice",
    (Kind.readable, Kind.pattern),
    Role.text,
    matches,
)
