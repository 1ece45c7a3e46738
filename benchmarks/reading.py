"""Measure reading, validation and voting on a csv file of 10 million labels, against pandas and crowd-kit.

    python -m benchmarks.reading [--labels 10000000] [--repeats 3]

crowdlogic reads the file, checks every row against the input contract and votes; the peer reads it with pandas and
votes with crowd-kit's MajorityVote. Each runs in a separate process; imports are not counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.machine import PEERS, best_process, describe_machine

OURS = ("from crowdlogic import MajorityVote, read_labels", "MajorityVote().infer(read_labels({path!r}))")
PEER = (
    "import pandas as pd\nfrom crowdkit.aggregation import MajorityVote",
    "frame = pd.read_csv({path!r}).rename(columns={{'item': 'task', 'annotator': 'worker'}})\n"
    "MajorityVote().fit_predict(frame)",
)


def write_labels(path: Path, count: int, *, seed: int = 0) -> None:
    """Write a csv file of distinct (item, annotator) pairs: 5 labels per item, 10,000 annotators, 5 classes."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "item": rng.integers(count // 5, size=count),
            "annotator": rng.integers(10_000, size=count),
            "label": rng.integers(5, size=count),
        }
    )
    named = [pl.format(f"{name}_{{}}", pl.col(name)).alias(name) for name in table.columns]
    table.unique(["item", "annotator"], maintain_order=True).select(named).write_csv(path)


def main() -> None:
    """Measure both and print the ratio."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--labels", type=int, default=10_000_000)
    options.add_argument("--repeats", type=int, default=3)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        write_labels(path, chosen.labels)
        size = path.stat().st_size / 2**20
        print(f"reading and voting, {chosen.labels:,} labels, {size:.0f} MiB of csv ({describe_machine()})")
        mine = best_process(sys.executable, OURS[0], OURS[1].format(path=str(path)), repeats=chosen.repeats)
        print(f"  crowdlogic         {mine.seconds:7.2f} s, peak {mine.gibibytes:.2f} GiB")
        peer = best_process(PEERS, PEER[0], PEER[1].format(path=str(path)), repeats=chosen.repeats)
        print(f"  pandas + crowd-kit {peer.seconds:7.2f} s, peak {peer.gibibytes:.2f} GiB")
        print(f"  ratio              {peer.seconds / mine.seconds:7.1f}")


if __name__ == "__main__":
    main()
