"""The plots of the overview: classes, agreement, annotators per item, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crowdlogic.report.findings import TaskKind
from crowdlogic.report.pages.overview.findings import Coefficient, OverviewFindings
from crowdlogic.report.plots.charts import ReliabilityBin, calibration_chart, histogram_chart
from crowdlogic.report.plots.elements import Plot
from crowdlogic.report.plots.rows import DotRow, Mark, dot_plot
from crowdlogic.report.plots.scales import format_percent

SHORT_TITLES = {"cohen": "Cohen's kappa, mean"}
"""For titles that are too long for the side of a plot."""
MOST_CLASSES = 24
"""Beyond this, a plot says less than the table."""


def draw_overview(found: OverviewFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """The plots of the overview."""
    return {"main": [*_classes(found), *_agreement(found.agreement), *_labels_per_item(found), *_calibration(found)]}


def _classes(found: OverviewFindings) -> Iterator[Plot]:
    if not found.classes:
        return
    has_gold = any(one.gold_share is not None for one in found.classes)
    kinds = ["what the method believes", "what was voted", *(["gold"] if has_gold else [])]
    rows = [
        DotRow(one.name, [Mark(v) for v in (one.posterior_share, one.vote_share, one.gold_share)[: len(kinds)]])
        for one in found.classes[:MOST_CLASSES]
    ]
    yield dot_plot("classes", "How common each class is", rows, kinds, x="share", from_zero=True)


def _agreement(coefficients: Sequence[Coefficient]) -> Iterator[Plot]:
    if not coefficients:
        return
    rows = [
        DotRow(
            SHORT_TITLES.get(one.name, one.title), [Mark(one.figure.value, low=one.figure.low, high=one.figure.high)]
        )
        for one in coefficients
    ]
    yield dot_plot(
        "agreement",
        "How far annotators agree",
        rows,
        ["agreement"],
        x=f"coefficient, with {format_percent(coefficients[0].level)} interval",
        show=lambda v: f"{v:.2f}",
        from_zero=True,
    )


def _labels_per_item(found: OverviewFindings) -> Iterator[Plot]:
    histogram = found.labels_per_item
    if len(histogram.edges) > 1:
        heading = "How many annotators an item has"
        yield histogram_chart("labels-per-item", heading, histogram, x="annotators", y="items", whole=True)


def _calibration(found: OverviewFindings) -> Iterator[Plot]:
    bins = [
        ReliabilityBin(confidence=b.confidence, right=b.accuracy, low=b.accuracy_low, high=b.accuracy_high, n=b.n)
        for b in found.calibration
        if b.confidence is not None and b.accuracy is not None
    ]
    if bins:
        heading = "Are answers right as often as their confidence says?"
        yield calibration_chart(
            "calibration", heading, bins, x="confidence", y="share that is right, with 95% interval"
        )
