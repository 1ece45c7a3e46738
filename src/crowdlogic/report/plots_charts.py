"""The kinds of plots: histogram, intervals, scatter, lines, heat map, stacked bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from crowdlogic.report.plain_text import isolated
from crowdlogic.report.plots import (
    LETTER,
    WIDTH,
    Frame,
    Plot,
    Scale,
    bottom_axis,
    drawn,
    fitted,
    left_axis,
    percent,
    rule,
    short,
    tag,
    text,
    title,
)

STRONG = 0.62
"""From this share on a heat map's figures take the other ink: in both schemes the contrast is 4.5 there, either way."""

BOLD = 7.8
"""The width of a character of a name beside a point."""

FAINT = 0.005
"""Small cells with less stay empty: a matrix of noughts hides what matters."""

DASHES = ("", "6 4", "2 3", "9 3 2 3", "12 4", "4 2 1 2")
"""Lines differ by their dashes too, so that nobody needs the colours."""


@dataclass(frozen=True)
class Point:
    """A point of a scatter plot: where it stands, its interval, its name and whether it is marked out."""

    name: str
    x: float
    y: float
    low: float
    high: float
    marked: bool = False
    note: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a line plot: (x, y) in order."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Stack:
    """A stacked bar: a name and the size of every part."""

    name: str
    parts: Sequence[float]
    note: str = ""


@dataclass(frozen=True)
class Mark:
    """A figure, with its interval where there is one."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Row:
    """A line of a dot plot: a name and a mark of every kind."""

    name: str
    marks: Sequence[Mark]


def histogram(
    name: str,
    heading: str,
    edges: Sequence[float],
    counts: Sequence[int],
    *,
    x: str,
    y: str,
    weak_below: float | None = None,
    whole: bool = False,
) -> Plot:
    """Bars over the ranges between edges; those below `weak_below` are hatched as well as coloured.

    Of whole numbers, each bar stands over its own number.
    """
    show = short if whole else percent
    frame = Frame()
    shift = 0.5 if whole else 0.0
    across, up = frame.across(edges[0] - shift, edges[-1] - shift), frame.up(0, max([*counts, 1]) * 1.1)
    says = f"{heading}: {sum(counts):,} in all; most, {max(counts, default=0):,}, at {_fullest(edges, counts, whole)}."
    marks = [_hatch(name), *left_axis(frame, up, y), *bottom_axis(frame, across, x, show)]
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        weak = weak_below is not None and high <= weak_below + 1e-9
        note = f"{_range(low, high, whole)}: {count:,}"
        marks += _column(name, (across(low - shift), across(high - shift)), up, count, weak, note)
    legend = (("c1", "sure enough"), ("c6 hatched", f"below {percent(weak_below)}")) if weak_below is not None else ()
    return drawn(name, heading, says, marks, legend=legend)


def _column(name: str, ends: tuple[float, float], up: Scale, count: int, weak: bool, note: str) -> list[Markup]:
    """One bar, never too low to be seen, and its figure above it where there is room."""
    tall = max(up(0) - up(count), 1.5) if count else 0.0
    box = {"x": ends[0] + 1, "y": up(0) - tall, "width": max(ends[1] - ends[0] - 2, 1.0), "height": tall}
    marks = [tag("rect", title(note), class_="mark c6" if weak else "mark c1", **box)]
    if weak and count:
        marks.append(tag("rect", fill=f"url(#hatch-{name})", class_="quiet", **box))
    figure = short(count) if count < 1000 or count >= 10000 else f"{count / 1000:.1f}k"
    if count and len(figure) * 5.4 < ends[1] - ends[0]:
        marks.append(text((ends[0] + ends[1]) / 2, up(0) - tall - 4, figure, class_="note"))
    return marks


def _fullest(edges: Sequence[float], counts: Sequence[int], whole: bool) -> str:
    best = max(range(len(counts)), key=lambda n: counts[n]) if counts else 0
    return _range(edges[best], edges[best + 1], whole)


def _range(low: float, high: float, whole: bool) -> str:
    if not whole:
        return f"{percent(low)} to {percent(high)}"
    return short(low) if high - low <= 1 else f"{short(low)} to {short(high - 1)}"


def _hatch(name: str) -> Markup:
    line = tag("path", d="M0 6 L6 0", class_="hatch")
    return tag("defs", tag("pattern", line, id=f"hatch-{name}", width=6, height=6, patternUnits="userSpaceOnUse"))


def scatter(
    name: str,
    heading: str,
    points: Sequence[Point],
    *,
    x: str,
    y: str,
    marked: str,
    unmarked: str,
    chance: float | None = None,
) -> Plot:
    """Points with their intervals; marked ones are diamonds of another colour with their names beside them."""
    frame = Frame(height=340)
    sizes = [max(point.x, 1.0) for point in points] or [1.0]
    across = frame.across(min(sizes) / 1.25, max(sizes) * 1.25, logarithmic=True)
    floor = min([0.5, *(point.low for point in points)])
    up = frame.up(math.floor(floor * 10) / 10, 1.0)
    flagged = [point.name for point in points if point.marked]
    says = f"{heading}: {len(points):,} points, {len(flagged)} marked" + (f": {_some(flagged)}." if flagged else ".")
    marks = [*left_axis(frame, up, y, percent), *bottom_axis(frame, across, x)]
    if chance is not None and up.low < chance < 1:
        marks += [rule(frame.left, up(chance), frame.width - frame.right, up(chance), "chance")]
        marks += [text(frame.width - frame.right - 2, up(chance) + 13, "guessing", anchor="end", class_="note")]
    for point in sorted(points, key=lambda one: one.marked):
        marks.append(_dot(point, across(max(point.x, 1.0)), up))
    marks += _names([(point, across(max(point.x, 1.0)), up(point.y)) for point in points if point.marked], frame)
    legend = (("c1 dot", unmarked), ("c6 diamond", marked)) if flagged else ()
    return drawn(name, heading, says, marks, size=(frame.width, frame.height), legend=legend)


def _dot(point: Point, x: float, up: Scale) -> Markup:
    y = up(point.y)
    note = f"{point.name}: {percent(point.y)} ({percent(point.low)} to {percent(point.high)}), {point.x:,.0f}"
    whisker = rule(x, up(point.low), x, up(point.high), "whisker c6" if point.marked else "whisker c1")
    shape = (
        tag("path", d=f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z", class_="mark c6")
        if point.marked
        else tag("circle", cx=x, cy=y, r=4, class_="mark c1")
    )
    return tag("g", title(f"{note}. {point.note}" if point.note else note), whisker, shape)


def _names(places: Sequence[tuple[Point, float, float]], frame: Frame, most: int = 12) -> list[Markup]:
    """Names right or left of the marked points, as long as they cover neither another name nor another marked point."""
    taken = [(x - 6, y - 6, x + 6, y + 6) for _, x, y in places]
    marks: list[Markup] = []
    for point, x, y in places:
        words = fitted(point.name, 110)
        wide = len(words) * BOLD
        for left in (x + 9, x - 9 - wide):
            box = (left, y - 9, left + wide, y + 5)
            inside = left >= frame.left and left + wide <= frame.width - 2
            if len(marks) < most and inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                marks.append(text(left, y + 4, words, anchor="start", class_="label"))
                break
    return marks


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def lines(
    name: str,
    heading: str,
    series: Sequence[Line],
    *,
    x: str,
    y: str,
    chosen: float | None = None,
    show: Callable[[float], str] = percent,
    x_show: Callable[[float], str] = short,
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
    says = f"{heading}: " + "; ".join(_course(line, show) for line in series) + "."
    marks = [*left_axis(frame, up, y, show), *bottom_axis(frame, across, x, x_show)]
    if chosen is not None:
        side = "end" if across(chosen) > frame.width * 0.7 else "start"
        marks += [rule(across(chosen), frame.top, across(chosen), up.start, "chosen")]
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
        marks += _course_marks(line, place, across, up, show, x_show)
    legend = tuple((f"c{_colour(place)} line d{place % len(DASHES)}", line.name) for place, line in enumerate(series))
    return drawn(name, heading, says, marks, legend=legend if len(series) > 1 else ())


def _colour(place: int) -> int:
    return place % 8 + 1


def _course(line: Line, show: Callable[[float], str]) -> str:
    if not line.points:
        return f"{isolated(line.name)}: nothing"
    return f"{isolated(line.name)} from {show(line.points[0][1])} to {show(line.points[-1][1])}"


def _course_marks(
    line: Line, place: int, across: Scale, up: Scale, show: Callable[[float], str], x_show: Callable[[float], str]
) -> list[Markup]:
    kept = [(x, y) for x, y in line.points if math.isfinite(y)]
    if not kept:
        return []
    path = "M" + "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in kept)
    dash = DASHES[place % len(DASHES)]
    marks = [tag("path", d=path, class_=f"line c{_colour(place)}", stroke_dasharray=dash or None)]
    for x, y in kept:
        note = title(f"{line.name}, {x_show(x)}: {show(y)}")
        marks.append(tag("circle", note, cx=across(x), cy=up(y), r=2.6, class_=f"mark c{_colour(place)}"))
    return marks


def heat_map(
    name: str,
    heading: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    *,
    row_name: str,
    column_name: str,
    show: Callable[[float], str] = percent,
    says: str | None = None,
    notes: Callable[[int, int], str] | None = None,
) -> Plot:
    """Shaded cells, each with its figure where there is room; NaN is an empty cell."""
    side = max(13.0, min(64.0, 300.0 / max(len(columns), 1)))
    longest = max([len(row) for row in rows] or [1])
    left = 20 + min(longest, 14) * LETTER
    turned = max([len(column) for column in columns] or [1]) * LETTER > side - 4
    top = 18 + (min(max(len(column) for column in columns), 14) * LETTER * 0.75 + 6 if turned and columns else 16)
    spoken = says or f"{heading}: {len(rows)} rows by {len(columns)} columns."
    marks = [text(left + side * len(columns) / 2, 10, column_name, class_="name")] if column_name else []
    middle = top + side * len(rows) / 2
    if row_name:
        marks.append(text(9, middle, row_name, class_="name", transform=f"rotate(-90 9 {middle:.0f})"))
    for n, column in enumerate(columns):
        marks.append(_column_name(column, left + side * (n + 0.5), top - 6, turned, side))
    for m, row in enumerate(rows):
        y = top + side * m
        marks.append(text(left - 6, y + side / 2 + 4, fitted(row, 14 * LETTER), anchor="end"))
        for n, column in enumerate(columns):
            note = f"{row} → {column}" if notes is None else notes(m, n)
            marks.append(_cell(left + side * n, y, side, values[m][n], note, show))
    # Turned names lean out to the right of the last column.
    slant = max(min(len(columns[-1]), 14) * LETTER * 0.72 - side / 2, 4) + 6 if turned else 4
    size = (left + side * len(columns) + slant, top + side * len(rows) + 4)
    return drawn(name, heading, spoken, marks, size=size)


def _column_name(words: str, x: float, y: float, turned: bool, side: float) -> Markup:
    if not turned:
        return text(x, y, fitted(words, side))
    return text(x, y, fitted(words, 14 * LETTER), anchor="start", transform=f"rotate(-45 {x:.1f} {y:.1f})")


def _cell(x: float, y: float, side: float, value: float, note: str, show: Callable[[float], str]) -> Markup:
    if not math.isfinite(value):
        box = tag("rect", x=x + 0.75, y=y + 0.75, width=side - 1.5, height=side - 1.5, rx=2, class_="empty")
        return tag("g", title(f"{note}: not known"), box)
    shade = min(max(value, 0.0), 1.0)
    marks = [
        tag("rect", x=x + 0.75, y=y + 0.75, width=side - 1.5, height=side - 1.5, rx=2, class_="cell"),
        tag(
            "rect", x=x + 0.75, y=y + 0.75, width=side - 1.5, height=side - 1.5, rx=2, class_="heat", fill_opacity=shade
        ),
    ]
    if side >= 26 and (side >= 38 or shade >= FAINT):
        size = 12 if side >= 38 else 9.5
        figure = show(value) if side >= 38 else f"{100 * value:.0f}"
        ink = "on-strong" if shade >= STRONG else "on-pale"
        marks.append(text(x + side / 2, y + side / 2 + 4, figure, class_=ink, font_size=size))
    return tag("g", title(f"{note}: {show(value)}"), *marks)


def stacked(name: str, heading: str, stacks: Sequence[Stack], parts: Sequence[str], *, x: str) -> Plot:
    """Horizontal bars, one per name, of shares that add up; parts differ by colour and by a stripe of the legend."""
    longest = max([len(one.name) for one in stacks] or [4])
    frame = Frame(width=1.4 * WIDTH, height=54 + 24 * len(stacks), left=22 + min(longest, 22) * LETTER, top=6)
    most = max([sum(one.parts) for one in stacks] or [1.0]) or 1.0
    across = frame.across(0, most * 1.02)
    says = f"{heading}: " + "; ".join(f"{isolated(one.name)} {percent(sum(one.parts))}" for one in stacks[:5]) + "."
    marks = [*bottom_axis(frame, across, x, percent)]
    for place, one in enumerate(stacks):
        marks += _bar(one, parts, frame.top + 24 * place, across, frame)
    legend = tuple((f"c{_colour(place)} p{place}", part) for place, part in enumerate(parts))
    return drawn(name, heading, says, marks, size=(frame.width, frame.height), legend=legend)


def _bar(one: Stack, parts: Sequence[str], y: float, across: Scale, frame: Frame) -> list[Markup]:
    marks = [text(frame.left - 8, y + 15, fitted(one.name, 22 * LETTER), anchor="end")]
    start = 0.0
    for place, (part, size) in enumerate(zip(parts, one.parts, strict=True)):
        if size > 0:
            wide = across(start + size) - across(start)
            note = title(f"{one.name}, {part}: {percent(size)}" + (f" ({one.note})" if one.note else ""))
            box = tag(
                "rect",
                note,
                x=across(start),
                y=y + 3,
                width=max(wide - 1, 0.5),
                height=17,
                class_=f"mark c{_colour(place)}",
            )
            marks.append(box)
            if wide > 46:
                marks.append(text(across(start) + wide / 2, y + 16, percent(size), class_=f"in-c{_colour(place)}"))
        start += size
    return marks


SHAPES = (("c1", "dot"), ("c6", "diamond"), ("c3", "ring"))
"""The marks of a dot plot, by kind."""


def dots(
    name: str,
    heading: str,
    rows: Sequence[Row],
    kinds: Sequence[str],
    *,
    x: str,
    show: Callable[[float], str] = percent,
    from_zero: bool = False,
) -> Plot:
    """Figures with their intervals, one line each, in the order given; kinds differ by shape as well as by colour."""
    longest = max([len(row.name) for row in rows] or [4])
    frame = Frame(height=54 + 26 * len(rows), left=16 + min(longest, 24) * LETTER, right=50, top=6)
    ends = [
        v
        for row in rows
        for one in row.marks
        for v in (one.value, one.low, one.high)
        if v is not None and math.isfinite(v)
    ]
    ends = [*ends, *([0.0] if from_zero or not ends else []), *([] if ends else [1.0])]
    room = (max(ends) - min(ends)) * 0.06 or 0.05
    across = frame.across(min(ends) - (0 if min(ends) == 0 else room), max(ends) + room)
    says = f"{heading}: " + "; ".join(_said(row, kinds, show) for row in rows[:12]) + "."
    marks = [*bottom_axis(frame, across, x, show)]
    for place, row in enumerate(rows):
        marks += _dot_row(row, kinds, frame.top + 26 * place + 13, across, frame, show)
    legend = (
        tuple((" ".join(shape), kind) for shape, kind in zip(SHAPES, kinds, strict=False)) if len(kinds) > 1 else ()
    )
    return drawn(name, heading, says, marks, size=(frame.width, frame.height), legend=legend)


def _said(row: Row, kinds: Sequence[str], show: Callable[[float], str]) -> str:
    figures = (f"{kind} {show(one.value)}" for kind, one in zip(kinds, row.marks, strict=True) if one.value is not None)
    return f"{isolated(row.name)} {', '.join(figures)}"


def _dot_row(
    row: Row, kinds: Sequence[str], y: float, across: Scale, frame: Frame, show: Callable[[float], str]
) -> list[Markup]:
    marks = [rule(frame.left, y, frame.width - frame.right, y)]
    marks.append(text(frame.left - 8, y + 4, fitted(row.name, 24 * LETTER), anchor="end"))
    known = [one for one in row.marks if one.value is not None]
    if not known:
        return [*marks, text(frame.left + 6, y + 4, "not defined", anchor="start", class_="note")]
    for place, (kind, one) in reversed(list(enumerate(zip(kinds, row.marks, strict=True)))):
        if one.value is not None and math.isfinite(one.value):
            marks.append(_shape(one, f"{row.name}, {kind}", SHAPES[place], across, y, show))
    return [
        *marks,
        text(frame.width - frame.right + 6, y + 4, show(known[0].value or 0.0), anchor="start", class_="label"),
    ]


def _shape(
    one: Mark, note: str, shape: tuple[str, str], across: Scale, y: float, show: Callable[[float], str]
) -> Markup:
    colour, kind = shape
    value = one.value or 0.0
    inside = [title(f"{note}: {show(value)}")]
    if one.low is not None and one.high is not None:
        inside = [title(f"{note}: {show(value)} ({show(one.low)} to {show(one.high)})")]
        inside.append(rule(across(one.low), y, across(one.high), y, f"whisker {colour}"))
    x = across(value)
    shapes = {
        "dot": tag("circle", cx=x, cy=y, r=4.5, class_=f"mark {colour}"),
        "diamond": tag("path", d=f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z", class_=f"mark {colour}"),
        "ring": tag("circle", cx=x, cy=y, r=6, class_=f"ring {colour}"),
    }
    return tag("g", *inside, shapes[kind])


def calibration(name: str, heading: str, bins: Sequence[tuple[float, float, int]], *, x: str, y: str) -> Plot:
    """(confidence, accuracy, how many) of every range: on the diagonal the confidence is as good as its word."""
    frame = Frame(height=340)
    low = math.floor(10 * min([0.5, *(min(confidence, right) for confidence, right, _ in bins)])) / 10
    across, up = frame.across(low, 1.0), frame.up(low, 1.02)
    most = max([n for _, _, n in bins] or [1])
    gaps = "; ".join(f"said {percent(confidence)}, right {percent(right)}" for confidence, right, _ in bins)
    says = f"{heading}: {gaps}."
    marks = [*left_axis(frame, up, y, percent), *bottom_axis(frame, across, x, percent)]
    marks.append(rule(across(low), up(low), across(1.0), up(1.0), "chance"))
    for confidence, right, n in bins:
        note = title(f"{n:,} answers: confidence {percent(confidence)}, right {percent(right)}")
        marks.append(rule(across(confidence), up(confidence), across(confidence), up(right), "whisker c1"))
        marks.append(
            tag("circle", note, cx=across(confidence), cy=up(right), r=3.5 + 7 * math.sqrt(n / most), class_="mark c1")
        )
    return drawn(name, heading, says, marks, size=(frame.width, frame.height))


def _some(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(isolated(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
