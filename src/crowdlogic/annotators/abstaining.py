"""Annotators who look at everything and mostly abstain, as labelling functions do.

The labels of a function that only ever gives `spam` do not depend on the truth, so its confusion matrix carries no
information; whether it gives a label does: `spam` is given more often where there is spam. So a row of its matrix is
divided by all units of the class, and what is missing to one is the probability of an abstention. An abstention itself
is no evidence, because functions abstain together.

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
        smoothing: Labels added to every cell.
        trust: Labels added to each diagonal cell beyond that.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST

    name = "abstaining"
    takes_partial_labels = False
    correlation = 0.0

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))

    def m_step(self, shards: Shards, q: Beliefs) -> Confusion:
        """Return matrices from beliefs: table[j, n, m] is the share of the units of class m that j calls n."""
        counts, size = expected_counts(shards, q), shards.n_classes
        padded = np.maximum(counts, FLOOR) + self.smoothing + self.trust * np.eye(size)
        units = q.sum(axis=0) + size * self.smoothing + self.trust + FLOOR
        return Confusion(np.asarray(padded / units))

    def load(self, arrays: Mapping[str, Floats]) -> Confusion:
        """Return matrices from their array."""
        return Confusion(arrays["table"])
