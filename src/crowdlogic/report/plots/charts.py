"""Plots over two axes: histogram, scatter with intervals, lines, calibration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from crowdlogic.data.wording import pluralise
from crowdlogic.report.findings import Histogram
from crowdlogic.report.plain_text import show_controls
from crowdlogic.report.plots.elements import (
    Plot,
    bottom_axis,
    colour_number,
    finish_plot,
    fit_words,
    left_axis,
    straight_line,
    tag,
    text,
    tooltip,
)
from crowdlogic.report.plots.scales import Frame, Scale, format_number, format_percent

BOLD = 7.8
"""The width of a character of a name beside a point."""


DASHES = ("", "6 4", "2 3", "9 3 2 3", "12 4", "4 2 1 2")
"""Lines differ by their dashes too, so that nobody needs the colours."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a scatter chart: position, interval and name; marked points are emphasised, pale ones are not."""

    name: str
    x: float
    y: float
    low: float
    high: float
    marked: bool = False
    note: str = ""
    pale: bool = False


@dataclass(frozen=True)
class Curve:
    """A curve of a line chart: its name and its points (x, y), in order."""

    name: str
    points: Sequence[tuple[float, float]]


def histogram_chart(
    name: str,
    heading: str,
    histogram: Histogram,
    *,
    x: str,
    y: str,
    weak_below: float | None = None,
    whole: bool = False,
) -> Plot:
    """Bars over the ranges between edges; those below `weak_below` are hatched as well as coloured.

    For whole numbers, each bar is centred on its number.
    """
    show = format_number if whole else format_percent
    frame, edges, counts = Frame(), histogram.edges, histogram.counts
    shift = 0.5 if whole else 0.0
    across, up = frame.across(edges[0] - shift, edges[-1] - shift), frame.up(0, max([*counts, 1]) * 1.1)
    description = (
        f"{heading}: {sum(counts):,} in all; most, {max(counts, default=0):,}, at {_fullest(edges, counts, whole)}."
    )
    marks = [_hatch(name), *left_axis(frame, up, y), *bottom_axis(frame, across, x, show, whole=whole)]
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        weak = weak_below is not None and high <= weak_below + 1e-9
        note = f"{_range(low, high, whole)}: {count:,}"
        ends = (across(low - shift), across(high - shift))
        marks += _column(ends, up, count, note=note, hatch=f"hatch-{name}" if weak else None)
    legend = (
        (
            ("c6 hatched", f"below {format_percent(weak_below)}: to check"),
            ("c1", f"{format_percent(weak_below)} or more"),
        )
        if weak_below is not None
        else ()
    )
    return finish_plot(name, heading, description, marks, legend=legend)


def _column(ends: tuple[float, float], up: Scale, count: int, *, note: str, hatch: str | None) -> list[Markup]:
    """One bar, never too low to be seen, hatched if asked for, and its figure above it where there is room."""
    tall = max(up(0) - up(count), 1.5) if count else 0.0
    box = {"x": ends[0] + 1, "y": up(0) - tall, "width": max(ends[1] - ends[0] - 2, 1.0), "height": tall}
    marks = [tag("rect", tooltip(note), class_="mark c6" if hatch else "mark c1", **box)]
    if hatch and count:
        marks.append(tag("rect", fill=f"url(#{hatch})", class_="quiet", **box))
    figure = format_number(count) if count < 1000 or count >= 10000 else f"{count / 1000:.1f}k"
    if count and len(figure) * 6.8 < ends[1] - ends[0]:
        marks.append(text((ends[0] + ends[1]) / 2, up(0) - tall - 4, figure, class_="note"))
    return marks


def _fullest(edges: Sequence[float], counts: Sequence[int], whole: bool) -> str:
    best = max(range(len(counts)), key=lambda n: counts[n]) if counts else 0
    return _range(edges[best], edges[best + 1], whole)


def _range(low: float, high: float, whole: bool) -> str:
    if not whole:
        return f"{format_percent(low)} to {format_percent(high)}"
    return format_number(low) if high - low <= 1 else f"{format_number(low)} to {format_number(high - 1)}"


def _hatch(name: str) -> Markup:
    line = tag("path", d="M0 6 L6 0", class_="hatch")
    return tag("defs", tag("pattern", line, id=f"hatch-{name}", width=6, height=6, patternUnits="userSpaceOnUse"))


def scatter_chart(
    name: str,
    heading: str,
    points: Sequence[Point],
    *,
    x: str,
    y: str,
    marked: str,
    unmarked: str,
    pale: str = "",
    chance: float | None = None,
) -> Plot:
    """Points with their intervals: marked ones are diamonds with their names beside them, pale ones rings without."""
    frame = Frame(height=340)
    sizes = [max(point.x, 1.0) for point in points] or [1.0]
    across = frame.across(min(sizes) / 1.25, max(sizes) * 1.25, logarithmic=True)
    floor = min([0.8, *([] if chance is None else [chance - 0.05]), *(p.y if p.pale else p.low for p in points)])
    up = frame.up(max(math.floor(floor * 10) / 10, -1.0), 1.0)
    flagged = [point.name for point in points if point.marked]
    description = f"{heading}: {pluralise(len(points), 'point')}, {len(flagged)} marked" + (
        f": {_some(flagged)}." if flagged else "."
    )
    marks = [*left_axis(frame, up, y, format_percent), *bottom_axis(frame, across, x)]
    if chance is not None and up.low < chance < 1:
        marks += [straight_line(frame.left, up(chance), frame.width - frame.right, up(chance), class_="chance")]
        marks += [text(frame.width - frame.right - 2, up(chance) + 13, "guessing", anchor="end", class_="note")]
    for point in sorted(points, key=lambda one: one.marked - one.pale):
        marks.append(_dot(point, across(max(point.x, 1.0)), up))
    places = [(point, across(max(point.x, 1.0)), up(point.y)) for point in points if point.marked]
    word = [] if chance is None else [(frame.width - frame.right - 55, up(chance), frame.width, up(chance) + 16)]
    marks += _names(places, frame, word)
    legend = (
        ("c1 dot", unmarked),
        *([("c6 diamond", marked)] if flagged else []),
        *([("c8 ring", pale)] if any(point.pale for point in points) else []),
    )
    return finish_plot(
        name, heading, description, marks, size=(frame.width, frame.height), legend=legend if len(legend) > 1 else ()
    )


def _dot(point: Point, x: float, up: Scale) -> Markup:
    y = up(point.y)
    interval = f"{format_percent(point.low)} to {format_percent(point.high)}"
    note = f"{point.name}: {format_percent(point.y)} ({interval}), {point.x:,.0f}"
    words = tooltip(f"{note}. {point.note}" if point.note else note)
    if point.pale:  # its interval is nearly everything, and would cover the others
        return tag("g", words, tag("circle", cx=x, cy=y, r=3.2, class_="ring c8"))
    low, high = (min(max(end, up.low), up.high) for end in (point.low, point.high))
    whisker = straight_line(x, up(low), x, up(high), class_="whisker c6" if point.marked else "whisker c1")
    shape = (
        tag("path", d=f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z", class_="mark c6")
        if point.marked
        else tag("circle", cx=x, cy=y, r=4, class_="mark c1")
    )
    return tag("g", words, whisker, shape)


Box = tuple[float, float, float, float]


def _names(
    places: Sequence[tuple[Point, float, float]], frame: Frame, kept: Sequence[Box] = (), most: int = 12
) -> list[Markup]:
    """Names right or left of the marked points, as long as they cover neither other words nor another marked point."""
    taken: list[Box] = [*kept, *((x - 6, y - 6, x + 6, y + 6) for _, x, y in places)]
    marks: list[Markup] = []
    for point, x, y in places:
        words = fit_words(point.name, 110)
        wide = len(words) * BOLD
        for left in (x + 9, x - 9 - wide):
            box = (left, y - 9, left + wide, y + 5)
            inside = left >= frame.left and left + wide <= frame.width - 2
            if len(marks) < most and inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                marks.append(text(left, y + 4, words, anchor="start", class_="label"))
                break
    return marks


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def line_chart(
    name: str,
    heading: str,
    series: Sequence[Curve],
    *,
    x: str,
    y: str,
    chosen: float | None = None,
    show: Callable[[float], str] = format_percent,
    x_show: Callable[[float], str] = format_number,
) -> Plot:
    """Lines that differ by colour, dashes and a name at their end; the chosen x is a marked vertical."""
    frame = Frame()
    xs = [place for line in series for place, _ in line.points] or [0.0]
    ys = [figure for line in series for _, figure in line.points if math.isfinite(figure)] or [0.0, 1.0]
    room = (max(ys) - min(ys)) * 0.08 or abs(max(ys)) * 0.05 or 0.5
    across, up = (
        frame.across(min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1),
        frame.up(min(ys) - room, max(ys) + room),
    )
    description = f"{heading}: " + "; ".join(_describe_curve(line, show) for line in series) + "."
    marks = [
        *left_axis(frame, up, y, show),
        *bottom_axis(frame, across, x, x_show, whole=all(float(one).is_integer() for one in xs)),
    ]
    if chosen is not None:
        side = "end" if across(chosen) > frame.width * 0.7 else "start"
        marks += [straight_line(across(chosen), frame.top, across(chosen), up.start, class_="chosen")]
        marks += [
            text(
                across(chosen) + (-6 if side == "end" else 6),
                frame.top + 9,
                f"chosen: {x_show(chosen)}",
                anchor=side,
                class_="label",
            )
        ]
    for place, line in enumerate(series):
        marks += _curve_marks(line, place, across, up, show=show, x_show=x_show)
    legend = tuple(
        (f"c{colour_number(place)} line d{place % len(DASHES)}", line.name) for place, line in enumerate(series)
    )
    return finish_plot(name, heading, description, marks, legend=legend if len(series) > 1 else ())


def _describe_curve(line: Curve, show: Callable[[float], str]) -> str:
    if not line.points:
        return f"{show_controls(line.name)}: nothing"
    return f"{show_controls(line.name)} from {show(line.points[0][1])} to {show(line.points[-1][1])}"


def _curve_marks(
    line: Curve, place: int, across: Scale, up: Scale, *, show: Callable[[float], str], x_show: Callable[[float], str]
) -> list[Markup]:
    points = [(x, y) for x, y in line.points if math.isfinite(y)]
    if not points:
        return []
    path = "M" + "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in points)
    dash = DASHES[place % len(DASHES)]
    marks = [tag("path", d=path, class_=f"line c{colour_number(place)}", stroke_dasharray=dash or None)]
    for x, y in points:
        note = tooltip(f"{line.name}, {x_show(x)}: {show(y)}")
        marks.append(tag("circle", note, cx=across(x), cy=up(y), r=2.6, class_=f"mark c{colour_number(place)}"))
    return marks


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """Answers of about the same confidence: how often they are right, with an interval, and how many they are."""

    confidence: float
    right: float
    low: float | None
    high: float | None
    n: int


def calibration_chart(name: str, heading: str, bins: Sequence[ReliabilityBin], *, x: str, y: str) -> Plot:
    """A reliability diagram: on the diagonal answers are right as often as their confidence says."""
    frame = Frame(height=340)
    low = math.floor(10 * min([0.5, *(min(one.confidence, one.right) for one in bins)])) / 10
    across, up = frame.across(low, 1.0), frame.up(low, 1.02)
    most = max([one.n for one in bins] or [1])
    gaps = "; ".join(f"said {format_percent(one.confidence)}, right {format_percent(one.right)}" for one in bins)
    marks = [*left_axis(frame, up, y, format_percent), *bottom_axis(frame, across, x, format_percent)]
    marks.append(straight_line(across(low), up(low), across(1.0), up(1.0), class_="chance"))
    for one in bins:
        marks += _reliability_marks(one, across, up, least=low, radius=3.5 + 7 * math.sqrt(one.n / most))
    return finish_plot(name, heading, f"{heading}: {gaps}.", marks, size=(frame.width, frame.height))


def _reliability_marks(
    one: ReliabilityBin, across: Scale, up: Scale, *, least: float, radius: float
) -> Iterator[Markup]:
    """The interval of a range of confidences, and its dot, larger for more answers."""
    note = (
        f"{pluralise(one.n, 'answer')}: confidence {format_percent(one.confidence)}, right {format_percent(one.right)}"
    )
    if one.low is not None and one.high is not None:
        note += f" ({format_percent(one.low)} to {format_percent(one.high)})"
        ends = up(max(one.low, least)), up(one.high)
        yield straight_line(across(one.confidence), ends[0], across(one.confidence), ends[1], class_="whisker c1")
    yield tag("circle", tooltip(note), cx=across(one.confidence), cy=up(one.right), r=radius, class_="mark c1")


def _some(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(show_controls(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
