"""docs/evidence/reproduction.md says what the committed runs say, and nothing else."""

import csv
import hashlib
import json
from pathlib import Path

import pytest
from benchmarks.reproduction import PAGE, RESULTS, TASKS, render_page

from crowdlogic.extensions.paper.results import FinishedRuns, read_runs

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def runs() -> FinishedRuns:
    return read_runs(ROOT / RESULTS)


def test_every_table_is_what_the_committed_runs_give(runs):
    page = (ROOT / PAGE).read_text(encoding="utf-8")

    assert render_page(page, runs) == page


@pytest.mark.parametrize("task", TASKS)
def test_the_list_of_runs_has_the_hash_of_every_line(task):
    with (ROOT / RESULTS / f"{task}.csv").open(encoding="utf-8") as file:
        listed = [(row["row"], int(row["seed"]), row["sha256"]) for row in csv.DictReader(file)]

    lines = (ROOT / RESULTS / f"{task}.jsonl").read_bytes().splitlines()
    runs = [json.loads(line) for line in lines]
    assert {run["task"] for run in runs} == {task}
    assert listed == [
        (run["row"], run["seed"], hashlib.sha256(line).hexdigest()) for run, line in zip(runs, lines, strict=True)
    ]
    assert len(listed) > 150


def test_the_committed_runs_are_sorted_and_each_once(runs):
    for task in runs.by_task:
        keys = [(run["row"], run["seed"]) for run in runs.task_runs(task)]
        assert keys == sorted(set(keys))
