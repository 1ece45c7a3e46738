"""Labels that stay on disk: shards of a Parquet file, of which one per thread is in memory at a time.

The file holds codes (unit, annotator, label and, when there are any, weight) sorted by unit, as `write_coded` writes
them. Beliefs take 8 bytes per unit and class and are not kept while fitting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import overload

import numpy as np
import polars as pl

from crowdlogic.data.files import require_file
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.data.names import Classes
from crowdlogic.data.writing import write_table
from crowdlogic.engines.shard import Shard
from crowdlogic.engines.shards import Shards
from crowdlogic.errors import FormatError
from crowdlogic.numerics.arrays import Ints

ROWS = 1_000_000
"""Labels per shard."""


def write_coded(path: str | Path, labels: CrowdLabels) -> None:
    """Write the codes of a table of labels as Parquet, for `coded_shards`."""
    require_whole_labels(labels, "A file of codes")
    table = pl.DataFrame({"unit": labels.unit, "annotator": labels.annotator, "label": labels.label})
    if labels.weight is not None:
        table = table.with_columns(pl.Series("weight", labels.weight))
    write_table(path, table, format="parquet")


def coded_shards(
    path: str | Path, *, n_units: int, n_annotators: int, classes: Classes, rows: int = ROWS, threads: int = 1
) -> Shards:
    """The labels of a Parquet file of codes, read shard by shard on demand."""
    place = require_file(path)
    unit = pl.scan_parquet(place, glob=False).select("unit").collect()["unit"].to_numpy()
    if len(unit) and ((np.diff(unit) < 0).any() or unit[0] < 0 or unit[-1] >= n_units):
        raise FormatError(f"{path}: the units must rise from 0 to at most {n_units - 1}. Write it with write_coded.")
    # A shard ends before the unit that its last row would divide
    goals = np.arange(rows, len(unit), rows)
    cuts = [0, *np.unique(np.searchsorted(unit, unit[goals])).tolist(), len(unit)]
    cuts = sorted(set(cuts))
    firsts = [0, *(int(unit[row]) for row in cuts[1:-1]), n_units]
    return Shards(
        parts=_OnDisk(place, tuple(pairwise(cuts)) or ((0, 0),), tuple(pairwise(firsts))),
        n_units=n_units,
        n_annotators=n_annotators,
        classes=classes,
        n_labels=len(unit),
        threads=threads,
    )


@dataclass(frozen=True)
class _OnDisk(Sequence[Shard]):
    """Shards that are read when they are asked for: rows[at] of the file are the labels of the units[at]."""

    path: Path
    rows: tuple[tuple[int, int], ...]
    units: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def runs(self) -> list[slice]:
        """The units of each shard."""
        return [slice(first, last) for first, last in self.units]

    @overload
    def __getitem__(self, at: int) -> Shard: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Shard]: ...
    def __getitem__(self, at: int | slice) -> Shard | Sequence[Shard]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        (begin, end), (first, last) = self.rows[at], self.units[at]
        table = pl.scan_parquet(self.path, glob=False).slice(begin, end - begin).collect()
        return Shard(
            first=first,
            starts=_starts(table["unit"].to_numpy() - first, last - first),
            annotator=table["annotator"].to_numpy().astype(np.int32, copy=False),
            label=table["label"].to_numpy().astype(np.int32, copy=False),
            weight=table["weight"].to_numpy() if "weight" in table.columns else np.empty(0),
            fixed=np.empty(0, dtype=np.int32),
        )


def _starts(unit: Ints, n_units: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(unit, minlength=n_units))])
