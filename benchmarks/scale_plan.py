"""Measure the cost per label, and predict the cost of 10^9 and 10^10 labels; predictions are checked at larger sizes.

    python -m benchmarks.scale_plan --sizes 1e6,1e7,3e7

Measured are CPU nanoseconds per label and iteration of Dawid-Skene (one thread, the best of several), bytes per label
in memory and on disk, and bytes transferred per step. The cost at the first size is used to predict those of the
others.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engines_speed import ANNOTATORS, CLASSES, generate
from crowdlogic.data.blocks import make_shards
from crowdlogic.extensions.scale.coded_files import open_coded, write_coded
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.fitting import Fitting, Progress

STEPS, ITERATIONS = 8, 20
MACHINES = {"one core": 1, "16 cores": 16, "4 machines of 16 cores": 64}


def processor_step(engine: Any) -> float:
    """Return the CPU seconds of the fastest iteration, after two warm-up steps."""
    moments = [time.process_time()]

    def note(progress: Progress) -> None:  # noqa: ARG001
        moments.append(time.process_time())

    method = DawidSkene(convergence=Convergence(max_iterations=STEPS + 2, tolerance=0.0))
    method.fit_over(engine, fitting=Fitting(progress=note))
    return float(np.diff(moments)[2:].min())


def shard_bytes(engine: Any) -> int:
    """Return the bytes of all shards in memory."""
    names = ("starts", "annotator", "label", "weight", "fixed", "times", "offsets")
    return sum(int(getattr(part, name).nbytes) for part in engine.parts for name in names)


def measure(size: int) -> dict[str, float]:
    """Return the figures of one size."""
    labels = generate(size)
    memory = make_shards(labels, threads=1)
    folder = Path(tempfile.mkdtemp(prefix="crowdlogic-plan-"))
    try:
        write_coded(folder, labels)
        on_disk = sum(file.stat().st_size for file in folder.iterdir())
        return {
            "memory": processor_step(memory) / size * 1e9,
            "files": processor_step(open_coded(folder, threads=1)) / size * 1e9,
            "bytes": shard_bytes(memory) / size,
            "disk": on_disk / size,
        }
    finally:
        shutil.rmtree(folder)


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="1e6,1e7")
    given = parser.parse_args()
    sizes = [int(float(one)) for one in given.sizes.split(",")]
    found = {}
    print(f"{CLASSES} classes, {ANNOTATORS:,} annotators, 5 labels an item; processor ns a label and iteration")
    for size in sizes:
        found[size] = one = measure(size)
        print(f"{size:>12,} labels: {one['memory']:.2f} in memory, {one['files']:.2f} from files", end="")
        print(f"; {one['bytes']:.1f} bytes a label in memory, {one['disk']:.1f} on disk", flush=True)
    first = found[sizes[0]]
    for size in sizes[1:]:
        for way in ("memory", "files"):
            print(f"{size:>12,} labels, {way}: predicted {first[way] * size / 1e9:.2f} s a step, ", end="")
            print(f"measured {found[size][way] * size / 1e9:.2f} s, {found[size][way] / first[way]:.2f} times as much")
    step = ANNOTATORS * CLASSES * CLASSES * 8
    print(f"a step exchanges {step / 1e3:.0f} kB of counts a worker and {2 * step / 1e3:.0f} kB of parameters")
    last = found[sizes[-1]]
    for labels in (10**9, 10**10):
        for name, cores in MACHINES.items():
            hours = last["files"] * labels * ITERATIONS / cores / 3.6e12
            print(f"{labels:.0e} labels, {name}: {hours:.2f} h for {ITERATIONS} iterations from files, ", end="")
            print(f"{last['bytes'] * labels / 2**30 / cores:.1f} GiB a core if shards stay in memory")


if __name__ == "__main__":
    main()
