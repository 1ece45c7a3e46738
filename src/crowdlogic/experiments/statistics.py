"""Means with intervals, and paired differences: what may be said of a handful of seeds.

[STU] Student, "The probable error of a mean", 1908. Pairs are runs of one seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Mean:
    """A mean over seeds.

    Attributes:
        mean: The mean.
        deviation: The standard deviation of single runs (n - 1).
        half: Half the width of the 95 % interval of the mean, by Student's t; NaN for a single run.
        count: How many runs.
    """

    mean: float
    deviation: float
    half: float
    count: int


@dataclass(frozen=True)
class Paired:
    """A mean difference between two methods over the same seeds.

    Attributes:
        difference: The mean difference.
        half: Half the width of its 95 % interval.
        t: Student's t.
        p: The one-sided p that the first is no better than the second.
        count: How many pairs.
    """

    difference: float
    half: float
    t: float
    p: float
    count: int


def mean_of(values: Sequence[float]) -> Mean:
    """The mean of some runs and its interval."""
    found = np.asarray(values, dtype=np.float64)
    if len(found) < 2:
        return Mean(float(found.mean()) if len(found) else float("nan"), float("nan"), float("nan"), len(found))
    deviation = float(found.std(ddof=1))
    return Mean(float(found.mean()), deviation, _half(deviation, len(found)), len(found))


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """How much better the first is than the second, seed by seed."""
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    found = mean_of(difference.tolist())
    if found.count < 2 or found.deviation == 0:
        return Paired(found.mean, found.half, float("nan"), float("nan"), found.count)
    t = found.mean / (found.deviation / np.sqrt(found.count))
    return Paired(found.mean, found.half, float(t), float(stats.t.sf(t, found.count - 1)), found.count)


def _half(deviation: float, count: int) -> float:
    return float(stats.t.ppf(0.975, count - 1)) * deviation / float(np.sqrt(count))
