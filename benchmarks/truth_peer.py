"""Run a peer once, in the peers' environment: `python truth_peer.py MODEL LABELS.csv OUT.csv ITERATIONS TOLERANCE`.

MODEL is a class of crowd-kit (DawidSkene, GLAD, MACE, ...) or snorkel.LabelModel. The script reads item, annotator and
label, writes each item's probabilities unless OUT is -, and prints one JSON line with the seconds and iterations of the
fit. It does not import crowdlogic, so that it also runs where crowdlogic is not installed.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import time
from typing import Any

import numpy as np
import pandas as pd


def crowd_kit(name: str, table: pd.DataFrame, iterations: int, tolerance: float) -> tuple[float, int, Any]:
    """Return seconds, iterations and probabilities of a crowd-kit aggregator."""
    kind = getattr(importlib.import_module("crowdkit.aggregation"), name)
    named = inspect.signature(kind).parameters
    wanted = {"n_iter": iterations, "tol": tolerance, "n_restarts": 1}
    model = kind(**{option: value for option, value in wanted.items() if option in named})
    begin = time.perf_counter()
    model.fit(table)
    seconds = time.perf_counter() - begin
    return seconds, len(getattr(model, "loss_history_", [])) or iterations, model.probas_


def snorkel(table: pd.DataFrame, iterations: int) -> tuple[float, int, Any]:
    """Return the seconds for a number of epochs of Snorkel's LabelModel, excluding the creation of its dense matrix."""
    kind = importlib.import_module("snorkel.labeling.model").LabelModel
    task, worker, label = (pd.factorize(table[column])[0] for column in ("task", "worker", "label"))
    matrix = np.full((task.max() + 1, worker.max() + 1), -1)
    matrix[task, worker] = label
    model = kind(cardinality=int(label.max()) + 1, verbose=False)
    begin = time.perf_counter()
    model.fit(matrix, n_epochs=iterations, seed=0, progress_bar=False)
    return time.perf_counter() - begin, iterations, None


def main() -> None:
    """Fit and write the probabilities."""
    model, source, target, count, tolerance = sys.argv[1:6]
    table = pd.read_csv(source, dtype=str)
    table.columns = pd.Index(["task", "worker", "label", *table.columns[3:]])
    if model == "snorkel.LabelModel":
        seconds, made, probabilities = snorkel(table, int(count))
    else:
        seconds, made, probabilities = crowd_kit(model, table, int(count), float(tolerance))
    if target != "-":
        probabilities.fillna(0.0).to_csv(target, index_label="item")
    print(json.dumps({"seconds": seconds, "iterations": made}))


if __name__ == "__main__":
    main()
