"""`crowdlogic simulate` as a user would call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Result

Run = Callable[..., Result]


@pytest.mark.parametrize("kind", ["sentiment", "ner", "labels"])
def test_a_simulation_can_be_aggregated_and_evaluated(run: Run, kind: str) -> None:
    suffix = "conll" if kind == "ner" else "csv"

    made = run("simulate", kind, "-o", "sim", "--items", 60, "--annotators", 8, "--seed", 3)
    run("aggregate", f"sim/labels.{suffix}", "-o", f"mv.{suffix}")
    figures = json.loads(run("evaluate", f"mv.{suffix}", f"sim/gold.{suffix}", "--json").out)

    assert made.code == 0
    assert "simulated" in made.err
    assert "simulated" in Path("sim/README.txt").read_text()
    assert 0.3 < figures["accuracy"] <= 1


def test_the_same_seed_simulates_the_same_files(run: Run) -> None:
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        run("simulate", "sentiment", "-o", name, "--items", 30, "--seed", seed)

    texts = {name: (Path(name) / "labels.csv").read_bytes() for name in ("one", "two", "three")}
    assert texts["one"] == texts["two"] != texts["three"]
