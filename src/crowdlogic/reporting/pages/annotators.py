"""Annotators: whom to trust, with flags and their reasons, drift over time, and who agrees with whom."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.confidence.annotator_figures import LEVEL
from crowdlogic.confidence.annotator_verdicts import BINS as TIME_BINS
from crowdlogic.confidence.annotator_verdicts import (
    CHARACTER_FLAGS,
    DISTRUSTED,
    FEW_ITEMS,
    FLAG_RANK,
    AnnotatorVerdicts,
    ConfusionStatistics,
    DriftStatistics,
    FlagKind,
)
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import list_names, percent, pluralise, pluralise_votes, shorten_name
from crowdlogic.metrics.agreement import pairwise_agreement
from crowdlogic.metrics.spans import SpanErrors
from crowdlogic.numerics.arrays import sum_by
from crowdlogic.numerics.logspace import HALF, credible_interval
from crowdlogic.reporting.charts import (
    Curve,
    Plot,
    Point,
    Stack,
    cut,
    format_percent,
    heat_map,
    line_chart,
    scatter_chart,
    show_controls,
    stacked_bars,
)
from crowdlogic.reporting.findings import (
    Histogram,
    Quantity,
    ReportFinding,
    TaskKind,
    Urgency,
    round_figure,
    round_quantity,
    share_histogram,
    share_with_interval,
    sort_by_importance,
)
from crowdlogic.reporting.inputs import Context, ReportInputs, annotator_verdicts
from crowdlogic.reporting.page import Highlights, Page, Tile

# Whom to trust.


@dataclass(frozen=True, kw_only=True)
class Flag:
    """A flag of an annotator, with its reason as a sentence."""

    kind: FlagKind
    reason: str


@dataclass(frozen=True, kw_only=True)
class ConfusedClasses:
    """Two classes that are confused: the expected number of times, and the share of labels on the true class."""

    truth: str
    label: str
    count: float
    share: float


@dataclass(frozen=True, kw_only=True)
class TimeBin:
    """Number and reliability of an annotator's labels from begin to end, which are times in seconds."""

    begin: float
    end: float
    n: int
    reliability: Quantity


@dataclass(frozen=True, kw_only=True)
class Drift:
    """An annotator's reliability over time.

    Attributes:
        bins: Bins with equal numbers of labels, in order of time.
        change: Share of right labels in the last bin minus that in the first bin.
        p_value: P-value of the trend; None if undefined.
        falls: Whether the reliability falls significantly, after correction for testing all annotators.
    """

    bins: tuple[TimeBin, ...]
    change: float
    p_value: float | None
    falls: bool


@dataclass(frozen=True, kw_only=True)
class SpanMistakes:
    """Numbers of right and wrong spans of an annotator, compared with gold, or with the consensus without gold."""

    n_sequences: int
    n_true: int
    n_marked: int
    correct: int
    boundary: int
    wrong_type: int
    ignored: int
    spurious: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, kw_only=True)
class AnnotatorRow:
    """One annotator.

    Attributes:
        name: Name of the annotator.
        kind: human, llm or code; None if unknown.
        n_labels: Number of labels.
        n_items: Number of labelled items.
        reliability: Expected share of right labels, with its credible interval; for span tags, the expected F1 of whole
            spans.
        token_reliability: For span tags: expected share of right tokens; None otherwise.
        expected_accuracy: Expected accuracy if classes are as frequent as estimated; None if not computed.
        gold_accuracy: Share of right labels by gold, with its interval.
        n_gold: Number of labels on units with gold.
        skill: Agreement with the answers beyond chance, with its interval: 1 for always right, 0 for guessing or always
            the same label, below 0 for worse than chance.
        informativeness: How much the labels reveal about the truth, from 0 (nothing) to 1 (everything); None if not
            computed.
        confusions: The most frequent confusions of classes, at most three.
        matrix: matrix[m][n], expected number of labels n where the truth is m; None with too many classes.
        favourite: The most frequent label; None without labels.
        favourite_share: Share of the most frequent label.
        weight: Parameter of the annotator in the truth method; None if it has none.
        flags: Flags, most serious first.
        drift: Reliability over time; None without times or with too few labels.
        mistakes: Right and wrong spans, for span tags; None otherwise.
    """

    name: str
    kind: str | None
    n_labels: int
    n_items: int
    reliability: Quantity
    token_reliability: float | None
    expected_accuracy: float | None
    gold_accuracy: Quantity
    n_gold: int
    skill: Quantity
    informativeness: float | None
    confusions: tuple[ConfusedClasses, ...]
    matrix: tuple[tuple[float, ...], ...] | None
    favourite: str | None
    favourite_share: float | None
    weight: float | None
    flags: tuple[Flag, ...]
    drift: Drift | None
    mistakes: SpanMistakes | None


@dataclass(frozen=True, kw_only=True)
class PairAgreement:
    """Agreement between the annotators with the most labels; None for pairs without common units.

    Attributes:
        names: Names of the annotators.
        shared: shared[a][b], the number of units that both labelled.
        agreement: agreement[a][b], the share of common units with the same label.
        kappa: kappa[a][b], Cohen's kappa; None if undefined.
        n_annotators: Number of all annotators.
    """

    names: tuple[str, ...]
    shared: tuple[tuple[int, ...], ...]
    agreement: tuple[tuple[float | None, ...], ...]
    kappa: tuple[tuple[float | None, ...], ...]
    n_annotators: int


@dataclass(frozen=True, kw_only=True)
class AnnotatorFindings:
    """Content of the page of annotators: whom to trust.

    Attributes:
        rows: Flagged annotators, by severity and number of labels, then the others by number of labels.
        n_annotators: Number of annotators, which may exceed the number of rows.
        n_flagged: Number of annotators by flag.
        classes: Names of the classes in the matrices; empty with too many classes.
        level: Level of the intervals.
        reliability: Histogram of the reliability of all annotators with labels.
        pairs: Agreement between annotators with many labels; None with fewer than two annotators.
        against_gold: Whether mistakes in spans are counted by gold instead of the consensus.
        has_times: Whether labels have times.
        by_others: Whether each annotator is judged by the votes of the others, because the method has no model of
            annotators.
        findings: Sentences of this page.
    """

    rows: tuple[AnnotatorRow, ...]
    n_annotators: int
    n_flagged: dict[str, int]
    classes: tuple[str, ...]
    level: float
    reliability: Histogram
    pairs: PairAgreement | None
    against_gold: bool
    has_times: bool
    by_others: bool
    findings: tuple[ReportFinding, ...]


# The plots of the annotators: reliability, drift, mistakes on spans, agreement, confusion.

MOST_POINTS, MOST_ROWS = 2000, 30
"""Maximum number of points and of rows in a plot; the table shows the others."""
MOST_CELLS, MOST_MATRICES = 1500, 24
"""Maximum number of cells in all small matrices, and maximum number of matrices."""
MOST_CURVES = 6
"""Maximum number of annotators in the plot of drift."""


def draw_annotators(found: AnnotatorFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:
    """Return the plots of the page of annotators: `main`, and the small confusion matrices."""
    main = [*_reliability("reliability", found, task), *_pairs(found.pairs), *_drift(found.rows), *_mistakes(found)]
    # Small confusion matrices, flagged annotators first, up to a maximum number
    most = max(3, min(MOST_MATRICES, MOST_CELLS // max(len(found.classes), 1) ** 2))
    shown = [(n, row.name, row.matrix) for n, row in enumerate(found.rows, 1) if row.matrix and row.n_labels]
    matrices = [_matrix(*one, found.classes) for one in shown[:most]] if found.classes else []
    return {"main": main, "matrices": matrices}


def highlight_annotators(found: AnnotatorFindings, task: TaskKind) -> Highlights:
    """Return the number of annotators, with the number of flagged ones, and the plot of their reliability."""
    distrusted = sum(found.n_flagged.get(kind, 0) for kind in DISTRUSTED)
    others = sum(found.n_flagged.get(kind, 0) for kind in FlagKind if kind not in (*DISTRUSTED, FlagKind.few))
    notes = [f"{distrusted:,} not to be trusted"] if distrusted else []
    notes += [f"{others:,} to look at"] if others else []
    tile = Tile(figure=f"{found.n_annotators:,}", name="annotators", note=", ".join(notes))
    return Highlights([tile], [*_reliability("overview-reliability", found, task)])


def _reliability(name: str, found: AnnotatorFindings, task: TaskKind) -> Iterator[Plot]:
    """Plot how good annotators are against their number of labels; flagged ones are marked, few labels are pale.

    The measure is the F1 of spans for span tags, and otherwise the skill, on which flags are based. A skill of 0 means
    guessing for every annotator, while the accuracy of guessing depends on the preferred labels.
    """
    by_spans = task is TaskKind.spans
    points = []
    for row in found.rows[:MOST_POINTS]:
        figure, kinds = row.reliability if by_spans else row.skill, [flag.kind for flag in row.flags]
        if figure.value is None or not row.n_labels:
            continue
        share = None if by_spans else row.reliability.value
        right = "" if share is None else f"{format_percent(share)} right"
        points.append(
            Point(
                name=row.name,
                x=row.n_labels,
                y=figure.value,
                low=figure.value if figure.low is None else figure.low,
                high=figure.value if figure.high is None else figure.high,
                marked=any(kind != FlagKind.few for kind in kinds),
                note="; ".join(filter(None, (right, *kinds))),
                pale=FlagKind.few in kinds,
            )
        )
    if points:
        measure = "span F1" if by_spans else "skill"
        yield scatter_chart(
            name,
            f"Whom to trust: {measure} against volume",
            points,
            x="labels given (log scale)",
            y=f"{measure}{'' if by_spans else ' beyond guessing'}, with {format_percent(found.level)} interval",
            marked="flagged",
            unmarked="not flagged",
            pale="too few labels to tell",
            chance=None if by_spans else 0.0,
        )


def _drift(rows: Sequence[AnnotatorRow]) -> Iterator[Plot]:
    drifts = sorted(((row.name, row.drift) for row in rows if row.drift is not None), key=lambda one: one[1].change)
    curves = []
    for name, drift in drifts[:MOST_CURVES]:
        shares = enumerate((part.reliability.value for part in drift.bins), 1)
        curves.append(Curve(name, [(n, share) for n, share in shares if share is not None]))
    if curves:
        heading = "Reliability over time" + (f": the {len(curves)} that lose most" if len(drifts) > MOST_CURVES else "")
        yield line_chart(
            "drift", heading, curves, x="equal parts of an annotator's labels, the oldest first", y="right"
        )


def _mistakes(found: AnnotatorFindings) -> Iterator[Plot]:
    rows = [(row.name, row.mistakes) for row in found.rows if row.mistakes is not None and row.mistakes.n_true]
    stacks = []
    for name, one in sorted(rows, key=lambda row: -row[1].n_true)[:MOST_ROWS]:
        parts = [part / one.n_true for part in (one.ignored, one.boundary, one.wrong_type)]
        stacks.append(Stack(name, parts, f"{pluralise(one.n_true, 'span')} met"))
    if stacks:
        some = f", the {len(stacks)} busiest" if len(rows) > len(stacks) else ""
        yield stacked_bars(
            "span-mistakes",
            f"What became of true spans{some}",
            sorted(stacks, key=lambda one: -sum(one.parts)),
            ["ignored", "wrong boundary", "wrong type"],
            x=f"share of the spans of {'gold' if found.against_gold else 'the consensus'} that were met",
        )


def _pairs(pairs: PairAgreement | None) -> Iterator[Plot]:
    if pairs is None:
        return

    def note(a: int, b: int) -> str:
        share = pairs.agreement[a][b]
        both = f"{pairs.names[a]} and {pairs.names[b]}, {pairs.shared[a][b]:,} in common"
        return both if share is None or a == b else f"{both}, {format_percent(share)} alike, kappa"

    is_cut = len(pairs.names) < pairs.n_annotators
    which = f"the {len(pairs.names)} busiest of {pairs.n_annotators:,}" if is_cut else "all annotators"
    yield heat_map(
        "pairs",
        f"Who agrees with whom, {which}",
        [
            [math.nan if kappa is None or a == b else kappa for b, kappa in enumerate(line)]
            for a, line in enumerate(pairs.kappa)
        ],
        rows=pairs.names,
        columns=pairs.names,
        show=lambda kappa: f"{kappa:.2f}",
        notes=note,
        legend=(("cell", "no more than by chance"), ("heat", "always"), ("empty", "nothing in common")),
    )


def _matrix(number: int, name: str, counts: Sequence[Sequence[float]], classes: Sequence[str]) -> Plot:
    right = sum(counts[m][m] for m in range(len(counts))) / max(sum(map(sum, counts)), 1e-9)
    return heat_map(
        f"confusion-{number}",
        name,
        [[count / sum(line) if sum(line) > 0.5 else math.nan for count in line] for line in counts],
        rows=classes,
        columns=classes,
        row_name="truth",
        column_name="label given",
        description=f"Confusion matrix of {show_controls(cut(name, 60))}: {format_percent(right)} on the diagonal.",
        notes=lambda m, n: f"truth {classes[m]}, said {classes[n]}, about {counts[m][n]:.1f} labels",
    )


# Agreement between the annotators with the most labels. Axes: a and b, annotators of the table.

BUSIEST = 20
"""Maximum number of annotators in the table of pairs."""


def pair_agreement(labels: CrowdLabels) -> PairAgreement | None:
    """Return the agreement between the annotators with the most labels; None with fewer than two annotators."""
    n_labels = labels.labels_per_annotator()
    busiest = np.argsort(-n_labels, kind="stable")[:BUSIEST]
    busiest = busiest[n_labels[busiest] > 0]
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
        names=tuple(str(name) for name in names),
        shared=tuple(map(tuple, shared.tolist())),
        agreement=tuple(tuple(map(round_figure, line)) for line in agreement.tolist()),
        kappa=tuple(tuple(map(round_figure, line)) for line in kappa.tolist()),
        n_annotators=len(labels.annotators),
    )


# Content of the page: a row for each annotator with flags and their reasons, and sentences about some of them.
#
# Axes: j annotator, m true class, n given label.

BINS = 20
MOST_IN_MATRIX = 12
"""Maximum number of classes for matrices. With more classes, only the most frequent confusions are shown."""
MOST_SENTENCES = 50
"""Maximum number of flagged annotators with a finding; the reasons are also in the rows of the table."""
OVERLOOKED_SHARE, OVERLOOKED_SPANS = 0.5, 10
"""Minimum share of ignored spans, and minimum number of true spans, for a finding about an annotator."""
MOST_CONFUSIONS = 3
"""Maximum number of confusions that are shown for an annotator."""
LEAST_CONFUSIONS = 0.5
"""Minimum expected number of times that a confusion must occur to be shown."""
SHARED_VOTES = 0.85
"""Maximum number of independent votes per annotator for a finding on shared mistakes."""


def compute_annotators(context: Context) -> AnnotatorFindings:
    """Compute the content of the page of annotators."""
    inputs, verdicts = context.inputs, context.once(annotator_verdicts)
    labels, n_labels, rank = inputs.labels, verdicts.confusion.n_labels, verdicts.flag_rank()
    # Annotators whose only flag is too few labels are sorted like those without flags
    order = np.lexsort((-n_labels, -np.where(rank > FLAG_RANK[FlagKind.few], rank, 0))).tolist()

    # known[j] and right[j], the number of labels of each annotator with gold, and of those that are right
    gold = np.full(labels.n_units, UNKNOWN) if inputs.gold is None else inputs.gold
    known, right = (
        sum_by(labels.annotator, len(labels.annotators), counted.astype(np.float64))
        for counted in (inputs.known[labels.unit], gold[labels.unit] == labels.label)
    )

    numbers = {kind: int(verdicts.flags.has(kind).sum()) for kind in CHARACTER_FLAGS}
    numbers[FlagKind.drift] = 0 if verdicts.drift is None else int(verdicts.drift.falls.sum())
    numbers[FlagKind.near_copy] = sum(bool(verdicts.near_copies(j)) for j in range(len(verdicts.confusion.names)))
    return AnnotatorFindings(
        rows=tuple(
            _row(inputs, verdicts, j, known=known[j], right=right[j]) for j in order[: context.limits.annotators]
        ),
        n_annotators=len(order),
        n_flagged={str(kind): numbers[kind] for kind in FLAG_RANK},
        classes=inputs.class_names if 0 < len(inputs.class_names) <= MOST_IN_MATRIX else (),
        level=LEVEL,
        reliability=share_histogram(verdicts.scores.reliability[n_labels > 0], BINS),
        pairs=pair_agreement(labels),
        against_gold=bool(inputs.known.any()),
        has_times=verdicts.drift is not None,
        by_others=verdicts.scores.is_leave_one_out,
        findings=sort_by_importance([*_findings(verdicts, order, inputs)]),
    )


def _row(inputs: ReportInputs, verdicts: AnnotatorVerdicts, j: int, *, known: float, right: float) -> AnnotatorRow:
    """Return the row of annotator j, whose labels are right on `right` of `known` units with gold."""
    figures, confusion, found = verdicts.scores.table.row(j, named=True), verdicts.confusion, verdicts.mistakes
    has_labels, kinds, counts = int(figures["labels"]) > 0, inputs.labels.kind, confusion.counts[j]
    favourite = int(confusion.label_share[j].argmax()) if len(counts) and confusion.given[j] > 0 else None
    matrix = None
    if has_labels and 0 < len(counts) <= MOST_IN_MATRIX:
        matrix = tuple(tuple(round(count, 2) for count in line) for line in counts.tolist())
    mistakes = None
    if found is not None and found.n_sequences[j]:
        n_true, n_marked = int(found.n_gold[j]), int(found.n_marked[j])
        mistakes = SpanMistakes(
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
    # Figures that depend on labels are left out for annotators without labels
    decided: dict[str, Any] = figures if has_labels else {}
    return AnnotatorRow(
        name=confusion.names[j],
        kind=(kinds[j] or None) if kinds is not None else None,
        n_labels=int(figures["labels"]),
        n_items=int(figures["items"]),
        reliability=round_quantity(*(decided.get(f"reliability{end}") for end in ("", "_low", "_high"))),
        token_reliability=round_figure(decided.get("token_reliability")),
        expected_accuracy=round_figure(decided.get("expected_accuracy")),
        gold_accuracy=share_with_interval(right, known, LEVEL),
        n_gold=int(known),
        skill=round_quantity(*(part[j] for part in confusion.skill)),
        informativeness=round_figure(decided.get("informativeness")),
        confusions=most_confused(confusion, j, verdicts.bias(j)),
        matrix=matrix,
        favourite=None if favourite is None else confusion.classes[favourite],
        favourite_share=None if favourite is None else round_figure(confusion.label_share[j, favourite]),
        weight=round_figure(figures["weight"]),
        flags=tuple(Flag(kind=kind, reason=verdicts.reason(kind, j)) for kind in verdicts.flag_kinds(j)),
        drift=None if verdicts.drift is None else describe_drift(verdicts.drift, j),
        mistakes=mistakes,
    )


def describe_drift(drift: DriftStatistics, j: int) -> Drift | None:
    """Return the drift of annotator j; None with too few annotations."""
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
            reliability=round_quantity(share[b], low[b], high[b]),
        )
        for b in range(TIME_BINS)
    )
    p_value = float(drift.p_value[j]) if np.isfinite(drift.p_value[j]) else None
    change = float(round(drift.change[j], 6))
    return Drift(bins=bins, change=change, p_value=p_value, falls=bool(drift.falls[j]))


def most_confused(
    statistics: ConfusionStatistics, j: int, bias: tuple[int, int] | None = None
) -> tuple[ConfusedClasses, ...]:
    """Return the most frequent confusions of annotator j; the one of a bias flag comes first."""
    counts, names = statistics.counts[j], statistics.classes
    wrong = counts * (1 - np.eye(len(counts)))
    often = [divmod(cell, len(counts)) for cell in np.argsort(-wrong, axis=None, kind="stable").tolist()]
    found = []
    for m, n in list(dict.fromkeys([*([] if bias is None else [bias]), *often]))[:MOST_CONFUSIONS]:
        if wrong[m, n] >= LEAST_CONFUSIONS:
            count, share = round(float(wrong[m, n]), 2), round(float(wrong[m, n] / counts[m].sum()), 6)
            found.append(ConfusedClasses(truth=names[m], label=names[n], count=count, share=share))
    return tuple(found)


def _findings(verdicts: AnnotatorVerdicts, order: list[int], inputs: ReportInputs) -> Iterator[ReportFinding]:
    """Yield sentences about annotators who should not be trusted, about others with flags, and about few labels."""
    flags, n_labels = verdicts.flags, verdicts.confusion.n_labels
    should_not = verdicts.distrusted()
    distrusted = [j for j in order if should_not[j]]
    if distrusted:
        names = list_names([verdicts.confusion.names[j] for j in distrusted])
        share = percent(int(n_labels[distrusted].sum()) / max(int(n_labels.sum()), 1))
        text = (
            f"{len(distrusted):,} of {pluralise(len(order), 'annotator')} should not be trusted ({share} of the "
            f"labels): {names} {'answers' if len(distrusted) == 1 else 'answer'} without looking, or worse than chance."
        )
        yield ReportFinding(text, Urgency.act, importance=90, is_collective=True)
    elif (np.isfinite(verdicts.confusion.skill[0]) & ~flags.has(FlagKind.few)).any():
        text = "No annotator answers at random, always the same, or worse than chance, as far as can be judged."
        yield ReportFinding(text, Urgency.know, importance=50)

    # Careless, biased or deteriorating annotators, in one sentence; a single one gets only its own sentence below
    serious = {j: [kind for kind in verdicts.flag_kinds(j) if kind is not FlagKind.few] for j in order}
    kinds = [(verdicts.confusion.names[j], found) for j, found in serious.items() if found and j not in distrusted]
    named = [f"{shorten_name(name)} ({', '.join(found)})" for name, found in kinds]
    if len(named) > 1:
        text = f"{len(named):,} annotators of {len(verdicts.confusion.names):,} deserve a closer look: "
        yield ReportFinding(f"{text}{list_names(named)}.", Urgency.look, importance=60, is_collective=True)
    if verdicts.mistakes is not None:
        yield from _overlooked_findings(verdicts.confusion.names, verdicts.mistakes)

    # One sentence for each serious flag of the first annotators
    total = max(int(n_labels.sum()), 1)
    for j in order[:MOST_SENTENCES]:
        for kind in serious[j]:
            importance = round(40 + 4 * (FLAG_RANK[kind] + n_labels[j] / total), 4)
            severity, name = Urgency.act if kind in DISTRUSTED else Urgency.look, verdicts.confusion.names[j]
            yield ReportFinding(verdicts.reason(kind, j), severity, importance=importance, about=name)
    few = np.flatnonzero(flags.has(FlagKind.few))
    if len(few):
        shared = " that others labelled, too," if (verdicts.scores.n_items[few] >= FEW_ITEMS).any() else ""
        who = f"{pluralise(len(few), 'annotator')} of {len(order):,} gave too few labels{shared} to be judged"
        text = f"{who}: {pluralise(int(n_labels[few].sum()), 'label')} in all."
        yield ReportFinding(text, Urgency.look if 2 * len(few) > len(order) else Urgency.know, importance=25)

    # The number of independent votes, if it is clearly smaller than the number of annotators
    calibration, size = inputs.estimate.calibration, len(inputs.labels.annotators)
    votes = None if calibration is None else calibration.effective_votes
    if votes is not None and votes <= SHARED_VOTES * size:
        worth = pluralise_votes(votes)
        text = f"The {size:,} annotators are worth about {worth}: they share mistakes, or copy each other."
        yield ReportFinding(text, Urgency.look, importance=58, is_collective=True)


def _overlooked_findings(names: tuple[str, ...], found: SpanErrors) -> Iterator[ReportFinding]:
    """Yield a finding on annotators who miss most spans, which the accuracy of tokens hardly shows."""
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


PAGE = Page(
    title="Annotators",
    module=__name__,
    compute=compute_annotators,
    draw=draw_annotators,
    highlight=highlight_annotators,
)
