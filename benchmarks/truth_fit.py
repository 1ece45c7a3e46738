"""Fit a truth method once in a separate process, for truth_speed.

    python -m benchmarks.truth_fit CODES.npz METHOD ITERATIONS THREADS time|memory

The script prints one JSON line: the seconds of the fit, the seconds per iteration and, with `memory`, the peak resident
memory in excess of the table in bytes per label. A thread watches the memory, which would affect the times.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import polars as pl

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Ints
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.methods import TruthMethod

CLASSES = 5
WARM_UP = 100_000
"""Number of labels in the warm-up fit, which triggers compilation."""
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


def build_labels(unit: Ints, annotator: Ints, label: Ints) -> CrowdLabels:
    """Return labels with integers as names."""
    items, annotators = (pl.Series(np.arange(int(codes.max()) + 1)) for codes in (unit, annotator))
    classes = tuple(range(CLASSES))
    return CrowdLabels(unit=unit, annotator=annotator, label=label, items=items, annotators=annotators, classes=classes)


def with_iterations(name: str, iterations: int) -> TruthMethod:
    """Return a truth method that runs exactly this number of iterations."""
    convergence = Convergence(max_iterations=iterations, tolerance=0.0)
    method: TruthMethod = TRUTH_METHODS.load(name)(convergence=convergence)
    return method


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_SIZE


@contextmanager
def watching_memory(peak: list[int]) -> Iterator[None]:
    """Keep the highest resident memory in peak[0]."""
    is_running = True

    def watch() -> None:
        while is_running:
            peak[0] = max(peak[0], resident_bytes())
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield
    is_running = False
    watcher.join()


def measure(labels: CrowdLabels, method: TruthMethod, threads: int, *, memory: bool) -> dict[str, float]:
    """Fit once and return the figures."""
    base = resident_bytes()
    peak, times = [base], []
    fitting = Fitting(threads=threads, progress=lambda _: times.append(time.perf_counter()))
    begin = time.perf_counter()
    with watching_memory(peak) if memory else nullcontext():
        method.infer(labels, fitting=fitting)
    seconds = time.perf_counter() - begin
    each = (times[-1] - times[0]) / max(len(times) - 1, 1)
    return {"seconds": seconds, "each": each, "bytes": (peak[0] - base) / labels.n_labels}


def main() -> None:
    """Warm up, fit and print the figures."""
    source, name, iterations, threads, what = sys.argv[1:6]
    warnings.simplefilter("ignore")
    with np.load(source) as arrays:
        labels = build_labels(arrays["unit"], arrays["annotator"], arrays["label"])
    warm = build_labels(labels.unit[:WARM_UP], labels.annotator[:WARM_UP], labels.label[:WARM_UP])
    with_iterations(name, 2).infer(warm, fitting=Fitting(threads=int(threads)))
    method = with_iterations(name, int(iterations))
    print(json.dumps(measure(labels, method, int(threads), memory=what == "memory")))


if __name__ == "__main__":
    main()
