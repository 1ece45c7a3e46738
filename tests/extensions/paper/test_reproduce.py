"""`crowdlogic reproduce`: a quick run from the command line, gone on with, and what it refuses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Result

pytest.importorskip("torch")

Run = Callable[..., Result]

QUICK = ("reproduce", "sentiment", "--quick", "--seeds", 1, "--jobs", 1, "-o", "paper")


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are written as SVG only: a browser would draw them as PNG, too, and take its time."""
    monkeypatch.setenv("PATH", "")


def test_a_quick_run_writes_runs_tables_and_figures_and_does_nothing_twice(run: Run) -> None:
    done = run(*QUICK, "--methods", "annotators", "--methods", "logic-lncl", "--methods", "truth glad")

    assert done.code == 0
    assert "3 runs: 0 finished, 3 to run." in done.err
    table = pl.read_csv("paper/quick-sentiment.csv")
    assert table["row"].to_list() == ["annotators", "logic-lncl", "truth glad"]
    before = Path("paper/quick-sentiment.jsonl").read_text().splitlines()
    assert table["sha256"][1] == hashlib.sha256(before[1].encode()).hexdigest()
    student = json.loads(before[1])["scores"]["student"]["accuracy"]
    assert table["student accuracy"][1] == pytest.approx(student, abs=1e-6)
    assert f"| {100 * student:.2f} |" in Path("paper/quick-sentiment.md").read_text()
    drawn = {path.name for path in Path("paper/figures").glob("*.svg")}
    assert {f"quick-sentiment-{name}.svg" for name in ("confusion", "reliability", "skill", "amount")} <= drawn

    again = run(*QUICK, "--methods", "truth glad", "--methods", "truth pm")

    assert "2 runs: 1 finished, 1 to run." in again.err
    after = Path("paper/quick-sentiment.jsonl").read_text().splitlines()
    assert after[:3] == before
    assert json.loads(after[3])["row"] == "truth pm"


def test_a_quick_run_says_first_that_it_means_nothing_and_shows_neither_the_papers_scores_nor_intervals(
    run: Run,
) -> None:
    done = run(*QUICK, "--methods", "logic-lncl", "--methods", "aggnet", "--seeds", 2)

    what = "This is a test run on small simulated data with small networks, to check that everything works."
    page = Path("paper/quick-sentiment.md").read_text()
    assert done.err.startswith(what)
    assert done.out.startswith(what)
    assert page.startswith(f"# quick-sentiment\n\n{what}")
    assert "±" not in done.out + page.replace("ours ± 95 % interval", "")
    assert "78.85" not in done.out + page
    assert "too few seeds" in page


def test_an_unknown_method_is_refused_before_anything_is_written(run: Run) -> None:
    done = run(*QUICK, "--methods", "agnet")

    assert done.code == 2
    assert "'agnet' is not a method of the tables on quick-sentiment" in done.err
    assert "aggnet" in done.err
    assert not Path("paper").exists()


def test_missing_data_is_told_of_before_anything_is_written(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDLOGIC_DATA", raising=False)

    done = run("reproduce", "ner", "-o", "paper")

    assert done.code == 2
    assert "CROWDLOGIC_DATA" in done.err
    assert not Path("paper").exists()
