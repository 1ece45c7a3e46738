"""Labels that stay on disk: Dawid-Skene over a Parquet file, of which one shard per thread is in memory at a time.

The file holds codes (unit, annotator, label and, when there are any, weight) sorted by unit, as `write_coded` writes
them. Beliefs take 8 bytes per unit and class and are not kept while fitting.

Axes: j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import overload

import numpy as np
import polars as pl

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.writing import write_table
from crowdlogic.engines.shards import Shard, Shards
from crowdlogic.errors import FormatError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.fitting import warn_unsettled

ROWS = 1_000_000
"""Labels per shard."""


def write_coded(path: str | Path, labels: CrowdLabels) -> None:
    """Write the codes of a table of labels as Parquet, for `coded_shards`."""
    table = pl.DataFrame({"unit": labels.unit, "annotator": labels.annotator, "label": labels.label})
    if labels.weight is not None:
        table = table.with_columns(pl.Series("weight", labels.weight))
    write_table(path, table, format="parquet")


def coded_shards(
    path: str | Path, *, n_units: int, n_annotators: int, n_classes: int, rows: int = ROWS, threads: int = 1
) -> Shards:
    """The labels of a Parquet file of codes, read shard by shard on demand."""
    unit = pl.scan_parquet(path).select("unit").collect()["unit"].to_numpy()
    if len(unit) and ((np.diff(unit) < 0).any() or unit[0] < 0 or unit[-1] >= n_units):
        raise FormatError(f"{path}: the units must rise from 0 to at most {n_units - 1}. Write it with write_coded.")
    goals = np.arange(rows, len(unit), rows)
    cuts = [0, *np.unique(np.searchsorted(unit, unit[goals])).tolist(), len(unit)]
    cuts = sorted(set(cuts))
    firsts = [0, *(int(unit[row]) for row in cuts[1:-1]), n_units]
    return Shards(
        _OnDisk(Path(path), tuple(pairwise(cuts)) or ((0, 0),), tuple(pairwise(firsts))),
        n_units,
        n_annotators,
        n_classes,
        len(unit),
        threads,
    )


def fit_shards(method: DawidSkene, shards: Shards) -> tuple[Floats, Floats, Floats]:
    """Dawid-Skene over shards: confusion[j, m, n], prior[k] and the trace of the objective."""
    state = method.first_state(shards)
    trace: list[float] = []
    gain = np.inf
    for _ in range(method.max_iterations):
        following, objective = method.step(shards, state)
        gain = (objective - trace[-1]) / max(shards.n_labels, 1) if trace else np.inf
        trace.append(objective)
        if gain <= method.tolerance:
            break
        state = following
    if gain > method.tolerance:
        warn_unsettled(method.name, len(trace), gain, method.tolerance)
    return state["table"].transpose(0, 2, 1), state["prior"], np.array(trace)


@dataclass(frozen=True)
class _OnDisk(Sequence[Shard]):
    """Shards that are read when they are asked for: rows[at] of the file are the labels of the units[at]."""

    path: Path
    rows: tuple[tuple[int, int], ...]
    units: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Shard: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Shard]: ...
    def __getitem__(self, at: int | slice) -> Shard | Sequence[Shard]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        (begin, end), (first, last) = self.rows[at], self.units[at]
        table = pl.scan_parquet(self.path).slice(begin, end - begin).collect()
        return Shard(
            first,
            _starts(table["unit"].to_numpy() - first, last - first),
            table["annotator"].to_numpy().astype(np.int32, copy=False),
            table["label"].to_numpy().astype(np.int32, copy=False),
            table["weight"].to_numpy() if "weight" in table.columns else np.empty(0),
            np.empty(0, dtype=np.int32),
        )


def _starts(unit: Ints, n_units: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(unit, minlength=n_units))])
