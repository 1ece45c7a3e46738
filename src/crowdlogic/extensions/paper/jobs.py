"""Resumable grid of runs: finished runs are skipped, and each result is written as soon as its run ends.

A job is a row of a table (a method on a task) and a random seed. Jobs run in other processes, with one thread each.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path
from threading import Thread
from typing import TypeAlias

from crowdlogic.extensions.paper.results import RunResult, add_run, read_runs

WATCH = 0.2
"""Interval for checking whether the parent process still exists, in seconds."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """A run that is to be executed.

    Attributes:
        task: The task, such as `ner`.
        row: The row of its table, such as `logic-lncl, C 2`.
        seed: Random seed.
    """

    task: str
    row: str
    seed: int


Work: TypeAlias = Callable[[Job], RunResult]
"""Function that executes a job; it must be at module level, because it is sent to other processes."""

JobProgress: TypeAlias = Callable[[Job, int, int], None]
"""Callback after each job, called with the job, the number of finished jobs and the number of all jobs."""


def build_jobs(task: str, rows: Sequence[str], seeds: int, *, first: int = 0) -> list[Job]:
    """Return a job for every row and seed, seed by seed, so that an interrupted grid has all rows of the first seeds.

    Args:
        task: The task.
        rows: The rows.
        seeds: Number of seeds.
        first: First seed.
    """
    return [Job(task, row, seed) for seed in range(first, first + seeds) for row in rows]


def unfinished_jobs(jobs: Sequence[Job], folder: Path) -> list[Job]:
    """Return the jobs without a result in the folder, in order."""
    runs = read_runs(folder)
    done = {Job(task, run["row"], run["seed"]) for task in runs.by_task for run in runs.task_runs(task)}
    return [job for job in jobs if job not in done]


def end_with_parent() -> None:
    """Make this process exit when its parent process is gone for any reason."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def run_jobs(
    jobs: Sequence[Job], work: Work, folder: Path, *, processes: int = 1, progress: JobProgress | None = None
) -> None:
    """Run the unfinished jobs and add each result to the folder when it is finished."""
    todo = unfinished_jobs(jobs, folder)
    for variable in THREADS:
        os.environ[variable] = "1"  # inherited by the worker processes, including torch
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=end_with_parent) as pool:
        futures = {pool.submit(work, job): job for job in todo}
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                add_run(folder, future.result())
                if progress is not None:
                    progress(futures[future], done, len(todo))
        except KeyboardInterrupt:
            # Leaving the block would wait for the jobs that have begun, and start the remaining ones
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in active_children():
                worker.terminate()
            raise
