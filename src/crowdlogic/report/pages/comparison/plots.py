"""The plots of the comparison: methods by their score, and how often they answer alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crowdlogic.report.findings import TaskKind
from crowdlogic.report.pages.comparison.findings import ComparisonFindings
from crowdlogic.report.plots.elements import Plot
from crowdlogic.report.plots.rows import DotRow, Mark, dot_plot, heat_map


def draw_comparison(found: ComparisonFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """The plots of the page of the comparison."""
    return {"main": [*_scores(found), *_agreement(found)]}


def _scores(found: ComparisonFindings) -> Iterator[Plot]:
    for score in found.score_names[:1]:
        rows = [DotRow(one.name, [Mark(one.scores[0])]) for one in found.methods if one.scores]
        yield dot_plot("methods", f"Methods by {score}", rows, [score], x=score)


def _agreement(found: ComparisonFindings) -> Iterator[Plot]:
    names = [one.name for one in found.methods]
    if len(names) > 1:
        heading = "How often methods answer alike"
        yield heat_map("methods-agreement", heading, found.agreement, rows=names, columns=names)
