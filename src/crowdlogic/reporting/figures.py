"""The plots of a report as files: SVG always, PNG where a browser is at hand to draw them.

A figure file is complete: its title, its legend and its colours are in it. No converter is a dependency; a Chromium
that is installed anyway draws all pictures in one go, without a window and without a network.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from crowdlogic.data.files import write_bytes
from crowdlogic.errors import CrowdLogicError
from crowdlogic.reporting.charts import (
    DASHES,
    LETTER,
    LIGHT,
    Plot,
    draw_mark,
    embed_json,
    plot_css,
    resolve_variables,
    tag,
    text,
)
from crowdlogic.reporting.page import load_pages
from crowdlogic.reporting.report import Report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

OPTIONS = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--virtual-time-budget=20000", "--dump-dom",
)  # fmt: skip

PATIENCE = 300
"""Seconds that the browser may take for all pictures."""

SHARPNESS = 2
"""Pixels of a PNG per unit of its plot."""

TOP, LINE = 30, 20
"""Room for the title, and for a line of the legend."""

DRAWING = """
(async () => {
  const drawn = {};
  for (const [name, svg] of Object.entries(JSON.parse(document.getElementById("data").textContent))) {
    const picture = new Image();
    picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
    await picture.decode();
    const canvas = document.createElement("canvas");
    canvas.width = SHARPNESS * picture.width;
    canvas.height = SHARPNESS * picture.height;
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    drawn[name] = canvas.toDataURL("image/png").split(",")[1];
  }
  document.getElementById("drawn").textContent = JSON.stringify(drawn);
})();
"""


@dataclass(frozen=True, kw_only=True)
class WrittenFigures:
    """Files of the written figures.

    Attributes:
        svg: SVG files.
        png: PNG files; empty if no browser was available.
        missing: Reason for missing PNG files, as a sentence; None if there are any.
    """

    svg: tuple[Path, ...]
    png: tuple[Path, ...]
    missing: str | None


def write_figures(report: Report, folder: str | Path, *, png: bool = True) -> WrittenFigures:
    """Write every plot of a report into a folder.

    Args:
        report: The report.
        folder: Where to; made when it is not there.
        png: Whether to write PNG files, too, where that is possible.
    """
    return write_plots(draw_plots(report), folder, png=png)


def draw_plots(report: Report) -> list[Plot]:
    """Return every plot of every page of a report."""
    pages = load_pages()
    groups = [pages[name].draw(found, report.task) for name, found in report.pages.items()]
    return [plot for group in groups for plots in group.values() for plot in plots]


def write_plots(plots: Iterable[Plot], folder: str | Path, *, png: bool = True) -> WrittenFigures:
    """Write plots into a folder, which is made when it is not there."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    pictures = {plot.name: standalone_svg(plot) for plot in plots}
    svg = tuple(_write(home / f"{name}.svg", picture.encode()) for name, picture in pictures.items())
    try:
        drawn = draw_png(pictures) if png and pictures else {}
    except DrawingError as problem:
        return WrittenFigures(svg=svg, png=(), missing=str(problem))
    files = tuple(_write(home / f"{name}.png", data) for name, data in drawn.items())
    return WrittenFigures(svg=svg, png=files, missing=None if png else "PNG was not requested.")


def _write(path: Path, data: bytes) -> Path:
    write_bytes(path, data)
    return path


def standalone_svg(plot: Plot, scheme: dict[str, str] | None = None) -> str:
    """Return a plot as an SVG document with its title, its legend and its colours in it."""
    colours = LIGHT if scheme is None else scheme
    width = max(plot.size[0], 14 + 7.6 * min(len(plot.title), 60))
    rows = _legend_rows(plot.legend, width)
    height = TOP + plot.size[1] + LINE * len(rows) + 8
    inside = [
        tag("style", Markup(resolve_variables(plot_css(), colours))),  # noqa: S704 (our own style sheet)
        tag("rect", width="100%", height="100%", fill=colours["card"]),
        text(10, 20, plot.title[:60], anchor="start", class_="label", font_size=14),
        tag("g", plot.svg, transform=f"translate(0 {TOP})"),
    ]
    for place, row in enumerate(rows):
        y = TOP + plot.size[1] + LINE * place + 12
        for x, kind, words in row:
            inside += [_draw_key(x, y, kind), text(x + 24, y + 4, words, anchor="start", class_="tick")]
    return str(
        tag(
            "svg",
            *inside,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {width:g} {height:g}",
            class_="plot",
            width=f"{width:g}",
            height=f"{height:g}",
            role="img",
        )
    )


def _legend_rows(legend: tuple[tuple[str, str], ...], width: float) -> list[list[tuple[float, str, str]]]:
    """Return the legend broken into rows: (where it begins, class, words)."""
    rows: list[list[tuple[float, str, str]]] = []
    x = width
    for kind, words in legend:
        shown = words[:40]
        wide = 40 + len(shown) * LETTER
        if x + wide > width:
            rows.append([])
            x = 14.0
        rows[-1].append((x, kind, shown))
        x += wide
    return rows


def _draw_key(x: float, y: float, kind: str) -> Markup:
    """Return the mark of a legend; its class names colour and shape, of a line also the place of its dashes (d2)."""
    colour, shape, dashes = (*kind.split(), "", "")[:3]
    if shape in ("dot", "ring", "diamond"):
        return draw_mark(shape, x + 9, y, colour)
    if shape == "line":
        dash = DASHES[int(dashes[1:])] if dashes else ""
        return tag("path", d=f"M{x:.1f} {y:.1f}h18", class_=f"line {colour}", stroke_dasharray=dash or None)
    class_ = colour if colour in ("cell", "heat", "empty") else f"mark {colour}"
    return tag("rect", x=x + 3, y=y - 6, width=12, height=12, class_=class_)


class DrawingError(CrowdLogicError, RuntimeError):
    """PNG files could not be drawn."""


def draw_png(pictures: Mapping[str, str]) -> dict[str, bytes]:
    """Return PNG of every picture, drawn by an installed Chromium.

    Raises:
        DrawingError: There is none, or it failed.
    """
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if browser is None:
        raise DrawingError("There are SVG files only: PNG needs Chromium, and none is installed.")
    with tempfile.TemporaryDirectory(prefix="crowdlogic-figures-", ignore_cleanup_errors=True) as home:
        page = Path(home) / "page.html"
        page.write_text(_drawing_page(pictures), encoding="utf-8")
        found = re.search(r'<pre id="drawn">(\{[^<]*\})</pre>', _run(browser, page, Path(home) / "profile"))
    if found is None:
        raise DrawingError("There are SVG files only: Chromium is installed but did not draw them as PNG.")
    return {name: base64.b64decode(data) for name, data in json.loads(found[1]).items()}


def _drawing_page(pictures: Mapping[str, str]) -> str:
    script = DRAWING.replace("SHARPNESS", str(SHARPNESS))
    data = embed_json(dict(pictures))
    return (
        "<!doctype html><meta charset=utf-8>"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
        "style-src 'unsafe-inline'; img-src data:\">"
        f'<pre id="drawn"></pre><script type="application/json" id="data">{data}</script><script>{script}</script>'
    )


def _run(browser: str, page: Path, profile: Path) -> str:
    # Chromium refuses to run as root inside its own sandbox; the page holds nothing but our pictures.
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [browser, *OPTIONS, *root, f"--user-data-dir={profile}", page.as_uri()]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)  # noqa: S603 (no shell, no data)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise DrawingError(
            f"There are SVG files only: Chromium did not draw them ({type(problem).__name__})."
        ) from problem
    return done.stdout.decode("utf-8", "replace")
