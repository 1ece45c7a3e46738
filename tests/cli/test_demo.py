"""`crowdlogic demo` as a user would call it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Result

from crowdlogic.workflows.demo import DemoOptions, run_demo

Run = Callable[..., Result]

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=range(5))
def figures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The figures of the demo with its defaults, for five seeds."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    return {**run_demo(DemoOptions(out=str(folder), seed=request.param)).figures(), "seed": request.param}


def test_the_demo_shows_a_crowd_on_which_majority_vote_fails(figures: dict[str, Any]) -> None:
    scores = {row["method"]: row["accuracy"] for row in figures["methods"]}

    assert scores["majority"] < 0.85
    assert scores[figures["default"]] > scores["majority"] + 0.1
    assert "simulated" in figures["simulated"]


def test_the_readme_gives_the_figures_of_the_demo(figures: dict[str, Any]) -> None:
    if figures["seed"] != 0:
        pytest.skip("the README describes seed 0")
    scores = {row["method"]: row["accuracy"] for row in figures["methods"]}
    order = ("majority", figures["default"], "dawid-skene", "logic-lncl without the rule", "logic-lncl")
    sentence = README[README.index("On the 1,000 simulated reviews of the demo") :].partition("So the default")[0]

    assert re.findall(r"([\d.]+) %", sentence) == [f"{100 * scores[name]:.1f}" for name in order]


def test_the_demo_shows_what_the_classifier_and_the_rule_add(figures: dict[str, Any]) -> None:
    by = {row["method"]: row for row in figures["methods"]}
    with_rule, without = by["logic-lncl"], by["logic-lncl without the rule"]

    assert by[figures["default"]]["new"] is None
    assert figures["gains"]["classifier"] == without["accuracy"] - by[figures["default"]]["accuracy"] > 0.02
    assert figures["gains"]["rule"] == with_rule["accuracy"] - without["accuracy"] > 0
    assert figures["gains"]["rule_on_new"] == with_rule["new"] - without["new"] > 0.02


def test_the_demo_shows_the_answers_that_the_rule_corrected_and_spoiled(figures: dict[str, Any]) -> None:
    rule = figures["rule"]
    corrected, spoiled = rule["corrected_example"], rule["spoiled_example"]

    assert rule["corrected"] > rule["spoiled"] >= 0
    assert (rule["corrected"] - rule["spoiled"]) / 1000 == pytest.approx(figures["gains"]["rule"])
    assert corrected["after"] == corrected["truth"] != corrected["before"]
    assert (spoiled is None) == (rule["spoiled"] == 0)
    for example in (one for one in (corrected, spoiled) if one is not None):
        assert not re.search(r"\s[.,]", example["text"])
    assert ", but " in corrected["text"]
    assert spoiled is None or spoiled["before"] == spoiled["truth"] != spoiled["after"]


def test_the_demo_says_in_words_what_its_table_shows(run: Run) -> None:
    done = run("demo", "--items", 60)

    lines = done.err.splitlines()
    assert "logic-lncl without the rule" in done.out
    assert "pool (default)" in done.out
    assert [line.split(":")[0] for line in lines[2:5]] == [
        "Modelling the annotators (pool, the default, instead of majority)",
        "Training a classifier on the texts as well",
        "Training with the rule that clause B decides in 'A but B'",
    ]
    assert lines[-1].endswith("-> crowdlogic-demo/report.html (report.json beside it)")


def test_the_demo_writes_its_data_and_a_run_when_asked(run: Run) -> None:
    done = run("demo", "--items", 50, "-o", "out")

    names = {p.name for p in Path("out").iterdir()}
    assert {"labels.csv", "gold.csv", "majority.csv", "contrast.rules", "run"} <= names
    said = done.err.splitlines()[-2]
    item = said.split()[-1]
    assert said == f"data, answers and a run -> out; next: crowdlogic explain out/run {item}"
    assert run("explain", "out/run", item).code == 0
    assert (
        run("demo", "-o", "out").err
        == "crowdlogic: out: this folder already contains a run. Name another folder, or remove it.\n"
    )


def test_the_demo_ends_with_a_report_in_a_folder_of_its_own(run: Run) -> None:
    first, second = (run("demo", "--items", 80, "--json") for _ in range(2))

    assert (first.code, second.code) == (0, 0)
    assert json.loads(first.out)["methods"] == json.loads(second.out)["methods"]
    assert "-> crowdlogic-demo/report.html (report.json beside it)" in first.err
    assert "-> crowdlogic-demo-2/report.html (report.json beside it)" in second.err
    figures = json.loads(Path("crowdlogic-demo/report.json").read_text())
    assert figures["rules"]["n_rules"] == 1
    assert "logic-lncl" in {row["name"] for row in figures["comparison"]["methods"]}
    again = run("report", "crowdlogic-demo/run", "-o", "again.html", "--no-evidence", "--max-items", 3)
    shown = json.loads(Path("again.json").read_text())["labels"]["doubts"]
    assert again.code == 0
    assert len(shown) == 3
    assert shown[0]["evidence"] is None
    assert figures["labels"]["doubts"][0]["evidence"] is not None
    refused = run("report", "crowdlogic-demo/run", "--labels", "x.csv", "-o", "again.html")
    assert refused.err == (
        "crowdlogic: crowdlogic-demo/run: a run contains its labels and items. Leave --labels and --items out.\n"
    )
