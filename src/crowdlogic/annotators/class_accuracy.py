"""One accuracy per annotator and class; errors are divided equally among the other classes.

[NWLNL17] Nguyen, Wallace, Li, Nenkova and Lease, "Aggregating and predicting sequence labels from crowd annotations",
2017: the annotators of HMM-Crowd, as in the authors' program. (There, every wrong tag has probability 1 - accuracy;
here, this probability is divided among the wrong tags, so that it is a distribution.)

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.label_sums import SMOOTHING, TRUST
from crowdlogic.annotators.protocol import Arrays, MatrixModel, TableAnnotators, expected_counts
from crowdlogic.data.blocks import Engine, Shards
from crowdlogic.data.estimate import Beliefs
from crowdlogic.numerics.arrays import Floats, check_amounts


@dataclass(frozen=True)
class ClassAccuracy(MatrixModel):
    """Accuracy of each annotator for each class.

    Attributes:
        smoothing: Number of labels added to the right labels, and to the wrong labels, of each annotator and class.
        trust: Number of right labels added in addition.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST

    name = "class-accuracy"
    takes_partial_labels = False
    correlation = 0.0

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))

    def m_step(self, shards: Shards, q: Beliefs) -> PerClass:
        """Return accuracies from beliefs."""
        return self.from_counts(shards, expected_counts(shards, q))

    def from_counts(self, shards: Engine, counts: Floats) -> PerClass:  # noqa: ARG002 (counts say it all)
        """Return accuracy[j, m] from counts[j, n, m]."""
        right = np.diagonal(counts, axis1=1, axis2=2) + self.smoothing + self.trust
        return PerClass(np.asarray(right / (counts.sum(axis=1) + 2 * self.smoothing + self.trust)))

    def log_prior(self, shards: Engine, arrays: Mapping[str, Floats]) -> float:  # noqa: ARG002
        """Return the log density of the Beta priors, up to a constant."""
        accuracy = arrays["accuracy"]
        right = (self.smoothing + self.trust) * np.log(accuracy)
        return float((right + self.smoothing * np.log1p(-accuracy)).sum())

    def load(self, arrays: Mapping[str, Floats]) -> PerClass:
        """Return accuracies from their array."""
        return PerClass(arrays["accuracy"])


@dataclass(frozen=True, eq=False)
class PerClass(TableAnnotators):
    """accuracy[j, m], the probability that annotator j is right if the truth is m."""

    accuracy: Floats

    @property
    def log_table(self) -> Floats:
        """Return log_table[j, n, m]."""
        return np.log(accuracy_table(self.accuracy))

    @property
    def confusion(self) -> Floats:
        """Return confusion[j, m, n]."""
        return accuracy_table(self.accuracy).transpose(0, 2, 1)

    def arrays(self) -> Arrays:
        """Return the accuracies."""
        return {"accuracy": self.accuracy}


def accuracy_table(accuracy: Floats) -> Floats:
    """Return table[j, n, m]: right with accuracy[j, m], otherwise any other class."""
    n_classes = accuracy.shape[1]
    wrong = (1.0 - accuracy) / max(n_classes - 1, 1)
    return np.where(np.eye(n_classes, dtype=bool), accuracy[:, None, :], wrong[:, None, :])
