"""Distributions made flatter or sharper, and mixed with uniform doubt; and how far labels that depend count.

[KISH65] Kish, "Survey Sampling", 1965, section 5.4. Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import normalise
from crowdlogic.numerics.sums import row_sums


def temper(q: Floats, sharpness: Floats | float, doubt: float = 0.0) -> Floats:
    """(1 - doubt) q[i, k]^sharpness[i] / (their sum over k) + doubt / K.

    The order of the classes of a unit never changes.

    Args:
        q: Distributions q[i, k].
        sharpness: One number above 0 for every unit, or one for all: below 1 flattens, 1 changes nothing.
        doubt: Share of the uniform distribution, from 0 to 1.
    """
    with np.errstate(divide="ignore"):
        weight = np.log(q)
    weight *= np.reshape(sharpness, (-1, 1))
    np.exp(weight, out=weight)
    n_classes = max(q.shape[1], 1)
    weight *= ((1.0 - doubt) / (row_sums(weight)))[:, None] if q.shape[1] else 1.0
    weight += doubt / n_classes
    return weight


def temper_logs(log_weight: Floats, sharpness: Floats, doubt: float = 0.0) -> Floats:
    """`temper` of the distributions that are proportional to exp(log_weight[i, k]), without making these first."""
    q = normalise(log_weight * sharpness[:, None])[0]
    q *= 1.0 - doubt
    q += doubt / max(q.shape[1], 1)
    return q


def design_effect(n: Ints | Floats | float, correlation: float) -> Floats:
    """1 + correlation (n - 1): n labels that err together say as much as n / that many independent ones ([KISH65])."""
    return np.asarray(1.0 + correlation * np.maximum(np.asarray(n, dtype=np.float64) - 1.0, 0.0))
