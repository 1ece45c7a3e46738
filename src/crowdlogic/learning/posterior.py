"""The posterior of the truth, given the items and the annotators' labels ([LNCL] eq. 13).

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from crowdlogic.annotators.protocol import Annotators
from crowdlogic.data.estimate import Beliefs
from crowdlogic.engines.shards import Shards
from crowdlogic.numerics.arrays import Bools
from crowdlogic.numerics.logspace import normalise, safe_log


class Posterior(Protocol):
    """Computes q_a of an epoch."""

    def __call__(self, p: Beliefs, annotators: Annotators, crowd: Shards) -> tuple[Beliefs, float]:
        """q_a[i, k], and the log evidence of the labels per label (NaN when it is not computed)."""


def crowd_posterior(p: Beliefs, annotators: Annotators, crowd: Shards) -> tuple[Beliefs, float]:
    """q_a proportional to p(t | x) times the annotators' evidence ([LNCL] eq. 13), and the log evidence per label."""
    q_a, log_evidence = normalise(safe_log(p) + annotators.evidence(crowd))
    return q_a, float(log_evidence.sum()) / crowd.n_labels


@dataclass(frozen=True, eq=False)
class FixedPosterior:
    """Fixed beliefs, from another method; for a unit without labels, the classifier's.

    Attributes:
        beliefs: q[i, k].
        known: known[i], whether the method had labels of unit i.
    """

    beliefs: Beliefs
    known: Bools

    def __call__(self, p: Beliefs, annotators: Annotators, crowd: Shards) -> tuple[Beliefs, float]:  # noqa: ARG002
        """The beliefs as they are."""
        return np.where(self.known[:, None], self.beliefs, p), float("nan")
