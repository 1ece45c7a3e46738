"""The plots of the annotators: reliability, drift, mistakes on spans, agreement, confusion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from crowdlogic.annotators.verdicts.flags import FlagKind
from crowdlogic.annotators.verdicts.judging import DISTRUSTED
from crowdlogic.data.wording import pluralise
from crowdlogic.report.findings import TaskKind
from crowdlogic.report.page import Highlights, Tile
from crowdlogic.report.pages.annotators.findings import (
    AnnotatorFindings,
    AnnotatorRow,
    PairAgreement,
    SpanMistakes,
)
from crowdlogic.report.plain_text import cut, show_controls
from crowdlogic.report.plots.charts import Curve, Point, line_chart, scatter_chart
from crowdlogic.report.plots.elements import Plot
from crowdlogic.report.plots.rows import Stack, heat_map, stacked_bars
from crowdlogic.report.plots.scales import format_percent

MOST_POINTS, MOST_ROWS = 2000, 30
"""Beyond these, a plot says less than the table."""
MOST_CELLS, MOST_MATRICES = 1500, 24
"""How much of the page small matrices may take."""
MOST_CURVES = 6
"""Annotators in the plot of drift."""


def draw_annotators(found: AnnotatorFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:
    """The plots of the page of annotators: `main`, and the small confusion matrices."""
    main = [*_reliability("reliability", found, task), *_pairs(found.pairs), *_drift(found.rows), *_mistakes(found)]
    return {"main": main, "matrices": _matrices(found)}


def highlight_annotators(found: AnnotatorFindings, task: TaskKind) -> Highlights:
    """How many annotators there are and are flagged, and whom to trust."""
    distrusted = sum(found.n_flagged.get(kind, 0) for kind in DISTRUSTED)
    others = sum(found.n_flagged.get(kind, 0) for kind in FlagKind if kind not in (*DISTRUSTED, FlagKind.few))
    notes = [f"{distrusted:,} not to be trusted"] if distrusted else []
    notes += [f"{others:,} to look at"] if others else []
    tile = Tile(figure=f"{found.n_annotators:,}", name="annotators", note=", ".join(notes))
    return Highlights([tile], [*_reliability("overview-reliability", found, task)])


def _reliability(name: str, found: AnnotatorFindings, task: TaskKind) -> Iterator[Plot]:
    """How good annotators are against how much they labelled; flagged ones are marked, too few labels are pale.

    For span tags that is the F1 of spans. Otherwise it is the skill that flags are decided by: its 0 is guessing for
    each annotator, while the share of right labels that guessing gives differs with the labels they are fond of.
    """
    by_spans = task is TaskKind.spans
    points = [point for row in found.rows[:MOST_POINTS] for point in _point(row, by_spans=by_spans)]
    if not points:
        return
    yield scatter_chart(
        name,
        f"Whom to trust: {'span F1' if by_spans else 'skill'} against volume",
        points,
        x="labels given (log scale)",
        y=f"{'span F1' if by_spans else 'skill beyond guessing'}, with {format_percent(found.level)} interval",
        marked="flagged",
        unmarked="not flagged",
        pale="too few labels to tell",
        chance=None if by_spans else 0.0,
    )


def _point(row: AnnotatorRow, *, by_spans: bool) -> Iterator[Point]:
    figure = row.reliability if by_spans else row.skill
    if figure.value is not None and row.n_labels:
        right = "" if by_spans or row.reliability.value is None else f"{format_percent(row.reliability.value)} right"
        yield Point(
            name=row.name,
            x=row.n_labels,
            y=figure.value,
            low=figure.value if figure.low is None else figure.low,
            high=figure.value if figure.high is None else figure.high,
            marked=any(flag.kind != FlagKind.few for flag in row.flags),
            note="; ".join(filter(None, (right, *(flag.kind for flag in row.flags)))),
            pale=any(flag.kind == FlagKind.few for flag in row.flags),
        )


def _drift(rows: Sequence[AnnotatorRow]) -> Iterator[Plot]:
    drifts = sorted(((row.name, row.drift) for row in rows if row.drift is not None), key=lambda one: one[1].change)
    curves = [
        Curve(
            name,
            [(n, part.reliability.value) for n, part in enumerate(drift.bins, 1) if part.reliability.value is not None],
        )
        for name, drift in drifts[:MOST_CURVES]
    ]
    if curves:
        heading = "Reliability over time" + (f": the {len(curves)} that lose most" if len(drifts) > MOST_CURVES else "")
        yield line_chart(
            "drift", heading, curves, x="equal parts of an annotator's labels, the oldest first", y="right"
        )


def _mistakes(found: AnnotatorFindings) -> Iterator[Plot]:
    rows = [(row.name, row.mistakes) for row in found.rows if row.mistakes is not None and row.mistakes.n_true]
    busiest = sorted(rows, key=lambda one: -one[1].n_true)[:MOST_ROWS]
    stacks = sorted((_stack(name, mistakes) for name, mistakes in busiest), key=lambda one: -sum(one.parts))
    if stacks:
        some = f", the {len(stacks)} busiest" if len(rows) > len(stacks) else ""
        yield stacked_bars(
            "span-mistakes",
            f"What became of true spans{some}",
            stacks,
            ["ignored", "wrong boundary", "wrong type"],
            x=f"share of the spans of {'gold' if found.against_gold else 'the consensus'} that were met",
        )


def _stack(name: str, mistakes: SpanMistakes) -> Stack:
    parts = [part / mistakes.n_true for part in (mistakes.ignored, mistakes.boundary, mistakes.wrong_type)]
    return Stack(name, parts, f"{pluralise(mistakes.n_true, 'span')} met")


def _pairs(pairs: PairAgreement | None) -> Iterator[Plot]:
    if pairs is None:
        return
    values = [
        [math.nan if value is None or a == b else value for b, value in enumerate(line)]
        for a, line in enumerate(pairs.kappa)
    ]

    def note(a: int, b: int) -> str:
        share = pairs.agreement[a][b]
        both = f"{pairs.names[a]} and {pairs.names[b]}, {pairs.shared[a][b]:,} in common"
        return both if share is None or a == b else f"{both}, {format_percent(share)} alike, kappa"

    is_cut = len(pairs.names) < pairs.n_annotators
    which = f"the {len(pairs.names)} busiest of {pairs.n_annotators:,}" if is_cut else "all annotators"
    yield heat_map(
        "pairs",
        f"Who agrees with whom, {which}",
        values,
        rows=pairs.names,
        columns=pairs.names,
        show=lambda kappa: f"{kappa:.2f}",
        notes=note,
        legend=(("cell", "no more than by chance"), ("heat", "always"), ("empty", "nothing in common")),
    )


def _matrices(found: AnnotatorFindings) -> list[Plot]:
    """Small confusion matrices, the flagged annotators first, as many as the page has room for."""
    size = len(found.classes)
    if not size:
        return []
    most = max(3, min(MOST_MATRICES, MOST_CELLS // size**2))
    shown = [(number, row) for number, row in enumerate(found.rows, 1) if row.matrix is not None and row.n_labels]
    return [_matrix(number, row, found.classes) for number, row in shown[:most]]


def _matrix(number: int, row: AnnotatorRow, classes: Sequence[str]) -> Plot:
    counts = row.matrix or ()
    shares = [[count / sum(line) if sum(line) > 0.5 else math.nan for count in line] for line in counts]
    right = sum(counts[m][m] for m in range(len(counts))) / max(sum(map(sum, counts)), 1e-9)
    description = f"Confusion matrix of {show_controls(cut(row.name, 60))}: {format_percent(right)} on the diagonal."
    return heat_map(
        f"confusion-{number}",
        row.name,
        shares,
        rows=classes,
        columns=classes,
        row_name="truth",
        column_name="label given",
        description=description,
        notes=lambda m, n: f"truth {classes[m]}, said {classes[n]}, about {counts[m][n]:.1f} labels",
    )
