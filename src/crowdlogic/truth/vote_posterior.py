"""The posterior of a vote: every annotator is right equally often, and wrong in any other way.

Two labels of one item agree if both are right, or both wrong in the same way: A = p² + (1 - p)² / (K - 1). So the mean
agreement of two labels gives p, and each vote for a class adds log p (K - 1) / (1 - p) to its log odds.

Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import normalise
from crowdlogic.numerics.sums import row_sums

UNKNOWN_ACCURACY = 0.8
"""The accuracy of an annotator where no item has two labels, so that nothing can be known of it."""

MOST_ACCURATE = 0.99
"""Nobody is taken to be right more often, however well the labels agree."""

LEAST_SKILL = 0.05
"""Least distance from chance to certainty: a vote always counts for what it says, however badly the labels agree."""


def posterior_of_votes(shares: Floats, votes: Floats, times: Floats | None = None) -> Floats:
    """q[i, k] from the share of each class in the votes of a unit (perhaps weighted) and from votes[i, k].

    Args:
        shares: shares[i, k].
        votes: votes[i, k].
        times: times[i], how many units have these votes; None where each is one.
    """
    return normalise(log_posterior_of_votes(shares, votes, times))[0]


def log_posterior_of_votes(shares: Floats, votes: Floats, times: Floats | None = None) -> Floats:
    """Log q[i, k] of `posterior_of_votes` up to a constant of each unit."""
    log_odds = vote_log_odds(common_accuracy(votes, times), max(shares.shape[1], 2))
    return np.asarray(shares * (row_sums(votes) * log_odds)[:, None])


def common_accuracy(votes: Floats, times: Floats | None = None) -> float:
    """How often an annotator is right, from how often two labels of one unit agree."""
    n, n_classes = row_sums(votes), votes.shape[1]
    pairable = n > 1
    if n_classes < 2 or not pairable.any():
        return UNKNOWN_ACCURACY
    votes, n = votes[pairable], n[pairable]
    agree = (np.einsum("ik,ik->i", votes, votes) - n) / (n * (n - 1))
    agreement = float(agree.mean() if times is None else np.average(agree, weights=times[pairable]))
    return accuracy_of_agreement(agreement, n_classes)


def accuracy_of_agreement(agreement: float | None, n_classes: int) -> float:
    """How often an annotator is right, from the share of pairs of labels that agree; None where there is no pair."""
    if n_classes < 2 or agreement is None:
        return UNKNOWN_ACCURACY
    # The larger root of p² + (1 - p)² / (K - 1) = A, with A at least 1 / K
    chance, room = 1.0 / n_classes, 1.0 - 1.0 / n_classes
    skill = max(np.sqrt(max(agreement - chance, 0.0) / room), LEAST_SKILL)
    return float(min(chance + room * skill, MOST_ACCURATE))


def vote_log_odds(accuracy: float, n_classes: int) -> float:
    """What a vote for a class adds to its log odds."""
    return float(np.log(accuracy * (n_classes - 1) / (1.0 - accuracy)))
