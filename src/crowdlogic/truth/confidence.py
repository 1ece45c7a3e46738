"""Which answers are confident enough, and which items should be labelled again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Ints


def split_by_confidence(estimate: Estimate, minimum: float) -> tuple[Ints, Ints]:
    """The items whose confidence is at least `minimum`, and the others: less confident, or without an answer.

    A sentence is as confident as its least confident token.
    """
    if not 0 <= minimum <= 1:
        raise OptionError(f"The minimum confidence must lie between 0 and 1, not at {minimum}.")
    doubtful = ~(estimate.confidence >= minimum)
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
    # The units of the sequences taken, in order: the old first unit of each, and the position within it
    units = np.repeat(estimate.offsets[:-1][items] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return replace(
        estimate,
        beliefs=estimate.beliefs[units],
        answer=estimate.answer[units],
        items=estimate.items.gather(items),
        offsets=offsets,
    )
