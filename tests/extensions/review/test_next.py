"""`crowdlogic next` as a user would call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import CSV, Result

Run = Callable[..., Result]


def test_next_writes_a_plan_and_says_what_it_should_bring(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    done = run("next", "l.csv", "-o", "plan.csv", "-n", 1)

    assert done.code == 0
    assert Path("plan.csv").read_text().startswith("item,annotator,gain,label,confidence,labels\n")
    assert "pool: 1 label of 1 item by 1 annotator -> plan.csv\n" in done.err
    assert "1 more label brings the right answers from about " in done.err


def test_figures_are_one_object(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    figures = json.loads(run("next", "l.csv", "-o", "plan.csv", "-n", 1, "--json").out)

    assert figures["labels"] == 1


def test_a_file_that_is_read_is_not_written_over(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    done = run("next", "l.csv", "-o", "l.csv")

    assert done.code == 2
    assert done.err == "crowdlogic: l.csv: this command reads l.csv and would overwrite it. Name another output.\n"
