"""One number per fact: every figure that several commands print about the same data is the same in all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import Result

import crowdlogic
from crowdlogic.workflows.demo import DemoOptions, run_demo

Run = Callable[..., Result]

EXACT = 1e-6
"""The report rounds figures to six digits."""


@dataclass(frozen=True)
class Demo:
    """What one demo wrote and printed."""

    folder: Path
    figures: dict[str, Any]
    report: dict[str, Any]

    def row(self, method: str) -> dict[str, Any]:
        """The scores of a method in the demo's table."""
        return next(row for row in self.figures["methods"] if row["method"] == method)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("facts") / "demo"
    figures = run_demo(DemoOptions(out=str(folder), items=240, seed=4)).figures()
    return Demo(folder, figures, json.loads((folder / "report.json").read_text()))


@pytest.mark.parametrize("method", ["majority", "dawid-skene", "glad", "ensemble", "pool"])
def test_the_scores_of_a_truth_method(run: Run, demo: Demo, method: str) -> None:
    labels, gold = demo.folder / "labels.csv", demo.folder / "gold.csv"

    aggregated = json.loads(run("aggregate", labels, "-m", method, "-o", "a.csv", "--gold", gold, "--json").out)
    compared = json.loads(run("aggregate", labels, "--methods", method, "--gold", gold, "--json").out)
    of_ours = json.loads(run("evaluate", "a.csv", gold, "--json").out)
    of_demo = json.loads(run("evaluate", demo.folder / f"{method}.csv", gold, "--json").out)

    shown = next(one for one in demo.report["comparison"]["methods"] if one["name"] == method)
    expected = demo.row(method)["accuracy"]
    found = [aggregated["accuracy"], compared["methods"][method]["accuracy"], of_ours["accuracy"], of_demo["accuracy"]]
    assert [*found, shown["scores"][0]] == pytest.approx([expected] * 5, abs=EXACT)
    errors = [of_ours["calibration_error"], of_demo["calibration_error"]]
    assert errors == pytest.approx([demo.row(method)["calibration_error"]] * 2, abs=EXACT)
    if method == "majority":
        assert demo.report["overview"]["scores"][0]["majority"] == pytest.approx(expected, abs=EXACT)


@pytest.mark.extension("review")
@pytest.mark.parametrize("method", ["majority", "dawid-skene", "glad", "ebcc", "ensemble", "pool"])
def test_the_confidence_of_an_item_by_a_truth_method(run: Run, demo: Demo, method: str) -> None:
    run("aggregate", demo.folder / "labels.csv", "-m", method, "-o", "a.csv")
    ours = pl.read_csv("a.csv").sort("item")
    of_demo = pl.read_csv(demo.folder / f"{method}.csv").sort("item")
    in_python = crowdlogic.aggregate(demo.folder / "labels.csv", method).to_frame().sort("item")
    run("next", demo.folder / "labels.csv", "-m", method, "-o", "n.csv", "--count", 20)
    planned = pl.read_csv("n.csv").join(ours, on="item", suffix="_of_aggregate")

    for other in (of_demo, in_python):
        assert other["label"].to_list() == ours["label"].to_list()
        np.testing.assert_allclose(other["confidence"], ours["confidence"], rtol=0, atol=EXACT)
    assert planned["label"].to_list() == planned["label_of_aggregate"].to_list()
    np.testing.assert_allclose(planned["confidence"], planned["confidence_of_aggregate"], rtol=0, atol=EXACT)


@pytest.mark.extension("review")
def test_how_many_answers_of_labels_are_likely_wrong(run: Run, demo: Demo) -> None:
    labels, gold = demo.folder / "labels.csv", demo.folder / "gold.csv"

    done = run("aggregate", labels, "-o", "a.csv", "--gold", gold, "--json")
    run("report", labels, "--gold", gold, "-o", "r.html")
    planned = json.loads(run("next", labels, "-o", "n.csv", "--json").out)

    mean = json.loads(done.out)["expected_accuracy"]["mean"]
    page = json.loads(Path("r.json").read_text())
    expected = crowdlogic.expected_accuracy(crowdlogic.aggregate(labels))
    wrong = (1 - pl.read_csv("a.csv")["confidence"]).sum()
    assert expected is not None
    assert expected.mean == pytest.approx(mean)
    assert page["labels"]["expected_wrong"] == pytest.approx(wrong, abs=EXACT)
    assert page["labels"]["expected_wrong"] == pytest.approx(240 * (1 - mean), abs=1e-3)
    assert page["plan"]["forecast"][0]["votes"] == pytest.approx(mean, abs=EXACT)
    assert planned["expected_accuracy"] == pytest.approx(mean, abs=EXACT)
    few, many = expected.mistakes
    said = f"About {round(wrong)} of 240 labels are likely wrong: {few} if annotators err independently, {many} if"
    assert said in done.err
    assert said in page["labels"]["findings"][0]["text"]


@pytest.mark.extension("review")
def test_the_figures_of_a_run(run: Run, demo: Demo) -> None:
    folder = demo.folder / "run"
    loaded = crowdlogic.load_run(folder)
    evaluated = json.loads(run("evaluate", folder, demo.folder / "gold.csv", "--json").out)
    planned = json.loads(run("next", folder, "-o", "n.csv", "--json").out)
    row, overview = demo.row("logic-lncl"), demo.report["overview"]

    accuracies = [
        row["accuracy"],
        loaded.learned.final.scores["inference"],  # what `train` prints
        evaluated["accuracy"],
        overview["scores"][0]["figure"]["value"],
        next(one["score"] for one in demo.report["training"]["views"] if one["name"] == "q_f"),
        next(one["scores"][0] for one in demo.report["comparison"]["methods"] if one["name"] == "logic-lncl"),
    ]
    assert accuracies == pytest.approx([accuracies[0]] * 6, abs=EXACT)
    errors = [row["calibration_error"], evaluated["calibration_error"], overview["calibration_error"]]
    assert errors == pytest.approx([errors[0]] * 3, abs=EXACT)
    expected = crowdlogic.expected_accuracy(loaded.learned)
    assert expected is not None
    assert planned["expected_accuracy"] == pytest.approx(expected.mean, abs=EXACT)
    assert demo.report["labels"]["expected_wrong"] == pytest.approx(expected.expected_mistakes, abs=1e-3)


@pytest.mark.extension("review")
def test_the_confidence_of_an_item_of_a_run(run: Run, demo: Demo) -> None:
    folder = demo.folder / "run"
    stated = crowdlogic.load_run(folder).learned.to_frame()
    run("next", folder, "-o", "n.csv", "--count", 10)
    planned = pl.read_csv("n.csv").join(stated, on="item", suffix="_of_run")

    np.testing.assert_allclose(planned["confidence"], planned["confidence_of_run"], rtol=0, atol=EXACT)
    for doubt in demo.report["labels"]["doubts"][:5]:
        explained = json.loads(run("explain", folder, doubt["name"], "--json").out)["units"][0]
        own = stated.row(by_predicate=pl.col("item") == doubt["name"], named=True)
        assert doubt["answer"] == explained["answer"] == own["label"]
        found = [doubt["confidence"], explained["confidence"], own["confidence"]]
        assert found == pytest.approx([found[0]] * 3, abs=EXACT)


def test_the_effects_of_a_rule_are_named_apart(run: Run, demo: Demo) -> None:
    """Training with a rule, applying it to the outcome, and applying it to a truth method's answers are three facts,
    and the verdict on it is the same wherever it is stated."""
    folder = demo.folder / "run"
    audited = run("rules", "audit", demo.folder / "contrast.rules", demo.folder / "labels.csv", "--items",
                  demo.folder / "gold.csv", "--run", folder, "--json")  # fmt: skip

    with_rule, without = demo.row("logic-lncl"), demo.row("logic-lncl without the rule")
    assert demo.figures["gains"]["rule"] == with_rule["accuracy"] - without["accuracy"]
    (shown,) = demo.report["rules"]["rows"]
    (own,) = crowdlogic.load_run(folder).rule_table().iter_rows(named=True)
    (found,) = json.loads(audited.out)["rules"]
    assert shown["verdict"] == own["verdict"] == found["outcome"]
    assert shown["reason"] == own["reason"] == found["reason"]
    assert found["holds"] == pytest.approx(own["holds"], abs=EXACT)
    assert shown["satisfaction"]["value"] == pytest.approx(own["holds"], abs=1e-6)
