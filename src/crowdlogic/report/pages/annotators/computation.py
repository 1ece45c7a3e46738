"""Whom to trust: a row for each annotator with flags and their reasons, and sentences about those who stand out.

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.wording import list_names, percent, pluralise, shorten_name
from crowdlogic.metrics.span_errors import SpanErrors, count_span_errors
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.intervals import credible_interval
from crowdlogic.numerics.sums import sum_by
from crowdlogic.report.context import Context
from crowdlogic.report.findings import (
    Quantity,
    ReportFinding,
    TaskKind,
    Urgency,
    round_figure,
    share_histogram,
    sort_by_importance,
)
from crowdlogic.report.inputs import ReportInputs
from crowdlogic.report.pages.annotators.drift import DriftStatistics, measure_drift
from crowdlogic.report.pages.annotators.findings import (
    AnnotatorFindings,
    AnnotatorRow,
    Flag,
    FlagKind,
    SpanMistakes,
)
from crowdlogic.report.pages.annotators.flags import (
    CHARACTER_FLAGS,
    CharacterFlags,
    explain_flag,
    flag_annotators,
    least_items,
)
from crowdlogic.report.pages.annotators.pairs import pair_agreement
from crowdlogic.report.pages.annotators.statistics import ConfusionStatistics, confusion_statistics, most_confused
from crowdlogic.report.reliability import LEVEL, AnnotatorScores, score_annotators

BINS = 20
MOST_IN_MATRIX = 12
"""With more classes a matrix cannot be read, and the most common confusions must do."""
MOST_SENTENCES = 50
"""Flagged annotators with a sentence of their own among the findings; the reason is in their rows, too."""
OVERLOOKED_SHARE, OVERLOOKED_SPANS = 0.5, 10
"""Who overlooks more than this share of the true spans, having met so many, is named."""
FLAG_RANK = {
    FlagKind.adversary: 5, FlagKind.spammer: 4, FlagKind.one_class: 4, FlagKind.drift: 3, FlagKind.biased: 2,
    FlagKind.careless: 2, FlagKind.few: 1,
}  # fmt: skip
"""How serious each flag is."""
DISTRUSTED = (FlagKind.adversary, FlagKind.spammer, FlagKind.one_class)
"""Flags of annotators whose labels say nothing, or the contrary."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorStatistics:
    """Everything that is computed of all annotators at once.

    Attributes:
        scores: Their labels against the beliefs, as a table.
        confusion: Their expected confusion counts.
        flags: Their flags of character.
        drift: Their trends; None without times.
        right_by_gold: right_by_gold[j], labels that gold confirms.
        n_gold: n_gold[j], labels whose gold is known.
        mistakes: What became of the spans; None unless tags are span tags.
    """

    scores: AnnotatorScores
    confusion: ConfusionStatistics
    flags: CharacterFlags
    drift: DriftStatistics | None
    right_by_gold: Floats
    n_gold: Floats
    mistakes: SpanErrors | None

    def flag_kinds(self, j: int) -> list[FlagKind]:
        """The flags of annotator j, the most serious first."""
        found = [] if self.flags.kind[j] < 0 else [CHARACTER_FLAGS[int(self.flags.kind[j])]]
        found += [FlagKind.drift] if self.drift is not None and self.drift.falls[j] else []
        return sorted(found, key=lambda kind: -FLAG_RANK[kind])

    def flag_rank(self) -> Ints:
        """flag_rank[j], that of the most serious flag; 0 without any."""
        character = np.array([*(FLAG_RANK[kind] for kind in CHARACTER_FLAGS), 0])[self.flags.kind]
        drift = 0 if self.drift is None else np.where(self.drift.falls, FLAG_RANK[FlagKind.drift], 0)
        return np.asarray(np.maximum(character, drift))


def annotator_statistics(context: Context) -> AnnotatorStatistics:
    """What labels and beliefs say of all annotators."""
    inputs, labels, estimate = context.inputs, context.inputs.labels, context.inputs.estimate
    scores = context.once(score_annotators)
    confusion = confusion_statistics(inputs, scores)
    gold = np.zeros(labels.n_units, dtype=np.int32) if inputs.gold is None else inputs.gold
    known = inputs.known[labels.unit]
    right = known & (gold[labels.unit] == labels.label)
    truth = gold if inputs.known.any() else estimate.answer
    size = len(labels.annotators)
    return AnnotatorStatistics(
        scores=scores,
        confusion=confusion,
        flags=flag_annotators(confusion, least_items(inputs.task), span_f1=_span_f1(inputs, scores)),
        drift=measure_drift(labels, estimate.beliefs, LEVEL),
        right_by_gold=sum_by(labels.annotator, size, right.astype(np.float64)),
        n_gold=sum_by(labels.annotator, size, known.astype(np.float64)),
        mistakes=count_span_errors(labels, truth) if inputs.task is TaskKind.spans else None,
    )


def _span_f1(inputs: ReportInputs, scores: AnnotatorScores) -> tuple[Floats, Floats] | None:
    """For span tags, the expected F1 of every annotator's spans and the upper end of its interval."""
    if inputs.task is not TaskKind.spans:
        return None
    return scores.reliability, scores.table["reliability_high"].to_numpy()


def compute_annotators(context: Context) -> AnnotatorFindings:
    """The findings of the page of annotators: rows for those who matter most, and what all have in common."""
    inputs, statistics = context.inputs, context.once(annotator_statistics)
    n_labels, rank = statistics.confusion.n_labels, statistics.flag_rank()
    # Too few labels are no reason to come first: these annotators are sorted by their number of labels.
    order = np.lexsort((-n_labels, -np.where(rank > FLAG_RANK[FlagKind.few], rank, 0))).tolist()
    has_matrices = 0 < len(inputs.class_names) <= MOST_IN_MATRIX
    return AnnotatorFindings(
        rows=tuple(_row(inputs, statistics, j) for j in order[: context.limits.annotators]),
        n_annotators=len(order),
        n_flagged=_count_flags(statistics),
        classes=inputs.class_names if has_matrices else (),
        level=LEVEL,
        reliability=share_histogram(statistics.scores.reliability[n_labels > 0], BINS),
        chance=_chance(inputs),
        pairs=pair_agreement(inputs.labels),
        against_gold=bool(inputs.known.any()),
        has_times=statistics.drift is not None,
        by_others=statistics.scores.is_leave_one_out,
        findings=sort_by_importance(_findings(statistics, order)),
    )


def _count_flags(statistics: AnnotatorStatistics) -> dict[str, int]:
    """How many annotators have each flag."""
    numbers = {kind: int(statistics.flags.has(kind).sum()) for kind in CHARACTER_FLAGS}
    numbers[FlagKind.drift] = 0 if statistics.drift is None else int(statistics.drift.falls.sum())
    return {str(kind): numbers[kind] for kind in FLAG_RANK}


def _chance(inputs: ReportInputs) -> float | None:
    """The share of the most common class among what was labelled."""
    has_labels = inputs.labels.labels_per_unit() > 0
    if not has_labels.any() or not inputs.labels.n_classes:
        return None
    return round_figure(inputs.estimate.beliefs[has_labels].mean(axis=0).max())


def _row(inputs: ReportInputs, statistics: AnnotatorStatistics, j: int) -> AnnotatorRow:
    row, confusion = statistics.scores.table.row(j, named=True), statistics.confusion
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
        gold_accuracy=_gold_accuracy(statistics, j),
        n_gold=int(statistics.n_gold[j]),
        skill=Quantity(skill, low=skill_low, high=skill_high),
        spam_score=round_figure(row["spam_score"]) if has_labels else None,
        confusions=most_confused(confusion, j),
        matrix=_matrix(confusion.counts[j]) if has_labels else None,
        favourite=favourite,
        favourite_share=favourite_share,
        weight=round_figure(row["weight"]),
        flags=tuple(Flag(kind=kind, reason=_reason(statistics, kind, j)) for kind in statistics.flag_kinds(j)),
        drift=None if statistics.drift is None else statistics.drift.finding(j),
        mistakes=_span_mistakes(statistics.mistakes, j),
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


def _gold_accuracy(statistics: AnnotatorStatistics, j: int) -> Quantity:
    n, right = statistics.n_gold[j], statistics.right_by_gold[j]
    if not n:
        return Quantity(None)
    low, high = credible_interval(np.array([right]), np.array([n]), LEVEL)
    return Quantity(round_figure(right / n), low=round_figure(low[0]), high=round_figure(high[0]))


def _reason(statistics: AnnotatorStatistics, kind: FlagKind, j: int) -> str:
    if kind is FlagKind.careless and statistics.mistakes is not None:
        return _explain_careless_spans(statistics, statistics.mistakes, j)
    if kind is not FlagKind.drift or statistics.drift is None:
        return explain_flag(statistics.confusion, statistics.flags, j)
    drift = statistics.drift
    first, last = (drift.right[j, b] / drift.n[j, b] for b in (0, -1))
    return (
        f"{shorten_name(statistics.confusion.names[j])} gets worse: {percent(first)} right in the first fifth of "
        f"{int(drift.n[j].sum()):,} annotations, {percent(last)} in the last."
    )


def _explain_careless_spans(statistics: AnnotatorStatistics, found: SpanErrors, j: int) -> str:
    """Why an annotator of spans is careless: what became of the spans, and how far that is from the best."""
    n_true = max(int(found.n_gold[j]), 1)
    parts = {"overlooks": found.ignored, "mistypes": found.wrong_type, "misplaces the ends of": found.boundary}
    worst = sorted(((int(count[j]), verb) for verb, count in parts.items() if count[j]), reverse=True)[:2]
    mistakes = " and ".join(f"{verb} {percent(count / n_true)}" for count, verb in worst) or "marks what is no span"
    f1 = percent(float(statistics.scores.reliability[j]))
    return (
        f"{shorten_name(statistics.confusion.names[j])} often marks spans wrongly: {mistakes} of "
        f"{pluralise(int(found.n_gold[j]), 'span')}; span F1 {f1}, where a quarter of the annotators reach "
        f"{percent(statistics.flags.best_f1)}."
    )


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


def _findings(statistics: AnnotatorStatistics, order: list[int]) -> Iterator[ReportFinding]:
    """Sentences about all who should not be trusted, about each annotator with a serious flag, and about the rest."""
    flags, n_labels = statistics.flags, statistics.confusion.n_labels
    distrusted = [j for j in order if any(kind in DISTRUSTED for kind in statistics.flag_kinds(j))]
    if distrusted:
        yield _distrust_finding(statistics.confusion, distrusted)
    elif not flags.has(FlagKind.few).all() and n_labels.any():
        text = "No annotator answers at random, always the same, or worse than chance, as far as can be judged."
        yield ReportFinding(text, Urgency.know, importance=50)
    if statistics.mistakes is not None:
        yield from _overlooked_findings(statistics.confusion.names, statistics.mistakes)
    yield from _single_findings(statistics, order)
    few = np.flatnonzero(flags.has(FlagKind.few))
    if len(few):
        who = f"{pluralise(len(few), 'annotator')} of {len(order):,} gave too few labels to be judged"
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


def _single_findings(statistics: AnnotatorStatistics, order: list[int]) -> Iterator[ReportFinding]:
    """A sentence for each of the first flagged annotators, but for those with too few labels."""
    confusion = statistics.confusion
    total = max(int(confusion.n_labels.sum()), 1)
    for j in order[:MOST_SENTENCES]:
        for kind in statistics.flag_kinds(j):
            if kind is not FlagKind.few:
                importance = round(40 + 4 * (FLAG_RANK[kind] + confusion.n_labels[j] / total), 4)
                severity = Urgency.act if kind in DISTRUSTED else Urgency.look
                yield ReportFinding(
                    _reason(statistics, kind, j), severity, importance=importance, about=confusion.names[j]
                )
