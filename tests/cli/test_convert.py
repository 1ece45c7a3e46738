"""`crowdlogic convert` as a user would call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import CSV, Result

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
