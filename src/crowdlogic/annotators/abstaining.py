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

from crowdlogic.annotators.confusion import SMOOTHING, TRUST, Confusion
from crowdlogic.annotators.protocol import (
    FLOOR,
    Anchors,
    check_size,
    expected_counts,
)
from crowdlogic.data.blocks import Shards, make_shards
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.numerics.arrays import Bools, Floats, check_amounts, sum_by

MOSTLY = 0.5
"""Labels count as those of labelling functions when more than this share is of annotators who give one class only."""

MIN_EACH = 2.0
"""Minimum number of labels per annotator and class to recognise labelling functions."""


@dataclass(frozen=True)
class Abstaining:
    """How often each annotator gives each label, over all units of a class.

    Attributes:
        smoothing: Labels added to every cell.
        trust: Labels added to each diagonal cell beyond that.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST

    name = "abstaining"
    correlation = 0.0

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))

    def observe(self, labels: CrowdLabels, *, anchors: Anchors | None = None, threads: int | None = None) -> Shards:
        """Arrange labels: one matrix per annotator."""
        check_size(self.name, len(labels.annotators), labels.n_classes)
        require_whole_labels(labels, f"{self.name} annotators")
        return make_shards(labels, anchors=anchors, threads=threads)

    def m_step(self, shards: Shards, q: Beliefs) -> Confusion:
        """Return matrices from beliefs: table[j, n, m] is the share of the units of class m that j calls n."""
        counts, size = expected_counts(shards, q), shards.n_classes
        padded = np.maximum(counts, FLOOR) + self.smoothing + self.trust * np.eye(size)
        units = q.sum(axis=0) + size * self.smoothing + self.trust + FLOOR
        return Confusion(np.asarray(padded / units))

    def load(self, arrays: Mapping[str, Floats]) -> Confusion:
        """Return matrices from their array."""
        return Confusion(arrays["table"])


def find_labelling_functions(labels: CrowdLabels) -> Bools:
    """Return one_sided[j], for annotators who only ever give one class, if such ones gave most labels; else all False.

    Fewer than MIN_EACH labels per annotator and class are too few to tell.
    """
    cell = labels.annotator.astype(np.int64) * labels.n_classes + labels.label
    given = sum_by(cell, len(labels.annotators) * labels.n_classes).reshape(len(labels.annotators), labels.n_classes)
    return find_one_sided(given)


def find_one_sided(given: Floats) -> Bools:
    """`find_labelling_functions` from given[j, n], how many labels n annotator j gave."""
    one_sided = (given > 0).sum(axis=1) == 1
    total = float(given.sum())
    enough = total >= MIN_EACH * given.size
    return np.asarray(one_sided & (enough and float(given[one_sided].sum()) > MOSTLY * total))
