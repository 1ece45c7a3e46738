"""The plot of the plan: the expected accuracy after further labels, and after decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdlogic.report.findings import TaskKind
from crowdlogic.report.pages.plan.findings import PlanFindings
from crowdlogic.report.plots.charts import Curve, line_chart
from crowdlogic.report.plots.elements import Plot


def draw_plan(found: PlanFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """The plots of the page of the plan."""
    curves = [
        Curve("further labels", [(float(one.count), one.votes) for one in found.forecast]),
        Curve("an expert's decisions", [(float(one.count), one.decisions) for one in found.forecast]),
    ]
    heading = "What more labels, or an expert's decisions, should bring"
    return {"main": [line_chart("plan", heading, curves, x="labels, or items decided", y="expected accuracy")]}
