"""Write the plots of a report to files: as SVG, and also as PNG if Chromium is installed.

Each file contains the title, the legend and the colours. An installed Chromium draws all PNG files at once, without a
window and without network access; there is no other dependency.
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
"""Time limit for the browser in seconds."""

SHARPNESS = 2
"""Number of pixels of a PNG per unit of the plot."""

TOP, LINE = 30, 20
"""Height of the title, and of a line of the legend."""

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
        folder: Output folder, which is created if needed.
        png: Whether to write PNG files as well, if possible.
    """
    return write_plots(draw_plots(report), folder, png=png)


def draw_plots(report: Report) -> list[Plot]:
    """Return every plot of every page of a report."""
    pages = load_pages()
    groups = [pages[name].draw(found, report.task) for name, found in report.pages.items()]
    return [plot for group in groups for plots in group.values() for plot in plots]


def write_plots(plots: Iterable[Plot], folder: str | Path, *, png: bool = True) -> WrittenFigures:
    """Write plots into a folder, which is created if needed."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    pictures = {plot.name: standalone_svg(plot) for plot in plots}
    files = {home / f"{name}.svg": picture.encode() for name, picture in pictures.items()}
    missing = None if png else "PNG was not requested."
    try:
        drawn = draw_png(pictures) if png and pictures else {}
    except DrawingError as problem:
        drawn, missing = {}, str(problem)
    files |= {home / f"{name}.png": data for name, data in drawn.items()}
    for path, data in files.items():
        write_bytes(path, data)
    svg, made = (tuple(path for path in files if path.suffix == suffix) for suffix in (".svg", ".png"))
    return WrittenFigures(svg=svg, png=made, missing=missing)


def standalone_svg(plot: Plot, scheme: dict[str, str] | None = None) -> str:
    """Return a plot as an SVG document that contains its title, legend and colours."""
    colours = LIGHT if scheme is None else scheme
    width = max(plot.size[0], 14 + 7.6 * min(len(plot.title), 60))
    # The legend broken into rows of (position, class, words)
    rows: list[list[tuple[float, str, str]]] = []
    x = width
    for kind, words in plot.legend:
        shown = words[:40]
        wide = 40 + len(shown) * LETTER
        if x + wide > width:
            rows.append([])
            x = 14.0
        rows[-1].append((x, kind, shown))
        x += wide
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


def _draw_key(x: float, y: float, kind: str) -> Markup:
    """Draw the mark of a legend. Its class contains the colour and the shape, for lines also the dash pattern (d2)."""
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
    """Return a PNG for each SVG document, drawn by an installed Chromium.

    Raises:
        DrawingError: Chromium is not installed, or it failed.
    """
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if browser is None:
        raise DrawingError("There are SVG files only: PNG requires Chromium, which is not installed.")
    script, data = DRAWING.replace("SHARPNESS", str(SHARPNESS)), embed_json(dict(pictures))
    content = (
        "<!doctype html><meta charset=utf-8>"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
        "style-src 'unsafe-inline'; img-src data:\">"
        f'<pre id="drawn"></pre><script type="application/json" id="data">{data}</script><script>{script}</script>'
    )
    # Chromium refuses to run as root in its sandbox, which is not needed here: the page contains only our plots
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="crowdlogic-figures-", ignore_cleanup_errors=True) as home:
        page = Path(home) / "page.html"
        page.write_text(content, encoding="utf-8")
        command = [browser, *OPTIONS, *root, f"--user-data-dir={Path(home) / 'profile'}", page.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)  # noqa: S603 (no shell, no data)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise DrawingError(
                f"There are SVG files only: Chromium did not draw them ({type(problem).__name__})."
            ) from problem
    found = re.search(r'<pre id="drawn">(\{[^<]*\})</pre>', done.stdout.decode("utf-8", "replace"))
    if found is None:
        raise DrawingError("There are SVG files only: Chromium is installed but did not draw them as PNG.")
    return {name: base64.b64decode(data) for name, data in json.loads(found[1]).items()}
