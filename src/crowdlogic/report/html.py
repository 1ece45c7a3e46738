"""A report as one HTML file that needs nothing else, not even a network.

Whatever comes from data is escaped: templates escape by themselves, data for the script is in an inert block with
its angle brackets written as escapes, and the script only ever sets text. A content security policy allows the file's
own scripts and style, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from crowdlogic.report.findings import Quantity, TaskKind
from crowdlogic.report.glossary import gloss
from crowdlogic.report.page import Highlights, Page, load_pages
from crowdlogic.report.plain_text import LONGEST, embed_json, shorten, show_place
from crowdlogic.report.plots.colours import DARK, LIGHT, PLOT_CSS, css_variables
from crowdlogic.report.plots.elements import tag
from crowdlogic.report.plots.scales import format_number, format_percent
from crowdlogic.report.report import Report

TEMPLATE, SCRIPT = "template.html.j2", "script.js"
"""Files of a page's package."""
PAGE_SCRIPTS = "/* the scripts of the pages */"
"""Where report.js takes in the scripts of the pages."""
MARKERS = {"act": ("▲", "Act"), "look": ("◆", "Look"), "know": ("●", "Know")}
"""A sign and a word for what a finding asks, so that nobody needs its colour."""


def to_html(report: Report) -> str:
    """The report as one self-contained HTML page."""
    pages = {name: page for name, page in load_pages().items() if name in report.pages}
    data = {name: page.script_data(report.pages[name]) for name, page in pages.items()}
    style, theme, script = stylesheet(), _read("theme.js"), page_script(pages)
    environment = _environment(tuple((name, page.package) for name, page in pages.items()))
    return environment.get_template("report/report.html.j2").render(
        report=report,
        pages=pages,
        page_plots={name: page.draw(report.pages[name], report.task) for name, page in pages.items()},
        page_data=data,
        embedded=embed_json({name: part for name, part in data.items() if part}),
        highlights=collect_highlights(report, pages),
        units="items" if report.task is TaskKind.documents else "tokens",
        style=style,
        theme=theme,
        script=script,
        policy=content_policy(style=style, scripts=(theme, script)),
    )


def collect_highlights(report: Report, pages: Mapping[str, Page[Any]]) -> Highlights:
    """What all pages together contribute to the overview."""
    found = [page.highlight(report.pages[name], report.task) for name, page in pages.items()]
    tiles = [tile for one in found for tile in one.tiles]
    return Highlights(tiles, [plot for one in found for plot in one.plots])


def content_policy(*, style: str, scripts: tuple[str, ...]) -> str:
    """What the page may load and run: its own style and scripts, and pictures that it holds itself."""
    allowed = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def stylesheet() -> str:
    """The style of the page: both colour schemes, that of the plots and its own."""
    schemes = (
        f":root {{ color-scheme: light; {css_variables(LIGHT)} }}\n"
        "@media (prefers-color-scheme: dark) { "
        f":root:not([data-theme=light]) {{ color-scheme: dark; {css_variables(DARK)} }} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {css_variables(DARK)} }}\n"
        f"@media print {{ :root, :root[data-theme] {{ color-scheme: light; {css_variables(LIGHT)} }} }}\n"
    )
    return schemes + PLOT_CSS + _read("report.css")


def page_script(pages: Mapping[str, Page[Any]]) -> str:
    """The script of the report, with those of its pages, each in a block of its own with the page's data."""
    sources = {name: files(page.package) / SCRIPT for name, page in pages.items()}
    blocks = [
        f"{{\nconst pageName = {name!r}, data = everyData[pageName];\n{source.read_text(encoding='utf-8')}}}\n"
        for name, source in sources.items()
        if source.is_file()
    ]
    return _read("report.js").replace(PAGE_SCRIPTS, "".join(blocks))


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


@cache
def _read(name: str) -> str:
    return (files("crowdlogic.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment(packages: tuple[tuple[str, str], ...]) -> Environment:
    """Templates by package: report/... for the frame, <page>/template.html.j2 for each page (name, package)."""
    loaders = {name: PackageLoader(package, "") for name, package in packages}
    environment = Environment(
        loader=PrefixLoader({**loaders, "report": PackageLoader("crowdlogic.report", "templates")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "share": show_share,
        "number": show_number,
        "interval": show_interval,
        "words": show_text,
        "glossed": gloss_text,
        "brief": show_name,
        "place": show_place,
        "short": format_number,
    }
    environment.globals |= {"markers": MARKERS, "ruler": draw_ruler, "longest": LONGEST, "template_name": TEMPLATE}
    return environment


def show_share(value: float | None) -> str:
    """A share as percent, or a dash."""
    return "–" if value is None else format_percent(value)


def show_number(value: float | None, digits: int = 0) -> str:
    """A number with commas between thousands, or a dash."""
    return "–" if value is None else f"{value:,.{digits}f}"


def show_interval(figure: Quantity) -> str:
    """The interval of a figure in percent; empty where there is none."""
    low, high = figure.low, figure.high
    return "" if low is None or high is None else f"{format_percent(low)} to {format_percent(high)}"


def show_text(value: Any) -> str:
    """Text from data, cut and with control characters shown; the template escapes it."""
    return shorten(str(value))


def gloss_text(value: Any) -> Markup:
    """Text from data as `show_text` has it, with explanations of the field's words."""
    return gloss(show_text(value))


def show_name(value: Any) -> str:
    """A name from data: as `show_text`, but short."""
    return shorten(str(value), 80)


def draw_ruler(figure: Quantity) -> object:
    """A figure and its interval on a line from 0 to 1: the small picture in a table's cell."""
    if figure.value is None:
        return ""
    low, high = (figure.value if end is None else end for end in (figure.low, figure.high))
    marks = [
        tag("line", x1=0, x2=100, y1=8, y2=8, class_="grid"),
        tag("line", x1=100 * low, x2=100 * high, y1=8, y2=8, class_="whisker c1"),
        tag("circle", cx=100 * figure.value, cy=8, r=4, class_="mark c1"),
    ]
    return tag("svg", *marks, viewBox="-4 0 108 16", class_="plot ruler", width=108, height=16, aria_hidden="true")
