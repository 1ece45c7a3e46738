"""The figures of the experiments as files: annotators, fewer samples, other C and k. SVG always, PNG with a browser.

They are drawn from the files of finished runs; those of annotators show the run with the lowest seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from crowdlogic.experiments.paper import IMITATIONS, NER, STRENGTHS, kind_of
from crowdlogic.experiments.statistics import mean_of
from crowdlogic.experiments.studies import FEW, correlation, reliabilities, sized, sizes_of
from crowdlogic.experiments.tables import measures, percents, runs_of
from crowdlogic.report.plots import (
    Frame,
    Plot,
    Scale,
    bottom_axis,
    drawn,
    left_axis,
    percent,
    rule,
    short,
    tag,
    text,
    title,
)
from crowdlogic.report.plots_charts import Line, lines
from crowdlogic.report.plots_rows import heat_map

SHOWN = {True: 4, False: 6}
"""Of how many annotators the matrices are shown: four for tags, six for documents, as in the paper."""

GAP = 26


def figures_of(folder: Path, task: str) -> list[Plot]:
    """Every figure that the finished runs of a task allow."""
    found = [*_annotators(folder, task), *_samples(folder, task), *_sensitivity(folder, task)]
    return [replace(plot, name=f"{task}-{plot.name}") for plot in found]


def _annotators(folder: Path, task: str) -> list[Plot]:
    runs = runs_of(folder, task, "annotators")
    if not runs:
        return []
    found, each = runs[0]["annotators"], reliabilities(folder, task)[0]
    return [matrices(found, SHOWN[kind_of(task) == NER]), scattered(each), *boxes(found["each"], task)]


def matrices(found: dict[str, Any], count: int) -> Plot:
    """The busiest annotators' matrices: estimated above, real below."""
    inside: list[Markup] = []
    x = high = 0.0
    for place, one in enumerate(found["busiest"][:count]):
        pair = [_matrix(f"{place}-{what}", one[what], found["classes"]) for what in ("estimated", "real")]
        wide, tall = max(plot.size[0] for plot in pair), pair[0].size[1] + GAP
        inside.append(text(x + wide / 2, 14, one["name"], class_="label"))
        for level, (what, plot) in enumerate(zip(("estimated", "real"), pair, strict=True)):
            y = 18 + level * tall
            inside.append(text(x + 4, y + 14, what, anchor="start", class_="note"))
            inside.append(tag("g", plot.svg, transform=f"translate({x:.0f} {y + GAP - 8:.0f})"))
        x, high = x + wide + 18, max(high, 18 + 2 * tall)
    says = f"Estimated and real confusion matrices of the {count} annotators with the most labels."
    return drawn("confusion", "Estimated and real confusion matrices", says, inside, size=(x, high))


def _matrix(name: str, values: list[list[float | None]], classes: Sequence[str]) -> Plot:
    filled = [[math.nan if value is None else value for value in row] for row in values]
    return heat_map(name, name, classes, classes, filled, row_name="truth", column_name="answer")


def scattered(each: Sequence[dict[str, Any]]) -> Plot:
    """Estimated against real overall reliability, the diagonal where they agree."""
    frame = Frame(width=420, height=400)
    values = [one[what] for one in each for what in ("estimated", "real")]
    low = math.floor(10 * min(values)) / 10
    across, up = frame.across(low, 1.0), frame.up(low, 1.0)
    r = correlation(list(each))
    marks = [*left_axis(frame, up, "estimated", percent), *bottom_axis(frame, across, "real", percent)]
    marks.append(rule(across(low), up(low), across(1.0), up(1.0), "chance"))
    most = max(one["labels"] for one in each)
    for one in each:
        note = title(f"{one['name']}: real {percent(one['real'])}, estimated {percent(one['estimated'])}")
        size = 2.5 + 6 * math.sqrt(one["labels"] / most)
        place = {"cx": across(one["real"]), "cy": up(one["estimated"]), "r": size}
        marks.append(tag("circle", note, class_="mark c1", fill_opacity=0.55, **place))
    heading = f"Overall reliability of {len(each)} annotators: r = {r:.3f}"
    says = f"{heading}; annotators with more than {FEW} labels, larger points have more."
    return drawn("reliability", heading, says, marks, size=(frame.width, frame.height))


def boxes(each: Sequence[dict[str, Any]], task: str) -> list[Plot]:
    """How much annotators did, and how well."""
    kind = "F1" if kind_of(task) == NER else "accuracy"
    items = [float(one["items"]) for one in each]
    skill = [one["skill"] for one in each if one["skill"] is not None]
    return [
        box_plot("amount", "Annotated items per annotator", items, y="items", logarithmic=True),
        box_plot("skill", f"{kind} of annotators", skill, y=kind),
    ]


def box_plot(name: str, heading: str, values: Sequence[float], *, y: str, logarithmic: bool = False) -> Plot:
    """Quartiles in a box, whiskers to the last value within 1.5 times its height, all values beside it."""
    frame = Frame(width=230, height=320)
    show = short if logarithmic else percent
    low, high = (max(min(values), 1.0) / 1.3, max(values) * 1.3) if logarithmic else (0.0, 1.0)
    up = Scale(low, high, frame.height - frame.bottom, frame.top, logarithmic)
    quarter, median, upper = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = 1.5 * (upper - quarter)
    least, most = (
        min(value for value in values if value >= quarter - reach),
        max(value for value in values if value <= upper + reach),
    )
    middle, half = frame.left + 50, 26.0
    box = {"x": middle - half, "y": up(upper), "width": 2 * half, "height": max(up(quarter) - up(upper), 1.0)}
    marks = [
        *left_axis(frame, up, y, show),
        rule(middle, up(least), middle, up(quarter), "axis"),
        rule(middle, up(upper), middle, up(most), "axis"),
        *(rule(middle - 10, up(end), middle + 10, up(end), "axis") for end in (least, most)),
        tag("rect", title(f"half of them lie from {show(quarter)} to {show(upper)}"), class_="mark c5", **box),
        rule(middle - half, up(median), middle + half, up(median), "chosen"),
        text(middle + half + 5, up(median) + 4, show(median), anchor="start", class_="label"),
    ]
    marks += [
        tag(
            "circle",
            cx=middle + 84 + 14 * math.sin(37 * place),
            cy=up(value),
            r=2.2,
            class_="mark c1",
            fill_opacity=0.6,
        )
        for place, value in enumerate(values)
    ]
    says = f"{heading}: median {show(median)}, half from {show(quarter)} to {show(upper)}, {len(values)} in all."
    return drawn(name, heading, says, marks, size=(frame.width, frame.height))


def _samples(folder: Path, task: str) -> list[Plot]:
    """Prediction and inference against the number of training items."""
    name = measures(task)[-1]
    wanted = {
        "prediction": (
            ("student", "logic-lncl", "student"),
            ("teacher", "logic-lncl", "teacher"),
            ("AggNet", "aggnet", "student"),
        ),
        "inference": (("Logic-LNCL", "logic-lncl", "inference"), ("AggNet", "aggnet", "inference")),
    }
    plots = []
    for what, curves in wanted.items():
        drawn_lines = [
            Line(
                label,
                _curve(
                    [
                        (size, percents(runs_of(folder, task, sized(row, size, task)), part, name))
                        for size in sizes_of(task)
                    ]
                ),
            )
            for label, row, part in curves
        ]
        if all(len(line.points) > 1 for line in drawn_lines):
            heading = f"{what.capitalize()} with fewer training items"
            plots.append(lines(f"samples-{what}", heading, drawn_lines, x="training items", y=name))
    return plots


def _sensitivity(folder: Path, task: str) -> list[Plot]:
    """Dev scores against C, and against a constant k."""
    name = measures(task)[-1]
    plots = []
    for letter, values in (("C", STRENGTHS), ("k", IMITATIONS)):
        drawn_lines = [
            Line(
                part,
                _curve(
                    [
                        (value, percents(runs_of(folder, task, f"logic-lncl, {letter} {value:g}"), part, name))
                        for value in values
                    ]
                ),
            )
            for part in ("dev student", "dev teacher")
        ]
        if all(len(line.points) > 1 for line in drawn_lines):
            plots.append(lines(f"sensitivity-{letter}", f"Dev score by {letter}", drawn_lines, x=letter, y=name))
    return plots


def _curve(points: Sequence[tuple[float, Sequence[float]]]) -> list[tuple[float, float]]:
    """The means of those sizes that were run, as shares."""
    return [(x, mean_of(values).mean / 100) for x, values in points if values]
