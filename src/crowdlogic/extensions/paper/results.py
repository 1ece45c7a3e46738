"""Results of finished runs: one file per task, `TASK.jsonl`, one line per run, sorted by row and seed.

A line contains the task, row and seed of a run, its scores at the chosen epoch, its duration and its history:

    {"task":"ner","row":"aggnet","seed":0,"seconds":37.7,"chosen":5,"scores":{"inference":{"f1":0.767}},"history":[]}

Several processes may add runs to one folder: each addition replaces the whole file, under a lock on the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import stats

from crowdlogic.data.files import write_bytes
from crowdlogic.errors import FormatError

RunResult: TypeAlias = Mapping[str, Any]
"""Result of one run, as stored in its line."""

SUFFIX = ".jsonl"


@dataclass(frozen=True, eq=False)
class FinishedRuns:
    """Finished runs of a folder.

    Attributes:
        by_task: The runs of each task, sorted by row and seed.
    """

    by_task: Mapping[str, Sequence[RunResult]]

    def task_runs(self, task: str) -> Sequence[RunResult]:
        """Return all runs of a task."""
        return self.by_task.get(task, ())

    def row_runs(self, task: str, row: str, *, seeds: int | None = None) -> list[RunResult]:
        """Return the runs of one row by seed, optionally only those with a seed below `seeds`."""
        runs = [run for run in self.task_runs(task) if run["row"] == row]
        return runs if seeds is None else [run for run in runs if run["seed"] < seeds]


def read_runs(folder: Path) -> FinishedRuns:
    """Read the results of every task in a folder; none if the folder does not exist yet."""
    return FinishedRuns({path.stem: _read_file(path) for path in sorted(folder.glob(f"*{SUFFIX}"))})


def add_run(folder: Path, run: RunResult) -> None:
    """Write a run into the file of its task; an earlier run of the same row and seed is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run['task']}{SUFFIX}"
    with _lock(folder):
        others = [one for one in (_read_file(path) if path.is_file() else ()) if _key(one) != _key(run)]
        write_runs(path, [*others, run])


def write_runs(path: Path, runs: Sequence[RunResult]) -> None:
    """Write the runs of a task, sorted by row and seed."""
    write_bytes(path, "".join(f"{run_line(run)}\n" for run in sorted(runs, key=_key)).encode())


def run_line(run: RunResult) -> str:
    """Return the line of a run, without its newline."""
    return json.dumps(run, separators=(",", ":"))


def run_digest(run: RunResult) -> str:
    """Return the SHA-256 of the line of a run, without its newline."""
    return hashlib.sha256(run_line(run).encode()).hexdigest()


def _key(run: RunResult) -> tuple[str, int]:
    return run["row"], run["seed"]


def _read_file(path: Path) -> list[RunResult]:
    runs: list[RunResult] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            runs.append(json.loads(line))
        except json.JSONDecodeError as problem:
            raise FormatError(
                f"{path}, line {number}: not a run in JSON ({problem.msg}). Delete the line to repeat the run."
            ) from problem
    return runs


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Wait until no other process adds to this folder; no-op on systems without file locks (Windows)."""
    try:
        import fcntl
    except ModuleNotFoundError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)  # releases the lock


LEVEL = 0.95
"""Confidence level of every interval."""


@dataclass(frozen=True, kw_only=True)
class MeanInterval:
    """Mean over seeds with its confidence interval.

    Attributes:
        mean: The mean.
        deviation: Standard deviation of single runs (n - 1); NaN for a single run.
        half_width: Half the width of the 95 % interval of the mean, by Student's t; NaN for a single run.
        count: Number of runs.
    """

    mean: float
    deviation: float
    half_width: float
    count: int


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """Mean difference between two methods over the same seeds.

    Attributes:
        mean: The mean difference.
        half_width: Half the width of its 95 % interval.
        t: Student's t; NaN if all differences are equal.
        p: One-sided p-value of the hypothesis that the first is not better than the second.
        count: Number of pairs.
    """

    mean: float
    half_width: float
    t: float
    p: float
    count: int


def mean_interval(values: Sequence[float]) -> MeanInterval:
    """Return the mean of some runs with its confidence interval."""
    count = len(values)
    mean = float(np.mean(values)) if count else float("nan")
    if count < 2:
        return MeanInterval(mean=mean, deviation=float("nan"), half_width=float("nan"), count=count)
    deviation = float(np.std(values, ddof=1))
    quantile = float(stats.t.ppf((1 + LEVEL) / 2, count - 1))
    half_width = quantile * deviation / float(np.sqrt(count))
    return MeanInterval(mean=mean, deviation=deviation, half_width=half_width, count=count)


def paired_difference(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    """Return the mean paired difference, first minus second, with a one-sided t-test."""
    found = mean_interval([a - b for a, b in zip(first, second, strict=True)])
    if found.count < 2 or found.deviation == 0:
        t = p = float("nan")
    else:
        t = found.mean / (found.deviation / float(np.sqrt(found.count)))
        p = float(stats.t.sf(t, found.count - 1))
    return PairedDifference(mean=found.mean, half_width=found.half_width, t=t, p=p, count=found.count)


def format_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown; None is an empty cell."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def fill_section(page: str, marker: str, text: str) -> str:
    """Return a page with `text` between `<!-- marker -->` and `<!-- end marker -->`."""
    begin, end = f"<!-- {marker} -->", f"<!-- end {marker} -->"
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise FormatError(f"The page has no section {marker!r}. Insert {begin} and {end} where it belongs.")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def write_section(path: Path, marker: str, text: str) -> None:
    """Replace a section of the page at `path`."""
    write_bytes(path, fill_section(path.read_text(encoding="utf-8"), marker, text).encode())
