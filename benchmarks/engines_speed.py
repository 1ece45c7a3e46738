"""Measure a step of Dawid-Skene by engine: in this process with one and two threads, from files, with Ray and Spark.

    PYTHONPATH=src .venv-engines/bin/python -m benchmarks.engines_speed --labels 1e7 --engines local,files,ray,spark

Labels are simulated (five classes, five labels per item, 1,000 annotators) and encoded into a folder of shards first.
After loading and two warm-up steps, the best of several steps is printed: seconds, nanoseconds per label, transferred
bytes, and the speed-up of two workers over one.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.blocks import make_shards
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.scale.coded_files import open_coded, write_coded
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.fitting import Fitting, Progress

CLASSES, ANNOTATORS, EACH = 5, 1_000, 5


def generate(size: int) -> CrowdLabels:
    """Return simulated labels with accuracy 0.7."""
    rng = np.random.default_rng(0)
    units = size // EACH
    truth = rng.integers(0, CLASSES, units, dtype=np.int32)
    label = np.where(rng.random(size) < 0.7, np.repeat(truth, EACH), rng.integers(0, CLASSES, size)).astype(np.int32)
    first = rng.integers(0, ANNOTATORS, units, dtype=np.int32)
    annotator = (np.repeat(first, EACH) + np.tile(np.arange(EACH, dtype=np.int32) * 7, units)) % ANNOTATORS
    return CrowdLabels(
        unit=np.repeat(np.arange(units, dtype=np.int32), EACH),
        annotator=annotator.astype(np.int32),
        label=label,
        items=pl.Series(np.arange(units)),
        annotators=pl.Series(np.arange(ANNOTATORS)),
        classes=tuple(range(CLASSES)),
    )


def best_step(engine: Any, steps: int) -> float:
    """Return the time of the fastest iteration after two warm-up steps, in seconds."""
    moments = [time.perf_counter()]

    def note(progress: Progress) -> None:  # noqa: ARG001
        moments.append(time.perf_counter())

    method = DawidSkene(convergence=Convergence(max_iterations=steps + 2, tolerance=0.0))
    method.fit_over(engine, fitting=Fitting(progress=note))
    return float(np.diff(moments)[2:].min())


def open_engine(name: str, folder: Path, workers: int, labels: CrowdLabels) -> Any:
    """Open an engine with the given number of workers."""
    if name == "local":
        return make_shards(labels, threads=workers)
    if name == "files":
        return open_coded(folder, threads=workers)
    if name == "ray":
        from crowdlogic.extensions.scale.ray import open_ray  # noqa: PLC0415

        return open_ray(folder, workers=workers)
    from crowdlogic.extensions.scale.spark import open_spark  # noqa: PLC0415

    return open_spark(folder, workers=workers)


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--labels", type=float, default=1e7)
    parser.add_argument("--engines", default="local,files,ray,spark")
    parser.add_argument("--steps", type=int, default=8)
    given = parser.parse_args()
    labels = generate(int(given.labels))
    folder = Path(tempfile.mkdtemp(prefix="crowdlogic-engines-"))
    try:
        write_coded(folder, labels)
        for name in given.engines.split(","):
            seconds = {workers: _measure(name, folder, workers, labels, given.steps) for workers in (1, 2)}
            print(f"{name:6} two workers are {seconds[1] / seconds[2]:.2f} times as fast as one", flush=True)
    finally:
        shutil.rmtree(folder)


def _measure(name: str, folder: Path, workers: int, labels: CrowdLabels, steps: int) -> float:
    began = time.perf_counter()
    engine = open_engine(name, folder, workers, labels)
    loaded = time.perf_counter() - began
    seconds = best_step(engine, steps)
    moved = f", {engine.traffic.per_step / 1e6:.2f} MB moved a step" if hasattr(engine, "traffic") else ""
    each = seconds / labels.n_labels * 1e9
    print(
        f"{name:6} {workers} workers: {seconds:7.3f} s a step, {each:5.2f} ns a label, opened in {loaded:.1f} s{moved}",
        flush=True,
    )
    if hasattr(engine, "close"):
        engine.close()
    return seconds


if __name__ == "__main__":
    main()
