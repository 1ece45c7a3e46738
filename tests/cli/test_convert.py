"""`crowdlogic convert` as a user would call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import CSV, Result

from crowdlogic.data.simulate import Simulation

Run = Callable[..., Result]


@pytest.mark.parametrize("suffix", ["tsv", "jsonl", "parquet", "csv.gz"])
def test_converted_labels_come_back_the_same(run: Run, suffix: str) -> None:
    Path("l.csv").write_text(CSV)

    run("convert", "l.csv", "-o", f"m.{suffix}")
    run("convert", f"m.{suffix}", "-o", "n.csv")

    assert Path("n.csv").read_text() == CSV


def test_converted_items_come_back_the_same(run: Run) -> None:
    Path("g.conll").write_text("Ann B-PER\nLee I-PER\n\nhi O\n")

    run("convert", "g.conll", "-o", "g.jsonl", "--items")
    run("convert", "g.jsonl", "-o", "h.conll", "--items")

    assert Path("h.conll").read_text() == "Ann B-PER\nLee I-PER\n\nhi O\n"


def test_in_and_out_stand_side_by_side(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    done = run("convert", "l.csv", "m.jsonl")

    assert done.code == 0
    assert done.err.endswith("-> m.jsonl\n")
    assert (
        run("convert", "l.csv").err
        == "crowdlogic: The output file was given twice. Write: crowdlogic convert IN OUT.\n"
    )
    assert run("convert", "l.csv", "m.csv", "-o", "n.csv").code == 2


@pytest.mark.extension("tools")
def test_gold_is_written_in_formats_of_one_answer_per_item(run: Run) -> None:
    Path("g.csv").write_text("item,text,label\nu,one,x\nv,two,y\n")
    Path("t.conll").write_text("Ann B-PER\nLee I-PER\n")

    run("convert", "g.csv", "g.ft")
    run("convert", "t.conll", "u.conll", "--to", "conll2003")
    run("convert", "g.ft", "h.csv")

    assert Path("g.ft").read_text() == "__label__x one\n__label__y two\n"
    assert Path("u.conll").read_text() == "-DOCSTART- -X- -X- O\n\nAnn -X- _ B-PER\nLee -X- _ I-PER\n"
    assert Path("h.csv").read_text() == "item,text,label\n0,one,x\n1,two,y\n"


@pytest.mark.extension("tools")
def test_labels_of_several_annotators_must_be_aggregated_for_formats_of_one_answer(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    done = run("convert", "l.csv", "m.ft")

    expected = (
        "crowdlogic: m.ft: fastText contains one answer per item, but these are labels by 3 annotators. "
        "Aggregate them first: crowdlogic aggregate.\n"
    )
    assert (done.code, done.err) == (2, expected)
    assert not Path("m.ft").exists()


def test_a_file_that_holds_neither_labels_nor_answers_keeps_its_own_error(run: Run) -> None:
    Path("l.csv").write_text("item,annotator\nu,a\n")

    done = run("convert", "l.csv", "m.jsonl")

    assert done.code == 2
    assert "no column for the label" in done.err


def test_the_clean_labels_of_a_run_become_a_csv(run: Run, trained: Simulation) -> None:
    done = run("convert", "model", "clean.csv")

    assert done.code == 0
    assert Path("clean.csv").read_text() == Path("model/truth.csv").read_text()
    assert pl.read_csv("clean.csv")["item"].to_list() == trained.corpus.items.to_list()
