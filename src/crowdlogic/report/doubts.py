"""Which labels to check: how sure the answers are, the items most in doubt, and gold that is probably wrong.

The doubt about an item is how many of its answers are expected to be wrong: 1 - confidence for a document, the sum of
it over the tokens for a sentence. Axes: i unit, s item, k class.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.metrics.scores import TIE_TOLERANCE
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.sums import sum_by
from crowdlogic.report.findings import Finding, Histogram, LabelFindings, Page, Severity, Task, Threshold
from crowdlogic.report.material import Material
from crowdlogic.report.shown import Showing
from crowdlogic.report.wording import about, by_importance, counted, number, percent

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
SURE = 0.95
"""How confident the method must be to doubt the gold."""
ANY_DOUBT = 1e-6
"""Less than one wrong answer in a million expected is no doubt."""
BINS = 20
WORTH = 0.5
"""The summary names the threshold below which at least half of the wrong answers are expected."""
TOO_SURE = 2.0
"""Sure answers that contradict the gold this many times as often as they should: the method is too sure of itself."""
MANY = 0.05
"""A share of wrong answers from which on they call for action."""


def labels_of(made: Material, showing: Showing, *, most: int) -> LabelFindings:
    """How sure the answers are, and which to check.

    Args:
        made: The material.
        showing: How items are shown.
        most: The most items in doubt, and mistakes in the gold, to show.
    """
    estimate = made.estimate
    confidence, answered = estimate.confidence, estimate.answered
    wrong = np.where(answered, 1.0 - np.nan_to_num(confidence), 0.0)
    thresholds = thresholds_of(confidence[answered])
    units, doubt = doubtful(made, wrong)
    suspects = gold_suspects(made)
    n, total = int(answered.sum()), float(wrong.sum())
    share = total / n if n else None
    n_tied = int(tied(estimate).sum())
    return LabelFindings(
        n,
        int((~answered).sum()),
        n_tied,
        round(total, 6),
        number(share),
        histogram(confidence[answered], BINS),
        thresholds,
        showing.items(units[:most], doubt[:most]),
        len(units),
        showing.items(suspects[:most], wrong[suspects[:most]]),
        len(suspects),
        SURE,
        showing.text_length,
        by_importance(_findings(made, n, total, thresholds, n_tied, len(suspects))),
    )


def histogram(values: Floats, bins: int) -> Histogram:
    """Shares in equal bins over [0, 1]; a value on an edge belongs to the bin above it."""
    edges = np.arange(bins + 1) / bins
    at = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    return Histogram(tuple(edges.tolist()), tuple(np.bincount(at, minlength=bins).tolist()))


def thresholds_of(confidence: Floats) -> tuple[Threshold, ...]:
    """For each threshold, how many answers lie below it and how many of these are expected to be wrong."""
    wrong = 1.0 - confidence
    total = float(wrong.sum())
    rows = []
    for level in THRESHOLDS:
        below = confidence < level
        expected = float(wrong[below].sum())
        share = expected / total if total > ANY_DOUBT else None
        rows.append(Threshold(level, int(below.sum()), round(expected, 6), number(share)))
    return tuple(rows)


def tied(estimate: Estimate) -> Bools:
    """tied[i], whether an answered unit has several best classes."""
    if estimate.beliefs.shape[1] < 2:
        return np.zeros(len(estimate.answer), dtype=bool)
    first, second = -np.partition(-estimate.beliefs, 1, axis=1)[:, :2].T
    return np.asarray(estimate.answered & (first - second < TIE_TOLERANCE))


def doubtful(made: Material, wrong: Floats) -> tuple[Ints, Floats]:
    """The least sure unit of every item that is in doubt, the most doubtful item first, and the items' doubt."""
    labels = made.labels
    item = labels.item_of_unit
    doubt = sum_by(item, len(labels.items), wrong)
    order = np.argsort(-doubt, kind="stable")
    order = order[doubt[order] > ANY_DOUBT]
    # The least sure unit of each item: the first one when units are sorted by item, and within it by doubt.
    by_item = np.lexsort((-wrong, item))
    first = np.searchsorted(item[by_item], order)
    return by_item[first], doubt[order]


def gold_suspects(made: Material) -> Ints:
    """For every item whose gold is denied with confidence, the unit where it is denied most; the surest first."""
    if made.gold is None:
        return np.zeros(0, dtype=np.int64)
    estimate = made.estimate
    denied = made.known & estimate.answered & (estimate.answer != made.gold) & (estimate.confidence >= SURE)
    units = np.flatnonzero(denied)
    units = units[np.argsort(-estimate.confidence[units], kind="stable")]
    _, first = np.unique(made.labels.item_of_unit[units], return_index=True)
    return units[np.sort(first)]


def _findings(
    made: Material, n: int, total: float, thresholds: tuple[Threshold, ...], n_tied: int, n_suspects: int
) -> Iterator[Finding]:
    one = "label" if made.task is Task.documents else "tag"
    if not n:
        yield Finding("No item has an answer: there are no labels.", Severity.act, Page.labels, importance=100)
        return
    yield _expected(made, n, total, thresholds, one)
    if n_suspects:
        yield _suspected(made, n_suspects)
    if n_tied:
        text = (
            f"{counted(n_tied, f'{one} is', f'{one}s are')} a mere tie between classes: another vote would decide "
            f"{'it' if n_tied == 1 else 'each'}."
        )
        severity = Severity.look if n_tied > MANY * n else Severity.know
        yield Finding(text, severity, Page.labels, importance=40)
    silent = len(made.estimate.answer) - n
    if silent:
        text = f"{counted(silent, 'item' if one == 'label' else 'token')} got no answer, for want of labels."
        yield Finding(text, Severity.know, Page.labels, importance=5)


def _suspected(made: Material, n_suspects: int) -> Finding:
    """Gold that is denied: either side may be wrong, and where the method is too sure it is more often the method."""
    estimate, gold = made.estimate, np.asarray(made.gold)
    sure = made.known & estimate.answered & (estimate.confidence >= SURE)
    denied = float((estimate.answer[sure] != gold[sure]).mean())
    text = (
        f"Check the gold of {counted(n_suspects, 'item')}: the answer contradicts it with {percent(SURE)} confidence "
        f"or more, so either the gold or the crowd is wrong there."
    )
    if denied > TOO_SURE * (1 - SURE):
        text += f" At {percent(denied)} of such sure answers, many will be the method's own mistakes."
    return Finding(text, Severity.look, Page.labels, importance=58)


def _expected(made: Material, n: int, total: float, thresholds: tuple[Threshold, ...], one: str) -> Finding:
    """How many are wrong, by the beliefs and by gold, and what it takes to find half of them."""
    of = f"of {counted(n, one)}"
    by_gold = _by_gold(made)
    if total <= ANY_DOUBT:
        text = f"By the method's own beliefs none {of} is wrong: it sees nothing to doubt{by_gold}."
        return Finding(text, Severity.know, Page.labels, importance=80)
    text = f"{about(total).capitalize()} {of} should be wrong by the method's own beliefs{by_gold}"
    worth = next((row for row in thresholds if (row.share_found or 0.0) >= WORTH), None)
    if worth is not None and worth.n_below < n:
        which = "the one" if worth.n_below == 1 else f"the {worth.n_below:,}"
        found = percent(worth.share_found)
        text += f". Check {which} below {percent(worth.confidence)} confidence: {found} of the mistakes should be there"
    severity = Severity.act if total > MANY * n else Severity.look
    return Finding(f"{text}.", severity, Page.labels, importance=80)


def _by_gold(made: Material) -> str:
    judged = made.known & made.estimate.answered
    if made.gold is None or not judged.any():
        return ""
    wrong = int((made.estimate.answer[judged] != made.gold[judged]).sum())
    return f" (by gold {wrong:,} of {int(judged.sum()):,} {'is' if wrong == 1 else 'are'})"
