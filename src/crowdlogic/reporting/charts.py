"""Plots of the report as SVG: histograms, scatter plots, lines, calibration, heat maps, stacked bars and dot plots."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup, escape

from crowdlogic.data.wording import pluralise
from crowdlogic.reporting.findings import CalibrationBin, Histogram, Quantity

# Scales of plots: from numbers to positions, round ticks, and the format of numbers on axes.

WIDTH, HEIGHT = 460, 280
"""Default size: half the width of a desktop page, and readable on a phone."""


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about `count` round numbers between low and high, in steps of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    rough = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9)), 10 * power)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(n * step, 12) for n in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten between low and high; if there are fewer than three, also 2 and 5 times these powers."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**p for p in powers if low <= 10.0**p <= high]
    if len(tens) >= 3:
        return tens
    return [m * 10.0**p for p in powers for m in (1, 2, 5) if low <= m * 10.0**p <= high]


def format_number(number: float) -> str:
    """Return a number for an axis: 0.25, 1,000, 25k, 3M."""
    size = abs(number)
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= unit:
            return f"{number / (1e3 if letter == 'k' else unit):g}{letter}"
    return f"{number:,.0f}" if size >= 1000 else f"{number:g}"


def format_percent(share: float) -> str:
    """Return a share in percent, without decimals if it is whole."""
    return f"{100 * share:.0f}%" if abs(100 * share - round(100 * share)) < 0.05 else f"{100 * share:.1f}%"


@dataclass(frozen=True)
class Scale:
    """Conversion of numbers to positions along an axis.

    Attributes:
        low: The smallest number.
        high: The largest number.
        start: Position of the smallest number.
        end: Position of the largest number.
        logarithmic: Whether the axis is logarithmic.
    """

    low: float
    high: float
    _: KW_ONLY
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, figure: float) -> float:
        """Return the position of a number."""
        low, high, x = (
            (math.log10(max(v, 1e-300)) for v in (self.low, self.high, figure))
            if self.logarithmic
            else (self.low, self.high, figure)
        )
        share = 0.5 if high == low else (x - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Return round numbers on the scale."""
        return log_ticks(self.low, self.high) if self.logarithmic else nice_ticks(self.low, self.high, count)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The size of a picture and the margins around its marks."""

    width: float = WIDTH
    height: float = HEIGHT
    left: float = 56
    right: float = 22
    top: float = 12
    bottom: float = 42

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        return self.width, self.height

    def across(self, low: float, high: float, *, logarithmic: bool = False) -> Scale:
        """Return a scale from left to right."""
        return Scale(low, high, start=self.left, end=self.width - self.right, logarithmic=logarithmic)

    def up(self, low: float, high: float) -> Scale:
        """Return a scale from the bottom to the top."""
        return Scale(low, high, start=self.height - self.bottom, end=self.top)


# The colours of both schemes, by name, and the style sheet of a plot.
#
# Marks use the colours of [OI] in tones with enough contrast to the background. Shapes, dashes and words repeat the
# information in colours, so that nobody needs to distinguish colours.
#
# [OI] Okabe and Ito, "Color Universal Design", 2008.

LIGHT = {
    "paper": "#fdfcfa", "card": "#ffffff", "sunk": "#f4f2ee", "ink": "#1c2126", "muted": "#565e68", "line": "#dedad2",
    "link": "#00568c", "heat": "#002260", "on-pale": "#000000", "on-strong": "#ffffff",
    "c1": "#0072b2", "c2": "#e69f00", "c3": "#009e73", "c4": "#b85a92", "c5": "#3a9bd4", "c6": "#d55e00",
    "c7": "#8f7f00", "c8": "#6b7280", "in-c1": "#ffffff", "in-c2": "#000000",
}  # fmt: skip
"""Dark ink on warm white."""

DARK = {
    "paper": "#14171b", "card": "#1b1f25", "sunk": "#22272e", "ink": "#e8e6e1", "muted": "#a6adb6", "line": "#343b44",
    "link": "#8cc8f5", "heat": "#64b0f0", "on-pale": "#ffffff", "on-strong": "#000000",
    "c1": "#5aaee8", "c2": "#f0b030", "c3": "#35c49b", "c4": "#e596c3", "c5": "#8ed2fa", "c6": "#ff8c4a",
    "c7": "#e2d55c", "c8": "#a0a8b3", "in-c1": "#111111", "in-c2": "#111111",
}  # fmt: skip
"""Light ink on near black."""


@cache
def plot_css() -> str:
    """Return the style sheet of plots, in which colours are variables of a scheme."""
    series = "".join(
        f".plot .mark.c{n} {{ fill: var(--c{n}); }}\n"
        f".plot .line.c{n}, .plot .whisker.c{n}, .plot .ring.c{n} {{ stroke: var(--c{n}); }}\n"
        f".plot .ring.c{n} {{ fill: var(--card); }}\n"
        for n in range(1, 9)
    )
    return (files("crowdlogic.reporting") / "templates" / "plot.css").read_text(encoding="utf-8") + series


def colour_schemes() -> str:
    """Return the style sheet that declares the colours of the light and the dark scheme as variables."""
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in scheme.items()) for scheme in (LIGHT, DARK))
    return (
        f":root {{ color-scheme: light; {light} }}\n"
        "@media (prefers-color-scheme: dark) { "
        f":root:not([data-theme=light]) {{ color-scheme: dark; {dark} }} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}\n"
        f"@media print {{ :root, :root[data-theme] {{ color-scheme: light; {light} }} }}\n"
    )


def resolve_variables(css: str, scheme: dict[str, str]) -> str:
    """Return a style sheet with its variables replaced by colours, for files that contain a single plot."""
    for name, colour in scheme.items():
        css = css.replace(f"var(--{name})", colour)
    return css


# Display of text from data: long texts are shortened, control characters are made visible, and JSON is escaped.

LONGEST = 1000
"""Maximum number of characters of a text on the page."""

CONTROLS = {
    **{code: f"⟨U+{code:04X}⟩" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)},
    **{code: f"⟨U+{code:04X}⟩" for code in range(0x20) if code not in (0x09, 0x0A, 0x0D)},
    **{code: f"⟨U+{code:04X}⟩" for code in range(0x7F, 0xA0)},
    0xFEFF: "⟨U+FEFF⟩",
    0x2028: " ",
    0x2029: " ",
}
"""Replacements of characters that change the direction of text, control characters and line separators.

For example, U+202E would reverse the text after it.
"""


def show_controls(words: str) -> str:
    """Return a text with visible marks in place of control characters, and lone surrogates replaced."""
    return words.encode("utf-8", "replace").decode("utf-8").translate(CONTROLS)


def cut(words: str, longest: int = LONGEST) -> str:
    """Return a text, or its beginning and an ellipsis if it is too long."""
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"


def shorten(words: str, longest: int = LONGEST) -> str:
    """Return a text for display: shortened, with the number of omitted characters and visible control characters."""
    if len(words) <= longest:
        return show_controls(words)
    return f"{show_controls(words[:longest].rstrip())}… [cut: {len(words) - longest:,} more characters]"


INERT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Escapes of characters that could end a script element, open a comment in it or end a line."""


def embed_json(value: Any) -> Markup:
    """Return JSON for use inside a script element, which its characters cannot end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escaped in INERT.items():
        text = text.replace(character, escaped)
    return Markup(text)  # noqa: S704 (its angle brackets and ampersands are escapes)


def show_place(place: str) -> str:
    """Return the place of a rule for display, such as: my.rules, line 2. For included rules, only the file is named."""
    included = re.fullmatch(r"(.*):\d+ \(include .*\).*", place)
    if included:
        return included.group(1)
    found = re.fullmatch(r"(.*):(\d+):\d+", place)
    return f"{found.group(1)}, line {found.group(2)}" if found else place


# The elements of a plot as SVG: axes, text and marks.
#
# Colours are CSS classes (`c1`, `muted`, `grid`), which the style sheets of the page and of figure files define for the
# light and the dark scheme. For screen readers, a plot is one image with a description. Every mark has a tooltip with
# its numbers.

LETTER = 6.6
"""Typical width of a character on the axes, in the units of the plot."""


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """Return an SVG element with escaped children and attributes; `class_` means class, `font_size` font-size."""
    parts = [name]
    for key, one in attributes.items():
        if one is not None:
            value = f"{one:.2f}".rstrip("0").rstrip(".") if isinstance(one, float) else escape(one)
            parts.append(f'{key.rstrip("_").replace("_", "-")}="{value}"')
    opening, inside = " ".join(parts), Markup("").join(escape(child) for child in children)
    return Markup(f"<{opening}>{inside}</{name}>" if inside else f"<{opening}/>")  # noqa: S704 (both parts are escaped)


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A finished plot.

    Attributes:
        name: Name of its file.
        title: Heading of the plot.
        description: Description for screen readers, in one sentence.
        svg: The SVG element.
        legend: (class, text) of every kind of mark; empty if there is only one kind.
        size: Width and height.
    """

    name: str
    title: str
    description: str
    svg: Markup
    legend: tuple[tuple[str, str], ...] = field(default=())
    size: tuple[float, float] = (WIDTH, HEIGHT)


def text(x: float, y: float, words: object, *, anchor: str = "middle", class_: str = "tick", **more: object) -> Markup:
    """Return text at a position, with visible control characters."""
    return tag("text", show_controls(str(words)), x=x, y=y, text_anchor=anchor, class_=class_, **more)


def tooltip(words: str) -> Markup:
    """Return the tooltip of a mark."""
    return tag("title", show_controls(words))


def straight_line(x1: float, y1: float, x2: float, y2: float, *, class_: str = "grid") -> Markup:
    """Return a straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def bottom_axis(
    frame: Frame, scale: Scale, name: str, show: Callable[[float], str] = format_number, *, whole: bool = False
) -> list[Markup]:
    """Draw ticks with their numbers below the plot, optionally only at whole numbers, and the name of the axis."""
    y = frame.height - frame.bottom
    marks = [straight_line(frame.left, y, frame.width - frame.right, y, class_="axis")]
    for tick in (one for one in scale.ticks(7) if not whole or float(one).is_integer()):
        marks += [
            straight_line(scale(tick), y, scale(tick), y + 4, class_="axis"),
            text(scale(tick), y + 17, show(tick)),
        ]
    return [*marks, text((frame.left + frame.width - frame.right) / 2, frame.height - 5, name, class_="name")]


def left_axis(frame: Frame, scale: Scale, name: str, show: Callable[[float], str] = format_number) -> list[Markup]:
    """Draw grid lines with their numbers left of the plot, and the name of the axis."""
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
    """Combine marks into a plot, which is one image for screen readers."""
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
    """Shorten a text to fit into a width."""
    return cut(show_controls(words), max(int(room / LETTER), 3))


BOLD = 7.8
"""Width of a character in the name of a point."""


DASHES = ("", "6 4", "2 3", "9 3 2 3", "12 4", "4 2 1 2")
"""Dash patterns, by which lines differ in addition to their colours."""


def format_range(low: float, high: float, show: Callable[[float], str] = format_percent) -> str:
    """Format an interval, such as 60% to 70%."""
    return f"{show(low)} to {show(high)}"


def draw_mark(shape: str, x: float, y: float, colour: str, radius: float = 5) -> Markup:
    """Return a dot, a ring or a diamond; the radius does not apply to diamonds."""
    if shape == "diamond":
        return tag("path", d=f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z", class_=f"mark {colour}")
    return tag("circle", cx=x, cy=y, r=radius, class_=f"{'ring' if shape == 'ring' else 'mark'} {colour}")


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a scatter chart. Marked points are emphasised; pale points are drawn without interval."""

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
    """Draw a histogram. Bars below `weak_below` are hatched and have another colour.

    For whole numbers, each bar is centred on its number.
    """
    frame, edges, counts = Frame(), histogram.edges, histogram.counts
    shift = 0.5 if whole else 0.0
    across, up = frame.across(edges[0] - shift, edges[-1] - shift), frame.up(0, max([*counts, 1]) * 1.1)

    def show_range(low: float, high: float) -> str:
        if not whole:
            return format_range(low, high)
        return format_number(low) if high - low <= 1 else format_range(low, high - 1, format_number)

    fullest = max(range(len(counts)), key=lambda n: counts[n], default=0)
    description = (
        f"{heading}: {sum(counts):,} in all; most, {max(counts, default=0):,}, at "
        f"{show_range(edges[fullest], edges[fullest + 1])}."
    )
    line = tag("path", d="M0 6 L6 0", class_="hatch")
    pattern = tag("pattern", line, id=f"hatch-{name}", width=6, height=6, patternUnits="userSpaceOnUse")
    show = format_number if whole else format_percent
    marks = [tag("defs", pattern), *left_axis(frame, up, y), *bottom_axis(frame, across, x, show, whole=whole)]
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        is_weak = weak_below is not None and high <= weak_below + 1e-9
        left, right = across(low - shift), across(high - shift)
        tall = max(up(0) - up(count), 1.5) if count else 0.0  # high enough to be visible
        box = {"x": left + 1, "y": up(0) - tall, "width": max(right - left - 2, 1.0), "height": tall}
        note = tooltip(f"{show_range(low, high)}: {count:,}")
        marks.append(tag("rect", note, class_="mark c6" if is_weak else "mark c1", **box))
        if is_weak and count:
            marks.append(tag("rect", fill=f"url(#hatch-{name})", class_="quiet", **box))
        # The number is shown above its bar if there is room
        figure = format_number(count) if count < 1000 or count >= 10000 else f"{count / 1000:.1f}k"
        if count and len(figure) * 6.8 < right - left:
            marks.append(text((left + right) / 2, up(0) - tall - 4, figure, class_="note"))
    legend: tuple[tuple[str, str], ...] = ()
    if weak_below is not None:
        edge = format_percent(weak_below)
        legend = (("c6 hatched", f"below {edge}: to check"), ("c1", f"{edge} or more"))
    return finish_plot(name, heading, description, marks, legend=legend)


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
    """Draw points with intervals: marked points as diamonds with names, pale points as rings without names."""
    frame = Frame(height=340)
    right = frame.width - frame.right
    sizes = [max(point.x, 1.0) for point in points] or [1.0]
    across = frame.across(min(sizes) / 1.25, max(sizes) * 1.25, logarithmic=True)
    floor = min([0.8, *([] if chance is None else [chance - 0.05]), *(p.y if p.pale else p.low for p in points)])
    up = frame.up(max(math.floor(floor * 10) / 10, -1.0), 1.0)
    marks = [*left_axis(frame, up, y, format_percent), *bottom_axis(frame, across, x)]
    if chance is not None and up.low < chance < 1:
        marks.append(straight_line(frame.left, up(chance), right, up(chance), class_="chance"))
        marks.append(text(right - 2, up(chance) + 13, "guessing", anchor="end", class_="note"))

    # Marked points are drawn last, on top of the others
    for point in sorted(points, key=lambda one: one.marked - one.pale):
        at, height = across(max(point.x, 1.0)), up(point.y)
        note = f"{point.name}: {format_percent(point.y)} ({format_range(point.low, point.high)}), {point.x:,.0f}"
        words = tooltip(f"{note}. {point.note}" if point.note else note)
        if point.pale:  # without its interval, which would be very wide
            marks.append(tag("g", words, draw_mark("ring", at, height, "c8", 3.2)))
            continue
        shape, colour = ("diamond", "c6") if point.marked else ("dot", "c1")
        low, high = (min(max(end, up.low), up.high) for end in (point.low, point.high))
        whisker = straight_line(at, up(low), at, up(high), class_=f"whisker {colour}")
        marks.append(tag("g", words, whisker, draw_mark(shape, at, height, colour, 4)))

    places = [(point.name, across(max(point.x, 1.0)), up(point.y)) for point in points if point.marked]
    guessing = [] if chance is None else [(right - 55, up(chance), frame.width, up(chance) + 16)]
    marks += _place_names(places, frame, guessing)
    flagged = [show_controls(name) for name, _, _ in places]
    some = ", ".join(flagged[:5]) + (f" and {len(flagged) - 5} more" if len(flagged) > 5 else "")
    description = f"{heading}: {pluralise(len(points), 'point')}, {len(flagged)} marked{f': {some}' if some else ''}."
    legend = (
        ("c1 dot", unmarked),
        *([("c6 diamond", marked)] if flagged else []),
        *([("c8 ring", pale)] if any(point.pale for point in points) else []),
    )
    shown = legend if len(legend) > 1 else ()
    return finish_plot(name, heading, description, marks, size=frame.size, legend=shown)


Box = tuple[float, float, float, float]


def _place_names(
    places: Sequence[tuple[str, float, float]], frame: Frame, kept: Sequence[Box] = (), most: int = 12
) -> list[Markup]:
    """Draw names to the right or left of marked points where they do not cover other names or marked points."""
    taken: list[Box] = [*kept, *((x - 6, y - 6, x + 6, y + 6) for _, x, y in places)]
    marks: list[Markup] = []
    for name, x, y in places:
        words = fit_words(name, 110)
        wide = len(words) * BOLD
        for left in (x + 9, x - 9 - wide):
            box = (left, y - 9, left + wide, y + 5)
            inside = left >= frame.left and left + wide <= frame.width - 2
            free = all(box[0] >= b[2] or b[0] >= box[2] or box[1] >= b[3] or b[1] >= box[3] for b in taken)
            if len(marks) < most and inside and free:
                taken.append(box)
                marks.append(text(left, y + 4, words, anchor="start", class_="label"))
                break
    return marks


def line_chart(
    name: str,
    heading: str,
    series: Sequence[Curve],
    *,
    x: str,
    y: str,
    chosen: float | None = None,
    show: Callable[[float], str] = format_percent,
) -> Plot:
    """Draw lines that differ by colour and dashes, with an optional vertical line at the chosen x."""
    frame = Frame()
    xs = [place for line in series for place, _ in line.points] or [0.0]
    ys = [figure for line in series for _, figure in line.points if math.isfinite(figure)] or [0.0, 1.0]
    room = (max(ys) - min(ys)) * 0.08 or abs(max(ys)) * 0.05 or 0.5
    across = frame.across(min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1)
    up = frame.up(min(ys) - room, max(ys) + room)
    whole = all(float(one).is_integer() for one in xs)
    marks = [*left_axis(frame, up, y, show), *bottom_axis(frame, across, x, whole=whole)]
    if chosen is not None:
        at = across(chosen)
        side, gap = ("end", -6) if at > frame.width * 0.7 else ("start", 6)
        marks.append(straight_line(at, frame.top, at, up.start, class_="chosen"))
        marks.append(text(at + gap, frame.top + 9, f"chosen: {format_number(chosen)}", anchor=side, class_="label"))

    legend, described = [], []
    for place, line in enumerate(series):
        colour, dash, label = f"c{place % 8 + 1}", place % len(DASHES), show_controls(line.name)
        legend.append((f"{colour} line d{dash}", line.name))
        ends = f"{label} from {show(line.points[0][1])} to {show(line.points[-1][1])}" if line.points else ""
        described.append(ends or f"{label}: nothing")
        points = [(x, y) for x, y in line.points if math.isfinite(y)]
        if points:
            path = "M" + "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in points)
            marks.append(tag("path", d=path, class_=f"line {colour}", stroke_dasharray=DASHES[dash] or None))
        for at, value in points:
            note = tooltip(f"{line.name}, {format_number(at)}: {show(value)}")
            marks.append(tag("circle", note, cx=across(at), cy=up(value), r=2.6, class_=f"mark {colour}"))
    shown = tuple(legend) if len(series) > 1 else ()
    return finish_plot(name, heading, f"{heading}: {'; '.join(described)}.", marks, legend=shown)


def calibration_chart(name: str, heading: str, bins: Sequence[CalibrationBin], *, x: str, y: str) -> Plot:
    """Draw a reliability diagram. On the diagonal, the accuracy equals the confidence."""
    known = [(one.confidence, one.accuracy, one) for one in bins if one.confidence is not None]
    rows = [(confidence, right, one) for confidence, right, one in known if right is not None]
    frame = Frame(height=340)
    least = math.floor(10 * min([0.5, *(min(confidence, right) for confidence, right, _ in rows)])) / 10
    across, up = frame.across(least, 1.0), frame.up(least, 1.02)
    most = max([one.n for _, _, one in rows] or [1])
    gaps = "; ".join(f"said {format_percent(stated)}, right {format_percent(right)}" for stated, right, _ in rows)
    marks = [*left_axis(frame, up, y, format_percent), *bottom_axis(frame, across, x, format_percent)]
    marks.append(straight_line(across(least), up(least), across(1.0), up(1.0), class_="chance"))
    for confidence, right, one in rows:
        at = across(confidence)
        words = f"confidence {format_percent(confidence)}, right {format_percent(right)}"
        note = f"{pluralise(one.n, 'answer')}: {words}"
        if one.accuracy_low is not None and one.accuracy_high is not None:
            note += f" ({format_range(one.accuracy_low, one.accuracy_high)})"
            marks.append(
                straight_line(at, up(max(one.accuracy_low, least)), at, up(one.accuracy_high), class_="whisker c1")
            )
        radius = 3.5 + 7 * math.sqrt(one.n / most)  # larger for more answers
        marks.append(tag("circle", tooltip(note), cx=at, cy=up(right), r=radius, class_="mark c1"))
    return finish_plot(name, heading, f"{heading}: {gaps}.", marks, size=frame.size)


# Plots in rows: shaded matrices, stacked bars, dots with intervals.

STRONG = 0.62
"""Share above which the numbers in a heat map change their colour; at this share both have a contrast of 4.5."""


FAINT = 0.005
"""Minimum share that is shown in small cells, since many zeros would hide other numbers."""


@dataclass(frozen=True)
class Stack:
    """A stacked bar with a name and the size of each part."""

    name: str
    parts: Sequence[float]
    note: str = ""


@dataclass(frozen=True)
class DotRow:
    """A row of a dot plot: a name and one number of each kind."""

    name: str
    figures: Sequence[Quantity]


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
    """Draw a matrix of shaded cells with their numbers if there is room; cells with NaN are empty."""
    # The side of a cell, and the room for names; names of columns are turned if they do not fit
    side = max(13.0, min(64.0, 300.0 / max(len(columns), 1)))
    left = 20 + min(max(map(len, rows), default=1), 14) * LETTER
    longest = max(map(len, columns), default=1)
    turned = longest * LETTER > side - 4
    top = 18 + (min(longest, 14) * LETTER * 0.75 + 6 if turned and columns else 16)
    marks = [text(left + side * len(columns) / 2, 10, column_name, class_="name")] if column_name else []
    middle = top + side * len(rows) / 2
    if row_name:
        marks.append(text(11, middle, row_name, class_="name", transform=f"rotate(-90 11 {middle:.0f})"))
    for n, column in enumerate(columns):
        x, y = left + side * (n + 0.5), top - 6
        words = fit_words(column, 14 * LETTER if turned else side)
        lean: dict[str, str] = {"anchor": "start", "transform": f"rotate(-45 {x:.1f} {y:.1f})"} if turned else {}
        marks.append(text(x, y, words, **lean))
    for m, row in enumerate(rows):
        marks.append(text(left - 6, top + side * m + side / 2 + 4, fit_words(row, 14 * LETTER), anchor="end"))
        for n, column in enumerate(columns):
            note = f"{row} → {column}" if notes is None else notes(m, n)
            value, x, y = values[m][n], left + side * n, top + side * m
            box = {"x": x + 0.75, "y": y + 0.75, "width": side - 1.5, "height": side - 1.5, "rx": 2}
            if not math.isfinite(value):
                marks.append(tag("g", tooltip(f"{note}: not known"), tag("rect", **box, class_="empty")))
                continue
            shade = min(max(value, 0.0), 1.0)
            cell = [tag("rect", **box, class_="cell"), tag("rect", **box, class_="heat", fill_opacity=shade)]
            if side >= 26 and (side >= 38 or shade >= FAINT):
                figure, size = (show(value), 12.0) if side >= 38 else (f"{100 * value:.0f}", 9.5)
                ink = "on-strong" if shade >= STRONG else "on-pale"
                cell.append(text(x + side / 2, y + side / 2 + 4, figure, class_=ink, font_size=size))
            marks.append(tag("g", tooltip(f"{note}: {show(value)}"), *cell))
    # Turned names extend to the right of the last column
    slant = max(min(len(columns[-1]), 14) * LETTER * 0.72 - side / 2, 4) + 6 if turned else 4
    spoken = description or f"{heading}: {pluralise(len(rows), 'row')} by {pluralise(len(columns), 'column')}."
    whole = (left + side * len(columns) + slant, top + side * len(rows) + 4)
    return finish_plot(name, heading, spoken, marks, size=whole, legend=legend)


def stacked_bars(name: str, heading: str, stacks: Sequence[Stack], parts: Sequence[str], *, x: str) -> Plot:
    """Draw horizontal stacked bars, one per name, whose parts differ by colour."""
    longest = max((len(one.name) for one in stacks), default=4)
    frame = Frame(width=1.4 * WIDTH, height=54 + 24 * len(stacks), left=22 + min(longest, 22) * LETTER, top=6)
    across = frame.across(0, (max((sum(one.parts) for one in stacks), default=1.0) or 1.0) * 1.02)
    marks = bottom_axis(frame, across, x, format_percent)
    for place, one in enumerate(stacks):
        y, start = frame.top + 24 * place, 0.0
        marks.append(text(frame.left - 8, y + 15, fit_words(one.name, 22 * LETTER), anchor="end"))
        for colour, (part, size) in enumerate(zip(parts, one.parts, strict=True), start=1):
            left, wide = across(start), across(start + size) - across(start)
            start += size
            if size <= 0:
                continue
            note = tooltip(f"{one.name}, {part}: {format_percent(size)}" + (f" ({one.note})" if one.note else ""))
            box = {"x": left, "y": y + 3, "width": max(wide - 1, 0.5), "height": 17}
            marks.append(tag("rect", note, **box, class_=f"mark c{colour}"))
            if wide > 46:
                marks.append(text(left + wide / 2, y + 16, format_percent(size), class_=f"in-c{colour}"))
    first = "; ".join(f"{show_controls(one.name)} {format_percent(sum(one.parts))}" for one in stacks[:5])
    legend = tuple((f"c{place + 1} p{place}", part) for place, part in enumerate(parts))
    return finish_plot(name, heading, f"{heading}: {first}.", marks, size=frame.size, legend=legend)


SHAPES = (("c1", "dot"), ("c6", "diamond"), ("c3", "ring"))
"""Colour and shape of the marks in a dot plot, by kind."""


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
    """Draw numbers with intervals, one line per row; kinds differ in shape and colour."""
    longest = max((len(row.name) for row in rows), default=4)
    frame = Frame(height=54 + 26 * len(rows), left=16 + min(longest, 24) * LETTER, right=50, top=6)
    figures = [end for row in rows for one in row.figures for end in (one.value, one.low, one.high)]
    ends = [end for end in figures if end is not None and math.isfinite(end)]
    ends = [*ends, *([0.0] if from_zero or not ends else []), *([] if ends else [1.0])]
    room = (max(ends) - min(ends)) * 0.06 or 0.05
    across = frame.across(min(ends) - (0 if min(ends) == 0 else room), max(ends) + room)
    marks, described = bottom_axis(frame, across, x, show), []
    for place, row in enumerate(rows):
        y = frame.top + 26 * place + 13
        marks.append(straight_line(frame.left, y, frame.width - frame.right, y))
        marks.append(text(frame.left - 8, y + 4, fit_words(row.name, 24 * LETTER), anchor="end"))
        known = [
            (kind, shape, one, one.value)
            for kind, shape, one in zip(kinds, SHAPES, row.figures, strict=False)
            if one.value is not None
        ]
        described.append(f"{show_controls(row.name)} {', '.join(f'{kind} {show(v)}' for kind, _, _, v in known)}")
        if not known:
            marks.append(text(frame.left + 6, y + 4, "not defined", anchor="start", class_="note"))
            continue
        for kind, (colour, shape), one, value in reversed(known):
            if not math.isfinite(value):
                continue
            note, lines = f"{row.name}, {kind}: {show(value)}", []
            if one.low is not None and one.high is not None:
                note += f" ({format_range(one.low, one.high, show)})"
                lines = [straight_line(across(one.low), y, across(one.high), y, class_=f"whisker {colour}")]
            radius = 6 if shape == "ring" else 4.5
            marks.append(tag("g", tooltip(note), *lines, draw_mark(shape, across(value), y, colour, radius)))
        figure = show(known[0][-1])
        marks.append(text(frame.width - frame.right + 6, y + 4, figure, anchor="start", class_="label"))
    legend = tuple((" ".join(shape), kind) for shape, kind in zip(SHAPES, kinds, strict=False))
    shown = legend if len(kinds) > 1 else ()
    return finish_plot(name, heading, f"{heading}: {'; '.join(described[:12])}.", marks, size=frame.size, legend=shown)
