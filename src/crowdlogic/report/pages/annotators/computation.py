"""Whom to trust: a row for each annotator with flags and their reasons, and sentences about those who stand out.

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.verdicts.drift import BINS as TIME_BINS
from crowdlogic.annotators.verdicts.drift import DriftStatistics
from crowdlogic.annotators.verdicts.flags import CHARACTER_FLAGS, FEW_ITEMS, FlagKind
from crowdlogic.annotators.verdicts.judging import DISTRUSTED, FLAG_RANK, AnnotatorVerdicts
from crowdlogic.annotators.verdicts.scores import LEVEL
from crowdlogic.annotators.verdicts.statistics import ConfusionStatistics
from crowdlogic.data.wording import list_names, percent, pluralise, shorten_name
from crowdlogic.metrics.span_errors import SpanErrors
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.intervals import HALF, credible_interval
from crowdlogic.numerics.sums import sum_by
from crowdlogic.report.context import Context
from crowdlogic.report.findings import (
    Quantity,
    ReportFinding,
    Urgency,
    round_figure,
    share_histogram,
    sort_by_importance,
)
from crowdlogic.report.inputs import ReportInputs
from crowdlogic.report.pages.annotators.findings import (
    AnnotatorFindings,
    AnnotatorRow,
    ConfusedClasses,
    Drift,
    Flag,
    SpanMistakes,
    TimeBin,
)
from crowdlogic.report.pages.annotators.pairs import pair_agreement
from crowdlogic.report.verdicts import annotator_verdicts

BINS = 20
MOST_IN_MATRIX = 12
"""With more classes a matrix cannot be read, and the most common confusions must do."""
MOST_SENTENCES = 50
"""Flagged annotators with a sentence of their own among the findings; the reason is in their rows, too."""
OVERLOOKED_SHARE, OVERLOOKED_SPANS = 0.5, 10
"""Who overlooks more than this share of the true spans, having met so many, is named."""
MOST_CONFUSIONS = 3
"""Confusions that are shown of an annotator."""
LEAST_CONFUSIONS = 0.5
"""Expected number of times from which on a confusion is shown."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GoldCounts:
    """Annotators by gold.

    Attributes:
        right: right[j], labels that gold confirms.
        n: n[j], labels whose gold is known.
    """

    right: Floats
    n: Floats


def count_by_gold(inputs: ReportInputs) -> GoldCounts:
    """How many labels of every annotator gold can judge, and how many it confirms."""
    labels, size = inputs.labels, len(inputs.labels.annotators)
    gold = np.zeros(labels.n_units, dtype=np.int32) if inputs.gold is None else inputs.gold
    known = inputs.known[labels.unit]
    right = known & (gold[labels.unit] == labels.label)
    return GoldCounts(
        right=sum_by(labels.annotator, size, right.astype(np.float64)),
        n=sum_by(labels.annotator, size, known.astype(np.float64)),
    )


def compute_annotators(context: Context) -> AnnotatorFindings:
    """The findings of the page of annotators: rows for those who matter most, and what all have in common."""
    inputs, verdicts, by_gold = context.inputs, context.once(annotator_verdicts), count_by_gold(context.inputs)
    n_labels, rank = verdicts.confusion.n_labels, verdicts.flag_rank()
    # Too few labels are no reason to come first: these annotators are sorted by their number of labels.
    order = np.lexsort((-n_labels, -np.where(rank > FLAG_RANK[FlagKind.few], rank, 0))).tolist()
    has_matrices = 0 < len(inputs.class_names) <= MOST_IN_MATRIX
    return AnnotatorFindings(
        rows=tuple(_row(inputs, verdicts, by_gold, j) for j in order[: context.limits.annotators]),
        n_annotators=len(order),
        n_flagged=_count_flags(verdicts),
        classes=inputs.class_names if has_matrices else (),
        level=LEVEL,
        reliability=share_histogram(verdicts.scores.reliability[n_labels > 0], BINS),
        pairs=pair_agreement(inputs.labels),
        against_gold=bool(inputs.known.any()),
        has_times=verdicts.drift is not None,
        by_others=verdicts.scores.is_leave_one_out,
        findings=sort_by_importance(_findings(verdicts, order)),
    )


def _count_flags(verdicts: AnnotatorVerdicts) -> dict[str, int]:
    """How many annotators have each flag."""
    numbers = {kind: int(verdicts.flags.has(kind).sum()) for kind in CHARACTER_FLAGS}
    numbers[FlagKind.drift] = 0 if verdicts.drift is None else int(verdicts.drift.falls.sum())
    return {str(kind): numbers[kind] for kind in FLAG_RANK}


def _row(inputs: ReportInputs, verdicts: AnnotatorVerdicts, by_gold: GoldCounts, j: int) -> AnnotatorRow:
    row, confusion = verdicts.scores.table.row(j, named=True), verdicts.confusion
    has_labels, kinds = int(row["labels"]) > 0, inputs.labels.kind
    reliability, low, high = (round_figure(row[f"reliability{end}"]) for end in ("", "_low", "_high"))
    skill, skill_low, skill_high = (round_figure(part[j]) for part in confusion.skill)
    favourite, favourite_share = _favourite(confusion, j)
    return AnnotatorRow(
        name=confusion.names[j],
        kind=(kinds[j] or None) if kinds is not None else None,
        n_labels=int(row["labels"]),
        n_items=int(row["items"]),
        reliability=Quantity(reliability, low=low, high=high) if has_labels else Quantity(None),
        token_reliability=round_figure(row["token_reliability"]) if "token_reliability" in row and has_labels else None,
        expected_accuracy=round_figure(row["expected_accuracy"]) if has_labels else None,
        gold_accuracy=_gold_accuracy(by_gold, j),
        n_gold=int(by_gold.n[j]),
        skill=Quantity(skill, low=skill_low, high=skill_high),
        informativeness=round_figure(row["informativeness"]) if has_labels else None,
        confusions=most_confused(confusion, j, verdicts.bias(j)),
        matrix=_matrix(confusion.counts[j]) if has_labels else None,
        favourite=favourite,
        favourite_share=favourite_share,
        weight=round_figure(row["weight"]),
        flags=tuple(Flag(kind=kind, reason=verdicts.reason(kind, j)) for kind in verdicts.flag_kinds(j)),
        drift=None if verdicts.drift is None else describe_drift(verdicts.drift, j),
        mistakes=_span_mistakes(verdicts.mistakes, j),
    )


def _favourite(confusion: ConfusionStatistics, j: int) -> tuple[str | None, float | None]:
    """The label that annotator j gives most, and its share."""
    if not confusion.counts.shape[1] or confusion.given[j] <= 0:
        return None, None
    n = int(confusion.label_share[j].argmax())
    return confusion.classes[n], round_figure(confusion.label_share[j, n])


def _matrix(counts: Floats) -> tuple[tuple[float, ...], ...] | None:
    if not 0 < len(counts) <= MOST_IN_MATRIX:
        return None
    return tuple(tuple(round(count, 2) for count in line) for line in counts.tolist())


def _gold_accuracy(by_gold: GoldCounts, j: int) -> Quantity:
    n, right = by_gold.n[j], by_gold.right[j]
    if not n:
        return Quantity(None)
    low, high = credible_interval(np.array([right]), np.array([n]), LEVEL)
    return Quantity(round_figure(right / n), low=round_figure(low[0]), high=round_figure(high[0]))


def describe_drift(drift: DriftStatistics, j: int) -> Drift | None:
    """The drift of annotator j; None with too few annotations."""
    if not drift.is_tested[j]:
        return None
    n = drift.n[j].astype(np.float64)
    low, high = credible_interval(drift.right[j], n, drift.level)
    share = (drift.right[j] + HALF) / (n + 2 * HALF)
    bins = tuple(
        TimeBin(
            begin=float(drift.begin[j, b]),
            end=float(drift.end[j, b]),
            n=int(n[b]),
            reliability=Quantity(round_figure(share[b]), low=round_figure(low[b]), high=round_figure(high[b])),
        )
        for b in range(TIME_BINS)
    )
    p_value = float(drift.p_value[j]) if np.isfinite(drift.p_value[j]) else None
    change = float(round(drift.change[j], 6))
    return Drift(bins=bins, change=change, p_value=p_value, falls=bool(drift.falls[j]))


def most_confused(
    statistics: ConfusionStatistics, j: int, bias: tuple[int, int] | None = None
) -> tuple[ConfusedClasses, ...]:
    """The classes that annotator j mistakes for others: a bias first, then by expected number."""
    counts, names = statistics.counts[j], statistics.classes
    wrong = counts * (1 - np.eye(len(counts)))
    often = [divmod(cell, len(counts)) for cell in np.argsort(-wrong, axis=None, kind="stable").tolist()]
    found = []
    for m, n in list(dict.fromkeys([*([] if bias is None else [bias]), *often]))[:MOST_CONFUSIONS]:
        if wrong[m, n] >= LEAST_CONFUSIONS:
            count, share = round(float(wrong[m, n]), 2), round(float(wrong[m, n] / counts[m].sum()), 6)
            found.append(ConfusedClasses(truth=names[m], label=names[n], count=count, share=share))
    return tuple(found)


def _span_mistakes(found: SpanErrors | None, j: int) -> SpanMistakes | None:
    if found is None or not found.n_sequences[j]:
        return None
    n_true, n_marked = int(found.n_gold[j]), int(found.n_marked[j])
    return SpanMistakes(
        n_sequences=int(found.n_sequences[j]),
        n_true=n_true,
        n_marked=n_marked,
        correct=int(found.correct[j]),
        boundary=int(found.boundary[j]),
        wrong_type=int(found.wrong_type[j]),
        ignored=int(found.ignored[j]),
        spurious=int(found.spurious[j]),
        precision=round_figure(found.precision[j]) if n_marked else None,
        recall=round_figure(found.recall[j]) if n_true else None,
        f1=round_figure(found.f1[j]) if n_true + n_marked else None,
    )


def _findings(verdicts: AnnotatorVerdicts, order: list[int]) -> Iterator[ReportFinding]:
    """Sentences about all who should not be trusted, about each annotator with a serious flag, and about the rest."""
    flags, n_labels = verdicts.flags, verdicts.confusion.n_labels
    should_not = verdicts.distrusted()
    distrusted = [j for j in order if should_not[j]]
    if distrusted:
        yield _distrust_finding(verdicts.confusion, distrusted)
    elif (np.isfinite(verdicts.confusion.skill[0]) & ~flags.has(FlagKind.few)).any():
        text = "No annotator answers at random, always the same, or worse than chance, as far as can be judged."
        yield ReportFinding(text, Urgency.know, importance=50)
    yield from _closer_look_finding(verdicts, [j for j in order if j not in distrusted])
    if verdicts.mistakes is not None:
        yield from _overlooked_findings(verdicts.confusion.names, verdicts.mistakes)
    yield from _single_findings(verdicts, order)
    few = np.flatnonzero(flags.has(FlagKind.few))
    if len(few):
        shared = " that others labelled, too," if (verdicts.scores.n_items[few] >= FEW_ITEMS).any() else ""
        who = f"{pluralise(len(few), 'annotator')} of {len(order):,} gave too few labels{shared} to be judged"
        text = f"{who}: {pluralise(int(n_labels[few].sum()), 'label')} in all."
        yield ReportFinding(text, Urgency.look if 2 * len(few) > len(order) else Urgency.know, importance=25)


def _distrust_finding(confusion: ConfusionStatistics, distrusted: list[int]) -> ReportFinding:
    names = list_names([confusion.names[j] for j in distrusted])
    share = percent(int(confusion.n_labels[distrusted].sum()) / max(int(confusion.n_labels.sum()), 1))
    text = (
        f"{pluralise(len(distrusted), 'annotator')} of {len(confusion.names):,} should not be trusted, with {share} of "
        f"the labels: {names} {'answers' if len(distrusted) == 1 else 'answer'} without looking, or worse than chance."
    )
    return ReportFinding(text, Urgency.act, importance=90, is_collective=True)


def _closer_look_finding(verdicts: AnnotatorVerdicts, others: list[int]) -> Iterator[ReportFinding]:
    """Who is careless, biased or getting worse, in one sentence; a single one has a sentence of their own already."""
    kinds = [(j, [kind for kind in verdicts.flag_kinds(j) if kind is not FlagKind.few]) for j in others]
    named = [f"{shorten_name(verdicts.confusion.names[j])} ({', '.join(found)})" for j, found in kinds if found]
    if len(named) > 1:
        text = f"{len(named):,} annotators of {len(verdicts.confusion.names):,} deserve a closer look: "
        yield ReportFinding(f"{text}{list_names(named)}.", Urgency.look, importance=60, is_collective=True)


def _overlooked_findings(names: tuple[str, ...], found: SpanErrors) -> Iterator[ReportFinding]:
    """Who misses most of the spans: token by token that hardly shows, since most tokens are outside of any span."""
    share = found.ignored / np.maximum(found.n_gold, 1)
    blind = np.flatnonzero((found.n_gold >= OVERLOOKED_SPANS) & (share > OVERLOOKED_SHARE))
    if not len(blind):
        return
    blind = blind[np.argsort(-share[blind], kind="stable")]
    who = list_names([f"{shorten_name(names[j])} ({percent(share[j])})" for j in blind.tolist()])
    text = (
        f"{pluralise(len(blind), 'annotator overlooks', 'annotators overlook')} more than half of the spans that there "
        f"are to mark: {who}."
    )
    yield ReportFinding(text, Urgency.act, importance=88, is_collective=True)


def _single_findings(verdicts: AnnotatorVerdicts, order: list[int]) -> Iterator[ReportFinding]:
    """A sentence for each of the first flagged annotators, but for those with too few labels."""
    confusion = verdicts.confusion
    total = max(int(confusion.n_labels.sum()), 1)
    for j in order[:MOST_SENTENCES]:
        for kind in verdicts.flag_kinds(j):
            if kind is not FlagKind.few:
                importance = round(40 + 4 * (FLAG_RANK[kind] + confusion.n_labels[j] / total), 4)
                severity = Urgency.act if kind in DISTRUSTED else Urgency.look
                yield ReportFinding(verdicts.reason(kind, j), severity, importance=importance, about=confusion.names[j])
