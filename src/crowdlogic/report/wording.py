"""Numbers in sentences: counts with their nouns, percentages that do not claim too much, names that stay readable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from crowdlogic.report.findings import Finding

NAME_LENGTH = 60
"""Names longer than this are cut in sentences; tables have them whole."""


def counted(n: int, noun: str, many: str | None = None) -> str:
    """1 item, 2 items, 1,000 items."""
    return f"{n:,} {noun if n == 1 else many or noun + 's'}"


def percent(share: float | None) -> str:
    """A share in whole percent; below 1 % and above 99 % with a digit more, so that 0 and 100 are exact."""
    if share is None or math.isnan(share):
        return "an unknown share"
    if share in (0.0, 1.0):
        return f"{100 * share:.0f}%"
    if 0.01 <= share <= 0.99:
        return f"{100 * share:.0f}%"
    shown = min(max(round(100 * share, 1), 0.1), 99.9)
    return f"{'less than ' if 0 < share < 0.001 else 'more than ' if share > 0.999 else ''}{shown:g}%"


def about(expected: float) -> str:
    """An expected number: whole from 10 on, with a digit below, and never a false 0."""
    if 0 < expected < 0.1:
        return "less than 0.1"
    return f"about {expected:,.0f}" if expected >= 9.95 else f"about {expected:.1f}".removesuffix(".0")


def short(name: object) -> str:
    """A name as it stands in a sentence: on one line, cut at a length."""
    text = " ".join(str(name).split())
    return text if len(text) <= NAME_LENGTH else f"{text[: NAME_LENGTH - 1]}…"


def named(names: Sequence[object], most: int = 4) -> str:
    """w01, w02, w03 and 5 more."""
    shown = ", ".join(short(name) for name in names[:most])
    rest = len(names) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def score_title(name: str) -> str:
    """What a score of the history is of, in words."""
    where, _, who = name.rpartition(" ")
    if name == "inference":
        return "the answers, by gold"
    if where and who in ("student", "teacher"):
        return f"{where}: {'the classifier alone' if who == 'student' else 'put right by the rules'}"
    return name


def number(value: object) -> float | None:
    """A number as Python's own, rounded to what a reader can use; None where there is none."""
    if value is None:
        return None
    found = float(value)  # type: ignore[arg-type]
    return round(found, 6) if math.isfinite(found) else None


def by_importance(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The most important first; equal ones in the order they come."""
    return tuple(sorted(findings, key=lambda finding: -finding.importance))
