"""The parts of a plot: scales, ticks, axes and marks, as plain SVG.

A plot is text that any browser draws. Colours are classes (`c1`, `muted`, `grid`), so that the page decides what they
look like in a light and in a dark scheme, and a figure file brings its own. Every plot is one image to a screen reader,
with a sentence that says what it shows; every mark carries its figures as a tooltip.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from crowdlogic.report.plain_text import cut, isolated

WIDTH, HEIGHT = 460, 280
"""Wide enough for half a desktop page, and still readable when a phone shrinks it."""

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


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between low and high, about `count` of them: steps of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    rough = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9)), 10 * power)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(n * step, 12) for n in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between low and high; with 2 and 5 times them when there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**p for p in powers if low <= 10.0**p <= high]
    if len(tens) >= 3:
        return tens
    return [m * 10.0**p for p in powers for m in (1, 2, 5) if low <= m * 10.0**p <= high]


def short(number: float) -> str:
    """A number for an axis: 0.25, 1,000, 25k, 3M."""
    size = abs(number)
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= unit:
            return f"{number / (1e3 if letter == 'k' else unit):g}{letter}"
    return f"{number:,.0f}" if size >= 1000 else f"{number:g}"


def percent(share: float) -> str:
    """A share as a whole number of percent, or with a decimal where it is not whole."""
    return f"{100 * share:.0f}%" if abs(100 * share - round(100 * share)) < 0.05 else f"{100 * share:.1f}%"


@dataclass(frozen=True)
class Scale:
    """From figures to places: a domain on a line between two places.

    Attributes:
        low: The least figure.
        high: The largest figure.
        start: Where the least one stands.
        end: Where the largest one stands.
        logarithmic: Whether equal ratios are equal distances.
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, figure: float) -> float:
        """Where a figure stands."""
        low, high, x = (
            (math.log10(max(v, 1e-300)) for v in (self.low, self.high, figure))
            if self.logarithmic
            else (self.low, self.high, figure)
        )
        share = 0.5 if high == low else (x - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Round figures on the scale."""
        return log_ticks(self.low, self.high) if self.logarithmic else nice_ticks(self.low, self.high, count)


@dataclass(frozen=True)
class Frame:
    """Where a plot stands in its picture: the sizes and the margins around the marks."""

    width: float = WIDTH
    height: float = HEIGHT
    left: float = 56
    right: float = 22
    top: float = 12
    bottom: float = 42

    def across(self, low: float, high: float, *, logarithmic: bool = False) -> Scale:
        """A scale from left to right."""
        return Scale(low, high, self.left, self.width - self.right, logarithmic)

    def up(self, low: float, high: float) -> Scale:
        """A scale from the bottom to the top."""
        return Scale(low, high, self.height - self.bottom, self.top)


@dataclass(frozen=True)
class Plot:
    """A finished plot.

    Attributes:
        name: What its file is called.
        title: Its heading.
        says: A sentence that says what it shows, for whoever cannot see it.
        svg: The picture.
        legend: (class, text) of every kind of mark, where there are several.
        size: How wide and how high the picture is.
    """

    name: str
    title: str
    says: str
    svg: Markup
    legend: tuple[tuple[str, str], ...] = field(default=())
    size: tuple[float, float] = (WIDTH, HEIGHT)


def text(x: float, y: float, words: object, *, anchor: str = "middle", class_: str = "tick", **more: object) -> Markup:
    """Words at a place; control characters that could turn the line around are shown, not obeyed."""
    return tag("text", isolated(str(words)), x=x, y=y, text_anchor=anchor, class_=class_, **more)


def title(words: str) -> Markup:
    """The tooltip of a mark."""
    return tag("title", isolated(words))


def rule(x1: float, y1: float, x2: float, y2: float, class_: str = "grid") -> Markup:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def bottom_axis(
    frame: Frame, scale: Scale, name: str, show: Callable[[float], str] = short, *, whole: bool = False
) -> list[Markup]:
    """Ticks and their figures under the plot, only at whole numbers where asked for, and the axis' name."""
    y = frame.height - frame.bottom
    marks = [rule(frame.left, y, frame.width - frame.right, y, "axis")]
    for tick in (one for one in scale.ticks(7) if not whole or float(one).is_integer()):
        marks += [rule(scale(tick), y, scale(tick), y + 4, "axis"), text(scale(tick), y + 17, show(tick))]
    return [*marks, text((frame.left + frame.width - frame.right) / 2, frame.height - 5, name, class_="name")]


def left_axis(frame: Frame, scale: Scale, name: str, show: Callable[[float], str] = short) -> list[Markup]:
    """Grid lines and their figures left of the plot, and the axis' name, turned."""
    marks = []
    for tick in scale.ticks():
        y = scale(tick)
        marks += [
            rule(frame.left, y, frame.width - frame.right, y),
            text(frame.left - 7, y + 4, show(tick), anchor="end"),
        ]
    middle = (frame.top + frame.height - frame.bottom) / 2
    return [*marks, text(11, middle, name, class_="name", transform=f"rotate(-90 11 {middle:g})")]


def drawn(
    name: str,
    heading: str,
    says: str,
    marks: Sequence[Markup],
    *,
    size: tuple[float, float] = (WIDTH, HEIGHT),
    legend: tuple[tuple[str, str], ...] = (),
) -> Plot:
    """The finished plot: one image to a screen reader, which shrinks with the page."""
    width, height = size
    svg = tag(
        "svg",
        *marks,
        viewBox=f"0 0 {width:g} {height:g}",
        class_="plot",
        role="img",
        aria_label=isolated(says),
        width=f"{width:g}",
        height=f"{height:g}",
    )
    return Plot(name, heading, says, svg, legend, size)


def fitted(words: str, room: float) -> str:
    """Words cut so that they fit into so much room."""
    return cut(isolated(words), max(int(room / LETTER), 3))


def colour(place: int) -> int:
    """The number of the colour of a series, by its place."""
    return place % 8 + 1
