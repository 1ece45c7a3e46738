"""Labels to answers, called from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdlogic.errors import OptionError
from crowdlogic.truth.ties import Ties
from crowdlogic.workflows.aggregate import AggregateOptions, CompareOptions, aggregate, compare_truth_methods

CSV = "item,annotator,label\nu,a,x\nu,b,x\nu,c,y\nv,a,y\nv,b,x\nw,a,\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with labels and gold."""
    monkeypatch.chdir(tmp_path)
    Path("l.csv").write_text(CSV)
    Path("g.csv").write_text("item,label\nu,x\nv,y\n")
    return tmp_path


def test_nothing_is_printed_and_the_result_says_it_all(capfd: pytest.CaptureFixture[str]) -> None:
    options = AggregateOptions(labels="l.csv", out="o.csv", method="majority", ties=Ties.soft, gold="g.csv")

    result = aggregate(options)

    assert capfd.readouterr() == ("", "")
    assert (result.method, result.reason) == ("majority", "")
    assert (
        result.message == "majority: 3 items, 3 annotators, 1 tie, 1 without labels and so without an answer -> o.csv"
    )
    assert result.notices[0] == "1 of 6 rows has no label and was left out."
    figures = result.figures()
    assert (figures["method"], figures["accuracy"]) == ("majority", 0.75)  # the tie counts half
    assert figures["expected_accuracy"]["source"] == "eleven public data sets"
    assert figures["expected_accuracy"]["low"] < figures["expected_accuracy"]["mean"]
    assert result.confidence_message == ""  # two answers are too few to speak of
    assert result.table().rows == [("accuracy", "75.00 %")]
    assert pl.read_csv("o.csv")["label"].to_list() == ["x", "x", None]


def test_the_reason_for_a_method_is_in_the_message() -> None:
    result = aggregate(AggregateOptions(labels="l.csv", out="o.csv"))

    assert result.reason == "it does as well as counting votes or better, with few labels and with many"
    assert result.message.startswith(f"ensemble (chosen because {result.reason}): 3 items")


def test_methods_that_differ_from_the_default_on_many_answers_are_named() -> None:
    rng = np.random.default_rng(0)
    rows = [f"i{i},w{j},{'xy'[int(rng.integers(2))]}" for i in range(60) for j in range(3)]
    Path("noise.csv").write_text("item,annotator,label\n" + "\n".join(rows) + "\n")

    compared = compare_truth_methods(CompareOptions(labels="noise.csv", methods=["all"]))

    apart = {one.name: (1 - row[0]) for one, row in zip(compared.results, compared.agreement, strict=True)}
    assert compared.table().rows[0][0] == "ensemble (default)"
    assert compared.figures()["ensemble"]["default"] is True
    assert compared.notices[-1].startswith("Methods differ from ensemble on many answers: ")
    for name, share in apart.items():
        assert (f" {name} on " in compared.notices[-1].partition(":")[2]) == (share > 0.1)


def test_nothing_is_written_when_an_option_makes_no_sense() -> None:
    for options in (
        AggregateOptions(labels="l.csv", out="o.csv", min_confidence=1.5),
        AggregateOptions(labels="l.csv", out="o.csv", method="ibcc", ties=Ties.first),
        AggregateOptions(labels="l.csv", out="o.csv", save="."),
        AggregateOptions(labels="l.csv", out="l.csv"),
    ):
        with pytest.raises(OptionError):
            aggregate(options)

    assert sorted(path.name for path in Path().iterdir()) == ["g.csv", "l.csv"]


def test_methods_side_by_side_agree_as_often_as_their_answers_do() -> None:
    compared = compare_truth_methods(CompareOptions(labels="l.csv", methods=["majority", "dawid-skene"], gold="g.csv"))

    first, second = (one.estimate for one in compared.results)
    both = first.answered & second.answered
    same = (first.answer[both] == second.answer[both]).mean()
    np.testing.assert_allclose(compared.agreement, [[1, same], [same, 1]], rtol=1e-12)
    table = compared.table()
    assert table.columns == [
        "method", "accuracy", "agrees with others", "with majority", "iterations", "converged", "seconds",
    ]  # fmt: skip
    assert [row[0] for row in table.rows] == list(compared.figures()) == ["majority", "dawid-skene"]
    assert table.rows[1][2] == f"{100 * same:.2f} %"
