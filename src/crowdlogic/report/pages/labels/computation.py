"""Which labels to check: how sure the answers are, the items most in doubt, and gold that is probably wrong.

The doubt about an item is how many of its answers are expected to be wrong: 1 - confidence for a document, the sum of
it over the tokens for a sentence. Axes: i unit, s item, k class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.wording import approximate, percent, pluralise
from crowdlogic.metrics.calibration import TIE_TOLERANCE
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.sums import sum_by
from crowdlogic.report.context import Context
from crowdlogic.report.findings import (
    Histogram,
    ReportFinding,
    TaskKind,
    Urgency,
    round_figure,
    share_histogram,
    sort_by_importance,
)
from crowdlogic.report.inputs import ReportInputs
from crowdlogic.report.pages.labels.findings import LabelFindings, Threshold
from crowdlogic.report.pages.labels.items import show_items
from crowdlogic.truth.expected_accuracy import describe_share_wrong, describe_source, expected_accuracy

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Confidences below which checking is priced."""
SURE = 0.95
"""How confident an answer must be to cast doubt on the gold."""
ANY_DOUBT = 1e-6
"""Less than one wrong answer in a million expected is no doubt."""
BINS = 20
WORTH_CHECKING = 0.5
"""To check is what lies below the lowest threshold below which at least this share of the wrong answers is expected:
the sentence, the chart and the list of items use the same."""
ON_EDGE = 1e-9
"""A threshold this near to an edge of the histogram is on it."""
OVERCONFIDENT = 2.0
"""The method is overconfident where sure answers contradict the gold more than this many times as often as expected."""
MANY = 0.05
"""A share of wrong answers, or of ties, above which they call for attention."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Doubts:
    """What is in doubt.

    Attributes:
        wrong: wrong[i], the probability that the answer of unit i is wrong; 0 without an answer.
        units: The least sure unit of every item in doubt, the most doubtful item first.
        doubt: The doubt about each of these items.
        suspects: For every item whose gold a sure answer contradicts, the unit where it is surest; the surest first.
    """

    wrong: Floats
    units: Ints
    doubt: Floats
    suspects: Ints


def find_doubts(context: Context) -> Doubts:
    """Everything in doubt; use it as `context.once(find_doubts)`."""
    estimate = context.inputs.estimate
    wrong = np.where(estimate.answered, 1.0 - np.nan_to_num(estimate.confidence), 0.0)
    units, doubt = rank_doubtful(context.inputs, wrong)
    return Doubts(wrong=wrong, units=units, doubt=doubt, suspects=find_gold_suspects(context.inputs))


def evidence_units(context: Context) -> Ints:
    """The units of the items that are shown."""
    doubts, most = context.once(find_doubts), context.limits.items
    return np.concatenate([doubts.units[:most], doubts.suspects[:most]])


def compute_labels(context: Context) -> LabelFindings:
    """The findings of the page of labels."""
    inputs, doubts, most = context.inputs, context.once(find_doubts), context.limits.items
    estimate = inputs.estimate
    confidence, n_answered = estimate.confidence[estimate.answered], int(estimate.answered.sum())
    thresholds = price_thresholds(confidence)
    check_below = choose_threshold(thresholds, n_answered)
    total, n_tied = float(doubts.wrong.sum()), int(find_ties(estimate).sum())
    suspects = doubts.suspects
    return LabelFindings(
        n_answered=n_answered,
        n_unanswered=int((~estimate.answered).sum()),
        n_tied=n_tied,
        expected_wrong=round(total, 6),
        expected_wrong_share=round_figure(total / n_answered) if n_answered else None,
        confidence=split_at(share_histogram(confidence, BINS), confidence, check_below),
        check_below=check_below,
        thresholds=thresholds,
        doubts=show_items(context, doubts.units[:most], doubts.doubt[:most]),
        n_doubts=len(doubts.units),
        gold_mistakes=show_items(context, suspects[:most], doubts.wrong[suspects[:most]]),
        n_gold_mistakes=len(suspects),
        sure=SURE,
        text_length=context.limits.text,
        findings=sort_by_importance(
            _findings(inputs, total, worth_checking(thresholds, check_below), n_tied=n_tied, n_suspects=len(suspects))
        ),
    )


def price_thresholds(confidence: Floats) -> tuple[Threshold, ...]:
    """For each threshold, how many answers lie below it and how many of these are expected to be wrong."""
    wrong = 1.0 - confidence
    total = float(wrong.sum())
    rows = []
    for level in THRESHOLDS:
        below = confidence < level
        expected = float(wrong[below].sum())
        share = round_figure(expected / total) if total > ANY_DOUBT else None
        rows.append(
            Threshold(confidence=level, n_below=int(below.sum()), expected_wrong=round(expected, 6), share_found=share)
        )
    return tuple(rows)


def choose_threshold(thresholds: tuple[Threshold, ...], n: int) -> float | None:
    """The lowest confidence below which half of the mistakes are expected; None where all n answers lie below it."""
    worth = next((row for row in thresholds if (row.share_found or 0.0) >= WORTH_CHECKING), None)
    return None if worth is None or worth.n_below >= n else worth.confidence


def worth_checking(thresholds: tuple[Threshold, ...], confidence: float | None) -> Threshold | None:
    """What checking below the chosen confidence would cost and find."""
    return next((row for row in thresholds if row.confidence == confidence), None)


def split_at(histogram: Histogram, confidence: Floats, threshold: float | None) -> Histogram:
    """The histogram with an edge at the threshold, so that what lies below it and above it are bars of their own."""
    edges = np.array(histogram.edges)
    if threshold is None or len(edges) < 2 or np.abs(edges - threshold).min() < ON_EDGE:
        return histogram
    edges = np.sort(np.append(edges, threshold))
    bin_of = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, len(edges) - 2)
    return Histogram(tuple(edges.tolist()), tuple(np.bincount(bin_of, minlength=len(edges) - 1).tolist()))


def find_ties(estimate: Estimate) -> Bools:
    """tied[i], whether an answered unit has several most probable classes."""
    if estimate.beliefs.shape[1] < 2:
        return np.zeros(len(estimate.answer), dtype=bool)
    # The two largest beliefs of each unit.
    first, second = -np.partition(-estimate.beliefs, 1, axis=1)[:, :2].T
    return np.asarray(estimate.answered & (first - second < TIE_TOLERANCE))


def rank_doubtful(inputs: ReportInputs, wrong: Floats) -> tuple[Ints, Floats]:
    """The least sure unit of every item in doubt, the most doubtful item first, and the items' doubt."""
    item = inputs.labels.item_of_unit
    doubt = sum_by(item, len(inputs.labels.items), wrong)
    order = np.argsort(-doubt, kind="stable")
    order = order[doubt[order] > ANY_DOUBT]
    # Units sorted by item, and within an item by falling doubt: the first of each item is its least sure unit.
    by_item = np.lexsort((-wrong, item))
    first = np.searchsorted(item[by_item], order)
    return by_item[first], doubt[order]


def find_gold_suspects(inputs: ReportInputs) -> Ints:
    """For every item whose gold a sure answer contradicts, the unit where it is surest; the surest first."""
    if inputs.gold is None:
        return np.zeros(0, dtype=np.int64)
    estimate = inputs.estimate
    denied = inputs.known & estimate.answered & (estimate.answer != inputs.gold) & (estimate.confidence >= SURE)
    units = np.flatnonzero(denied)
    units = units[np.argsort(-estimate.confidence[units], kind="stable")]
    _, first = np.unique(inputs.labels.item_of_unit[units], return_index=True)
    return units[np.sort(first)]


def _findings(
    inputs: ReportInputs, total: float, worth: Threshold | None, *, n_tied: int, n_suspects: int
) -> Iterator[ReportFinding]:
    n = int(inputs.estimate.answered.sum())
    is_document = inputs.task is TaskKind.documents
    if not n:
        yield ReportFinding("No item has an answer: there are no labels.", Urgency.act, importance=100)
        return
    yield _expected_wrong_finding(inputs, total, worth)
    if n_suspects:
        yield _gold_finding(inputs, n_suspects)
    if n_tied:
        label = "label" if is_document else "tag"
        text = (
            f"{pluralise(n_tied, f'{label} is', f'{label}s are')} a mere tie between classes: another vote would "
            f"decide {'it' if n_tied == 1 else 'each'}."
        )
        yield ReportFinding(text, Urgency.look if n_tied > MANY * n else Urgency.know, importance=40)
    unanswered = len(inputs.estimate.answer) - n
    if unanswered:
        text = f"{pluralise(unanswered, 'item' if is_document else 'token')} got no answer, for want of labels."
        yield ReportFinding(text, Urgency.know, importance=5)


def _gold_finding(inputs: ReportInputs, n_suspects: int) -> ReportFinding:
    """Gold that sure answers contradict: either may be wrong; of an overconfident method it is often the answer."""
    estimate, gold = inputs.estimate, np.asarray(inputs.gold)
    sure = inputs.known & estimate.answered & (estimate.confidence >= SURE)
    denied = float((estimate.answer[sure] != gold[sure]).mean())
    text = (
        f"Check the gold of {pluralise(n_suspects, 'item')}: the answer contradicts it with {percent(SURE)} confidence "
        f"or more, so either the gold or the crowd is wrong there."
    )
    if denied > OVERCONFIDENT * (1 - SURE):
        text += f" At {percent(denied)} of such sure answers, many will be the method's own mistakes."
    return ReportFinding(text, Urgency.look, importance=58)


def _expected_wrong_finding(inputs: ReportInputs, total: float, worth: Threshold | None) -> ReportFinding:
    """How many answers are wrong, by the beliefs and by gold, and what it takes to find half of them."""
    n, label = int(inputs.estimate.answered.sum()), "label" if inputs.task is TaskKind.documents else "tag"
    of_all, by_gold = f"of {pluralise(n, label)}", _wrong_by_gold(inputs)
    if total <= ANY_DOUBT:
        text = f"The method doubts none {of_all}{by_gold}."
        return ReportFinding(text, Urgency.know, importance=80)
    text = f"{_likely_wrong(inputs, total, label)}{by_gold}"
    if worth is not None:
        which = "the one" if worth.n_below == 1 else f"the {worth.n_below:,}"
        found = percent(worth.share_found)
        text += f". Check {which} below {percent(worth.confidence)} confidence: {found} of the mistakes should be there"
    return ReportFinding(f"{text}.", Urgency.act if total > MANY * n else Urgency.look, importance=80)


def _likely_wrong(inputs: ReportInputs, total: float, label: str) -> str:
    """How many answers are likely wrong: with an interval where the confidence is calibrated, and what it rests on.

    As `aggregate` does, it counts the answers whose truth is not known.
    """
    n, is_calibrated = int(inputs.estimate.answered.sum()), inputs.estimate.calibration is not None
    expected = expected_accuracy(inputs.estimate) if is_calibrated else None
    if expected is None:
        of_all = f"of {pluralise(n, label)}"
        own = "by the method's own confidence, which mostly claims too much"
        return f"{approximate(total).capitalize()} {of_all} should be wrong {own}"
    known = n - expected.n
    unknown = f" whose truth is not known (that of {known:,} is)" if known else ""
    return f"{describe_share_wrong(expected, label, which=unknown)}, {describe_source(expected.calibration)}"


def _wrong_by_gold(inputs: ReportInputs) -> str:
    judged = inputs.known & inputs.estimate.answered
    if inputs.gold is None or not judged.any():
        return ""
    wrong = int((inputs.estimate.answer[judged] != inputs.gold[judged]).sum())
    return f" (by gold {wrong:,} of {int(judged.sum()):,} {'is' if wrong == 1 else 'are'})"
