"""Several methods side by side, in order and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.report.findings import ComparisonFindings, Finding, MethodRow, Page, Severity
from crowdlogic.report.wording import by_importance, counted, number, percent
from crowdlogic.truth.comparison import Compared, agreement_between

CLOSE = 0.005
"""Scores that differ by less than half a point do not decide between methods."""
SPLIT = 0.05
"""A share of units in dispute from which on the choice of the method matters."""


def comparison_of(compared: Sequence[Compared], method: str) -> ComparisonFindings | None:
    """The methods, the best first; None for none.

    Args:
        compared: What each method found on the same labels.
        method: The one that the report is about.
    """
    if not compared:
        return None
    names = list(compared[0].scores)
    between = agreement_between(compared)
    mean = (between.sum(axis=1) - 1) / max(len(compared) - 1, 1)
    keys = [-(one.scores[names[0]] if names else share) for one, share in zip(compared, mean, strict=True)]
    order = np.argsort(np.nan_to_num(np.array(keys), nan=1.0), kind="stable").tolist()
    rows = tuple(_row(compared[a], names, mean[a] if len(compared) > 1 else np.nan) for a in order)
    disputed = disputed_units(compared)
    return ComparisonFindings(
        rows, tuple(names), tuple(tuple(round(float(between[a, b]), 6) for b in order) for a in order),
        int(disputed.sum()), by_importance(_findings(rows, names, disputed, method)),
    )  # fmt: skip


def _row(one: Compared, names: Sequence[str], mean: Floats | float) -> MethodRow:
    scores = tuple(number(one.scores[name]) for name in names)
    estimate = one.estimate
    return MethodRow(one.name, scores, number(one.seconds), len(estimate.trace), estimate.converged, number(mean))


def disputed_units(compared: Sequence[Compared]) -> Bools:
    """disputed[i], whether two methods that answer unit i answer differently."""
    answers = np.stack([one.estimate.answer for one in compared])
    answered = answers >= 0
    high = answers.max(axis=0)
    low = np.where(answered, answers, np.iinfo(answers.dtype).max).min(axis=0)
    return np.asarray(answered.any(axis=0) & (low < high))


def _findings(rows: tuple[MethodRow, ...], names: Sequence[str], disputed: Bools, method: str) -> Iterator[Finding]:
    if len(rows) < 2:
        return
    mine = next((row for row in rows if row.name == method), None)
    best = rows[0]
    top = best.scores[0] if names else None
    if top is not None:
        text = f"Of {len(rows)} methods {best.name} is the best by gold: {names[0]} {100 * top:.1f} %."
        severity = Severity.know
        own = mine.scores[0] if mine is not None else None
        if mine is not None and own is not None and mine is not best and top - own > CLOSE:
            text = f"{text[:-1]}, against {100 * own:.1f} % for {method}. Consider it."
            severity = Severity.look
        yield Finding(text, severity, Page.comparison, best.name, 42)
    share = float(disputed.mean()) if len(disputed) else 0.0
    n = int(disputed.sum())
    if n:
        text = f"The {len(rows)} methods do not all agree on {counted(n, 'label')} ({percent(share)})."
        yield Finding(text, Severity.look if share > SPLIT else Severity.know, Page.comparison, importance=32)
    else:
        yield Finding(f"All {len(rows)} methods give the same labels.", Severity.know, Page.comparison, importance=32)
    slow = [row.name for row in rows if not row.converged]
    if slow:
        yield Finding(f"Not settled: {', '.join(slow)}.", Severity.know, Page.comparison, importance=12)
