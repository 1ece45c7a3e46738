"""Probabilities in log space, tempered distributions, and Dirichlet and Beta distributions.

scipy.special is imported inside functions, because loading it takes longer than the rest of a small `aggregate`.

[KISH65] Kish, "Survey Sampling", 1965, section 5.4. Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints, row_maxima, row_sums

LOG_ZERO = -np.inf
"""Value of log 0: minus infinity, so that impossible classes stay impossible in sums. `normalise` and `log_sum_exp`
handle it without NaN or warnings."""


def safe_log(probability: Floats) -> Floats:
    """Return log p without warnings; log 0 is LOG_ZERO."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probability))


def normalise(log_weight: Floats) -> tuple[Floats, Floats]:
    """Normalise rows of log weights to probabilities, and return the log of each row's sum.

    A row that only contains LOG_ZERO becomes uniform, and its log sum is LOG_ZERO.
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
    """Return the log of the sum of exponentials along an axis, without warnings; LOG_ZERO if all are LOG_ZERO."""
    peak = log_weight.max(axis=axis, keepdims=True, initial=LOG_ZERO)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    return safe_log(np.exp(log_weight - shift).sum(axis=axis)) + shift.squeeze(axis)


def temper(q: Floats, sharpness: Floats | float, doubt: float = 0.0) -> Floats:
    """Return (1 - doubt) q[i, k]^sharpness[i] / (their sum over k) + doubt / K.

    The order of the classes of a unit never changes.

    Args:
        q: Distributions q[i, k].
        sharpness: A positive number per unit, or one for all units; below 1 flattens, 1 changes nothing.
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
    """Temper distributions proportional to exp(log_weight[i, k]) without computing them first."""
    q = normalise(log_weight * sharpness[:, None])[0]
    q *= 1.0 - doubt
    q += doubt / max(q.shape[1], 1)
    return q


def design_effect(n: Ints | Floats | float, correlation: float) -> Floats:
    """Return 1 + correlation (n - 1), by which n correlated labels are divided to get independent ones ([KISH65])."""
    return np.asarray(1.0 + correlation * np.maximum(np.asarray(n, dtype=np.float64) - 1.0, 0.0))


# Dirichlet and Beta distributions. A concentration of 0 marks an impossible outcome: its expected log probability is
# LOG_ZERO, and it takes no part in divergences.


def expected_log(concentration: Floats, axis: int) -> Floats:
    """Return E[log p] of Dirichlet distributions along an axis: digamma(a) - digamma(sum of a)."""
    from scipy.special import digamma

    total = digamma(concentration.sum(axis=axis, keepdims=True))
    possible = concentration > 0
    if possible.all():
        return np.asarray(digamma(concentration) - total)
    return np.where(possible, digamma(np.where(possible, concentration, 1.0)) - total, LOG_ZERO)


def dirichlet_divergence(posterior: Floats, prior: Floats, axis: int) -> float:
    """Return the sum of KL(Dirichlet(posterior) || Dirichlet(prior)) along an axis, over all others."""
    from scipy.special import gammaln

    prior = np.broadcast_to(prior, posterior.shape)
    possible = prior > 0
    log_p = expected_log(posterior, axis=axis)
    if possible.all():
        spread = ((posterior - prior) * log_p).sum()
    else:
        spread = np.where(possible, (posterior - prior) * np.where(possible, log_p, 0.0), 0.0).sum()

    def log_beta(concentration: Floats) -> float:
        """Return the log of the normalising constant, summed over all distributions."""
        each = np.where(possible, gammaln(np.where(possible, concentration, 1.0)), 0.0)
        return float(each.sum() - gammaln(concentration.sum(axis=axis)).sum())

    return log_beta(prior) - log_beta(posterior) + float(spread)


def dirichlet_mean(concentration: Floats, axis: int) -> Floats:
    """Return E[p] of Dirichlet distributions along an axis; zeros where every outcome is impossible."""
    total = concentration.sum(axis=axis, keepdims=True)
    return np.asarray(concentration / np.where(total > 0, total, 1.0))


HALF = 0.5
"""Jeffreys' prior of a share: half a success and half a failure."""


def credible_interval(right: Floats, given: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the central interval of the Beta posterior of a share, given the expected number of successes."""
    from scipy.special import betaincinv

    wrong = np.maximum(given - right, 0.0)
    tail = (1 - level) / 2
    low = betaincinv(right + HALF, wrong + HALF, tail)
    return np.asarray(low), np.asarray(betaincinv(right + HALF, wrong + HALF, 1 - tail))
