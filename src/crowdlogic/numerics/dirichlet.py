"""Dirichlet distributions: what variational Bayes needs of them.

A concentration of 0 marks an impossible outcome: its expected log probability is LOG_ZERO and it takes no part in
divergences.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.numerics.logspace import LOG_ZERO


def expected_log(concentration: Floats, axis: int) -> Floats:
    """Return E[log p] of Dirichlet distributions along an axis: digamma(a) - digamma(sum of a)."""
    from scipy.special import digamma

    total = digamma(concentration.sum(axis=axis, keepdims=True))
    possible = concentration > 0
    if possible.all():
        return np.asarray(digamma(concentration) - total)
    return np.where(possible, digamma(np.where(possible, concentration, 1.0)) - total, LOG_ZERO)


def divergence(posterior: Floats, prior: Floats, axis: int) -> float:
    """Return the sum of KL(Dirichlet(posterior) || Dirichlet(prior)) along an axis, over all others."""
    prior = np.broadcast_to(prior, posterior.shape)
    possible = prior > 0
    log_p = expected_log(posterior, axis=axis)
    if possible.all():
        spread = ((posterior - prior) * log_p).sum()
    else:
        spread = np.where(possible, (posterior - prior) * np.where(possible, log_p, 0.0), 0.0).sum()
    return _log_beta(prior, axis, possible) - _log_beta(posterior, axis, possible) + float(spread)


def mean(concentration: Floats, axis: int) -> Floats:
    """Return E[p] of Dirichlet distributions along an axis; zeros where every outcome is impossible."""
    total = concentration.sum(axis=axis, keepdims=True)
    return np.asarray(concentration / np.where(total > 0, total, 1.0))


def _log_beta(concentration: Floats, axis: int, possible: Bools) -> float:
    """Return the log of the normalising constant, summed over all distributions."""
    from scipy.special import gammaln

    each = gammaln(concentration) if possible.all() else _gammaln_where(concentration, possible)
    return float(each.sum() - gammaln(concentration.sum(axis=axis)).sum())


def _gammaln_where(concentration: Floats, possible: Bools) -> Floats:
    from scipy.special import gammaln

    return np.where(possible, gammaln(np.where(possible, concentration, 1.0)), 0.0)
