"""Sums by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdlogic.numerics.arrays import Floats


def row_sums(table: Floats) -> Floats:
    """The sum of each row: over few columns several times as fast as `sum(axis=1)`."""
    return np.asarray(np.einsum("ik->i", table))


def sum_by(group: NDArray[np.integer[Any]], size: int, values: Floats | None = None) -> Floats:
    """total[g], the sum of the values (or the number) of the entries of each group g < size."""
    return np.bincount(group, weights=values, minlength=size).astype(np.float64, copy=False)
