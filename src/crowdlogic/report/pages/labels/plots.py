"""The plots of the page of labels: how sure the answers are, and what checking would find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crowdlogic.report.findings import Histogram, TaskKind
from crowdlogic.report.page import Highlights, Tile
from crowdlogic.report.pages.labels.findings import LabelFindings
from crowdlogic.report.plots.charts import Curve, histogram_chart, line_chart
from crowdlogic.report.plots.elements import Plot
from crowdlogic.report.plots.scales import format_percent


def draw_labels(found: LabelFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:
    """The plots of the page of labels."""
    return {"main": [*_confidence("confidence", found, task), *_checking(found, task)]}


def highlight_labels(found: LabelFindings, task: TaskKind) -> Highlights:
    """How many mistakes are expected, and how sure the answers are."""
    tiles = []
    if found.expected_wrong_share is not None:
        note = f"{format_percent(found.expected_wrong_share)} of the answers"
        tiles.append(Tile(figure=f"{found.expected_wrong:,.0f}", name="expected mistakes", note=note))
    return Highlights(tiles, [*_confidence("overview-confidence", found, task)])


def _units(task: TaskKind) -> str:
    return "items" if task is TaskKind.documents else "tokens"


def _confidence(name: str, found: LabelFindings, task: TaskKind) -> Iterator[Plot]:
    edges, counts = found.confidence.edges, found.confidence.counts
    if len(edges) < 2:
        return
    # No answer can be less sure than one in as many as there are classes: the empty left side is left out.
    first = max(0, next((b for b, count in enumerate(counts) if count), 0) - 1)
    yield histogram_chart(
        name,
        "How sure the answers are",
        Histogram(edges[first:], counts[first:]),
        x="confidence in the answer",
        y=_units(task),
        weak_below=found.check_below,
    )


def _checking(found: LabelFindings, task: TaskKind) -> Iterator[Plot]:
    points = [(row.n_below, row.share_found) for row in found.thresholds if row.share_found is not None]
    if len(points) > 1:
        yield line_chart(
            "checking",
            "What checking the least sure answers would find",
            [Curve("mistakes found", [(0, 0.0), *points])],
            x=f"{_units(task)} checked, the least sure first",
            y="of expected mistakes",
        )
