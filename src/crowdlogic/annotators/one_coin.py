"""One-coin annotators: one accuracy per annotator.

An annotator who errs gives any other class with equal probability (the name is from Li, Yu and Zhou, "Error rate bounds
and iterative weighted majority voting for crowdsourcing", 2014). The model suits many classes, or few labels per
annotator, where confusion matrices cannot be estimated.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.label_sums import FLOOR, SMOOTHING, TRUST, sum_match_evidence, tally_hits, weigh_terms
from crowdlogic.annotators.protocol import Anchors, Arrays
from crowdlogic.data.blocks import Shard, Shards, make_shards
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.numerics.arrays import Floats, check_amounts
from crowdlogic.numerics.logspace import safe_log


@dataclass(frozen=True)
class Coin:
    """One accuracy per annotator.

    Attributes:
        smoothing: Number of labels added to the right labels, and to the wrong labels, of every annotator.
        trust: Number of right labels added in addition.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST

    name = "one-coin"
    correlation = 0.0

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))

    def observe(self, labels: CrowdLabels, *, anchors: Anchors | None = None, threads: int | None = None) -> Shards:
        """Arrange labels: one number per annotator."""
        require_whole_labels(labels, f"{self.name} annotators")
        return make_shards(labels, anchors=anchors, threads=threads)

    def m_step(self, shards: Shards, q: Beliefs) -> Accuracies:
        """Return accuracies from beliefs."""
        hits, given = tally_hits(shards, np.asarray(q))
        n_right, n_given = hits.counts.sum(axis=1), given.sum(axis=1)
        right = np.maximum(n_right + self.smoothing + self.trust, FLOOR)
        wrong = np.maximum(n_given - n_right + self.smoothing, FLOOR)
        return Accuracies(right / (right + wrong), n_classes=q.shape[1])

    def load(self, arrays: Mapping[str, Floats]) -> Accuracies:
        """Return accuracies from their array."""
        return Accuracies(arrays["accuracy"], n_classes=int(arrays["classes"]))


@dataclass(frozen=True, eq=False)
class Accuracies:
    """accuracy[j], the probability that annotator j is right, for all classes."""

    accuracy: Floats
    n_classes: int

    @property
    def log_agree(self) -> Floats:
        """Return log_agree[j, n], log p(label n of annotator j | the truth is n)."""
        return np.broadcast_to(safe_log(self.accuracy)[:, None], (len(self.accuracy), self.n_classes))

    @property
    def log_differ(self) -> Floats:
        """Return log_differ[j, n], log p(label n of annotator j | the truth is another class)."""
        others = max(self.n_classes - 1, 1)
        each = np.log(np.maximum(1.0 - self.accuracy, FLOOR) / others)
        return np.broadcast_to(each[:, None], (len(self.accuracy), self.n_classes))

    @property
    def confusion(self) -> Floats:
        """Return confusion[j, m, n]."""
        same = np.eye(self.n_classes, dtype=bool)
        return np.where(same, np.exp(self.log_agree)[:, None, :], np.exp(self.log_differ)[:, None, :])

    def evidence(self, shards: Shards) -> Floats:
        """Return evidence[i, k], without the part that all classes of a unit have in common."""
        return sum_match_evidence(shards, self.log_agree, self.log_differ)

    def terms(self, shards: Shards) -> Floats:
        """Return terms[row, k]."""
        agree, differ = self.log_agree, self.log_differ

        def log_likelihood(part: Shard) -> Floats:
            agrees = part.label[:, None] == np.arange(self.n_classes)
            return np.where(agrees, agree[part.annotator], differ[part.annotator])

        return np.concatenate([weigh_terms(part, log_likelihood(part)) for part in shards.parts])

    def arrays(self) -> Arrays:
        """Return the accuracies, and the number of classes."""
        return {"accuracy": self.accuracy, "classes": np.array(float(self.n_classes))}
