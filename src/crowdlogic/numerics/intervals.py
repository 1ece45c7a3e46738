"""Credible intervals of shares, and quantiles of Student's t.

scipy.special is imported inside the functions: loading it takes longer than a small `aggregate` needs for the rest.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats

HALF = 0.5
"""Jeffreys' prior: half a success and half a failure."""


def credible_interval(right: Floats, given: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the central interval of the Beta posterior of a share, given the expected number of successes."""
    from scipy.special import betaincinv

    wrong = np.maximum(given - right, 0.0)
    tail = (1 - level) / 2
    low = betaincinv(right + HALF, wrong + HALF, tail)
    return np.asarray(low), np.asarray(betaincinv(right + HALF, wrong + HALF, 1 - tail))


def student_quantile(p: float, freedom: float) -> float:
    """Return the p-quantile of Student's t with the given degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, p))
