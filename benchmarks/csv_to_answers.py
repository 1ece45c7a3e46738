"""Measure the CPU time of `crowdlogic aggregate` from a csv of labels to the answers, against pandas and crowd-kit.

    python -m benchmarks.csv_to_answers [--labels 1e6] [--repeats 5] [--peers PYTHON] [--sorted]

The labels are simulated: 5 classes, 5 labels per item, 1,000 annotators with accuracies from 0.4 to 0.9, text as names;
rows in random order, or sorted by item. Whole processes are timed, including start-up: user and system time of the
process, its threads and children. crowdlogic and the peer are run alternately, and the best of the repeats counts.
Dawid-Skene runs 20 iterations in both. crowdlogic also writes the probability of every class and calibrated confidence.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.machine import PEERS, describe_machine
from crowdlogic.extensions.paper.results import format_table

ITERATIONS = 20
BARS = {"dawid-skene": 0.1, "majority": 0.2}
"""Maximum share of the peer's time."""
PEER = f"""
import sys
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote
method, source, target = sys.argv[1:]
table = pd.read_csv(source).rename(columns={{"item": "task", "annotator": "worker"}})
model = MajorityVote() if method == "majority" else DawidSkene(n_iter={ITERATIONS}, tol=-1e9)
model.fit_predict(table).to_csv(target)
"""


def write_labels(path: Path, count: int, *, in_order: bool) -> None:
    """Write a csv file of distinct (item, annotator) pairs."""
    rng = np.random.default_rng(0)
    unit, annotator = np.repeat(np.arange(count // 5), 5), rng.integers(1000, size=count // 5 * 5)
    truth = rng.integers(5, size=count // 5)[unit]
    right = rng.random(len(unit)) < rng.uniform(0.4, 0.9, size=1000)[annotator]
    label = np.where(right, truth, rng.integers(5, size=len(unit)))
    table = pl.DataFrame({"item": unit, "annotator": annotator, "label": label})
    table = table.unique(["item", "annotator"], maintain_order=True)
    table = table if in_order else table.sample(fraction=1, shuffle=True, seed=0)
    table.select(pl.format(f"{name}_{{}}", pl.col(name)).alias(name) for name in table.columns).write_csv(path)


def processor_seconds(words: list[str]) -> float:
    """Return user and system time of one process; Python may cache bytecode, as in an installation."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, capture_output=True, check=True, env=own)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(method: str, folder: Path, peer: str, repeats: int) -> tuple[float, float]:
    """Return the best times of crowdlogic and of the peer, which are run alternately."""
    source, target = str(folder / "labels.csv"), str(folder / "answers.csv")
    ours = [sys.executable, "-m", "crowdlogic", "aggregate", source, "-o", target, "-m", method]
    ours += [] if method == "majority" else ["--iterations", str(ITERATIONS)]
    theirs = [peer, "-c", PEER, method, source, target]
    runs = [(processor_seconds(ours), processor_seconds(ours), processor_seconds(theirs)) for _ in range(repeats)]
    return min(min(run[:2]) for run in runs), min(run[2] for run in runs)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--labels", type=float, default=1e6)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--peers", default=str(PEERS), help="Python interpreter with pandas and crowd-kit.")
    options.add_argument("--sorted", action="store_true", help="Sort the rows by item.")
    options.add_argument("--methods", default=",".join(BARS))
    chosen = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        write_labels(Path(name) / "labels.csv", int(chosen.labels), in_order=chosen.sorted)
        for method in chosen.methods.split(","):
            mine, theirs = compare(method, Path(name), chosen.peers, chosen.repeats)
            rows.append((method, f"{mine:.2f}", f"{theirs:.2f}", f"{mine / theirs:.3f}", f"{BARS[method]:g}"))
    print(format_table(["", "crowdlogic, s", "pandas + crowd-kit, s", "ratio", "limit"], rows))
    print(f"\n{chosen.labels:,.0f} labels; best of {chosen.repeats}; {describe_machine()}")


if __name__ == "__main__":
    main()
