"""The contract of a page: one package and one entry in the registry."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.report.small_crowds import report_on, small_inputs

from crowdlogic.data.evidence import UnitEvidence
from crowdlogic.registry import PAGES
from crowdlogic.reporting.figures import draw_plots
from crowdlogic.reporting.html import beside_module, to_html
from crowdlogic.reporting.page import Page, load_pages
from crowdlogic.reporting.report import to_json

PACKAGE = """
from dataclasses import dataclass
import numpy as np
from crowdlogic.reporting.findings import ReportFinding, Urgency
from crowdlogic.reporting.page import Highlights, Page, Tile
from crowdlogic.reporting.charts import Curve, line_chart

@dataclass(frozen=True, kw_only=True)
class SpeedFindings:
    n_explained: int
    findings: tuple[ReportFinding, ...]

def compute(context):
    finding = ReportFinding("Annotators <b>hurry</b>.", Urgency.act, importance=99)
    return SpeedFindings(n_explained=len(context.evidence), findings=(finding,))

def draw(found, task):
    return {"main": [line_chart("speed", "Speed", [Curve("s", [(0, 0.1), (1, 0.2)])], x="day", y="share")]}

PAGE = Page(
    title="Speed & haste", module=__name__, compute=compute, draw=draw,
    evidence_units=lambda context: np.array([0]),
    highlight=lambda found, task: Highlights([Tile(figure="7", name="seconds per label")]),
    script_data=lambda found: {"answer": 42},
)
"""


@pytest.fixture
def speed_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A page of another package, registered for this process."""
    package = tmp_path / "speed_page"
    package.mkdir()
    (package / "__init__.py").write_text(PACKAGE)
    (package / "speed_page.html.j2").write_text(
        "{{ m.findings(found.findings) }}<p>{{ data.answer }} of {{ units }}</p>"
    )
    (package / "speed_page.js").write_text("window.answer = data.answer;\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(PAGES, "_places", {**PAGES._places, "speed": "speed_page:PAGE"})
    yield
    sys.modules.pop("speed_page", None)


@pytest.mark.usefixtures("speed_page")
def test_a_new_page_is_one_package_and_one_entry() -> None:
    report = report_on(small_inputs())
    page = to_html(report)

    assert list(report.pages) == ["overview", "labels", "annotators", "speed"]
    assert json.loads(to_json(report))["speed"]["findings"][0]["page"] == "speed"
    assert report.summary.findings[0].text == "Annotators <b>hurry</b>."
    assert 'aria-controls="speed"' in page
    assert "Speed &amp; haste" in page
    assert "Annotators &lt;b&gt;hurry&lt;/b&gt;." in page
    assert "<p>42 of items</p>" in page
    assert "seconds per label" in page
    assert '"speed":{"answer":42}' in page
    assert "const pageName = 'speed', data = everyData[pageName];\nwindow.answer = data.answer;" in page
    assert "speed" in [plot.name for plot in draw_plots(report)]
    assert report.pages["speed"].n_explained == 4


def test_all_evidence_is_asked_for_at_once_and_without_repetition() -> None:
    asked: list[list[int]] = []

    def explain(units: np.ndarray) -> list[UnitEvidence | None]:
        asked.append(units.tolist())
        return [None] * len(units)

    # u1's gold is suspect and the item is in doubt, too.
    report_on(small_inputs(["y", "x", "y", "y"]), explain=explain)

    assert asked == [[0, 1, 2, 3]]


@pytest.mark.parametrize("name", list(PAGES))
def test_every_page_has_a_title_a_template_and_findings(name: str) -> None:
    page = load_pages()[name]

    assert isinstance(page, Page)
    assert page.title
    assert beside_module(page.module, ".html.j2").is_file()
