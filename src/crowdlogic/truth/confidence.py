"""Which answers are sure enough, and which items should be labelled again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Ints


def split_by_confidence(estimate: Estimate, least: float) -> tuple[Ints, Ints]:
    """The items whose confidence is at least `least`, and the others: less sure, or without an answer.

    A sentence is as sure as its least sure token.
    """
    if not 0 <= least <= 1:
        raise OptionError(f"The least confidence must lie between 0 and 1, not at {least}.")
    doubtful = ~(estimate.confidence >= least)
    if estimate.offsets is not None:
        item = np.repeat(np.arange(len(estimate.items)), np.diff(estimate.offsets))
        doubtful = np.bincount(item, weights=doubtful, minlength=len(estimate.items)) > 0
    return np.flatnonzero(~doubtful), np.flatnonzero(doubtful)


def take_items(estimate: Estimate, items: Ints) -> Estimate:
    """The part of an estimate that is about some items, in the given order; annotators and parameters stay."""
    if estimate.offsets is None:
        return replace(
            estimate, beliefs=estimate.beliefs[items], answer=estimate.answer[items], items=estimate.items.gather(items)
        )
    lengths = np.diff(estimate.offsets)[items]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    units = np.repeat(estimate.offsets[:-1][items] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return replace(
        estimate,
        beliefs=estimate.beliefs[units],
        answer=estimate.answer[units],
        items=estimate.items.gather(items),
        offsets=offsets,
    )
