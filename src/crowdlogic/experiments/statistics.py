"""Means with confidence intervals and paired differences over a handful of random seeds.

[STU] Student, "The probable error of a mean", 1908. Runs are paired by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95
"""Confidence level of every interval."""


@dataclass(frozen=True, kw_only=True)
class MeanInterval:
    """A mean over seeds and its confidence interval.

    Attributes:
        mean: The mean.
        deviation: The standard deviation of single runs (n - 1); NaN for a single run.
        half_width: Half the width of the 95 % interval of the mean, by Student's t; NaN for a single run.
        count: The number of runs.
    """

    mean: float
    deviation: float
    half_width: float
    count: int


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """The mean difference between two methods over the same seeds.

    Attributes:
        mean: The mean difference.
        half_width: Half the width of its 95 % interval.
        t: Student's t; NaN where all differences are equal.
        p: The one-sided p-value of the hypothesis that the first is no better than the second.
        count: The number of pairs.
    """

    mean: float
    half_width: float
    t: float
    p: float
    count: int


def mean_interval(values: Sequence[float]) -> MeanInterval:
    """The mean of some runs with its confidence interval."""
    count = len(values)
    mean = float(np.mean(values)) if count else float("nan")
    if count < 2:
        return MeanInterval(mean=mean, deviation=float("nan"), half_width=float("nan"), count=count)
    deviation = float(np.std(values, ddof=1))
    quantile = float(stats.t.ppf((1 + LEVEL) / 2, count - 1))
    half_width = quantile * deviation / float(np.sqrt(count))
    return MeanInterval(mean=mean, deviation=deviation, half_width=half_width, count=count)


def paired_difference(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    """How much higher the first is than the second, pair by pair, with a one-sided t-test."""
    found = mean_interval([a - b for a, b in zip(first, second, strict=True)])
    if found.count < 2 or found.deviation == 0:
        t = p = float("nan")
    else:
        t = found.mean / (found.deviation / float(np.sqrt(found.count)))
        p = float(stats.t.sf(t, found.count - 1))
    return PairedDifference(mean=found.mean, half_width=found.half_width, t=t, p=p, count=found.count)
