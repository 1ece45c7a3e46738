"""Several methods side by side, in order and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.report.findings import ComparisonFindings, Finding, MethodRow, Page, Severity
from crowdlogic.report.wording import by_importance, counted, number, percent
from crowdlogic.truth.comparison import MethodResult, pairwise_agreement

ERRORS = 2.0
"""Scores must differ by this many standard errors to decide between methods."""
SPLIT = 0.05
"""A share of units in dispute from which on the choice of the method matters."""


def comparison_of(compared: Sequence[MethodResult], method: str, n_gold: int) -> ComparisonFindings | None:
    """The methods, the best first; None for none.

    Args:
        compared: What each method found on the same labels.
        method: The one that the report is about.
        n_gold: Units whose gold is known.
    """
    if not compared:
        return None
    names = list(compared[0].scores)
    between = pairwise_agreement(compared)
    mean = (between.sum(axis=1) - 1) / max(len(compared) - 1, 1)
    keys = [-(one.scores[names[0]] if names else share) for one, share in zip(compared, mean, strict=True)]
    order = np.argsort(np.nan_to_num(np.array(keys), nan=1.0), kind="stable").tolist()
    rows = tuple(_row(compared[a], names, mean[a] if len(compared) > 1 else np.nan) for a in order)
    disputed = disputed_units(compared)
    agreement = between[np.ix_(order, order)]
    return ComparisonFindings(
        rows,
        tuple(names),
        tuple(tuple(round(float(x), 6) for x in line) for line in agreement),
        int(disputed.sum()),
        by_importance((*_best(rows, names, method, agreement[0], n_gold), *_disputed(rows, disputed))),
    )


def _row(one: MethodResult, names: Sequence[str], mean: Floats | float) -> MethodRow:
    scores = tuple(number(one.scores[name]) for name in names)
    estimate = one.estimate
    return MethodRow(one.name, scores, number(one.seconds), len(estimate.trace), estimate.converged, number(mean))


def disputed_units(compared: Sequence[MethodResult]) -> Bools:
    """disputed[i], whether two methods that answer unit i answer differently."""
    answers = np.stack([one.estimate.answer for one in compared])
    answered = answers >= 0
    high = answers.max(axis=0)
    low = np.where(answered, answers, np.iinfo(answers.dtype).max).min(axis=0)
    return np.asarray(answered.any(axis=0) & (low < high))


def _best(
    rows: tuple[MethodRow, ...], names: Sequence[str], method: str, with_best: Floats, n_gold: int
) -> Iterator[Finding]:
    """Which method gold prefers, and whether it is surely better than the one that the report is about.

    Two methods can differ in score only where they answer differently: the standard error of the difference is at most
    the root of that share over the number of units with gold.
    """
    top = rows[0].scores[0] if names and len(rows) > 1 else None
    if top is None:
        return
    text = f"Of {len(rows)} methods {rows[0].name} scores best by gold: {names[0]} {100 * top:.1f}%"
    severity = Severity.know
    place = next((place for place, row in enumerate(rows) if row.name == method), 0)
    own = rows[place].scores[0]
    if place and own is not None:
        error = float(np.sqrt((1 - with_best[place]) / max(n_gold, 1)))
        clearly = top - own > ERRORS * error
        severity = Severity.look if clearly else Severity.know
        verdict = "Consider it" if clearly else "That may be chance"
        text = f"{text}, against {100 * own:.1f}% for {method}. {verdict}"
    yield Finding(f"{text}.", severity, Page.comparison, rows[0].name, 42)


def _disputed(rows: tuple[MethodRow, ...], disputed: Bools) -> Iterator[Finding]:
    if len(rows) < 2:
        return
    n = int(disputed.sum())
    share = n / max(len(disputed), 1)
    text = f"All {len(rows)} methods give the same labels."
    if n:
        text = f"The {len(rows)} methods do not all agree on {counted(n, 'label')} ({percent(share)})."
    yield Finding(text, Severity.look if share > SPLIT else Severity.know, Page.comparison, importance=32)
    slow = [row.name for row in rows if not row.converged]
    if slow:
        yield Finding(f"Not settled: {', '.join(slow)}.", Severity.know, Page.comparison, importance=12)
