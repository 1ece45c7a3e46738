"""Measure the speed of the crowd-kit drop-in and of crowd-kit itself, from frame to frame.

    python -m benchmarks.dropin_speed [--sizes 1e5,1e6] [--repeats 9] [--fresh] [--peers PYTHON]

The answers are simulated: two labels, and five labels with 100,000 answers; 5 answers per task; 100 workers, since the
matrices of crowd-kit's MMSR grow with the pairs of workers. Every aggregator has its default options and a frame of
text. Each side runs in a separate process on one thread. Figures are CPU seconds, which depend little on the load of
the machine, and the best of the repeats counts (crowd-kit's slow ones run once). A peer's run is stopped after 15
minutes. The table goes into docs/reference/from-crowd-kit.md.
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
import pandas as pd

from benchmarks.figures_file import Figures, FiguresFile
from benchmarks.machine import PEERS, describe_machine
from crowdlogic.extensions.paper.results import format_table, write_section

RESULTS = Path("benchmarks/results/dropin_speed.json")
PAGE = Path("docs/reference/from-crowd-kit.md")
OURS = "crowdlogic.extensions.compat.crowdkit"
LIMIT = 900
"""Time limit for a peer's run, in seconds."""

ITERATIVE = ("DawidSkene", "OneCoinDawidSkene", "MMSR", "KOS", "ZeroBasedSkill", "MACE", "GLAD")
SLOW = ("GLAD", "MACE", "KOS", "MMSR", "ZeroBasedSkill", "consistency", "uncertainty")
"""Aggregators that crowd-kit runs only once: they take tens of seconds, compared with which noise is small."""
VOTES = ("MajorityVote", "Wawa", "GoldMajorityVote")
METRICS = {
    "consistency": "crowdkit.metrics.data",
    "uncertainty": "crowdkit.metrics.data",
    "alpha_krippendorff": "crowdkit.metrics.data",
    "accuracy_on_aggregates": "crowdkit.metrics.workers",
}
LARGEST = {"OneCoinDawidSkene": 10**5, "GLAD": 10**5, "MACE": 10**5, **dict.fromkeys(METRICS, 10**5)}
"""Maximum number of labels for aggregators of crowd-kit that would take too long."""


def write_answers(path: Path, count: int, n_labels: int) -> Path:
    """Write answers of 100 workers with accuracies from 0.5 to 0.9."""
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(count // 5), 5)
    worker = rng.integers(100, size=len(task))
    truth = rng.integers(n_labels, size=count // 5)[task]
    right = rng.random(len(task)) < rng.uniform(0.5, 0.9, size=100)[worker]
    label = np.where(right, truth, rng.integers(n_labels, size=len(task)))
    columns = {"task": task, "worker": worker, "label": label, "truth": truth}
    frame = pd.DataFrame({name: [f"{name[0]}{code}" for code in codes] for name, codes in columns.items()})
    frame["truth"] = frame["truth"].str.replace("t", "l")
    frame.drop_duplicates(["task", "worker"]).to_parquet(path)
    return path


def measure(python: str | Path, module: str, name: str, *, source: Path, answers: Path, repeats: int) -> Figures:
    """Return the seconds of one side, or the reason why there are none."""
    words = [str(python), "benchmarks/dropin_fit.py", module, name, str(source), str(repeats), str(answers)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=LIMIT, check=True, env={**os.environ, **threads}
        )
    except subprocess.TimeoutExpired:
        return {"seconds": None, "why": f"more than {LIMIT} s", "measured": describe_machine()}
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return {**found, "measured": describe_machine()}


def compare(name: str, *, source: Path, folder: Path, peer: str, repeats: int) -> Figures:
    """Measure both sides, and the share of tasks to which both give the same label."""
    module = METRICS.get(name, "crowdkit.aggregation")
    mine, theirs = folder / "mine.parquet", folder / "theirs.parquet"
    for path in (mine, theirs):
        path.unlink(missing_ok=True)
    ours = measure(sys.executable, OURS, name, source=source, answers=mine, repeats=repeats)
    other = measure(peer, module, name, source=source, answers=theirs, repeats=1 if name in SLOW else repeats)
    same = None
    if mine.is_file() and theirs.is_file():
        same = float((pd.read_parquet(mine)["label"] == pd.read_parquet(theirs)["label"]).mean())
    return {
        "ours": ours["seconds"],
        "crowd-kit": other["seconds"],
        "same": same,
        "values": (ours["value"], other.get("value")),
        "measured": ours["measured"],
    }


def speed_rows(file: FiguresFile) -> list[tuple[object, ...]]:
    """Return one row per aggregator, number of labels and number of answers."""
    rows = []
    for key, figures in file.figures.items():
        name, n_labels, count = key.split()
        peer = figures["crowd-kit"]
        ratio = f"more than {LIMIT / figures['ours']:,.0f}x" if peer is None else f"{peer / figures['ours']:,.0f}x"
        if figures["same"] is not None:
            equal = f"{figures['same']:.2%}"
        else:
            equal = "" if peer is None else f"{figures['values'][0]:.6f} / {figures['values'][1]:.6f}"
        cells = (f"{figures['ours']:.3f}", "" if peer is None else f"{peer:.2f}", ratio, equal)
        rows.append((f"`{name}`", n_labels, f"{int(count):.0e}".replace("e+0", "e"), *cells))
    order = [f"`{name}`" for name in (*ITERATIVE, *VOTES, *METRICS)]
    return sorted(rows, key=lambda row: (order.index(str(row[0])), int(str(row[1])), str(row[2])))


def main() -> None:
    """Measure what is missing, and write the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1e5,1e6")
    options.add_argument("--repeats", type=int, default=9)
    options.add_argument("--peers", default=str(PEERS), help="Python interpreter with crowd-kit.")
    options.add_argument("--fresh", action="store_true", help="Ignore earlier figures.")
    chosen = options.parse_args()
    file = FiguresFile(RESULTS, fresh=chosen.fresh)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for count in (int(float(size)) for size in chosen.sizes.split(",")):
            for n_labels in (2, 5):
                source = write_answers(home / f"{count}-{n_labels}.parquet", count, n_labels)
                for name in (*VOTES, *METRICS, *ITERATIVE):
                    if count > LARGEST.get(name, count) or (n_labels > 2 and (name == "KOS" or count > 10**5)):
                        continue
                    pair = partial(compare, name, source=source, folder=home, peer=chosen.peers, repeats=chosen.repeats)
                    file.get(f"{name} {n_labels} {count}", pair)
    columns = [
        "",
        "labels",
        "answers",
        "crowdlogic, CPU s",
        "crowd-kit 1.4.2, CPU s",
        "ratio",
        "same labels (or both values)",
    ]
    days = "; ".join(sorted({str(figures["measured"]) for figures in file.figures.values()}))
    write_section(PAGE, "speed", f"{format_table(columns, speed_rows(file))}\n\nMeasured {days}.")


if __name__ == "__main__":
    main()
