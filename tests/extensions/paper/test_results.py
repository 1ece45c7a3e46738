"""Files of finished runs: whole, sorted, and safe to add to from several processes."""

import hashlib
import json
import math
from multiprocessing import get_context
from pathlib import Path

import pytest

from crowdlogic.errors import FormatError
from crowdlogic.extensions.paper.results import add_run, read_runs, run_digest, write_runs


def run(row: str, seed: int, **more: object) -> dict[str, object]:
    return {"task": "ner", "row": row, "seed": seed, "seconds": 0.1 + 0.2, "scores": {}, "history": []} | more


def add_many(folder: Path, row: str, seeds: int) -> None:
    for seed in range(seeds):
        add_run(folder, run(row, seed))


def test_runs_come_back_as_they_were_sorted_by_row_and_seed(tmp_path):
    added = [run("b", 10), run("a", 1), run("b", 2, scores={"inference": {"f1": 1 / 3}}), run("a", 0)]

    for one in added:
        add_run(tmp_path / "new", one)

    assert list(read_runs(tmp_path / "new").task_runs("ner")) == [added[3], added[1], added[2], added[0]]
    lines = (tmp_path / "new" / "ner.jsonl").read_text().splitlines()
    assert [json.loads(line)["seed"] for line in lines] == [0, 1, 2, 10]


def test_a_run_replaces_an_earlier_one_of_its_row_and_seed(tmp_path):
    add_run(tmp_path, run("a", 0))

    add_run(tmp_path, run("a", 0, seconds=2.0))

    assert [one["seconds"] for one in read_runs(tmp_path).row_runs("ner", "a")] == [2.0]


def test_runs_of_a_row_are_those_of_the_first_seeds(tmp_path):
    add_many(tmp_path, "a", 4)
    add_many(tmp_path, "a, k 0.2", 1)

    runs = read_runs(tmp_path)

    assert [one["seed"] for one in runs.row_runs("ner", "a", seeds=3)] == [0, 1, 2]
    assert len(runs.row_runs("ner", "a")) == 4
    assert runs.row_runs("sentiment", "a") == []


def test_what_is_not_a_number_comes_back(tmp_path):
    add_run(tmp_path, run("a", 0, history=[{"objective": math.nan}]))

    assert math.isnan(read_runs(tmp_path).task_runs("ner")[0]["history"][0]["objective"])


def test_processes_that_add_at_once_lose_nothing(tmp_path):
    context = get_context("spawn")
    adding = [context.Process(target=add_many, args=(tmp_path, row, 8)) for row in ("a", "b")]

    for process in adding:
        process.start()
    for process in adding:
        process.join()

    assert [process.exitcode for process in adding] == [0, 0]
    assert [(one["row"], one["seed"]) for one in read_runs(tmp_path).task_runs("ner")] == [
        (row, seed) for row in ("a", "b") for seed in range(8)
    ]


def test_the_digest_is_that_of_the_line(tmp_path):
    add_run(tmp_path, run("a", 0))

    line = (tmp_path / "ner.jsonl").read_bytes().rstrip(b"\n")

    assert run_digest(read_runs(tmp_path).task_runs("ner")[0]) == hashlib.sha256(line).hexdigest()
    assert run_digest(run("a", 0, seconds=61)) != run_digest(run("a", 0, seconds=62))


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "ner.jsonl"
    write_runs(path, [run("a", 0), run("a", 1)])
    path.write_text(path.read_text()[:-20])

    with pytest.raises(FormatError) as problem:
        read_runs(tmp_path)

    assert str(problem.value).startswith(f"{path}, line 2: not a run in JSON (")
    assert str(problem.value).endswith("Delete the line to repeat the run.")


def test_a_folder_that_is_not_there_has_no_runs(tmp_path):
    assert read_runs(tmp_path / "none").by_task == {}
