"""The elements of a plot: axes, words and marks, as plain SVG.

A plot is text that any browser draws. Colours are classes (`c1`, `muted`, `grid`), so that the page decides what they
look like in a light and in a dark scheme, and a figure file brings its own. Every plot is one image to a screen reader,
with a sentence that says what it shows; every mark carries its figures as a tooltip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from crowdlogic.report.plain_text import cut, show_controls
from crowdlogic.report.plots.scales import HEIGHT, WIDTH, Frame, Scale, format_number

LETTER = 6.6
"""The usual width of a character at the size of the axes' text, in the plot's own units."""


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """One element: children and attribute values are escaped, `class_` is class, `font_size` is font-size."""
    parts = [
        f'{key.rstrip("_").replace("_", "-")}="{_value(one)}"' for key, one in attributes.items() if one is not None
    ]
    inside = Markup("").join(escape(child) for child in children)
    opening = " ".join([name, *parts])
    return Markup(f"<{opening}>{inside}</{name}>" if inside else f"<{opening}/>")  # noqa: S704 (both parts are escaped)


def _value(one: object) -> str:
    if isinstance(one, float):
        return f"{one:.2f}".rstrip("0").rstrip(".")
    return str(escape(one))


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A finished plot.

    Attributes:
        name: What its file is called.
        title: Its heading.
        description: A sentence that says what it shows, for screen readers.
        svg: The picture.
        legend: (class, text) of every kind of mark, where there are several.
        size: How wide and how high the picture is.
    """

    name: str
    title: str
    description: str
    svg: Markup
    legend: tuple[tuple[str, str], ...] = field(default=())
    size: tuple[float, float] = (WIDTH, HEIGHT)


def text(x: float, y: float, words: object, *, anchor: str = "middle", class_: str = "tick", **more: object) -> Markup:
    """Words at a position; control characters that could turn the line around are shown, not obeyed."""
    return tag("text", show_controls(str(words)), x=x, y=y, text_anchor=anchor, class_=class_, **more)


def tooltip(words: str) -> Markup:
    """The tooltip of a mark."""
    return tag("title", show_controls(words))


def straight_line(x1: float, y1: float, x2: float, y2: float, *, class_: str = "grid") -> Markup:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def bottom_axis(
    frame: Frame, scale: Scale, name: str, show: Callable[[float], str] = format_number, *, whole: bool = False
) -> list[Markup]:
    """Ticks and their figures under the plot, only at whole numbers where asked for, and the axis' name."""
    y = frame.height - frame.bottom
    marks = [straight_line(frame.left, y, frame.width - frame.right, y, class_="axis")]
    for tick in (one for one in scale.ticks(7) if not whole or float(one).is_integer()):
        marks += [
            straight_line(scale(tick), y, scale(tick), y + 4, class_="axis"),
            text(scale(tick), y + 17, show(tick)),
        ]
    return [*marks, text((frame.left + frame.width - frame.right) / 2, frame.height - 5, name, class_="name")]


def left_axis(frame: Frame, scale: Scale, name: str, show: Callable[[float], str] = format_number) -> list[Markup]:
    """Grid lines and their figures left of the plot, and the axis' name, turned."""
    marks = []
    for tick in scale.ticks():
        y = scale(tick)
        marks += [
            straight_line(frame.left, y, frame.width - frame.right, y),
            text(frame.left - 7, y + 4, show(tick), anchor="end"),
        ]
    middle = (frame.top + frame.height - frame.bottom) / 2
    return [*marks, text(11, middle, name, class_="name", transform=f"rotate(-90 11 {middle:g})")]


def finish_plot(
    name: str,
    heading: str,
    description: str,
    marks: Sequence[Markup],
    *,
    size: tuple[float, float] = (WIDTH, HEIGHT),
    legend: tuple[tuple[str, str], ...] = (),
) -> Plot:
    """Finish a plot: one image to a screen reader, which shrinks with the page."""
    width, height = size
    svg = tag(
        "svg",
        *marks,
        viewBox=f"0 0 {width:g} {height:g}",
        class_="plot",
        role="img",
        aria_label=show_controls(description),
        width=f"{width:g}",
        height=f"{height:g}",
    )
    return Plot(name=name, title=heading, description=description, svg=svg, legend=legend, size=size)


def fit_words(words: str, room: float) -> str:
    """Words cut so that they fit into a width."""
    return cut(show_controls(words), max(int(room / LETTER), 3))


def colour_number(place: int) -> int:
    """The number of the colour of a series, by its position among the series."""
    return place % 8 + 1
