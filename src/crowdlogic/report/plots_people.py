"""The plots of the annotators: reliability, drift, mistakes on spans, agreement, confusion."""

from __future__ import annotations

import math
from collections.abc import Sequence

from crowdlogic.report import plots_charts as charts
from crowdlogic.report import plots_rows as lined
from crowdlogic.report.findings import (
    AnnotatorFindings,
    AnnotatorRow,
    FlagKind,
    PairAgreement,
    Task,
)
from crowdlogic.report.plain_text import cut, isolated
from crowdlogic.report.plots import Plot, percent

MOST_POINTS, MOST_ROWS = 2000, 30
"""Beyond these many, a plot says less than a table."""

MOST_CELLS, MOST_MATRICES = 1500, 24
"""How much of the page small matrices may take."""


MOST_LINES = 6


def annotators(found: AnnotatorFindings, task: Task = Task.documents) -> list[Plot]:
    """Every plot of the annotators' page but the matrices."""
    made = [reliability(found, task)] if found.rows else []
    return [*made, *([_pairs(found.pairs)] if found.pairs is not None else []), *_drift(found.rows), *_mistakes(found)]


def reliability(found: AnnotatorFindings, task: Task = Task.documents) -> Plot:
    """How good annotators are against how much they gave; flagged ones are marked, and who gave too little is pale.

    Of tokens nearly all are outside of any span, and everybody is right there: what tells is the skill beyond chance.
    """
    by_skill = task is not Task.documents
    points = [
        charts.Point(
            row.name,
            row.n_labels,
            figure.value,
            _or(figure.low, figure.value),
            _or(figure.high, figure.value),
            any(flag.kind != FlagKind.few for flag in row.flags),
            "; ".join(flag.kind for flag in row.flags),
            any(flag.kind == FlagKind.few for flag in row.flags),
        )
        for row in found.rows[:MOST_POINTS]
        for figure in [row.skill if by_skill else row.reliability]
        if figure.value is not None and row.n_labels
    ]
    what = "skill" if by_skill else "right"
    return charts.scatter(
        "reliability",
        f"Whom to trust: {'skill beyond chance' if by_skill else 'reliability'} against volume",
        points,
        x="labels given (log scale)",
        y=f"{what}, with {percent(found.level)} interval",
        marked="flagged",
        unmarked="not flagged",
        pale="too few labels to tell",
        chance=0.0 if by_skill else found.chance,
    )


def _or(one: float | None, other: float) -> float:
    return other if one is None else one


def _drift(rows: Sequence[AnnotatorRow]) -> list[Plot]:
    drifting = sorted(
        (row for row in rows if row.drift is not None), key=lambda row: row.drift.change if row.drift else 0.0
    )
    lines = [
        charts.Line(
            row.name,
            [
                (n + 1, part.reliability.value)
                for n, part in enumerate(row.drift.bins)
                if part.reliability.value is not None
            ],
        )
        for row in drifting[:MOST_LINES]
        if row.drift is not None
    ]
    if not lines:
        return []
    heading = "Who changes with time" + (f": the {len(lines)} that lose most" if len(drifting) > MOST_LINES else "")
    return [
        charts.lines("drift", heading, lines, x="equal parts of an annotator's labels, the oldest first", y="right")
    ]


def _mistakes(found: AnnotatorFindings) -> list[Plot]:
    rows = [row for row in found.rows if row.mistakes is not None and row.mistakes.n_true]
    stacks = [
        lined.Stack(
            row.name,
            [
                part / row.mistakes.n_true
                for part in (row.mistakes.ignored, row.mistakes.boundary, row.mistakes.wrong_type)
            ],
            f"{row.mistakes.n_true:,} spans met",
        )
        for row in sorted(rows, key=lambda row: -row.mistakes.n_true if row.mistakes else 0)[:MOST_ROWS]
        if row.mistakes is not None
    ]
    if not stacks:
        return []
    stacks.sort(key=lambda one: -sum(one.parts))
    against = "gold" if found.against_gold else "the consensus"
    some = f", the {len(stacks)} busiest" if len(rows) > len(stacks) else ""
    return [
        lined.stacked(
            "span-mistakes",
            f"What became of true spans{some}",
            stacks,
            ["ignored", "wrong boundary", "wrong type"],
            x=f"share of the spans of {against} that were met",
        )
    ]


def _pairs(pairs: PairAgreement) -> Plot:
    values = [
        [math.nan if value is None or a == b else value for b, value in enumerate(line)]
        for a, line in enumerate(pairs.kappa)
    ]

    def note(a: int, b: int) -> str:
        share = pairs.agreement[a][b]
        both = f"{pairs.names[a]} and {pairs.names[b]}, {pairs.shared[a][b]:,} in common"
        return both if share is None or a == b else f"{both}, {percent(share)} alike, kappa"

    of = (
        f"the {len(pairs.names)} busiest of {pairs.n_annotators:,}"
        if len(pairs.names) < pairs.n_annotators
        else "all annotators"
    )
    return lined.heat_map(
        "pairs",
        f"Who agrees with whom, {of}",
        pairs.names,
        pairs.names,
        values,
        row_name="",
        column_name="",
        show=lambda kappa: f"{kappa:.2f}",
        notes=note,
        legend=(("cell", "no more than by chance"), ("heat", "always"), ("empty", "nothing in common")),
    )


def matrices(found: AnnotatorFindings) -> list[Plot]:
    """Small confusion matrices, the flagged annotators first, as many as the page has room for."""
    size = len(found.classes)
    if not size:
        return []
    most = max(3, min(MOST_MATRICES, MOST_CELLS // size**2))
    return [
        _matrix(n, row, found.classes) for n, row in enumerate(found.rows) if row.matrix is not None and row.n_labels
    ][:most]


def _matrix(place: int, row: AnnotatorRow, classes: Sequence[str]) -> Plot:
    counts = row.matrix or ()
    shares = [[count / sum(line) if sum(line) > 0.5 else math.nan for count in line] for line in counts]
    right = sum(counts[m][m] for m in range(len(counts))) / max(sum(map(sum, counts)), 1e-9)
    says = f"Confusion matrix of {isolated(cut(row.name, 60))}: {percent(right)} on the diagonal."
    return lined.heat_map(
        f"confusion-{place + 1}",
        row.name,
        classes,
        classes,
        shares,
        row_name="truth",
        column_name="label given",
        says=says,
        notes=lambda m, n: f"truth {classes[m]}, said {classes[n]}, about {counts[m][n]:.1f} labels",
    )
