"""Measure the agreement of a million labels: every coefficient with its interval, from 1,000 bootstrap replicates.

    python -m benchmarks.agreement [--labels 1000000] [--repeats 3]

No peer is measured: the available packages need a dense table of items by annotators, or give no interval.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import polars as pl

from benchmarks.machine import best_process, describe_machine
from crowdlogic import CrowdLabels

SETUP = """
from benchmarks.agreement import make_labels
from crowdlogic.metrics.agreement import agreement
labels = make_labels({labels})
"""
ANNOTATORS = 1000


def make_labels(count: int) -> CrowdLabels:
    """Return simulated labels: 5 per item, 5 classes, accuracy 0.7, 1,000 annotators."""
    rng = np.random.default_rng(0)
    items = count // 5
    unit = np.repeat(np.arange(items), 5)
    steps = rng.permuted(np.tile(np.arange(5), (items, 1)), axis=1)
    annotator = (rng.integers(ANNOTATORS, size=items)[:, None] + steps * 97) % ANNOTATORS  # five per item
    truth = rng.integers(5, size=items)[unit]
    label = np.where(rng.random(len(unit)) < 0.7, truth, rng.integers(5, size=len(unit)))
    return CrowdLabels(
        unit=unit,
        annotator=annotator.ravel(),
        label=label,
        items=pl.Series(np.arange(items)),
        annotators=pl.Series(np.arange(ANNOTATORS)),
        classes=tuple("abcde"),
    )


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--labels", type=int, default=1_000_000)
    options.add_argument("--repeats", type=int, default=3)
    chosen = options.parse_args()
    setup = SETUP.format(labels=chosen.labels)
    run = best_process(sys.executable, setup, "agreement(labels)", repeats=chosen.repeats)
    print(f"agreement, {chosen.labels:,} labels ({describe_machine()})")
    print(f"  crowdlogic {run.seconds:6.2f} s, peak {run.gibibytes:.2f} GiB")


if __name__ == "__main__":
    main()
