"""The colours of both schemes, by name, and the style sheet of a plot.

Marks use the colours of [OI] in tones that stand out from either paper; shapes, dashes and words repeat what they say,
so that nobody needs to distinguish colours.

[OI] Okabe and Ito, "Color Universal Design", 2008.
"""

from __future__ import annotations

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

PLOT_CSS = """
.plot { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
.plot text { font-size: 12px; fill: var(--ink); }
.plot .tick { fill: var(--muted); font-size: 11.5px; font-variant-numeric: tabular-nums; }
.plot .name { fill: var(--muted); font-size: 12px; }
.plot .note { fill: var(--muted); font-size: 11px; font-style: italic; }
.plot .label { font-weight: 600; font-size: 11.5px; paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
.plot .grid { stroke: var(--line); stroke-width: 1; }
.plot .axis { stroke: var(--muted); stroke-width: 1; }
.plot .chance { stroke: var(--muted); stroke-width: 1.2; stroke-dasharray: 3 4; }
.plot .chosen { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 2 3; }
.plot .hatch { stroke: var(--card); stroke-width: 1.6; }
.plot .quiet { pointer-events: none; }
.plot .cell { fill: var(--card); stroke: var(--line); stroke-width: 1; }
.plot .heat { fill: var(--heat); }
.plot .empty { fill: var(--sunk); stroke: var(--line); stroke-dasharray: 2 2; }
.plot .on-pale { fill: var(--on-pale); }
.plot .on-strong { fill: var(--on-strong); }
.plot .in-c1 { fill: var(--in-c1); font-size: 11px; }
.plot .in-c2, .plot .in-c3, .plot .in-c4, .plot .in-c5, .plot .in-c6 { fill: var(--in-c2); font-size: 11px; }
.plot .line { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }
.plot .whisker { stroke-width: 1.6; stroke-opacity: 0.55; }
.plot .ring { stroke-width: 2; }
""" + "".join(
    f".plot .mark.c{n} {{ fill: var(--c{n}); }}\n"
    f".plot .line.c{n}, .plot .whisker.c{n}, .plot .ring.c{n} {{ stroke: var(--c{n}); }}\n"
    f".plot .ring.c{n} {{ fill: var(--card); }}\n"
    for n in range(1, 9)
)
"""How marks look; the colours are the scheme's variables."""


def css_variables(scheme: dict[str, str]) -> str:
    """The declarations of a scheme's colours as variables of a style sheet."""
    return " ".join(f"--{name}: {colour};" for name, colour in scheme.items())


def resolve_variables(css: str, scheme: dict[str, str]) -> str:
    """A style sheet with its variables replaced by colours, for pictures that stand alone."""
    for name, colour in scheme.items():
        css = css.replace(f"var(--{name})", colour)
    return css
