"""Plots in rows: shaded matrices, stacked bars, dots with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass

from markupsafe import Markup

from crowdlogic.data.wording import pluralise
from crowdlogic.report.plain_text import show_controls
from crowdlogic.report.plots.elements import (
    LETTER,
    Plot,
    bottom_axis,
    colour_number,
    finish_plot,
    fit_words,
    straight_line,
    tag,
    text,
    tooltip,
)
from crowdlogic.report.plots.scales import WIDTH, Frame, Scale, format_percent

STRONG = 0.62
"""From this share on a heat map's figures take the other ink: in both schemes the contrast is 4.5 there, either way."""


FAINT = 0.005
"""Small cells with less stay empty: a matrix of noughts hides what matters."""


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
    _: KW_ONLY
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class DotRow:
    """A row of a dot plot: a name and a mark of every kind."""

    name: str
    marks: Sequence[Mark]


def heat_map(
    name: str,
    heading: str,
    values: Sequence[Sequence[float]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    row_name: str = "",
    column_name: str = "",
    show: Callable[[float], str] = format_percent,
    description: str | None = None,
    notes: Callable[[int, int], str] | None = None,
    legend: tuple[tuple[str, str], ...] = (),
) -> Plot:
    """Shaded cells, each with its figure where there is room; NaN is an empty cell."""
    side = max(13.0, min(64.0, 300.0 / max(len(columns), 1)))
    longest = max([len(row) for row in rows] or [1])
    left = 20 + min(longest, 14) * LETTER
    turned = max([len(column) for column in columns] or [1]) * LETTER > side - 4
    top = 18 + (min(max(len(column) for column in columns), 14) * LETTER * 0.75 + 6 if turned and columns else 16)
    spoken = description or f"{heading}: {pluralise(len(rows), 'row')} by {pluralise(len(columns), 'column')}."
    marks = [text(left + side * len(columns) / 2, 10, column_name, class_="name")] if column_name else []
    middle = top + side * len(rows) / 2
    if row_name:
        marks.append(text(11, middle, row_name, class_="name", transform=f"rotate(-90 11 {middle:.0f})"))
    for n, column in enumerate(columns):
        marks.append(_column_name(column, left + side * (n + 0.5), top - 6, turned=turned, side=side))
    for m, row in enumerate(rows):
        y = top + side * m
        marks.append(text(left - 6, y + side / 2 + 4, fit_words(row, 14 * LETTER), anchor="end"))
        for n, column in enumerate(columns):
            note = f"{row} → {column}" if notes is None else notes(m, n)
            marks.append(_cell(left + side * n, y, values[m][n], side=side, note=note, show=show))
    # Turned names lean out to the right of the last column.
    slant = max(min(len(columns[-1]), 14) * LETTER * 0.72 - side / 2, 4) + 6 if turned else 4
    size = (left + side * len(columns) + slant, top + side * len(rows) + 4)
    return finish_plot(name, heading, spoken, marks, size=size, legend=legend)


def _column_name(words: str, x: float, y: float, *, turned: bool, side: float) -> Markup:
    if not turned:
        return text(x, y, fit_words(words, side))
    return text(x, y, fit_words(words, 14 * LETTER), anchor="start", transform=f"rotate(-45 {x:.1f} {y:.1f})")


def _cell(x: float, y: float, value: float, *, side: float, note: str, show: Callable[[float], str]) -> Markup:
    if not math.isfinite(value):
        box = tag("rect", x=x + 0.75, y=y + 0.75, width=side - 1.5, height=side - 1.5, rx=2, class_="empty")
        return tag("g", tooltip(f"{note}: not known"), box)
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
    return tag("g", tooltip(f"{note}: {show(value)}"), *marks)


def stacked_bars(name: str, heading: str, stacks: Sequence[Stack], parts: Sequence[str], *, x: str) -> Plot:
    """Horizontal bars, one per name, of shares that add up; parts differ by colour and by a stripe of the legend."""
    longest = max([len(one.name) for one in stacks] or [4])
    frame = Frame(width=1.4 * WIDTH, height=54 + 24 * len(stacks), left=22 + min(longest, 22) * LETTER, top=6)
    most = max([sum(one.parts) for one in stacks] or [1.0]) or 1.0
    across = frame.across(0, most * 1.02)
    description = (
        f"{heading}: "
        + "; ".join(f"{show_controls(one.name)} {format_percent(sum(one.parts))}" for one in stacks[:5])
        + "."
    )
    marks = [*bottom_axis(frame, across, x, format_percent)]
    for place, one in enumerate(stacks):
        marks += _bar(one, parts, y=frame.top + 24 * place, across=across, frame=frame)
    legend = tuple((f"c{colour_number(place)} p{place}", part) for place, part in enumerate(parts))
    return finish_plot(name, heading, description, marks, size=(frame.width, frame.height), legend=legend)


def _bar(one: Stack, parts: Sequence[str], *, y: float, across: Scale, frame: Frame) -> list[Markup]:
    marks = [text(frame.left - 8, y + 15, fit_words(one.name, 22 * LETTER), anchor="end")]
    start = 0.0
    for place, (part, size) in enumerate(zip(parts, one.parts, strict=True)):
        if size > 0:
            wide = across(start + size) - across(start)
            note = tooltip(f"{one.name}, {part}: {format_percent(size)}" + (f" ({one.note})" if one.note else ""))
            box = tag(
                "rect",
                note,
                x=across(start),
                y=y + 3,
                width=max(wide - 1, 0.5),
                height=17,
                class_=f"mark c{colour_number(place)}",
            )
            marks.append(box)
            if wide > 46:
                marks.append(
                    text(across(start) + wide / 2, y + 16, format_percent(size), class_=f"in-c{colour_number(place)}")
                )
        start += size
    return marks


SHAPES = (("c1", "dot"), ("c6", "diamond"), ("c3", "ring"))
"""The marks of a dot plot, by kind."""


def dot_plot(
    name: str,
    heading: str,
    rows: Sequence[DotRow],
    kinds: Sequence[str],
    *,
    x: str,
    show: Callable[[float], str] = format_percent,
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
    description = f"{heading}: " + "; ".join(_describe_row(row, kinds, show) for row in rows[:12]) + "."
    marks = [*bottom_axis(frame, across, x, show)]
    for place, row in enumerate(rows):
        marks += _dot_row(row, kinds, y=frame.top + 26 * place + 13, across=across, frame=frame, show=show)
    legend = (
        tuple((" ".join(shape), kind) for shape, kind in zip(SHAPES, kinds, strict=False)) if len(kinds) > 1 else ()
    )
    return finish_plot(name, heading, description, marks, size=(frame.width, frame.height), legend=legend)


def _describe_row(row: DotRow, kinds: Sequence[str], show: Callable[[float], str]) -> str:
    figures = (f"{kind} {show(one.value)}" for kind, one in zip(kinds, row.marks, strict=True) if one.value is not None)
    return f"{show_controls(row.name)} {', '.join(figures)}"


def _dot_row(
    row: DotRow, kinds: Sequence[str], *, y: float, across: Scale, frame: Frame, show: Callable[[float], str]
) -> list[Markup]:
    marks = [straight_line(frame.left, y, frame.width - frame.right, y)]
    marks.append(text(frame.left - 8, y + 4, fit_words(row.name, 24 * LETTER), anchor="end"))
    known = [one for one in row.marks if one.value is not None]
    if not known:
        return [*marks, text(frame.left + 6, y + 4, "not defined", anchor="start", class_="note")]
    for place, (kind, one) in reversed(list(enumerate(zip(kinds, row.marks, strict=True)))):
        if one.value is not None and math.isfinite(one.value):
            marks.append(_shape(one, f"{row.name}, {kind}", SHAPES[place], y=y, across=across, show=show))
    return [
        *marks,
        text(frame.width - frame.right + 6, y + 4, show(known[0].value or 0.0), anchor="start", class_="label"),
    ]


def _shape(
    one: Mark, note: str, shape: tuple[str, str], *, y: float, across: Scale, show: Callable[[float], str]
) -> Markup:
    colour, kind = shape
    value = one.value or 0.0
    inside = [tooltip(f"{note}: {show(value)}")]
    if one.low is not None and one.high is not None:
        inside = [tooltip(f"{note}: {show(value)} ({show(one.low)} to {show(one.high)})")]
        inside.append(straight_line(across(one.low), y, across(one.high), y, class_=f"whisker {colour}"))
    x = across(value)
    shapes = {
        "dot": tag("circle", cx=x, cy=y, r=4.5, class_=f"mark {colour}"),
        "diamond": tag("path", d=f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z", class_=f"mark {colour}"),
        "ring": tag("circle", cx=x, cy=y, r=6, class_=f"ring {colour}"),
    }
    return tag("g", *inside, shapes[kind])
