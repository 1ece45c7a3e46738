"""Annotators who see every item and mostly abstain, such as labelling functions.

If a function only gives the label `spam`, its confusion matrix carries no information. Whether it gives a label does:
it labels spam more often than other items. So each row of its matrix is divided by the number of all units of the
class, and the remainder is the probability of an abstention. Abstentions are not used as evidence, because functions
abstain together.

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.confusion import Confusion
from crowdlogic.annotators.label_sums import FLOOR, SMOOTHING, TRUST
from crowdlogic.annotators.protocol import MatrixModel, expected_counts
from crowdlogic.data.blocks import Shards
from crowdlogic.data.estimate import Beliefs
from crowdlogic.numerics.arrays import Floats, check_amounts


@dataclass(frozen=True)
class Abstaining(MatrixModel):
    """Rates at which each annotator gives each label, over all units of a class.

    Attributes:
        smoothing: Number of labels added to every cell.
        trust: Number of labels added to each diagonal cell in addition.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST

    name = "abstaining"
    takes_partial_labels = False
    correlation = 0.0

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))

    def m_step(self, shards: Shards, q: Beliefs) -> Confusion:
        """Return matrices from beliefs: table[j, n, m] is the share of the units of class m that j labels n."""
        counts, size = expected_counts(shards, q), shards.n_classes
        padded = np.maximum(counts, FLOOR) + self.smoothing + self.trust * np.eye(size)
        units = q.sum(axis=0) + size * self.smoothing + self.trust + FLOOR
        return Confusion(np.asarray(padded / units))

    def load(self, arrays: Mapping[str, Floats]) -> Confusion:
        """Return matrices from their array."""
        return Confusion(arrays["table"])
