"""Figures of the experiments from finished runs: annotators, sample efficiency, sensitivity to C and k.

The figures of annotators show the run with the lowest seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup

from crowdlogic.extensions.paper.published import IMITATIONS, NER, STRENGTHS, paper_task
from crowdlogic.extensions.paper.results import FinishedRuns, mean_interval
from crowdlogic.extensions.paper.tables import (
    FEW_LABELS,
    AnnotatorScore,
    metric_names,
    percentages,
    reliability_correlation,
    row_with_samples,
    sample_sizes,
    scored_annotators,
)
from crowdlogic.reporting.charts import (
    Curve,
    Frame,
    Plot,
    Scale,
    bottom_axis,
    finish_plot,
    format_number,
    format_percent,
    heat_map,
    left_axis,
    line_chart,
    straight_line,
    tag,
    text,
    tooltip,
)

SHOWN = {True: 4, False: 6}
"""Number of annotators whose matrices are shown, by whether the task is tagging: four and six, as in the paper."""

GAP = 26
"""Space above each matrix in pixels."""


def build_figures(runs: FinishedRuns, task: str) -> list[Plot]:
    """Return all figures that can be drawn from the finished runs of a task."""
    plots: list[Plot] = []
    if annotated := runs.row_runs(task, "annotators"):
        record = annotated[0]["annotators"]
        metric = "F1" if paper_task(task) == NER else "accuracy"
        items = [float(one["items"]) for one in record["each"]]
        skill = [one["skill"] for one in record["each"] if one["skill"] is not None]
        plots += [
            confusion_figure(record, SHOWN[paper_task(task) == NER]),
            reliability_figure(scored_annotators(annotated[0])),
            box_plot("amount", "Annotated items per annotator", items, y="items", logarithmic=True),
            box_plot("skill", f"{metric} of annotators", skill, y=metric),
        ]
    plots += [*_sample_figures(runs, task), *_sensitivity_figures(runs, task)]
    return [replace(plot, name=f"{task}-{plot.name}") for plot in plots]


def confusion_figure(record: dict[str, Any], count: int) -> Plot:
    """Draw the confusion matrices of the annotators with the most labels: estimated above, real below."""
    inside: list[Markup] = []
    x = high = 0.0
    for place, one in enumerate(record["busiest"][:count]):
        pair = [_matrix(f"{place}-{what}", one[what], record["classes"]) for what in ("estimated", "real")]
        wide, tall = max(plot.size[0] for plot in pair), pair[0].size[1] + GAP
        inside.append(text(x + wide / 2, 14, one["name"], class_="label"))
        for level, (what, plot) in enumerate(zip(("estimated", "real"), pair, strict=True)):
            y = 18 + level * tall
            inside.append(text(x + 4, y + 14, what, anchor="start", class_="note"))
            inside.append(tag("g", plot.svg, transform=f"translate({x:.0f} {y + GAP - 8:.0f})"))
        x, high = x + wide + 18, max(high, 18 + 2 * tall)
    says = f"Estimated and real confusion matrices of the {count} annotators with the most labels."
    return finish_plot("confusion", "Estimated and real confusion matrices", says, inside, size=(x, high))


def _matrix(name: str, values: list[list[float | None]], classes: Sequence[str]) -> Plot:
    filled = [[math.nan if value is None else value for value in row] for row in values]
    return heat_map(name, name, filled, rows=classes, columns=classes, row_name="truth", column_name="answer")


def reliability_figure(annotators: list[AnnotatorScore]) -> Plot:
    """Draw estimated against real overall reliability, with the diagonal of equality."""
    frame = Frame(width=420, height=400)
    low = math.floor(10 * min(one[what] for one in annotators for what in ("estimated", "real"))) / 10
    across, up = frame.across(low, 1.0), frame.up(low, 1.0)
    marks = [*left_axis(frame, up, "estimated", format_percent), *bottom_axis(frame, across, "real", format_percent)]
    marks.append(straight_line(across(low), up(low), across(1.0), up(1.0), class_="chance"))
    most = max(one["labels"] for one in annotators)
    for one in annotators:  # a point whose size grows with the number of labels
        note = f"{one['name']}: real {format_percent(one['real'])}, estimated {format_percent(one['estimated'])}"
        size = 2.5 + 6 * math.sqrt(one["labels"] / most)
        place = {"cx": across(one["real"]), "cy": up(one["estimated"]), "r": size}
        marks.append(tag("circle", tooltip(note), class_="mark c1", fill_opacity=0.55, **place))
    r = reliability_correlation(annotators)
    heading = f"Overall reliability of {len(annotators)} annotators: r = {r:.3f}"
    says = f"{heading}; annotators with more than {FEW_LABELS} labels, larger points have more."
    return finish_plot("reliability", heading, says, marks, size=(frame.width, frame.height))


def box_plot(name: str, heading: str, values: Sequence[float], *, y: str, logarithmic: bool = False) -> Plot:
    """Draw a box plot: quartiles, whiskers up to 1.5 times the height of the box, and all values next to it."""
    frame = Frame(width=230, height=320)
    show = format_number if logarithmic else format_percent
    low, high = (max(min(values), 1.0) / 1.3, max(values) * 1.3) if logarithmic else (0.0, 1.0)
    up = Scale(low, high, start=frame.height - frame.bottom, end=frame.top, logarithmic=logarithmic)
    lower, median, upper = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    middle = frame.left + 50
    # The whiskers
    reach = 1.5 * (upper - lower)
    least = min(value for value in values if value >= lower - reach)
    most = max(value for value in values if value <= upper + reach)
    marks = [
        *left_axis(frame, up, y, show),
        straight_line(middle, up(least), middle, up(lower), class_="axis"),
        straight_line(middle, up(upper), middle, up(most), class_="axis"),
        *(straight_line(middle - 10, up(end), middle + 10, up(end), class_="axis") for end in (least, most)),
    ]
    # The box, with its median
    half = 26.0
    box = {"x": middle - half, "y": up(upper), "width": 2 * half, "height": max(up(lower) - up(upper), 1.0)}
    marks += [
        tag("rect", tooltip(f"half of them lie from {show(lower)} to {show(upper)}"), class_="mark c5", **box),
        straight_line(middle - half, up(median), middle + half, up(median), class_="chosen"),
        text(middle + half + 5, up(median) + 4, show(median), anchor="start", class_="label"),
    ]
    # All values next to the box, with a horizontal offset that separates equal ones
    for place, value in enumerate(values):
        x = middle + 84 + 14 * math.sin(37 * place)
        marks.append(tag("circle", cx=x, cy=up(value), r=2.2, class_="mark c1", fill_opacity=0.6))
    says = f"{heading}: median {show(median)}, half from {show(lower)} to {show(upper)}, {len(values)} in all."
    return finish_plot(name, heading, says, marks, size=(frame.width, frame.height))


SAMPLE_CURVES = {
    "prediction": (
        ("student", "logic-lncl", "student"),
        ("teacher", "logic-lncl", "teacher"),
        ("AggNet", "aggnet", "student"),
    ),
    "inference": (("Logic-LNCL", "logic-lncl", "inference"), ("AggNet", "aggnet", "inference")),
}
"""Curves of each figure of sample efficiency: label, row, and scored part."""


def _sample_figures(runs: FinishedRuns, task: str) -> list[Plot]:
    """Draw prediction and inference against the number of training items."""
    plots = []
    for what, curves in SAMPLE_CURVES.items():
        made = []
        for label, row, part in curves:
            rows = [(size, row_with_samples(row, size, task)) for size in sample_sizes(task)]
            made.append(_curve(runs, task, label=label, part=part, rows=rows))
        if all(len(line.points) > 1 for line in made):
            heading = f"{what.capitalize()} with fewer training items"
            plots.append(line_chart(f"samples-{what}", heading, made, x="training items", y=metric_names(task)[-1]))
    return plots


def _sensitivity_figures(runs: FinishedRuns, task: str) -> list[Plot]:
    """Draw dev scores against C, and against a constant k."""
    plots = []
    for letter, values in (("C", STRENGTHS), ("k", IMITATIONS)):
        rows = [(value, f"logic-lncl, {letter} {value:g}") for value in values]
        made = [_curve(runs, task, label=part, part=part, rows=rows) for part in ("dev student", "dev teacher")]
        if all(len(line.points) > 1 for line in made):
            heading = f"Dev score by {letter}"
            plots.append(line_chart(f"sensitivity-{letter}", heading, made, x=letter, y=metric_names(task)[-1]))
    return plots


def _curve(runs: FinishedRuns, task: str, *, label: str, part: str, rows: Sequence[tuple[float, str]]) -> Curve:
    """Return the curve of mean headline scores, as shares, of the finished rows."""
    metric = metric_names(task)[-1]
    scores = [(x, percentages(runs.row_runs(task, row), part, metric)) for x, row in rows]
    return Curve(label, [(x, mean_interval(values).mean / 100) for x, values in scores if values])
