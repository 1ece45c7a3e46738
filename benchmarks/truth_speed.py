"""Measure the time per iteration and the memory of Dawid-Skene, GLAD and MACE, compared with crowd-kit and Snorkel.

    python -m benchmarks.truth_speed [--sizes 1e4,1e5,1e6,1e7] [--repeats 3] [--fresh]
                                     [--peers PYTHON] [--snorkel PYTHON]

The labels are simulated: 5 classes, 5 labels per item, at most 1,000 annotators. Seconds per iteration are the
difference between a long and a short fit, divided by the difference of their iterations, so that reading, preparation
and imports do not count. Each fit runs in a separate process, on one thread unless noted, and the best of the repeats
counts. A peer's run is stopped after 5 minutes. Figures are kept in benchmarks/results/, so an interrupted benchmark
continues where it stopped; the table goes into docs/evidence/truth-methods.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.figures_file import Figures, FiguresFile
from benchmarks.machine import PEERS, SNORKEL, describe_machine
from crowdlogic.extensions.paper.results import format_table, write_section

RESULTS = Path("benchmarks/results/truth_speed.json")
PAGE = Path("docs/evidence/truth-methods.md")
LIMIT = 300
"""Time limit for a peer's run, in seconds."""
SNORKEL_MODEL = "snorkel.LabelModel"
METHODS = {"dawid-skene": "DawidSkene", "glad": "GLAD", "mace": "MACE"}


def write_labels(folder: Path, count: int) -> tuple[Path, Path]:
    """Write simulated labels with annotator accuracies from 0.4 to 0.9: as codes for crowdlogic, as csv for peers."""
    rng = np.random.default_rng(0)
    people = max(min(1000, count // 100), 5)
    unit = np.repeat(np.arange(count // 5, dtype=np.int32), 5)
    annotator = rng.integers(people, size=len(unit)).astype(np.int32)
    truth = rng.integers(5, size=count // 5)[unit]
    right = rng.random(len(unit)) < rng.uniform(0.4, 0.9, size=people)[annotator]
    label = np.where(right, truth, rng.integers(5, size=len(unit))).astype(np.int32)
    codes, table = folder / f"{count}.npz", folder / f"{count}.csv"
    if not codes.exists():
        np.savez(codes, unit=unit, annotator=annotator, label=label)
        pl.DataFrame({"item": unit, "annotator": annotator, "label": label}).write_csv(table)
    return codes, table


def run_process(words: list[str], *, threads: int = 1) -> Figures | None:
    """Run a process and return the JSON line that it prints; None if it failed or exceeded the time limit."""
    own = {"OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=LIMIT, check=True, env={**os.environ, **own}
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


def measure_ours(codes: Path, method: str, *, repeats: int, threads: int, count: int) -> Figures:
    """Return seconds per iteration (mean of the best run) and per label, and peak memory from a separate run."""
    iterations = "12" if count >= 10**6 else "42"
    words = [sys.executable, "-m", "benchmarks.truth_fit", str(codes), method, iterations, str(threads)]
    runs = [one for one in (run_process([*words, "time"], threads=threads) for _ in range(repeats)) if one]
    watched = run_process([*words, "memory"], threads=threads)
    each = min(float(one["each"]) for one in runs)
    return {
        "seconds": each,
        "nanoseconds per label": round(each / count * 1e9, 1),
        "whole fit, seconds": round(min(float(one["seconds"]) for one in runs), 3),
        "bytes per label": None if watched is None else round(watched["bytes"], 1),
        "measured": describe_machine(),
    }


def per_iteration(short: list[Figures | None], long: list[Figures | None]) -> float:
    """Return the best long time minus the best short time, per iteration between them; noise can only add to either."""
    least, most = (min((one for one in runs if one), key=lambda one: float(one["seconds"])) for runs in (short, long))
    return float((most["seconds"] - least["seconds"]) / (most["iterations"] - least["iterations"]))


def measure_peer(peer: str, table: Path, model: str, *, repeats: int, count: int) -> Figures:
    """Return the seconds per iteration of a peer, or the reason why there are none."""
    spans = (1, 3) if model == "GLAD" or count >= 10**7 else (20, 220) if model == SNORKEL_MODEL else (2, 12)
    repeats = min(repeats, 2) if count < 10**7 and model != "GLAD" else 1
    short, long = (
        [
            run_process([peer, "benchmarks/truth_peer.py", model, str(table), "-", str(n), "-1e9"])
            for _ in range(repeats)
        ]
        for n in spans
    )
    if not any(short):
        return {"seconds": None, "why": f"failed or took longer than {LIMIT} s", "measured": describe_machine()}
    if not any(long):
        whole = min(float(one["seconds"]) for one in short if one)
        return {"seconds": whole, "why": "one iteration, with its preparation", "measured": describe_machine()}
    return {"seconds": per_iteration(short, long), "measured": describe_machine()}


def speed_rows(file: FiguresFile, sizes: list[int]) -> list[tuple[object, ...]]:
    """Return one row per method and size."""
    rows = []
    for method, model in METHODS.items():
        peers = [f"crowd-kit {model}", SNORKEL_MODEL if model == "DawidSkene" else ""]
        for count in sizes:
            mine = file.figures.get(f"{method} {count} 1")
            if mine is None:
                continue
            two = file.figures.get(f"{method} {count} 2")
            seconds = [file.figures.get(f"{name} {count}", {}).get("seconds") for name in peers]
            rows.append(
                (
                    method,
                    f"{count:.0e}".replace("e+0", "e"),
                    mine["nanoseconds per label"],
                    "" if two is None else f"{mine['seconds'] / two['seconds']:.2f}x",
                    mine["bytes per label"],
                    *(_peer_cell(one, mine["seconds"], count) for one in seconds),
                )
            )
    return rows


def _peer_cell(seconds: float | None, mine: float, count: int) -> str:
    """Format a peer's nanoseconds per label, and their ratio to ours."""
    return "" if seconds is None else f"{seconds / count * 1e9:,.0f} ns ({seconds / mine:,.0f}x)"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure.

    Attributes:
        sizes: Numbers of labels.
        methods: Our methods by name.
        repeats: Number of runs, of which the best counts.
        peer: Python interpreter with crowd-kit; None to skip it.
        snorkel: Python interpreter with Snorkel; None to skip it.
    """

    sizes: list[int]
    methods: list[str]
    repeats: int
    peer: str | None
    snorkel: str | None


def measure(file: FiguresFile, plan: Plan, folder: Path) -> None:
    """Measure everything that is not in the file yet."""
    for count in plan.sizes:
        codes, table = write_labels(folder, count)
        by_peer = partial(measure_peer, table=table, repeats=plan.repeats, count=count)
        for method, model in METHODS.items():
            if method not in plan.methods:
                continue
            for threads in (1, 2):
                ours = partial(measure_ours, codes, method, repeats=plan.repeats, threads=threads, count=count)
                file.get(f"{method} {count} {threads}", ours)
            if plan.peer and (model != "GLAD" or count <= 10**5):
                file.get(f"crowd-kit {model} {count}", partial(by_peer, plan.peer, model=model))
        # Snorkel's matrices are annotators x classes squared.
        if plan.snorkel and "dawid-skene" in plan.methods and count <= 10**4:
            file.get(f"{SNORKEL_MODEL} {count}", partial(by_peer, plan.snorkel, model=SNORKEL_MODEL))


def main() -> None:
    """Measure what is missing and write the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1e4,1e5,1e6,1e7")
    options.add_argument("--methods", default=",".join(METHODS))
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--peers", default=str(PEERS) if PEERS.is_file() else None, help="Python with crowd-kit.")
    options.add_argument(
        "--snorkel", default=str(SNORKEL) if SNORKEL.is_file() else None, help="Python interpreter with Snorkel."
    )
    options.add_argument("--fresh", action="store_true", help="Ignore earlier figures.")
    chosen = options.parse_args()
    plan = Plan(
        sizes=[int(float(size)) for size in chosen.sizes.split(",")],
        methods=chosen.methods.split(","),
        repeats=chosen.repeats,
        peer=chosen.peers,
        snorkel=chosen.snorkel,
    )
    file = FiguresFile(RESULTS, fresh=chosen.fresh)
    with tempfile.TemporaryDirectory() as folder:
        measure(file, plan, Path(folder))
    columns = [
        "method",
        "labels",
        "ns per label and iteration",
        "two threads",
        "bytes per label beyond the table",
        "crowd-kit 1.4.2",
        "Snorkel 0.10.0 (an epoch)",
    ]
    known = sorted({int(key.split()[-2]) for key in file.figures if key.endswith(" 1")})
    days = "; ".join(sorted({str(figures["measured"]) for figures in file.figures.values()}))
    write_section(PAGE, "speed", f"{format_table(columns, speed_rows(file, known))}\n\nMeasured {days}.")


if __name__ == "__main__":
    main()
