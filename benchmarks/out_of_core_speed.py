"""Measure ten iterations of Dawid-Skene on labels larger than memory: time and peak memory of the whole command.

    python -m benchmarks.out_of_core_speed FOLDER [--labels 1e8] [--memory 3GiB] [--beside 1e7] [--seed 0] [--keep]

Simulated labels (names are text; five classes, five labels per item, 10,000 annotators with accuracies from 0.4 to 0.9,
rows in random order within a file) are written as Parquet files to FOLDER and aggregated by `crowdlogic aggregate -m
dawid-skene`, while the resident memory of the process and its children is watched. For comparison, the same command
runs in memory on fewer labels. The figures are seconds per label. The files are deleted at the end unless --keep is
given.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.machine import describe_machine
from crowdlogic.extensions.paper.results import format_table
from crowdlogic.numerics.arrays import Floats

CLASSES, EACH, ANNOTATORS, ITERATIONS = 5, 5, 10_000, 10
ROWS = 5_000_000
"""Number of labels per file."""
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Run:
    """Cost of a command: wall-clock and CPU seconds, and peak resident memory in bytes."""

    labels: int
    seconds: float
    processor: float
    peak: int

    @property
    def each(self) -> float:
        """Wall-clock seconds per million labels."""
        return self.seconds / self.labels * 1e6


def generate(folder: Path, labels: int, seed: int) -> Path:
    """Write Parquet files of labels to a folder; existing files are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    skill = np.random.default_rng(seed).uniform(0.4, 0.9, ANNOTATORS)
    for at, first in enumerate(range(0, labels // EACH, ROWS // EACH)):
        path = folder / f"labels-{at:04d}.parquet"
        if not path.exists():
            units = min(ROWS // EACH, labels // EACH - first)
            _labels(np.random.default_rng([seed, at]), first, units, skill).write_parquet(path)
    return folder


def _labels(rng: np.random.Generator, first: int, units: int, skill: Floats) -> pl.DataFrame:
    """Return labels of consecutive items, each by different annotators."""
    unit = np.repeat(np.arange(units), EACH)
    start, step = rng.integers(ANNOTATORS, size=units), rng.integers(1, ANNOTATORS // EACH, size=units)
    annotator = (start[unit] + np.tile(np.arange(EACH), units) * step[unit]) % ANNOTATORS
    right = rng.random(len(unit)) < skill[annotator]
    truth = rng.integers(CLASSES, size=units)[unit]
    label = np.where(right, truth, rng.integers(CLASSES, size=len(unit)))
    order = rng.permutation(len(unit))
    table = pl.DataFrame({"item": unit[order] + first, "annotator": annotator[order], "label": label[order]})
    return table.select(pl.format(f"{name}-{{}}", pl.col(name)).alias(name) for name in table.columns)


def run_command(source: Path, out: Path, labels: int, memory: str | None) -> Run:
    """Run the whole command and watch its memory."""
    words = [sys.executable, "-m", "crowdlogic", "aggregate", str(source), "-o", str(out), "-m", "dawid-skene"]
    words += ["--iterations", str(ITERATIONS)] + ([] if memory is None else ["--memory", memory])
    before, begin, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0
    with subprocess.Popen(words) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(_resident, _family(process.pid))))
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"The command failed with exit code {process.returncode}.")
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Run(labels=labels, seconds=seconds, processor=processor, peak=peak)


def _family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(one for child in children for one in _family(int(child)))]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def in_one_file(source: Path, out: Path) -> Path:
    """Write the labels of a folder as one file."""
    if not out.exists():
        pl.scan_parquet(source / "*.parquet").sink_parquet(out)
    return out


def main() -> None:
    """Generate labels, measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, help="Folder for the generated labels.")
    options.add_argument("--labels", type=float, default=1e8)
    options.add_argument(
        "--beside", type=float, default=1e7, help="Number of labels for the command in memory; 0 to skip it."
    )
    options.add_argument("--memory", default="3GiB")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--keep", action="store_true", help="Keep the generated files.")
    chosen = options.parse_args()
    many, few, folder = int(chosen.labels), int(chosen.beside), chosen.folder
    runs: dict[str, Run] = {}
    try:
        if few:
            source = in_one_file(generate(folder / "few", few, chosen.seed), folder / "few.parquet")
            runs["in memory"] = run_command(source, folder / "answers.parquet", few, None)
        source = generate(folder / "many", many, chosen.seed)
        runs[f"--memory {chosen.memory}"] = run_command(source, folder / "answers.parquet", many, chosen.memory)
    finally:
        if not chosen.keep:
            shutil.rmtree(folder, ignore_errors=True)
    rows = [
        (
            name,
            f"{run.labels:,}",
            f"{run.seconds:.0f}",
            f"{run.processor:.0f}",
            f"{run.each:.2f}",
            f"{run.peak / 2**30:.2f}",
        )
        for name, run in runs.items()
    ]
    print(format_table(["", "labels", "seconds", "of the processor", "s per million", "peak, GiB"], rows))
    if few:
        one, other = runs.values()
        print(f"\n{other.each / one.each:.2f} times the time a label; {describe_machine()}")


if __name__ == "__main__":
    main()
