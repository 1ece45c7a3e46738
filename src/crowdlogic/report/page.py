"""The page: a report as one HTML file that needs nothing else, not even a network.

Whatever comes from data is escaped: templates escape by themselves, data for the script stands in an inert block with
its angle brackets written as escapes, and the script only ever sets text. A content security policy allows this page's
own script and style, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from crowdlogic.report.findings import Figure, Report, Task
from crowdlogic.report.page_items import embedded, items_of
from crowdlogic.report.plain_text import LONGEST, shortened
from crowdlogic.report.plots import percent, short, tag
from crowdlogic.report.plots_colours import DARK, LIGHT, PLOT_CSS, variables
from crowdlogic.report.plots_pages import plots_of
from crowdlogic.report.wording import score_title

MOST_ANNOTATORS = 600
"""Rows of the annotators' table; the table says of how many."""

TITLES = {
    "overview": "Overview", "labels": "Labels", "annotators": "Annotators", "rules": "Rules", "training": "Training",
    "comparison": "Comparison",
}  # fmt: skip

ASKS = {"act": ("▲", "Act"), "look": ("◆", "Look"), "know": ("●", "Know")}
"""A sign and a word for what a finding asks, so that its colour need not say it."""


def render(report: Report) -> str:
    """The report as one self-contained HTML page."""
    style, theme, script = stylesheet(), _source("theme.js"), _source("report.js")
    shown, left_out = items_of(report)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            pages=[page for page in TITLES if getattr(report, page) is not None],
            plots=plots_of(report),
            units="items" if report.overview.task is Task.documents else "tokens",
            data=embedded(shown),
            left_out=left_out,
            most_annotators=MOST_ANNOTATORS,
            longest=LONGEST,
            style=style,
            theme=theme,
            script=script,
            policy=policy(style=style, scripts=(theme, script)),
        )
    )


def policy(*, style: str, scripts: tuple[str, ...]) -> str:
    """What the page may load and run: its own style and scripts, and pictures that it carries itself."""
    allowed = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def stylesheet() -> str:
    """The page's style: both colour schemes, the plots' and its own."""
    schemes = (
        f":root {{ color-scheme: light; {variables(LIGHT)} }}\n"
        "@media (prefers-color-scheme: dark) { "
        f":root:not([data-theme=light]) {{ color-scheme: dark; {variables(DARK)} }} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {variables(DARK)} }}\n"
        f"@media print {{ :root, :root[data-theme] {{ color-scheme: light; {variables(LIGHT)} }} }}\n"
    )
    return schemes + PLOT_CSS + _source("report.css")


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


@cache
def _source(name: str) -> str:
    return (files("crowdlogic.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("crowdlogic.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "share": share,
        "number": number,
        "interval": interval,
        "words": words,
        "brief": brief,
        "short": short,
        "score_title": score_title,
    }
    made.globals |= {"titles": TITLES, "asks": ASKS, "ruler": ruler}
    return made


def share(value: float | None) -> str:
    """A share as percent, or a dash."""
    return "–" if value is None else percent(value)


def number(value: float | None, digits: int = 0) -> str:
    """A number with thousands set apart, or a dash."""
    return "–" if value is None else f"{value:,.{digits}f}"


def interval(figure: Figure) -> str:
    """The interval of a figure in percent; empty where there is none."""
    return "" if figure.low is None or figure.high is None else f"{percent(figure.low)} to {percent(figure.high)}"


def words(value: Any) -> str:
    """Text from data, cut and with steering characters shown; the template escapes it."""
    return shortened(str(value))


def brief(value: Any) -> str:
    """A name from data: as `words`, but short."""
    return shortened(str(value), 80)


def ruler(figure: Figure) -> object:
    """A figure and its interval on a line from 0 to 1: the small picture in a table's cell."""
    if figure.value is None:
        return ""
    low, high = (figure.value if v is None else v for v in (figure.low, figure.high))
    marks = [
        tag("line", x1=0, x2=100, y1=8, y2=8, class_="grid"),
        tag("line", x1=100 * low, x2=100 * high, y1=8, y2=8, class_="whisker c1"),
        tag("circle", cx=100 * figure.value, cy=8, r=4, class_="mark c1"),
    ]
    return tag("svg", *marks, viewBox="-4 0 108 16", class_="plot ruler", width=108, height=16, aria_hidden="true")
