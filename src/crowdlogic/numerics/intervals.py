"""Credible intervals of shares."""

from __future__ import annotations

from math import exp, lgamma, log, log1p

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


# Quantiles of Student's t, without scipy: loading scipy.special takes a fifth of a second, and one number is needed.
#
# [DLMF] NIST Digital Library of Mathematical Functions, 8.17.22: the continued fraction of the incomplete beta
# function.

TERMS = 300
"""Most terms of the continued fraction."""

HALVINGS = 200
TINY = 1e-300


def student_quantile(p: float, freedom: float) -> float:
    """The t with P(T <= t) = p, for 0 < p < 1 and so many degrees of freedom."""
    if p < 0.5:
        return -student_quantile(1.0 - p, freedom)
    low, high = 0.0, 1.0
    while student_cdf(high, freedom) < p:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if student_cdf(middle, freedom) < p else (low, middle)
    return 0.5 * (low + high)


def student_cdf(t: float, freedom: float) -> float:
    """P(T <= t)."""
    if t < 0:
        return 1.0 - student_cdf(-t, freedom)
    return 1.0 - 0.5 * _incomplete_beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b), by the continued fraction where it converges quickly, else by 1 - I_(1-x)(b, a)."""
    if x <= 0.0 or x >= 1.0:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(1.0 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front * _continued_fraction(x, a, b)


def _continued_fraction(x: float, a: float, b: float) -> float:
    """[DLMF] 8.17.22 by Lentz's method."""
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0) or TINY)
    value = d
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for numerator in (even, odd):
            d = 1.0 / (1.0 + numerator * d or TINY)
            c = 1.0 + numerator / c or TINY
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value
