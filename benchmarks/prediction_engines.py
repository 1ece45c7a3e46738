"""Measure predictions for many texts: in one process, and on engines with two workers.

    PYTHONPATH=src .venv-engines/bin/python -m benchmarks.prediction_engines [--texts 1e6] [--engines ray,spark]

The script trains the linear model with a rule on 2,000 simulated reviews and writes random texts of 20 words to
Parquet. Then it runs `crowdlogic predict` without an engine, and with each engine and two workers, with one thread per
process. It prints seconds (best of `--repeats`), the peak memory of the command and its children, the speed-up of an
engine over one process, and the largest difference between the probabilities.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl

from crowdlogic import LogicLNCL, TrainingLimits, parse_rules
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning import train_run
from crowdlogic.learning.method import TrainingData

RULE = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"
WORDS = 20
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"), "1")
SAME_PRIORITY = {"RAY_worker_niceness": "0"}
"""Ray lowers the priority of its workers by default, which matters if other jobs run on the machine."""


def write_inputs(home: Path, size: int) -> None:
    """Write a run to the folder `run`, and random texts to `items.parquet`."""
    crowd = simulate_sentiment(0, items=2000, annotators=20)
    data = TrainingData(corpus=crowd.corpus, labels=crowd.labels, rules=parse_rules(RULE))
    train_run(home / "run", LogicLNCL(limits=TrainingLimits(epochs=3, held_out=None)), data)
    words = np.array([*sorted(set(" ".join(crowd.corpus.texts or ()).split())), *["but"] * 20])
    drawn = words[np.random.default_rng(0).integers(len(words), size=(size, WORDS))]
    texts = pl.Series([" ".join(row) for row in drawn.tolist()])
    pl.DataFrame({"item": np.arange(size), "text": texts}).write_parquet(home / "items.parquet")


def children_of(process: int) -> list[int]:
    """Return the descendants of a process, including itself."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found)


def resident_bytes(process: int) -> int:
    """Return the resident memory of a process, excluding shared pages such as Ray's object store."""
    try:
        fields = Path(f"/proc/{process}/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")


def run_command(home: Path, out: str, *words: str) -> tuple[float, int]:
    """Return the seconds of `crowdlogic predict`, and the peak memory of its processes, sampled five times a second."""
    command = [sys.executable, "-m", "crowdlogic", "predict", "run", "items.parquet", "-o", out, *words]
    began, peak, ended = time.perf_counter(), 0, threading.Event()
    paths = os.pathsep.join(filter(None, [str(Path("src").resolve()), os.environ.get("PYTHONPATH", "")]))
    started = subprocess.Popen(
        command,
        cwd=home,
        env={**os.environ, **ONE_THREAD, **SAME_PRIORITY, "PYTHONPATH": paths},
        stderr=subprocess.DEVNULL,
    )

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.2):
            peak = max(peak, sum(map(resident_bytes, children_of(started.pid))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = started.wait()
    seconds = time.perf_counter() - began
    ended.set()
    watcher.join()
    if code:
        raise RuntimeError(f"{' '.join(command)}: exit code {code}.")
    return seconds, peak


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=float, default=1e6)
    parser.add_argument("--engines", default="ray,spark")
    parser.add_argument("--repeats", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crowdlogic-prediction-") as folder:
        home = Path(folder)
        write_inputs(home, int(given.texts))
        print(f"{int(given.texts):,} texts\n\n| | seconds | times as fast | peak, GiB | largest difference |")
        print("|---|---|---|---|---|")
        whole, one = np.empty(0), 0.0
        for name in ("one process", *given.engines.split(",")):
            words = () if name == "one process" else ("--engine", name, "--workers", "2")
            measured = []
            for _ in range(given.repeats):
                (home / "out.parquet").unlink(missing_ok=True)
                measured.append(run_command(home, "out.parquet", *words))
            seconds, peak = min(measured)
            p = pl.read_parquet(home / "out.parquet").select(pl.col("^p_.*$")).to_numpy()
            whole, one = (p, seconds) if not len(whole) else (whole, one)
            apart = float(np.abs(p - whole).max())
            print(f"| {name} | {seconds:.1f} | {one / seconds:.2f} | {peak / 2**30:.2f} | {apart:.1g} |", flush=True)


if __name__ == "__main__":
    main()
