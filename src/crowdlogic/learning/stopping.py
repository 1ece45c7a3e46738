"""When to stop: by the gold of a dev set, or with no gold at all by crowd labels that were kept apart.

Held-out labels are scored by their likelihood: how well the classifier's view of an item, seen through each annotator's
confusion matrix, foretells what that annotator said. On a plateau its highest point is chance, so what is looked for is
the latest epoch that cannot be told from the highest: the one-standard-error rule.

Axes: i unit, j annotator, k class, m true class, n given label, s item.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import sum_evidence
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.numerics.sums import sum_by


@dataclass(frozen=True)
class Limits:
    """At most so many epochs, and so many without one that is kept."""

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
        patience: Epochs in a row of which each is distinguishably worse than the best before stopping.
        refit: Whether, once an epoch is chosen, all labels are learnt anew up to there.
        errors: How many standard errors an epoch may be behind the best and still be as good.
        average: When all labels are learnt anew, the answer is the mean of the classifier's weights from the best epoch
            to the latest that is as good, and over so many epochs at least, as far as epochs are left; 1 answers with
            the latest alone.
    """

    share: float = 0.1
    apart: Apart | str = Apart.items
    patience: int = 10
    refit: bool = True
    errors: float = 1.0
    average: int = 5

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise OptionError(f"held-out share: {self.share} does not lie between 0 and 1.")
        if self.apart not in list(Apart):
            raise OptionError(f"held-out apart: {self.apart!r} is none of {', '.join(Apart)}.")
        if not self.errors >= 0:
            raise OptionError(f"held-out errors: {self.errors} is less than 0.")
        if not (isinstance(self.average, int) and self.average >= 1):
            raise OptionError(f"held-out average: {self.average} is no number of epochs. Give 1 for no average.")

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
    """The mean log likelihood of labels that were not learnt from, given a view[i, k] of their units."""
    return float(told_by_item(held, confusion, view).sum()) / max(held.n_labels, 1)


def told_by_item(held: CrowdLabels, confusion: Floats, view: Beliefs) -> Floats:
    """told[s], the log likelihood of each item's labels that were not learnt from; 0 for an item without any.

    The view is first made as sure of itself as suits the labels best (one number for all units): a network that goes
    on learning grows overconfident long before its answers get worse, and it is the answers that stopping is about.
    """
    units = np.unique(held.unit)
    says = sum_evidence(make_shards(held), safe_log(confusion.transpose(0, 2, 1)))[units]
    log_view = safe_log(view[units])
    tried = (normalise(says + safe_log(normalise(power * log_view)[0]))[1] for power in SHARPNESS)
    told = max(tried, key=lambda by_unit: float(by_unit.sum()))
    return sum_by(held.item_of_unit[units], len(held.items), told)


def n_items(held: CrowdLabels) -> int:
    """How many items have labels that are kept apart."""
    return len(np.unique(held.item_of_unit[held.unit]))


def is_level(told: Floats, highest: Floats, count: int, *, errors: float = 1.0) -> bool:
    """Whether an epoch cannot be told from the highest: it is within standard errors of the paired difference.

    Args:
        told: told[s] of the epoch.
        highest: That of the epoch with the highest likelihood.
        count: How many items there are; all others have zeros in both.
        errors: How many standard errors.
    """
    behind = highest - told
    total = float(behind.sum())
    if count < 2:
        return total <= 0
    spread = float((behind**2).sum()) - total**2 / count  # zeros add nothing, so other items need not be left out
    return total <= errors * float(np.sqrt(max(spread, 0.0) * count / (count - 1)))
