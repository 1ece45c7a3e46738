"""Which item a reviewer sees next: most by what deciding it is worth, some at random, or those that fit a filter.

The order and the random sample are planning's (`planning.review_order`, `planning.review_queue`).

Axes: s item.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.planning.review_queue import make_queue
from crowdlogic.store.decisions import Choice


class ItemState(StrEnum):
    """Which items a filter lets through, by how far they are."""

    open = "open"
    decided = "decided"
    conflict = "conflict"
    cannot_say = "cannot-say"
    all = "all"


@dataclass(frozen=True, kw_only=True)
class QueueFilter:
    """Which items a reviewer wants to see.

    Attributes:
        answer: With this answer: a class, or a sentence with a span of this type.
        annotator: Labelled by this annotator.
        rule: Touched by this rule, by its place.
        least_confidence: At least so sure.
        most_confidence: At most so sure.
        search: With these words in text or name, in any case.
        state: How far they are.
    """

    answer: str | None = None
    annotator: str | None = None
    rule: int | None = None
    least_confidence: float = 0.0
    most_confidence: float = 1.0
    search: str = ""
    state: ItemState = ItemState.open

    @property
    def is_empty(self) -> bool:
        """Whether every open item fits."""
        return self == QueueFilter()


def expected_mistakes(estimate: Estimate) -> Floats:
    """mistakes[s], how many units of each item are likely wrong."""
    doubt = 1.0 - np.where(estimate.answered, estimate.confidence, estimate.beliefs.max(axis=1, initial=0.0))
    if estimate.offsets is None:
        return doubt
    sums = np.concatenate([[0.0], np.cumsum(doubt)])
    return np.asarray(sums[estimate.offsets[1:]] - sums[estimate.offsets[:-1]])


@dataclass(frozen=True)
class ServedItem:
    """An item, and how it came up."""

    item: int
    chosen: Choice


@dataclass(frozen=True, eq=False, kw_only=True)
class ServingOrder:
    """What deciding every item is worth, and how many random ones are mixed in.

    Attributes:
        labels: The labels.
        removed: removed[i], how many mistakes deciding a unit is expected to remove.
        share: The share of random items.
        seed: Random seed of the sample.
    """

    labels: CrowdLabels
    removed: Floats
    share: float
    seed: int

    def serve(self, most: int, free: Bools, *, answered: int) -> list[ServedItem]:
        """The next of the items that are free[s], random ones among them."""
        found = make_queue(
            self.removed,
            self.labels,
            open_items=free,
            answered=answered,
            random_share=self.share,
            seed=self.seed,
            length=most,
        )
        pairs = zip(found.items.tolist(), found.at_random.tolist(), strict=True)
        return [ServedItem(item, Choice.random if drawn else Choice.queue) for item, drawn in pairs]

    def serve_filtered(self, most: int, free: Bools) -> list[ServedItem]:
        """The next of the items that are free[s] and fit a filter: none of them is a random one."""
        found = make_queue(self.removed, self.labels, open_items=free, random_share=0.0, length=most)
        return [ServedItem(item, Choice.filter) for item in found.items.tolist()]
