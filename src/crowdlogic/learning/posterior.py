"""The posterior of the truth, given the items and the annotators' labels ([LNCL] eq. 13).

Where the classifier's tags form chains it is one exact forward-backward over the classifier's scores and the
annotators' evidence; otherwise a product for each unit.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from crowdlogic.annotators.protocol import Annotators
from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, unit_beliefs
from crowdlogic.data.estimate import Beliefs
from crowdlogic.engines.shards import Shards
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.numerics.logspace import normalise, safe_log


class Posterior(Protocol):
    """Computes q_a of an epoch."""

    def __call__(self, p: AnyBeliefs, annotators: Annotators, crowd: Shards) -> tuple[AnyBeliefs, float]:
        """q_a, and the log evidence of the labels per label (NaN when it is not computed)."""


def crowd_posterior(p: AnyBeliefs, annotators: Annotators, crowd: Shards) -> tuple[AnyBeliefs, float]:
    """q_a proportional to p(t | x) times the annotators' evidence ([LNCL] eq. 13), and the log evidence per label."""
    if isinstance(p, ChainBeliefs):
        return chain_posterior(p, annotators.evidence(crowd), crowd.n_labels)
    q_a, log_evidence = normalise(safe_log(p) + annotators.evidence(crowd))
    return q_a, float(log_evidence.sum()) / crowd.n_labels


def chain_posterior(p: ChainBeliefs, evidence: Floats, n_labels: int) -> tuple[ChainBeliefs, float]:
    """Eq. 13 of chains: q_a, and the log evidence per label.

    Args:
        p: What the classifier believes: a chain.
        evidence: evidence[i, k] of the annotators; minus infinity makes a tag impossible.
        n_labels: How many labels that is.
    """
    if p.scores is None or p.log_partition is None:
        raise OptionError("A mixture of chains has no posterior: give what the classifier believes.")
    q_a = p.scores.add(evidence).beliefs()
    gain = np.asarray(q_a.log_partition) - p.log_partition
    return q_a, float(gain.sum()) / n_labels


@dataclass(frozen=True, eq=False)
class FixedPosterior:
    """Fixed beliefs, from another method; for a unit without labels, the classifier's.

    Attributes:
        beliefs: q[i, k].
        known: known[i], whether the method had labels of unit i.
    """

    beliefs: Beliefs
    known: Bools

    def __call__(self, p: AnyBeliefs, annotators: Annotators, crowd: Shards) -> tuple[Beliefs, float]:  # noqa: ARG002
        """The beliefs as they are."""
        return np.where(self.known[:, None], self.beliefs, unit_beliefs(p)), float("nan")
