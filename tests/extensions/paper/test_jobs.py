"""A grid runs what is not finished, one process or several, and says what it did."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crowdlogic.extensions.paper.jobs import Job, build_jobs, run_jobs, unfinished_jobs
from crowdlogic.extensions.paper.results import add_run, read_runs


def double_seed(job):
    """A job that takes no time."""
    return {"task": job.task, "row": job.row, "seed": job.seed, "double": 2 * job.seed}


def test_a_grid_is_ordered_seed_by_seed():
    jobs = build_jobs("ner", ("a", "b"), 2)

    assert jobs == [Job("ner", "a", 0), Job("ner", "b", 0), Job("ner", "a", 1), Job("ner", "b", 1)]
    assert build_jobs("ner", ("a",), 2, first=7) == [Job("ner", "a", 7), Job("ner", "a", 8)]


def test_only_unfinished_jobs_are_run(tmp_path):
    jobs = build_jobs("ner", ("a", "b"), 2)
    add_run(tmp_path, double_seed(jobs[1]) | {"double": "kept"})
    calls = []

    assert unfinished_jobs(jobs, tmp_path) == [jobs[0], jobs[2], jobs[3]]
    run_jobs(jobs, double_seed, tmp_path, processes=2, progress=lambda *call: calls.append(call))

    assert {job for job, _, _ in calls} == {jobs[0], jobs[2], jobs[3]}
    assert [(done, total) for _, done, total in calls] == [(1, 3), (2, 3), (3, 3)]
    assert [run["double"] for run in read_runs(tmp_path).task_runs("ner")] == [0, 2, "kept", 2]
    assert unfinished_jobs(jobs, tmp_path) == []


def test_another_task_of_the_same_folder_is_not_finished(tmp_path):
    add_run(tmp_path, double_seed(Job("ner", "a", 0)))

    assert unfinished_jobs([Job("sentiment", "a", 0)], tmp_path) == [Job("sentiment", "a", 0)]


CHILD = """
import os, sys, time
from pathlib import Path
from crowdlogic.extensions.paper.jobs import Job, run_jobs

def work(job):
    Path("worker").write_text(str(os.getpid()))
    time.sleep(60)

if __name__ == "__main__":
    run_jobs([Job("ner", "a", 0)], work, Path("results"))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_reproduction_leaves_no_process_behind(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    parent = subprocess.Popen([sys.executable, "child.py"], cwd=tmp_path)
    until = time.monotonic() + 60
    while not (tmp_path / "worker").is_file() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.1)  # the number is written by now
    worker = int((tmp_path / "worker").read_text())
    parent.send_signal(number)
    parent.wait(timeout=20)

    until = time.monotonic() + 5
    while is_running(worker) and time.monotonic() < until:
        time.sleep(0.05)

    assert not is_running(worker)


def is_running(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
