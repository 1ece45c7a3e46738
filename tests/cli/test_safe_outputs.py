"""No command overwrites what it reads, or writes into a run: exit code 2, and every file as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import CSV, Result

ITEMS = "item,text\nu,good but bad\nv,bad but good\n"

COMMANDS = [
    "aggregate l.csv -o l.csv",
    "aggregate l.csv -o linked.csv",
    "aggregate l.csv -o t.csv --annotators l.csv",
    "aggregate l.csv -o t.csv --annotators ./t.csv",
    "aggregate l.csv -o model/truth.csv",
    "aggregate l.csv -o t.csv --save model/saved",
    "aggregate l.csv -o t.csv --items items.csv --annotators items.csv",
    "convert l.csv l.csv",
    "convert l.csv ./linked.csv",
    "convert items.csv items.csv --items",
    "convert model model/labels.parquet",
    "predict model items.csv -o items.csv",
    "predict model items.csv -o model/model.safetensors --to csv",
    "next l.csv -o l.csv",
    "next model -o model/labels.parquet",
    "patterns l.csv -o l.csv",
    "report l.json -o l.html",
    "report model -o model/report.html",
    "report l.csv -o report.html --figures model/figures",
    "simulate labels -o model/new",
    "demo -o model/new",
    "train --labels labels.csv --items items.csv -o model/new",
    "export model -o model/new --to onnx",
    "review l.csv -o model/review --no-browser",
    "reproduce sentiment --quick -o model/new",
]


@pytest.mark.extension("review")
@pytest.mark.usefixtures("trained")
def test_outputs_that_would_overwrite_inputs_or_runs_are_refused(run: Callable[..., Result]) -> None:
    Path("l.csv").write_text(CSV)
    Path("l.json").write_text(
        '[{"item": "u", "annotator": "a", "label": "x"}, {"item": "u", "annotator": "b", "label": "x"}]'
    )
    Path("linked.csv").symlink_to("l.csv")
    before = contents()

    for words in COMMANDS:
        done = run(*words.split())

        assert done.code == 2, words
        assert len(done.err.splitlines()) == 1, (words, done.err)
        assert "Name another output" in done.err or "Name two different outputs" in done.err, (words, done.err)
        assert contents() == before, words


def contents() -> dict[str, bytes]:
    """Every file below the present folder."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}
