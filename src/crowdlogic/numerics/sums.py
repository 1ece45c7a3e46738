"""Sums by group."""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints


def sum_by(group: Ints, size: int, values: Floats | None = None) -> Floats:
    """total[g], the sum of the values (or the number) of the entries of each group g < size."""
    return np.bincount(group, weights=values, minlength=size).astype(np.float64, copy=False)
