"""Which plots every page of a report has. Figures come from the findings; nothing is computed but shares of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from crowdlogic.report import plots_charts as charts
from crowdlogic.report.findings import (
    AnnotatorFindings,
    AnnotatorRow,
    ComparisonFindings,
    LabelFindings,
    Overview,
    Page,
    PairAgreement,
    Report,
    RuleFindings,
    Task,
    TrainingFindings,
)
from crowdlogic.report.plain_text import cut, isolated
from crowdlogic.report.plots import Plot, percent

CHECKED = 0.8
"""Answers below this confidence are drawn as those to check."""

MOST_POINTS, MOST_ROWS, MOST_CLASSES = 2000, 30, 24
"""Beyond these many, a plot says less than a table."""

MOST_CELLS, MOST_MATRICES = 1500, 24
"""How much of the page small matrices may take."""

MOST_LINES = 6


def plots_of(report: Report) -> dict[str, tuple[Plot, ...]]:
    """The plots of every page, by the page's name.

    `matrices` holds the annotators' small confusion matrices, `glance` what the overview shows of other pages.
    """
    made: dict[str, Sequence[Plot]] = {
        Page.overview: _overview(report.overview),
        Page.labels: _labels(report.labels, report.overview.task),
        Page.annotators: _annotators(report.annotators),
        "matrices": _matrices(report.annotators),
        "glance": _glance(report),
    }
    if report.rules is not None:
        made[Page.rules] = _rules(report.rules)
    if report.training is not None:
        made[Page.training] = _training(report.training)
    if report.comparison is not None:
        made[Page.comparison] = _comparison(report.comparison)
    return {page: tuple(plots) for page, plots in made.items()}


def _glance(report: Report) -> list[Plot]:
    """Whom to trust and how sure the answers are, again, under other names: identifiers are unique in a page."""
    reliability = [_reliability(report.annotators)] if report.annotators.rows else []
    return [*reliability, *_confidence("glance-confidence", report.labels, report.overview.task)]


def _overview(overview: Overview) -> list[Plot]:
    made = []
    if overview.classes:
        has_gold = any(one.gold_share is not None for one in overview.classes)
        kinds = ["what the method believes", "what was voted", *(["gold"] if has_gold else [])]
        rows = [
            charts.Row(
                one.name, [charts.Mark(v) for v in (one.posterior_share, one.vote_share, one.gold_share)[: len(kinds)]]
            )
            for one in overview.classes[:MOST_CLASSES]
        ]
        made.append(charts.dots("classes", "How common each class is", rows, kinds, x="share", from_zero=True))
    agreement = [
        charts.Row(one.title, [charts.Mark(one.figure.value, one.figure.low, one.figure.high)])
        for one in overview.agreement
    ]
    if agreement:
        level = percent(overview.agreement[0].level)
        made.append(
            charts.dots(
                "agreement",
                "How far annotators agree",
                agreement,
                ["agreement"],
                x=f"coefficient, with {level} interval",
                show=lambda v: f"{v:.2f}",
                from_zero=True,
            )
        )
    per_item = overview.labels_per_item
    if len(per_item.edges) > 1:
        made.append(
            charts.histogram(
                "labels-per-item",
                "How many annotators an item has",
                per_item.edges,
                per_item.counts,
                x="annotators",
                y="items",
                whole=True,
            )
        )
    bins = [
        (b.confidence, b.accuracy, b.n)
        for b in overview.calibration
        if b.n and b.confidence is not None and b.accuracy is not None
    ]
    if bins:
        made.append(
            charts.calibration(
                "calibration", "Is the confidence as good as its word?", bins, x="confidence", y="share that is right"
            )
        )
    return made


def _confidence(name: str, labels: LabelFindings, task: Task) -> list[Plot]:
    if len(labels.confidence.edges) < 2:
        return []
    edges, counts = labels.confidence.edges, labels.confidence.counts
    # No answer can be less sure than one in as many as there are classes: the empty left side is left out.
    first = max(0, next((n for n, count in enumerate(counts) if count), 0) - 1)
    edges, counts = edges[first:], counts[first:]
    return [
        charts.histogram(
            name,
            "How sure the answers are",
            edges,
            counts,
            x="confidence in the answer",
            y="items" if task is Task.documents else "tokens",
            weak_below=CHECKED,
        )
    ]


def _labels(labels: LabelFindings, task: Task) -> list[Plot]:
    units = "items" if task is Task.documents else "tokens"
    made = _confidence("confidence", labels, task)
    found = [(t.n_below, t.share_found) for t in labels.thresholds if t.share_found is not None]
    if len(found) > 1:
        line = charts.Line("mistakes found", [(0, 0.0), *found])
        made.append(
            charts.lines(
                "checking",
                "What checking the least sure answers would find",
                [line],
                x=f"{units} checked, the least sure first",
                y="of expected mistakes",
            )
        )
    return made


def _annotators(found: AnnotatorFindings) -> list[Plot]:
    made = [_reliability(found)] if found.rows else []
    return [*made, *_drift(found.rows), *_mistakes(found), *([_pairs(found.pairs)] if found.pairs is not None else [])]


def _reliability(found: AnnotatorFindings) -> Plot:
    points = [
        charts.Point(
            row.name,
            row.n_labels,
            row.reliability.value,
            _or(row.reliability.low, row.reliability.value),
            _or(row.reliability.high, row.reliability.value),
            bool(row.flags),
            "; ".join(flag.kind for flag in row.flags),
        )
        for row in found.rows[:MOST_POINTS]
        if row.reliability.value is not None and row.n_labels
    ]
    return charts.scatter(
        "reliability",
        "Whom to trust: reliability against volume",
        points,
        x="labels given (log scale)",
        y=f"right, with {percent(found.level)} interval",
        marked="flagged",
        unmarked="not flagged",
        chance=found.chance,
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
        charts.Stack(
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
        charts.stacked(
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
        for a, line in enumerate(pairs.agreement)
    ]

    def note(a: int, b: int) -> str:
        kappa = pairs.kappa[a][b]
        share = f"{pairs.names[a]} and {pairs.names[b]}, {pairs.shared[a][b]:,} in common"
        return share if kappa is None or a == b else f"{share}, kappa {kappa:.2f}"

    of = (
        f"the {len(pairs.names)} busiest of {pairs.n_annotators:,}"
        if len(pairs.names) < pairs.n_annotators
        else "all annotators"
    )
    return charts.heat_map(
        "pairs",
        f"Who agrees with whom: {of}",
        pairs.names,
        pairs.names,
        values,
        row_name="",
        column_name="",
        notes=note,
    )


def _matrices(found: AnnotatorFindings) -> list[Plot]:
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
    return charts.heat_map(
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


def _rules(found: RuleFindings) -> list[Plot]:
    rows = [
        charts.Row(
            cut(f"rule {n + 1}", 24),
            [charts.Mark(row.satisfaction.value, row.satisfaction.low, row.satisfaction.high), charts.Mark(row.chance)],
        )
        for n, row in enumerate(found.rows[:MOST_ROWS])
    ]
    if not rows:
        return []
    return [
        charts.dots(
            "rules",
            "How far the crowd agrees with each rule",
            rows,
            ["holds where it applies", "at random"],
            x="share of applications",
            from_zero=True,
        )
    ]


def _training(found: TrainingFindings) -> list[Plot]:
    made = []
    scored = [charts.Line(found.stopping_name, [(e.epoch, e.stopping) for e in found.epochs if e.stopping is not None])]
    for n, name in enumerate(found.score_names):
        points = [(e.epoch, e.scores[n]) for e in found.epochs]
        scored.append(charts.Line(name, [(x, y) for x, y in points if y is not None]))
    scored = [line for line in scored if line.points]
    if scored:
        made.append(charts.lines("scores", "Scores by epoch", scored, x="epoch", y="score", chosen=found.chosen))
    losses = [(e.epoch, e.loss) for e in found.epochs if e.loss is not None]
    if losses:
        made.append(
            charts.lines(
                "loss",
                "The classifier's loss by epoch",
                [charts.Line("loss", losses)],
                x="epoch",
                y="mean loss",
                chosen=found.chosen,
                show=lambda v: f"{v:.3g}",
            )
        )
    moving = [
        charts.Line("answers that changed", [(e.epoch, e.change) for e in found.epochs if e.change is not None]),
        charts.Line("weight of the rules' side", [(e.epoch, e.k) for e in found.epochs if e.k is not None]),
    ]
    moving = [line for line in moving if line.points]
    if moving:
        made.append(
            charts.lines("settling", "How the answers settle", moving, x="epoch", y="share", chosen=found.chosen)
        )
    views = [charts.Row(view.title, [charts.Mark(view.score)]) for view in found.views if view.score is not None]
    if views:
        made.append(
            charts.dots(
                "views",
                "What each source would have answered",
                views,
                [found.score_name],
                x=f"{found.score_name} against gold",
            )
        )
    watched = [charts.Row(one.name, [charts.Mark(one.student), charts.Mark(one.teacher)]) for one in found.watched]
    if watched:
        made.append(
            charts.dots(
                "student-teacher",
                "Student against teacher",
                watched,
                ["student: the classifier", "teacher: put right by the rules"],
                x=found.score_name,
            )
        )
    return made


def _comparison(found: ComparisonFindings) -> list[Plot]:
    made = []
    if found.score_names:
        rows = [charts.Row(one.name, [charts.Mark(one.scores[0])]) for one in found.methods if one.scores]
        made.append(
            charts.dots(
                "methods", f"Methods by {found.score_names[0]}", rows, [found.score_names[0]], x=found.score_names[0]
            )
        )
    names = [one.name for one in found.methods]
    if len(names) > 1:
        made.append(
            charts.heat_map(
                "methods-agreement",
                "How often methods answer alike",
                names,
                names,
                found.agreement,
                row_name="",
                column_name="",
            )
        )
    return made
