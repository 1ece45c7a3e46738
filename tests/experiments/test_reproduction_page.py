"""docs/reproduction.md says what the committed runs say, and nothing else."""

import csv
import hashlib
import json
from pathlib import Path

import pytest
from benchmarks.reproduction import PAGE, RESULTS, TASKS, rendered

from crowdlogic.experiments.jobs import Job

ROOT = Path(__file__).parents[2]


def test_every_table_is_what_the_committed_runs_give():
    page = (ROOT / PAGE).read_text(encoding="utf-8")

    assert rendered(page, ROOT / RESULTS) == page


@pytest.mark.parametrize("task", TASKS)
def test_the_list_of_runs_has_the_hash_of_every_file(task):
    with (ROOT / RESULTS / f"{task}.csv").open(encoding="utf-8") as file:
        listed = {(row["row"], int(row["seed"])): row["sha256"] for row in csv.DictReader(file)}

    files = sorted((ROOT / RESULTS / task).glob("*/seed*.json"))
    kept = {}
    for path in files:
        run = json.loads(path.read_text(encoding="utf-8"))
        assert Job(run["task"], run["row"], run["seed"]).path(ROOT / RESULTS) == path
        kept[run["row"], run["seed"]] = hashlib.sha256(path.read_bytes()).hexdigest()
    assert listed == kept
    assert len(files) > 50
