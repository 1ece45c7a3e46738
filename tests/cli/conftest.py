from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.cli.app import main
from crowdlogic.data.reading import write_corpus, write_labels
from crowdlogic.data.simulate import Simulation, simulate_ner, simulate_sentiment

CSV = "item,annotator,label\nu,a,x\nu,b,x\nu,c,y\nv,a,y\nv,b,x\n"
"""A small file of labels: u is x by two votes of three, v is a tie."""


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Result]:
    """Run the command as a user would, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["crowdlogic", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capfd.readouterr()
        return Result(int(stopped.value.code or 0), out, err)

    return command


BUT = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n"

WORDS = ("train", "--labels", "labels.csv", "--items", "items.csv")
"""The beginning of a training on the files of `write_simulated`."""


def write_simulated(made: Simulation) -> None:
    """Labels, items without gold, and a test set, in the present folder."""
    suffix = "conll" if made.corpus.is_sequential else "csv"
    write_labels(f"labels.{suffix}", made.labels, corpus=made.corpus)
    write_corpus(f"gold.{suffix}", made.corpus)
    write_corpus(f"test.{suffix}", made.test)
    if suffix == "csv":
        pl.read_csv("gold.csv").drop("label").write_csv("items.csv")
    Path("but.rules").write_text(BUT)
    Path("bio.rules").write_text("include bio\n")


@pytest.fixture
def trained(run: Callable[..., Result]) -> Simulation:
    """A run on simulated reviews in the folder model, with its files beside it."""
    made = simulate_sentiment(2, items=150, test_items=40, annotators=12, labels_per_item=3)
    write_simulated(made)
    run(*WORDS, "--rules", "but.rules", "--epochs", 3, "-o", "model")
    return made


@pytest.fixture
def tagged(run: Callable[..., Result]) -> Simulation:
    """A run on simulated sentences in the folder model, with its files beside it."""
    made = simulate_ner(2, items=40, test_items=10, annotators=8, labels_per_item=3)
    write_simulated(made)
    run("train", "--labels", "labels.conll", "--rules", "bio.rules", "-o", "model", "--epochs", 2)
    return made
