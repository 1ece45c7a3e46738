"""Convert a report to a single HTML file that loads nothing else.

All text from data is escaped: templates escape automatically, the data for scripts are JSON with escaped angle
brackets, and scripts insert data as text only. A content security policy only allows the scripts and the style sheet of
the file, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup, escape

from crowdlogic.reporting.charts import (
    LONGEST,
    colour_schemes,
    embed_json,
    format_number,
    format_percent,
    format_range,
    plot_css,
    shorten,
    show_place,
    tag,
)
from crowdlogic.reporting.findings import Quantity, TaskKind
from crowdlogic.reporting.page import Highlights, Page, load_pages
from crowdlogic.reporting.report import Report

# Technical terms with short explanations, which are shown when readers hover over or tap a term.

GLOSSARY = {
    "Krippendorff's alpha": "How far annotators agree: 0 is what guessing would give, 1 is full agreement.",
    "majority vote": "The label that most annotators gave to an item.",
    "calibration error": "How far stated confidences are from how often the answers are really right.",
    "confidence": "The probability that an answer is right, as far as the labels tell.",
    "reliability": "The expected share of an annotator's labels that are right; for spans, the F1 of whole spans.",
    "skill": "How much better than guessing an annotator is: 100% is always right, 0% no better than guessing.",
    "span F1": "How many true spans were found and how few were invented, in one figure: 100% is best.",
    "by gold": "Checked against answers that are known to be true.",
    "gold": "Answers that are known to be true, from an expert or a check.",
    "held-out": "Labels that the model was not shown while learning, to see how well it predicts them.",
    "epochs": "Rounds in which the model goes once over all items.",
    "epoch": "A round in which the model goes once over all items.",
    "dev items": "Items with known answers that only decide when to stop learning.",
    "classifier": "The part that learns from the texts themselves, and can label new ones.",
    "converged": "The answers no longer changed from one step to the next.",
    "loss": "How far what the model says is from what it should say: 0 is best.",
    "confusion matrices": "Tables of which label an annotator gave where another was true.",
    "anchors": "Items whose true label is known and given along.",
}
"""Explanations by term. If a term contains another one, the longer term comes first."""

TERMS = re.compile("|".join(rf"\b{re.escape(term)}\b" for term in sorted(GLOSSARY, key=len, reverse=True)))


def gloss(text: str) -> Markup:
    """Return text as HTML with an explanation at the first occurrence of each term."""
    parts, at, seen = [], 0, set[str]()
    for found in TERMS.finditer(text):
        term = found.group()
        if term not in seen:
            seen.add(term)
            note = Markup('<span class="gloss" role="tooltip">{}</span>').format(GLOSSARY[term])
            explained = Markup('<span class="term" tabindex="0">{}{}</span>').format(term, note)
            parts += [escape(text[at : found.start()]), explained]
            at = found.end()
    return Markup("").join([*parts, escape(text[at:])])


TEMPLATE = "template.html.j2"
"""Name of a page's template below the page's name."""
PAGE_SCRIPTS = "/* the scripts of the pages */"
"""Placeholder in report.js for the scripts of the pages."""
MARKERS = {"act": ("▲", "Act"), "look": ("◆", "Look"), "know": ("●", "Know")}
"""Sign and word for each urgency, in addition to its colour."""


def to_html(report: Report) -> str:
    """Return the report as one self-contained HTML page."""
    pages = {name: page for name, page in load_pages().items() if name in report.pages}
    data = {name: page.script_data(report.pages[name]) for name, page in pages.items()}
    style, theme, script = stylesheet(), _read("theme.js"), page_script(pages)
    environment = _environment(tuple((name, page.module) for name, page in pages.items()))
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
    """Return the contributions of all pages to the overview."""
    found = [page.highlight(report.pages[name], report.task) for name, page in pages.items()]
    tiles = [tile for one in found for tile in one.tiles]
    return Highlights(tiles, [plot for one in found for plot in one.plots])


def content_policy(*, style: str, scripts: tuple[str, ...]) -> str:
    """Return the content security policy, which allows the page's own style sheet, scripts and embedded images."""
    allowed = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def stylesheet() -> str:
    """Return the style sheet of the page, with both colour schemes and the style of the plots."""
    return colour_schemes() + plot_css() + _read("report.css")


def page_script(pages: Mapping[str, Page[Any]]) -> str:
    """Return the script of the report. The script of each page is in a separate block, with the data of the page."""
    sources = {name: beside_module(page.module, ".js") for name, page in pages.items()}
    blocks = [
        f"{{\nconst pageName = {name!r}, data = everyData[pageName];\n{source.read_text(encoding='utf-8')}}}\n"
        for name, source in sources.items()
        if source.is_file()
    ]
    return _read("report.js").replace(PAGE_SCRIPTS, "".join(blocks))


def beside_module(module: str, suffix: str) -> Path:
    """Return the path of the file next to a module with the same name and the given suffix."""
    return Path(str(import_module(module).__file__)).with_name(module.rpartition(".")[2] + suffix)


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


@cache
def _read(name: str) -> str:
    return (files("crowdlogic.reporting") / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment(pages: tuple[tuple[str, str], ...]) -> Environment:
    """Return the templates: report/... for the report, and <page>/template.html.j2 for each page (name, module)."""
    sources = {name: beside_module(module, ".html.j2").read_text(encoding="utf-8") for name, module in pages}
    loaders = {name: DictLoader({"template.html.j2": source}) for name, source in sources.items()}
    environment = Environment(
        loader=PrefixLoader({**loaders, "report": PackageLoader("crowdlogic.reporting", "templates")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Filters for text from data shorten it and make control characters visible; templates escape it
    environment.filters |= {
        "share": show_share,
        "number": show_number,
        "interval": show_interval,
        "words": lambda value: shorten(str(value)),
        "glossed": lambda value: gloss(shorten(str(value))),
        "brief": lambda value: shorten(str(value), 80),
        "place": show_place,
        "short": format_number,
    }
    environment.globals |= {"markers": MARKERS, "ruler": draw_ruler, "longest": LONGEST, "template_name": TEMPLATE}
    return environment


def show_share(value: float | None) -> str:
    """Return a share as percent, or a dash."""
    return "–" if value is None else format_percent(value)


def show_number(value: float | None, digits: int = 0) -> str:
    """Return a number with commas between thousands, or a dash."""
    return "–" if value is None else f"{value:,.{digits}f}"


def show_interval(figure: Quantity) -> str:
    """Return an interval in percent; empty without an interval."""
    low, high = figure.low, figure.high
    return "" if low is None or high is None else format_range(low, high)


def draw_ruler(figure: Quantity) -> object:
    """Draw a share and its interval on a line from 0 to 1, for a cell of a table."""
    if figure.value is None:
        return ""
    low, high = (figure.value if end is None else end for end in (figure.low, figure.high))
    marks = [
        tag("line", x1=0, x2=100, y1=8, y2=8, class_="grid"),
        tag("line", x1=100 * low, x2=100 * high, y1=8, y2=8, class_="whisker c1"),
        tag("circle", cx=100 * figure.value, cy=8, r=4, class_="mark c1"),
    ]
    return tag("svg", *marks, viewBox="-4 0 108 16", class_="plot ruler", width=108, height=16, aria_hidden="true")
