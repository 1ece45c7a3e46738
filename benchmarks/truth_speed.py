"""The speed of Dawid-Skene, GLAD and MACE per iteration, and their memory, beside crowd-kit and Snorkel.

    python -m benchmarks.truth_speed [--sizes 1e4,1e5,1e6,1e7] [--repeats 3] [--fresh]
                                     [--peers PYTHON] [--snorkel PYTHON]

5 classes, 5 labels an item, at most 1,000 annotators. Seconds per iteration are the difference between a long and a
short fit, divided by the difference of their iterations, so that reading, preparing and imports count for nobody; each
fit runs in a process of its own, on one thread unless said, and the best of the repeats is taken. A peer's run is
stopped after 5 minutes. Figures are kept in benchmarks/results/, so a run that was stopped goes on where it was; the
table goes into docs/truth.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.figures_file import Figures, FiguresFile
from benchmarks.machine import PEERS, SNORKEL, described
from crowdlogic.experiments.markdown import format_table, write_section

RESULTS = Path("benchmarks/results/truth_speed.json")
PAGE = Path("docs/truth.md")
LIMIT = 300
SNORKEL_MODEL = "snorkel.LabelModel"
METHODS = {"dawid-skene": "DawidSkene", "glad": "GLAD", "mace": "MACE"}
OURS = """
import json, os, resource, sys, threading, time, warnings
import numpy as np, polars as pl
from dataclasses import replace
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.methods import truth_method
warnings.simplefilter("ignore")
with np.load(sys.argv[1]) as arrays:
    columns = {name: arrays[name] for name in ("unit", "annotator", "label")}
def table(columns):
    names = {"items": columns["unit"], "annotators": columns["annotator"]}
    names = {name: pl.Series(np.arange(int(codes.max()) + 1)) for name, codes in names.items()}
    return CrowdLabels(**columns, **names, classes=tuple(range(5)))
labels = table(columns)
columns = {name: getattr(labels, name) for name in columns}
method, iterations, threads = truth_method(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
first = {name: column[:100_000] for name, column in columns.items()}
warm = table({name: np.concatenate([column] * 1) for name, column in first.items()})
replace(method, convergence=Convergence(max_iterations=2, tolerance=0.0)).infer(warm, fitting=Fitting(threads=threads))
page = os.sysconf("SC_PAGE_SIZE")
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * page
peak, running = [resident()], [True]
def watch():
    while running[0]:
        peak[0] = max(peak[0], resident())
        time.sleep(0.002)
base = resident()
watcher = threading.Thread(target=watch)
if sys.argv[5] == "memory":
    watcher.start()
begin, times = time.perf_counter(), []
fitting = Fitting(threads=threads, progress=lambda _: times.append(time.perf_counter()))
replace(method, convergence=Convergence(max_iterations=iterations, tolerance=0.0)).infer(labels, fitting=fitting)
seconds = time.perf_counter() - begin
running[0] = False
each = (times[-1] - times[0]) / max(len(times) - 1, 1)
print(json.dumps({"seconds": seconds, "each": each, "bytes": (peak[0] - base) / labels.n_labels}))
"""


def write_labels(folder: Path, count: int) -> tuple[Path, Path]:
    """Labels of annotators who are right 4 to 9 times in 10, as codes for us and as csv for peers."""
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


def run(words: list[str], *, threads: int = 1) -> Figures | None:
    """The JSON line that a process prints; None when it was stopped or failed."""
    own = {"OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=LIMIT, check=True, env={**os.environ, **own}
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


def ours(codes: Path, method: str, repeats: int, threads: int, count: int) -> Figures:
    """Seconds per iteration (the best run's mean), per label, and the peak of memory, watched in a run of its own."""
    iterations = "12" if count >= 10**6 else "42"
    words = [sys.executable, "-c", OURS, str(codes), method, iterations, str(threads)]
    runs = [one for one in (run([*words, "time"], threads=threads) for _ in range(repeats)) if one]
    watched = run([*words, "memory"], threads=threads)
    each = min(float(one["each"]) for one in runs)
    return {
        "seconds": each,
        "nanoseconds per label": round(each / count * 1e9, 1),
        "whole fit, seconds": round(min(float(one["seconds"]) for one in runs), 3),
        "bytes per label": None if watched is None else round(watched["bytes"], 1),
        "measured": described(),
    }


def per_iteration(short: list[Figures | None], long: list[Figures | None]) -> float:
    """The best long run less the best short one, over the iterations between them: noise can only add to either."""
    least, most = (min((one for one in runs if one), key=lambda one: float(one["seconds"])) for runs in (short, long))
    return float((most["seconds"] - least["seconds"]) / (most["iterations"] - least["iterations"]))


def theirs(peer: str, table: Path, model: str, repeats: int, count: int) -> Figures:
    """Seconds per iteration of a peer, or that it took too long or failed."""
    spans = (1, 3) if model == "GLAD" or count >= 10**7 else (20, 220) if model == SNORKEL_MODEL else (2, 12)
    repeats = min(repeats, 2) if count < 10**7 and model != "GLAD" else 1
    short, long = (
        [run([peer, "benchmarks/truth_peer.py", model, str(table), "-", str(n), "-1e9"]) for _ in range(repeats)]
        for n in spans
    )
    if not any(short):
        return {"seconds": None, "why": f"failed or took more than {LIMIT} s", "measured": described()}
    if not any(long):
        whole = min(float(one["seconds"]) for one in short if one)
        return {"seconds": whole, "why": "one iteration, with its preparation", "measured": described()}
    return {"seconds": per_iteration(short, long), "measured": described()}


def rows_of(file: FiguresFile, sizes: list[int]) -> list[tuple[object, ...]]:
    """One row per method and size."""
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
                    *(_peer(one, mine["seconds"], count) for one in seconds),
                )
            )
    return rows


def _peer(seconds: float | None, mine: float, count: int) -> str:
    return "" if seconds is None else f"{seconds / count * 1e9:,.0f} ns ({seconds / mine:,.0f}x)"


def measure(
    file: FiguresFile,
    folder: Path,
    sizes: list[int],
    methods: list[str],
    repeats: int,
    peer: str | None,
    snorkel: str | None,
) -> None:
    """Measure what is not in the file yet."""
    for count in sizes:
        codes, table = write_labels(folder, count)
        for method, model in METHODS.items():
            if method not in methods:
                continue
            for threads in (1, 2):
                key = f"{method} {count} {threads}"
                file.get(key, partial(ours, codes, method, repeats, threads, count))
            if peer and (model != "GLAD" or count <= 10**5):
                file.get(f"crowd-kit {model} {count}", partial(theirs, peer, table, model, repeats, count))
        if snorkel and "dawid-skene" in methods and count <= 10**4:  # its matrices are annotators x classes squared
            file.get(f"{SNORKEL_MODEL} {count}", partial(theirs, snorkel, table, SNORKEL_MODEL, repeats, count))


def main() -> None:
    """Measure what is not yet known and write the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1e4,1e5,1e6,1e7")
    options.add_argument("--methods", default=",".join(METHODS))
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--peers", default=str(PEERS) if PEERS.is_file() else None, help="A python with crowd-kit.")
    options.add_argument(
        "--snorkel", default=str(SNORKEL) if SNORKEL.is_file() else None, help="A python with Snorkel."
    )
    options.add_argument("--fresh", action="store_true", help="Forget earlier figures.")
    chosen = options.parse_args()
    sizes = [int(float(size)) for size in chosen.sizes.split(",")]
    file = FiguresFile(RESULTS, fresh=chosen.fresh)
    with tempfile.TemporaryDirectory() as folder:
        methods = chosen.methods.split(",")
        measure(file, Path(folder), sizes, methods, chosen.repeats, chosen.peers, chosen.snorkel)
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
    write_section(PAGE, "speed", f"{format_table(columns, rows_of(file, known))}\n\nMeasured {described()}.")


if __name__ == "__main__":
    main()
