"""Log space, and what log 0 is.

Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.sums import row_maxima

LOG_ZERO = -np.inf
"""log 0: minus infinity, so that an impossible class stays impossible in sums. `normalise` and `log_sum_exp` handle it
without NaN or warnings."""


def safe_log(probability: Floats) -> Floats:
    """Log p, with log 0 = LOG_ZERO and no warning."""
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
    """Log of the sum of exponentials along an axis; LOG_ZERO where all entries are, without a warning."""
    peak = log_weight.max(axis=axis, keepdims=True, initial=LOG_ZERO)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    return safe_log(np.exp(log_weight - shift).sum(axis=axis)) + shift.squeeze(axis)
