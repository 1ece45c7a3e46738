"""Partial labels as evidence for the complement: "not n" says that the annotator's own answer is another class.

An annotator who rejects a suggestion n has an answer of their own, y, drawn from their confusion matrix like any other,
and says only that y is not n. So p("not n" | state z) is the sum of p(n' | z) over n' != n, and the M-step counts the
answer that was not said by its posterior, p(n' | z) / p("not n" | z). Expected log parameters of a variational
posterior take the place of log probabilities in both, which keeps its bound.

Axes: j annotator, n given label, z latent state. The code of "not n" is n + K, K being the number of classes.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import LOG_ZERO


def add_complements(log_table: Floats) -> Floats:
    """log_table[j, n, z] with the rows of the complements behind: [j, 2 K, z]."""
    n_classes = log_table.shape[1]
    complements = np.empty_like(log_table)
    for n in range(n_classes):
        complements[:, n] = _log_sum(np.delete(log_table, n, axis=1))
    return np.concatenate([log_table, complements], axis=1)


def split_complements(counts: Floats, log_table: Floats) -> Floats:
    """counts[j, n, z] of whole answers from counts[j, 2 K, z]: what was said, and the shares of what was not.

    Args:
        counts: Expected counts of the labels, the complements behind.
        log_table: log_table[j, n, z], by which the counts of a complement are shared among its classes.
    """
    n_classes = log_table.shape[1]
    whole = counts[:, :n_classes].copy()
    for n in range(n_classes):
        others = np.arange(n_classes) != n
        among = log_table[:, others]
        share = np.exp(among - np.maximum(_log_sum(among), LOG_ZERO / 2)[:, None])
        whole[:, others] += counts[:, n_classes + n, None] * share
    return whole


def share_by_counts(counts: Floats) -> Floats:
    """counts[j, n, z] of whole answers where no parameters are known: a complement is shared as whole labels were.

    One label more is counted in each cell, so that an annotator without whole labels shares evenly.
    """
    n_classes = counts.shape[1] // 2
    return split_complements(counts, np.log(counts[:, :n_classes] + 1.0))


def _log_sum(values: Floats) -> Floats:
    """The log of the sum of exp(values[j, n, z]) over n; LOG_ZERO where there is nothing to add."""
    if not values.shape[1]:
        return np.full((values.shape[0], values.shape[2]), LOG_ZERO)
    peak = values.max(axis=1)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - safe[:, None]).sum(axis=1)) + safe)
