"""Run one aggregator of crowd-kit or of the drop-in, from frame to frame, and print its minimum CPU seconds as JSON.

    python benchmarks/dropin_fit.py crowdkit.aggregation DawidSkene LABELS.parquet REPEATS [ANSWERS.parquet]

It only imports crowdlogic if asked to, so that it also runs in the peers' environment.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import time
from typing import Any

import pandas as pd


def run_once(kind: Any, table: pd.DataFrame, truth: Any) -> tuple[float, Any]:
    """Return the CPU seconds from the frame of answers to the series of labels, and the labels."""
    needs_truth = kind.__name__ == "GoldMajorityVote"
    begin = time.process_time()
    found = kind().fit_predict(table, truth) if needs_truth else kind().fit_predict(table)
    return time.process_time() - begin, found


def run_metric(function: Any, table: pd.DataFrame) -> tuple[float, Any]:
    """Return the CPU seconds of a metric of the answers, and its value."""
    begin = time.process_time()
    found = function(table)
    return time.process_time() - begin, found


def main() -> None:
    """Run the aggregator and print the result."""
    module, name, source, repeats = sys.argv[1:5]
    table = pd.read_parquet(source)
    truth = table.drop_duplicates("task").set_index("task")["truth"]
    truth = truth.iloc[: len(truth) // 5]
    table = table[["task", "worker", "label"]]
    kind = getattr(importlib.import_module(module), name)
    runs = [
        run_once(kind, table, truth) if inspect.isclass(kind) else run_metric(kind, table) for _ in range(int(repeats))
    ]
    found = runs[-1][1]
    if len(sys.argv) > 5 and isinstance(found, pd.Series):
        found.sort_index().to_frame("label").to_parquet(sys.argv[5])
    value = None if isinstance(found, pd.Series) else float(found)
    print(json.dumps({"seconds": min(seconds for seconds, _ in runs), "value": value}))


if __name__ == "__main__":
    main()
