"""Credible intervals of shares."""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats

HALF = 0.5
"""Jeffreys' prior: half a right and half a wrong one."""


def credible_interval(right: Floats, given: Floats, level: float) -> tuple[Floats, Floats]:
    """The central interval of the Beta posterior of a share, from the expected number of right ones."""
    from scipy.special import betaincinv

    wrong = np.maximum(given - right, 0.0)
    tail = (1 - level) / 2
    low = betaincinv(right + HALF, wrong + HALF, tail)
    return np.asarray(low), np.asarray(betaincinv(right + HALF, wrong + HALF, 1 - tail))
