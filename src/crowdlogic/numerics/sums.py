"""Sums by row and by group, and maxima by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdlogic.numerics.arrays import Floats

FEW_COLUMNS = 16
"""Up to so many columns, maxima are taken column by column."""


def row_maxima(table: Floats) -> Floats:
    """The largest number of each row; column by column where there are few, which is several times as fast."""
    if not 0 < table.shape[1] <= FEW_COLUMNS:
        return np.asarray(table.max(axis=1, initial=-np.inf))
    peak = table[:, 0].copy()
    for k in range(1, table.shape[1]):
        np.maximum(peak, table[:, k], out=peak)
    return peak


def row_sums(table: Floats) -> Floats:
    """The sum of each row: over few columns several times as fast as `sum(axis=1)`."""
    return np.asarray(np.einsum("ik->i", table))


def sum_by(group: NDArray[np.integer[Any]], size: int, values: Floats | None = None) -> Floats:
    """total[g], the sum of the values (or the number) of the entries of each group g < size."""
    return np.bincount(group, weights=values, minlength=size).astype(np.float64, copy=False)
