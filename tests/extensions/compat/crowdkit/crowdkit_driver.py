"""Runs crowd-kit's own aggregators and metrics over frames; started with a Python that has crowd-kit.

Reads a folder of parquet files from the command line and writes JSON: for each file and aggregator the label of every task,
and the probabilities where there are any; for each file the metrics.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from crowdkit import aggregation
from crowdkit.metrics.data import alpha_krippendorff, consistency, uncertainty
from crowdkit.metrics.workers import accuracy_on_aggregates

NAMES = ("DawidSkene", "OneCoinDawidSkene", "GLAD", "MACE", "KOS", "MMSR", "MajorityVote", "Wawa", "ZeroBasedSkill")


def run_aggregators(table: pd.DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in NAMES:
        if name == "KOS" and table["label"].nunique() != 2:
            continue
        made = getattr(aggregation, name)()
        labels = made.fit_predict(table)
        frame = getattr(made, "probas_", getattr(made, "scores_", None))
        found[name] = {
            "skills": {str(worker): float(skill) for worker, skill in getattr(made, "skills_", pd.Series()).items()},
            "labels": {str(task): str(label) for task, label in labels.items()},
            "values": None if frame is None else json.loads(frame.sort_index().sort_index(axis=1).to_json()),
        }
    return found


def main() -> None:
    found = {}
    for path in sorted(Path(sys.argv[1]).glob("*.parquet")):
        table = pd.read_parquet(path)
        metrics = {
            "alpha_krippendorff": alpha_krippendorff(table),
            "consistency": consistency(table),
            "uncertainty": uncertainty(table),
            "accuracy_on_aggregates": accuracy_on_aggregates(table),
        }
        found[path.stem] = {"aggregators": run_aggregators(table), "metrics": metrics}
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
