"""Log space, and what log 0 is.

Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints, row_maxima, row_sums

LOG_ZERO = -np.inf
"""log 0: minus infinity, so that an impossible class stays impossible in sums. `normalise` and `log_sum_exp` handle it
without NaN or warnings."""


def safe_log(probability: Floats) -> Floats:
    """Return log p, with log 0 = LOG_ZERO and no warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probability))


def normalise(log_weight: Floats) -> tuple[Floats, Floats]:
    """Normalise rows of log weights to probabilities, and return the log of each row's sum.

    A row of LOG_ZERO only has no distribution: it becomes uniform, and its log sum is LOG_ZERO.
    """
    peak = row_maxima(log_weight) if log_weight.ndim == 2 else log_weight.max(axis=-1)
    impossible = ~np.isfinite(peak)
    weight = log_weight - np.where(impossible, 0.0, peak)[..., None]
    weight[impossible] = 0.0
    np.exp(weight, out=weight)
    total = np.einsum("...k->...", weight)
    weight /= total[..., None]
    return weight, np.where(impossible, LOG_ZERO, peak + np.log(total))


def log_sum_exp(log_weight: Floats, axis: int) -> Floats:
    """Return log of the sum of exponentials along an axis; LOG_ZERO where all entries are, without a warning."""
    peak = log_weight.max(axis=axis, keepdims=True, initial=LOG_ZERO)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    return safe_log(np.exp(log_weight - shift).sum(axis=axis)) + shift.squeeze(axis)


# Distributions made flatter or sharper, and mixed with uniform doubt; and how far labels that depend count.
#
# [KISH65] Kish, "Survey Sampling", 1965, section 5.4. Axes: i unit, k class.


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
