"""Labels to answers, called from Python."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from crowdlogic.errors import OptionError
from crowdlogic.truth.methods import WHY_POOL
from crowdlogic.truth.ties import Ties
from crowdlogic.workflows.aggregate import AggregateOptions, aggregate_files

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

    result = aggregate_files(options)

    assert capfd.readouterr() == ("", "")
    assert (result.method, result.reason) == ("majority", "")
    assert (
        result.message == "majority: 3 items, 3 annotators, 1 tie, 1 without labels and so without an answer -> o.csv"
    )
    assert result.notices[0] == "1 of 6 rows has no label and was left out."
    assert result.scores["accuracy"] == 0.5  # the tie is answered wrong
    assert result.expected is not None
    assert result.expected.calibration.source == "eleven public data sets"
    assert result.expected.low < result.expected.mean
    assert result.confidence_message == ""  # two answers are too few to speak of
    assert result.table().rows == [("accuracy", "50.00 %"), ("coverage", "100.00 %"), ("accuracy_all", "50.00 %")]
    assert pl.read_csv("o.csv")["label"].to_list() == ["x", "x", None]


def test_the_reason_for_a_method_is_in_the_message() -> None:
    result = aggregate_files(AggregateOptions(labels="l.csv", out="o.csv"))

    assert result.reason == WHY_POOL
    assert result.message.startswith(f"pool (chosen because {result.reason}): 3 items")


def test_nothing_is_written_when_an_option_makes_no_sense() -> None:
    for options in (
        AggregateOptions(labels="l.csv", out="o.csv", min_confidence=1.5),
        AggregateOptions(labels="l.csv", out="o.csv", method="ibcc", ties=Ties.first),
        AggregateOptions(labels="l.csv", out="o.csv", save="."),
        AggregateOptions(labels="l.csv", out="l.csv"),
    ):
        with pytest.raises(OptionError):
            aggregate_files(options)

    assert sorted(path.name for path in Path().iterdir()) == ["g.csv", "l.csv"]
