"""The rows that a `Collector` gathers, which of them count, and columns made of what it gathered.

Axes: r row.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.names import Names
from crowdlogic.numerics.arrays import Bools, Ints

PIECE = 1 << 16
"""How many tokens become Python's text at a time."""


@dataclass
class CollectedRows:
    """Columns that grow: what one annotator said of one item, a row each. Arrays take a third of the room of lists."""

    item: array[int] = field(default_factory=lambda: array("q"))
    annotator: array[int] = field(default_factory=lambda: array("i"))
    record: array[int] = field(default_factory=lambda: array("q"))
    time: array[float] = field(default_factory=lambda: array("d"))
    weight: array[float] = field(default_factory=lambda: array("d"))

    def add(self, item: int, annotator: int, *, record: int, time: float | None, weight: float | None) -> None:
        """Add a row."""
        self.item.append(item)
        self.annotator.append(annotator)
        self.record.append(record)
        self.time.append(np.nan if time is None else time)
        self.weight.append(1.0 if weight is None else weight)

    def __len__(self) -> int:
        return len(self.item)


def rows_that_count(rows: CollectedRows, policy: Duplicates, several: Bools | None = None) -> Ints:
    """The rows that count, in the order in which they came: the last, or the first, of each (item, annotator).

    Args:
        rows: The rows.
        policy: What to do with several rows of one annotator on one item: last, first or keep.
        several: several[r], rows of which an annotator may give more than one to an item, such as partial labels.
    """
    if policy is Duplicates.keep or not len(rows):
        return np.arange(len(rows))
    item, annotator = np.array(rows.item, dtype=np.int64), np.array(rows.annotator, dtype=np.int64)
    key = item * (annotator.max() + 1) + annotator
    if several is not None and several.any():
        key[several] = key.max() + 1 + np.arange(np.count_nonzero(several))  # a key of its own for each
    time = np.nan_to_num(np.array(rows.time), nan=-np.inf)
    order = np.lexsort((np.arange(len(key)), time, key))
    if policy is Duplicates.last:
        return np.sort(order[np.append(np.flatnonzero(np.diff(key[order])), len(key) - 1)])
    return np.sort(order[np.diff(key[order], prepend=-1) != 0])


def shared_texts(tokens: Names) -> tuple[str, ...]:
    """The tokens as Python's text, each distinct one held once."""
    known: dict[str, str] = {}
    found: list[str] = []
    for start in range(0, len(tokens), PIECE):
        found += [known.setdefault(token, token) for token in tokens.slice(start, PIECE).to_list()]
    return tuple(found)


def label_column(labels: Sequence[Any], kinds: set[type]) -> Names:
    """Labels as they are where all are of one type (`kinds`), else as text."""
    if kinds <= {int} or kinds <= {bool} or kinds <= {int, float}:
        try:
            return pl.Series("label", labels, dtype=pl.Boolean if kinds == {bool} else None, strict=False)
        except (OverflowError, TypeError, pl.exceptions.PolarsError):
            pass
    return pl.Series("label", [None if label is None else str(label) for label in labels], dtype=pl.String)
