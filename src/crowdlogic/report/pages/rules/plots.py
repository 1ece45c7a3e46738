"""The plot of the rules: how often each holds where it applies, against chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdlogic.report.findings import TaskKind
from crowdlogic.report.pages.rules.findings import RuleFindings
from crowdlogic.report.plots.elements import Plot
from crowdlogic.report.plots.rows import DotRow, Mark, dot_plot

MOST_ROWS = 30
"""Beyond this, a plot says less than the table."""


def draw_rules(found: RuleFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """The plots of the page of rules; none for a single rule, of which the sentence says it all."""
    if len(found.rows) < 2:
        return {"main": []}
    rows = [
        DotRow(
            f"rule {number}",
            [Mark(row.satisfaction.value, low=row.satisfaction.low, high=row.satisfaction.high), Mark(row.chance)],
        )
        for number, row in enumerate(found.rows[:MOST_ROWS], 1)
    ]
    heading, kinds = "How far the crowd agrees with each rule", ["holds where it applies", "at random"]
    return {"main": [dot_plot("rules", heading, rows, kinds, x="share of applications", from_zero=True)]}
