"""Whom to trust: a row for each annotator, with flags; and how far the busiest agree.

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.annotators.protocol import MOST_CELLS
from crowdlogic.annotators.table import annotator_table, credible_interval
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import tally
from crowdlogic.metrics.pairwise import pairwise_agreement
from crowdlogic.metrics.span_errors import SpanErrors, count_span_errors
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.sums import sum_by
from crowdlogic.report.apart import apart
from crowdlogic.report.doubts import histogram
from crowdlogic.report.drifting import Drifts, drifts_of
from crowdlogic.report.findings import (
    AnnotatorFindings,
    AnnotatorRow,
    Confused,
    Figure,
    Finding,
    Flag,
    FlagKind,
    Page,
    PairAgreement,
    Severity,
    SpanMistakes,
    Task,
)
from crowdlogic.report.flags import FEW_ITEMS, FEW_SENTENCES, KINDS, Flagged, Habits, flagged, reason
from crowdlogic.report.material import Material
from crowdlogic.report.wording import by_importance, counted, named, number, percent, short

LEVEL = 0.95
BINS = 20
MOST_IN_MATRIX = 12
"""With more classes a matrix cannot be read, and the most common confusions must do."""
MOST_CONFUSIONS = 3
MOST_SENTENCES = 50
"""Flagged annotators who get a sentence of their own among the findings; their rows have it, too."""
OVERLOOKED, MET = 0.5, 10
"""Who ignores more than this share of the true spans, having met so many, is named."""
BUSIEST = 20
"""Annotators in the table of pairs."""

GRAVITY = {
    FlagKind.adversary: 5, FlagKind.spammer: 4, FlagKind.one_class: 4, FlagKind.drift: 3, FlagKind.biased: 2,
    FlagKind.careless: 2, FlagKind.few: 1,
}  # fmt: skip
"""How serious each flag is."""
DISTRUSTED = (FlagKind.adversary, FlagKind.spammer, FlagKind.one_class)
"""Flags of annotators whose labels say nothing, or the contrary."""


@dataclass(frozen=True, eq=False)
class People:
    """Everything that is computed of all annotators at once.

    Attributes:
        table: `annotator_table`.
        habits: Their labels against the beliefs.
        flags: Their flags of character.
        drifts: Their trends; None without times.
        right_by_gold: right[j], labels that gold confirms.
        n_gold: n[j], labels whose gold is known.
        mistakes: What became of the spans; None unless tags are span tags.
        is_apart: Whether everybody is judged by the votes of the others.
    """

    table: pl.DataFrame
    habits: Habits
    flags: Flagged
    drifts: Drifts | None
    right_by_gold: Floats
    n_gold: Floats
    mistakes: SpanErrors | None
    is_apart: bool

    @property
    def reliability(self) -> Floats:
        """reliability[j]; NaN for who gave no labels."""
        given = self.table["labels"].to_numpy() > 0
        return np.where(given, self.table["reliability"].to_numpy(), np.nan)

    def kinds(self, j: int) -> list[FlagKind]:
        """The flags of annotator j, the most serious first."""
        found = [] if self.flags.kind[j] < 0 else [KINDS[int(self.flags.kind[j])]]
        found += [FlagKind.drift] if self.drifts is not None and self.drifts.falls[j] else []
        return sorted(found, key=lambda kind: -GRAVITY[kind])

    def gravity(self) -> Ints:
        """gravity[j], that of the most serious flag; 0 without any."""
        grave = np.array([*(GRAVITY[kind] for kind in KINDS), 0])[self.flags.kind]
        falls = 0 if self.drifts is None else np.where(self.drifts.falls, GRAVITY[FlagKind.drift], 0)
        return np.asarray(np.maximum(grave, falls))


def people_of(made: Material) -> People:
    """What labels and beliefs say of all annotators."""
    labels, estimate = made.labels, made.estimate
    size = len(labels.annotators)
    by_others = apart(labels, estimate)
    judged, believed = (labels, estimate) if by_others is None else by_others
    table = annotator_table(judged, believed, level=LEVEL).with_columns(
        pl.Series("labels", labels.labels_per_annotator()),
        pl.Series("items", np.bincount(labels.annotations()[1], minlength=size)),
    )
    habits = habits_of(made, table, judged, believed.beliefs)
    known = made.known[labels.unit]
    gold = np.zeros(labels.n_units, dtype=np.int32) if made.gold is None else made.gold
    right = known & (gold[labels.unit] == labels.label)
    truth = estimate.answer if not made.known.any() else gold
    return People(
        table,
        habits,
        flagged(habits),
        drifts_of(labels, estimate.beliefs, LEVEL),
        sum_by(labels.annotator, size, right.astype(np.float64)),
        sum_by(labels.annotator, size, known.astype(np.float64)),
        count_span_errors(labels, truth) if made.task is Task.spans else None,
        by_others is not None,
    )


def habits_of(made: Material, table: pl.DataFrame, labels: CrowdLabels, beliefs: Beliefs) -> Habits:
    """The expected confusion counts of everybody, by labels and beliefs of these; none where they would not fit."""
    size = len(labels.annotators)
    counts: Floats = np.zeros((size, 0, 0))
    if labels.n_labels and size * labels.n_classes**2 <= MOST_CELLS:
        counts = tally(make_shards(labels), beliefs).counts.transpose(0, 2, 1)
    least = FEW_ITEMS if made.task is Task.documents else FEW_SENTENCES
    return Habits(
        tuple(str(name) for name in labels.annotators),
        made.class_names,
        counts,
        table["labels"].to_numpy(),
        table["items"].to_numpy(),
        least,
        LEVEL,
    )


def annotators_of(made: Material, people: People, *, most: int) -> AnnotatorFindings:
    """Rows for the annotators who matter most, and what all have in common.

    Args:
        made: The material.
        people: What is known of all.
        most: The most rows.
    """
    n_labels, gravity = people.habits.n_labels, people.gravity()
    # Too few labels are no reason to stand first: they stand where their number puts them.
    order = np.lexsort((-n_labels, -np.where(gravity > GRAVITY[FlagKind.few], gravity, 0))).tolist()
    given = n_labels > 0
    return AnnotatorFindings(
        tuple(_row(made, people, j) for j in order[:most]),
        len(order),
        _numbers(people),
        made.class_names if 0 < len(made.class_names) <= MOST_IN_MATRIX else (),
        LEVEL,
        histogram(people.reliability[given], BINS),
        _chance(made),
        pairs_of(made),
        bool(made.known.any()),
        people.drifts is not None,
        people.is_apart,
        by_importance(_findings(people, order)),
    )


def _numbers(people: People) -> dict[str, int]:
    """How many annotators have each flag."""
    numbers = {str(kind): int((people.flags.kind == place).sum()) for place, kind in enumerate(KINDS)}
    numbers[FlagKind.drift] = 0 if people.drifts is None else int(people.drifts.falls.sum())
    return {str(kind): numbers[kind] for kind in GRAVITY}


def _chance(made: Material) -> float | None:
    """The share of the most common class among what was labelled."""
    heard = made.labels.labels_per_unit() > 0
    if not heard.any() or not made.labels.n_classes:
        return None
    return number(made.estimate.beliefs[heard].mean(axis=0).max())


def _row(made: Material, people: People, j: int) -> AnnotatorRow:
    row = people.table.row(j, named=True)
    habits, n_labels = people.habits, int(row["labels"])
    has_matrix = 0 < habits.counts.shape[1] <= MOST_IN_MATRIX and n_labels > 0
    matrix = tuple(tuple(round(c, 2) for c in line) for line in habits.counts[j].tolist()) if has_matrix else None
    skill = tuple(number(part[j]) for part in habits.usual)
    favourite = int(habits.label_share[j].argmax()) if habits.counts.shape[1] and habits.given[j] > 0 else None
    kind = made.labels.kind
    reliability = Figure(*(number(row[f"reliability{end}"]) for end in ("", "_low", "_high")))
    return AnnotatorRow(
        habits.names[j],
        (kind[j] or None) if kind is not None else None,
        n_labels,
        int(row["items"]),
        reliability if n_labels else Figure(None),
        number(row["expected_accuracy"]) if n_labels else None,
        _by_gold(people, j),
        int(people.n_gold[j]),
        Figure(*skill),
        number(row["spam_score"]) if n_labels else None,
        confusions(habits, j),
        matrix,
        None if favourite is None else habits.classes[favourite],
        None if favourite is None else number(habits.label_share[j, favourite]),
        number(row["weight"]),
        _flags(people, j),
        None if people.drifts is None else people.drifts.of(j),
        _mistakes(people.mistakes, j),
    )


def _by_gold(people: People, j: int) -> Figure:
    n, right = people.n_gold[j], people.right_by_gold[j]
    if not n:
        return Figure(None)
    low, high = credible_interval(np.array([right]), np.array([n]), LEVEL)
    return Figure(number(right / n), number(low[0]), number(high[0]))


def confusions(habits: Habits, j: int) -> tuple[Confused, ...]:
    """The classes that annotator j takes for others most often, by expected number."""
    counts = habits.counts[j]
    wrong = counts * (1 - np.eye(len(counts)))
    found = []
    for cell in np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSIONS].tolist():
        m, n = divmod(cell, len(counts))
        if wrong[m, n] >= 0.5:
            share = float(wrong[m, n] / counts[m].sum())
            found.append(Confused(habits.classes[m], habits.classes[n], round(float(wrong[m, n]), 2), round(share, 6)))
    return tuple(found)


def _flags(people: People, j: int) -> tuple[Flag, ...]:
    return tuple(Flag(kind, _reason(people, kind, j)) for kind in people.kinds(j))


def _reason(people: People, kind: FlagKind, j: int) -> str:
    if kind is not FlagKind.drift or people.drifts is None:
        return reason(people.habits, people.flags, j)
    first, last = (people.drifts.right[j, b] / people.drifts.n[j, b] for b in (0, -1))
    n = int(people.drifts.n[j].sum())
    return (
        f"{short(people.habits.names[j])} gets worse: {percent(first)} right in the first fifth of {n:,} annotations, "
        f"{percent(last)} in the last."
    )


def _mistakes(found: SpanErrors | None, j: int) -> SpanMistakes | None:
    if found is None or not found.n_sequences[j]:
        return None
    n_true, n_marked = int(found.n_gold[j]), int(found.n_marked[j])
    return SpanMistakes(
        int(found.n_sequences[j]),
        n_true,
        n_marked,
        int(found.correct[j]),
        int(found.boundary[j]),
        int(found.wrong_type[j]),
        int(found.ignored[j]),
        int(found.spurious[j]),
        number(found.precision[j]) if n_marked else None,
        number(found.recall[j]) if n_true else None,
        number(found.f1[j]) if n_true + n_marked else None,
    )


def pairs_of(made: Material) -> PairAgreement | None:
    """Agreement between the busiest annotators; None when there are not two."""
    labels = made.labels
    given = labels.labels_per_annotator()
    busiest = np.argsort(-given, kind="stable")[:BUSIEST]
    busiest = busiest[given[busiest] > 0]
    if len(busiest) < 2:
        return None
    names = labels.annotators.gather(busiest)
    found = pairwise_agreement(labels.select(annotators=names.to_list()))
    size = len(busiest)
    shared = np.zeros((size, size), dtype=np.int64)
    agreement, kappa = np.full((2, size, size), np.nan)
    for table, column in ((shared, found.shared), (agreement, found.agreement), (kappa, found.kappa)):
        table[found.a, found.b] = column
        table[found.b, found.a] = column
    return PairAgreement(
        tuple(str(name) for name in names),
        tuple(map(tuple, shared.tolist())),
        _square(agreement),
        _square(kappa),
        len(labels.annotators),
    )


def _square(table: Floats) -> tuple[tuple[float | None, ...], ...]:
    return tuple(tuple(map(number, line)) for line in table.tolist())


def _findings(people: People, order: list[int]) -> Iterator[Finding]:
    """One sentence about all who should not be trusted, and one for each annotator with a serious flag."""
    n = len(order)
    distrusted = [j for j in order if any(kind in DISTRUSTED for kind in people.kinds(j))]
    if distrusted:
        yield _distrust(people, distrusted, n)
    elif (people.flags.kind != KINDS.index(FlagKind.few)).any() and people.habits.n_labels.any():
        text = "No annotator answers at random, always the same, or worse than chance, as far as can be judged."
        yield Finding(text, Severity.know, Page.annotators, importance=50)
    if people.mistakes is not None:
        yield from _overlooked(people, people.mistakes)
    yield from _each(people, order)
    few = [j for j in order if people.flags.kind[j] == KINDS.index(FlagKind.few)]
    if few:
        labels = counted(int(people.habits.n_labels[few].sum()), "label")
        who = f"{counted(len(few), 'annotator')} of {n:,} gave too few labels to be judged"
        severity = Severity.look if 2 * len(few) > n else Severity.know
        yield Finding(f"{who}: {labels} in all.", severity, Page.annotators, importance=25)


def _distrust(people: People, distrusted: list[int], n: int) -> Finding:
    names = named([people.habits.names[j] for j in distrusted])
    labels = int(people.habits.n_labels[distrusted].sum())
    share = percent(labels / max(int(people.habits.n_labels.sum()), 1))
    text = (
        f"{counted(len(distrusted), 'annotator')} of {n:,} should not be trusted, with {share} of the labels: {names} "
        f"{'answers' if len(distrusted) == 1 else 'answer'} without looking, or worse than chance."
    )
    return Finding(text, Severity.act, Page.annotators, importance=90)


def _overlooked(people: People, found: SpanErrors) -> Iterator[Finding]:
    """Who misses most of what there is to mark: token by token that hardly shows, since most tokens are outside."""
    share = found.ignored / np.maximum(found.n_gold, 1)
    blind = np.flatnonzero((found.n_gold >= MET) & (share > OVERLOOKED))
    if not len(blind):
        return
    blind = blind[np.argsort(-share[blind], kind="stable")]
    names = named([f"{short(people.habits.names[j])} ({percent(share[j])})" for j in blind.tolist()])
    text = (
        f"{counted(len(blind), 'annotator overlooks', 'annotators overlook')} more than half of the spans that there "
        f"are to mark: {names}."
    )
    yield Finding(text, Severity.act, Page.annotators, importance=88)


def _each(people: People, order: list[int]) -> Iterator[Finding]:
    """A sentence for each of the first flagged annotators, but for those with too few labels."""
    total = max(int(people.habits.n_labels.sum()), 1)
    for j in order[:MOST_SENTENCES]:
        for kind in people.kinds(j):
            if kind is FlagKind.few:
                continue
            weight = GRAVITY[kind] + people.habits.n_labels[j] / total
            severity = Severity.act if kind in DISTRUSTED else Severity.look
            text = _reason(people, kind, j)
            yield Finding(text, severity, Page.annotators, people.habits.names[j], round(40 + 4 * weight, 4))
