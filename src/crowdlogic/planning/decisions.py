"""Decisions: what a reviewer has said of items, and which of these items were drawn at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crowdlogic.data.labels import CrowdLabels, find_codes
from crowdlogic.engines.shard import UNKNOWN
from crowdlogic.engines.shards import anchor_classes
from crowdlogic.numerics.arrays import Bools, Ints


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """Items that a reviewer has decided.

    Attributes:
        truth: item -> true class, or the tags of a sequence (None for a token that was left open).
        at_random: The items among them that were drawn at random: only these may calibrate, or estimate accuracy.
    """

    truth: Mapping[Any, Any] = field(default_factory=dict)
    at_random: frozenset[Any] = frozenset()

    @property
    def random_truth(self) -> dict[Any, Any]:
        """Item -> true class of the items that were drawn at random."""
        return {item: truth for item, truth in self.truth.items() if item in self.at_random}

    def classes(self, labels: CrowdLabels) -> Ints:
        """decided[i], the class that unit i was decided to be of; UNKNOWN for the others."""
        fixed = anchor_classes(labels, self.truth)
        return fixed if len(fixed) else np.full(labels.n_units, UNKNOWN, dtype=np.int32)

    def items(self, labels: CrowdLabels) -> Bools:
        """decided[s], whether item s was decided."""
        decided = np.zeros(len(labels.items), dtype=bool)
        if self.truth:
            decided[find_codes(self.truth, labels.items, "item")] = True
        return decided


NO_DECISIONS = Decisions()
"""Nothing was decided yet."""
