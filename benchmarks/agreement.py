"""Agreement of a million labels: every coefficient with its interval, from 1,000 bootstrap replicates.

    python -m benchmarks.agreement [--labels 1000000] [--repeats 3]

No peer is measured: those at hand want a dense table of items by annotators, or give no interval.
"""

from __future__ import annotations

import argparse

from benchmarks.machine import best_of, described, ours

SETUP = """
import numpy as np
import polars as pl
from crowdlogic import CrowdLabels
from crowdlogic.metrics.agreement import agreement
rng = np.random.default_rng(0)
items, people = {labels} // 5, 1000
unit = np.repeat(np.arange(items), 5)
steps = rng.permuted(np.tile(np.arange(5), (items, 1)), axis=1)
annotator = (rng.integers(people, size=items)[:, None] + steps * 97) % people
truth = rng.integers(5, size=items)[unit]
label = np.where(rng.random(len(unit)) < 0.7, truth, rng.integers(5, size=len(unit)))
names = pl.Series(np.arange(items)), pl.Series(np.arange(people)), tuple('abcde')
labels = CrowdLabels(unit, annotator.ravel(), label, *names)
"""


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--labels", type=int, default=1_000_000)
    options.add_argument("--repeats", type=int, default=3)
    chosen = options.parse_args()
    run = best_of(ours(), SETUP.format(labels=chosen.labels), "agreement(labels)", repeats=chosen.repeats)
    print(f"agreement, {chosen.labels:,} labels ({described()})")
    print(f"  crowdlogic {run.seconds:6.2f} s, peak {run.gibibytes:.2f} GiB")


if __name__ == "__main__":
    main()
