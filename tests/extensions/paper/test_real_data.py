"""Reports of the paper's own data sets, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.browser.chrome import Chrome
from tests.report.browser.looking import check, turn

from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.reporting.html import to_html
from crowdlogic.reporting.inputs import inputs_from_estimate
from crowdlogic.reporting.report import make_report
from crowdlogic.truth.methods import truth_method

pytestmark = [pytest.mark.heavy, pytest.mark.data]


@pytest.mark.parametrize("name", ["sentiment_mturk", "ner_conll_mturk"])
def test_the_report_of_an_estimate_reads_well(browser: Chrome, data_root: Path, tmp_path: Path, name: str) -> None:
    given = load_benchmark(name, root=data_root)
    made = inputs_from_estimate(truth_method("dawid-skene").infer(given.labels), given.labels, given.corpus)
    page = tmp_path / "report.html"

    page.write_text(to_html(make_report(made, title=name, made_at="2026-01-01T00:00:00+00:00")), encoding="utf-8")

    assert page.stat().st_size < 5_000_000
    check(browser, page)
    browser.open(page)
    turn(browser, "labels")
    assert browser.evaluate("document.querySelectorAll('#items .item').length") == 10
    spans = browser.evaluate("document.querySelectorAll('#items .readings .span').length")
    assert (spans > 10) == (name == "ner_conll_mturk")
