"""Which plots every page of a report has. Figures come from the findings; nothing is computed but shares of rows."""

from __future__ import annotations

from collections.abc import Sequence

from crowdlogic.report import plots_charts as charts
from crowdlogic.report import plots_rows as lined
from crowdlogic.report.findings import (
    ComparisonFindings,
    LabelFindings,
    Overview,
    Page,
    Report,
    RuleFindings,
    Task,
    TrainingFindings,
)
from crowdlogic.report.plots import Plot, percent
from crowdlogic.report.plots_people import annotators, matrices, reliability
from crowdlogic.report.wording import score_title

CHECKED = 0.8
"""Answers below this confidence are drawn as those to check."""


SHORT = {"cohen": "Cohen's kappa, mean"}
"""Titles that are too long for the side of a plot."""

MOST_ROWS, MOST_CLASSES = 30, 24
"""Beyond these many, a plot says less than a table."""


def plots_of(report: Report) -> dict[str, tuple[Plot, ...]]:
    """The plots of every page, by the page's name.

    `matrices` holds the annotators' small confusion matrices, `glance` what the overview shows of other pages.
    """
    made: dict[str, Sequence[Plot]] = {
        Page.overview: _overview(report.overview),
        Page.labels: _labels(report.labels, report.overview.task),
        Page.annotators: annotators(report.annotators, report.overview.task),
        "matrices": matrices(report.annotators),
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
    trusted = [reliability(report.annotators, report.overview.task)] if report.annotators.rows else []
    return [*trusted, *_confidence("glance-confidence", report.labels, report.overview.task)]


def _overview(overview: Overview) -> list[Plot]:
    made = []
    if overview.classes:
        has_gold = any(one.gold_share is not None for one in overview.classes)
        kinds = ["what the method believes", "what was voted", *(["gold"] if has_gold else [])]
        rows = [
            lined.Row(
                one.name, [lined.Mark(v) for v in (one.posterior_share, one.vote_share, one.gold_share)[: len(kinds)]]
            )
            for one in overview.classes[:MOST_CLASSES]
        ]
        made.append(lined.dots("classes", "How common each class is", rows, kinds, x="share", from_zero=True))
    agreement = [
        lined.Row(SHORT.get(one.name, one.title), [lined.Mark(one.figure.value, one.figure.low, one.figure.high)])
        for one in overview.agreement
    ]
    if agreement:
        level = percent(overview.agreement[0].level)
        made.append(
            lined.dots(
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


def _rules(found: RuleFindings) -> list[Plot]:
    if len(found.rows) < 2:  # the sentence says it
        return []
    rows = [
        lined.Row(
            f"rule {n + 1}",
            [lined.Mark(row.satisfaction.value, row.satisfaction.low, row.satisfaction.high), lined.Mark(row.chance)],
        )
        for n, row in enumerate(found.rows[:MOST_ROWS])
    ]
    return [
        lined.dots(
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
    stopping = [(e.epoch, e.stopping) for e in found.epochs if e.stopping is not None]
    scored = [
        charts.Line(score_title(name), [(e.epoch, y) for e in found.epochs for y in [e.scores[n]] if y is not None])
        for n, name in enumerate(found.score_names)
    ]
    if found.stops_by_score and not any(line.points == stopping for line in scored):
        scored.insert(0, charts.Line(found.stopping_name, stopping))
    scored = [line for line in scored if line.points]
    if scored:
        made.append(
            charts.lines("scores", "Scores by epoch", scored, x="epoch", y=found.score_name, chosen=found.chosen)
        )
    if stopping and not found.stops_by_score:
        line = charts.Line(found.stopping_name, stopping)
        made.append(
            charts.lines(
                "stopping",
                "What it stops by: " + found.stopping_name,
                [line],
                x="epoch",
                y="per label",
                chosen=found.chosen,
                show=lambda v: f"{v:.3g}",
            )
        )
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
    views = [lined.Row(view.title, [lined.Mark(view.score)]) for view in found.views if view.score is not None]
    if views:
        made.append(
            lined.dots(
                "views",
                "What each source would have answered",
                views,
                [found.score_name],
                x=f"{found.score_name} against gold",
            )
        )
    watched = [lined.Row(one.name, [lined.Mark(one.student), lined.Mark(one.teacher)]) for one in found.watched]
    if watched:
        made.append(
            lined.dots(
                "student-teacher",
                "The classifier alone, and put right by the rules",
                watched,
                ["alone (student)", "put right (teacher)"],
                x=found.score_name,
            )
        )
    return made


def _comparison(found: ComparisonFindings) -> list[Plot]:
    made = []
    if found.score_names:
        rows = [lined.Row(one.name, [lined.Mark(one.scores[0])]) for one in found.methods if one.scores]
        made.append(
            lined.dots(
                "methods", f"Methods by {found.score_names[0]}", rows, [found.score_names[0]], x=found.score_names[0]
            )
        )
    names = [one.name for one in found.methods]
    if len(names) > 1:
        made.append(
            lined.heat_map(
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
