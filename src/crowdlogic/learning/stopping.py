"""When to stop: by the gold of a dev set, or with no gold at all by crowd labels that were kept apart.

Held-out labels are scored by their likelihood: how well the classifier's view of an item, seen through each annotator's
confusion matrix, foretells what that annotator said.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.truth.confusion import e_step


@dataclass(frozen=True)
class Limits:
    """At most so many epochs, and so many without a better stopping score."""

    epochs: int
    patience: int

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.patience < 1:
            raise OptionError(f"epochs and patience must be 1 or more, not {self.epochs} and {self.patience}.")


class Apart(StrEnum):
    """What is kept apart as a whole."""

    items = "items"
    """All labels of some items: the classifier learns nothing of them, so they stand in for new data."""
    annotations = "annotations"
    """Some of the labels of many items: (item, annotator) pairs."""


@dataclass(frozen=True)
class HeldOut:
    """Crowd labels kept apart to stop by.

    Attributes:
        share: How much is kept apart.
        apart: Whether whole items or single annotations are.
        patience: Epochs without a better likelihood before stopping; more than with gold, since it is noisier.
    """

    share: float = 0.1
    apart: Apart | str = Apart.items
    patience: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise OptionError(f"held-out share: {self.share} does not lie between 0 and 1.")
        if self.apart not in list(Apart):
            raise OptionError(f"held-out apart: {self.apart!r} is none of {', '.join(Apart)}.")

    def split(self, labels: CrowdLabels, *, seed: int) -> tuple[CrowdLabels, CrowdLabels]:
        """The labels to learn from, and those kept apart. Every annotation is in one of them."""
        apart = self._chosen(labels, np.random.default_rng(seed))
        if not apart.any() or apart.all():
            raise OptionError(
                f"{labels.n_labels:,} labels are too few to keep {self.share:.0%} apart. Give a dev set with gold, "
                f"or run all epochs (held_out = none)."
            )
        return labels.take(~apart), labels.take(apart)

    def _chosen(self, labels: CrowdLabels, rng: np.random.Generator) -> Bools:
        """Which labels are kept apart."""
        item, _, pair_of_label = labels.annotations()
        group = np.unique(item, return_inverse=True)[1] if self.apart == Apart.items else np.arange(len(item))
        drawn = np.zeros(int(group.max(initial=-1)) + 1, dtype=bool)
        drawn[rng.choice(len(drawn), round(self.share * len(drawn)), replace=False)] = True
        return np.asarray(drawn[group][pair_of_label])


SHARPNESS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.25, 1.5, 2.0)
"""Powers that a view is tried at: below 1 it becomes less sure of itself, above 1 surer."""


def held_out_likelihood(held: CrowdLabels, confusion: Floats, view: Beliefs) -> float:
    """The mean log likelihood of labels that were not learnt from, given a view[i, k] of their units.

    The view is first made as sure of itself as suits the labels best (one number for all units): a network that goes
    on learning grows overconfident long before its answers get worse, and it is the answers that stopping is about.
    """
    log_view = safe_log(view)
    tried = (normalise(power * log_view)[0] for power in SHARPNESS)
    return max(e_step(held, confusion, said)[1] for said in tried) / max(held.n_labels, 1)
