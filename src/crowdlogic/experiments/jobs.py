"""A grid of runs, each finished one a file: what was stopped goes on, and what is done is not done again.

A job is a row of a table (a method on a task) and a seed. Jobs run in processes of their own with one thread each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from crowdlogic.data.files import write_bytes

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """A row of a table, and a seed."""

    task: str
    row: str
    seed: int

    def path(self, folder: Path) -> Path:
        """Where its result is kept."""
        words = "".join(c if c.isalnum() else "-" for c in self.row.lower())
        return folder / self.task / words / f"seed{self.seed}.json"


Work = Callable[[Job], dict[str, Any]]


def run_jobs(
    jobs: Sequence[Job], work: Work, folder: Path, *, processes: int = 1, hear: Callable[[Job, int, int], None]
) -> None:
    """Run what is not done yet, each result written whole when it is there."""
    todo = [job for job in jobs if not job.path(folder).is_file()]
    for variable in THREADS:
        os.environ[variable] = "1"  # inherited by the processes, torch in them included
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(work, job): job for job in todo}
        for done, future in enumerate(as_completed(waiting), start=1):
            keep(waiting[future], future.result(), folder)
            hear(waiting[future], done, len(todo))


def keep(job: Job, result: dict[str, Any], folder: Path) -> None:
    """Write a result."""
    path = job.path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, json.dumps(result, indent=1).encode())


def results(folder: Path, task: str, row: str, seeds: Iterable[int]) -> list[dict[str, Any]]:
    """The results of a row, seed by seed, as far as they are there."""
    paths = [Job(task, row, seed).path(folder) for seed in seeds]
    return [json.loads(path.read_text()) for path in paths if path.is_file()]
