"""The order of review: how many mistakes the decision of a unit is expected to remove.

A decision removes the mistake of its own unit for certain, if there is one. How probable that is, is what a committee
of methods says of the present answer (`committee`), a quarter of what the method itself says of it, which has learnt
most from the decisions, and what these have said of answers of its class and of its annotators (`answer_effects`).

Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.blocks import UNKNOWN
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.extensions.review.committee import (
    NO_DECISIONS,
    Committee,
    Decisions,
    answer_effects,
    log_odds,
    make_committee,
)
from crowdlogic.numerics.arrays import Bools, Floats, Ints, sum_by
from crowdlogic.truth.dependence import state_confidence

OWN_SHARE = 0.25
"""The share of the method's own log odds beside those of the committee."""


def expected_mistakes_removed(
    labels: CrowdLabels,
    estimate: Estimate,
    *,
    decisions: Decisions = NO_DECISIONS,
    before: Estimate | Committee | None = None,
) -> Floats:
    """removed[i], the expected number of wrong answers that deciding unit i puts right; 0 where it was decided.

    Args:
        labels: The labels.
        estimate: The present estimate.
        decisions: What was decided so far.
        before: The committee of the labels (`make_committee`), which is best made once for many calls; or the estimate
            before the first decision, to make one now; None takes the present estimate for it.
    """
    stated = state_confidence(labels, estimate, anchors=decisions.truth)
    if not labels.n_classes:
        return np.zeros(labels.n_units)
    committee = before if isinstance(before, Committee) else make_committee(labels, before or estimate)
    decided = decisions.classes(labels)
    answer = np.maximum(stated.answer, 0)
    right = _right(committee.pool(stated, decisions), stated.beliefs, answer)
    if decisions.truth and not labels.is_sequential:
        first = _right(committee.pool_first(decisions), committee.own, np.maximum(committee.answer, 0))
        right = answer_effects(labels, first, committee.answer, decided).add_to(right, labels, answer)
    return np.where(decided == UNKNOWN, 1.0 - right, 0.0)


def _right(pooled: Floats, own: Floats, answer: Ints) -> Floats:
    """right[i], how probable the answers are: by the log odds of the committee, and a part of the method's own."""
    units = np.arange(len(answer))
    z = (1.0 - OWN_SHARE) * log_odds(pooled[units, answer]) + OWN_SHARE * log_odds(own[units, answer])
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


# The queue of review: items by what deciding them is worth, with items drawn at random mixed in.
#
# The random ones are the beginning of one permutation of all items, given by the seed and by nothing else. So the
# items
# up to the last one drawn are a random sample of all items, whatever the queue did: their decisions may calibrate,
# and
# say without bias how many answers were right.

RANDOM_SHARE = 0.1
"""Default share of items drawn at random."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewQueue:
    """Items in the order in which they should be decided.

    Attributes:
        items: items[p], the item at place p of the queue.
        at_random: at_random[p], whether it was drawn at random.
    """

    items: Ints
    at_random: Bools


def make_queue(
    removed: Floats,
    labels: CrowdLabels,
    *,
    open_items: Bools,
    answered: int = 0,
    random_share: float = RANDOM_SHARE,
    seed: int = 0,
    length: int | None = None,
) -> ReviewQueue:
    """The items that are open, the most valuable first, every so many drawn at random instead.

    Args:
        removed: removed[i] of `expected_mistakes_removed`; an item of several units is worth their sum.
        labels: The labels, which say which units an item has.
        open_items: open_items[s], whether item s is still to be decided.
        answered: How many items were decided or skipped before: it says when the next random one is due.
        random_share: Share of items drawn at random, from 0 to 1.
        seed: Random seed of the sample.
        length: How many items are wanted; None for all that are open.
    """
    if not 0 <= random_share <= 1:
        raise OptionError(f"The share of items drawn at random must lie between 0 and 1, not at {random_share}.")
    size = int(np.count_nonzero(open_items))
    size = size if length is None else min(size, max(length, 0))
    drawn = _is_random(np.arange(answered, answered + size), random_share)
    sampled = iter(item for item in sample_order(len(labels.items), seed) if open_items[item])
    ranked = iter(item for item in rank_items(removed, labels) if open_items[item])
    return ReviewQueue(items=_take_in_turn(drawn, sampled, ranked), at_random=drawn)


def rank_items(removed: Floats, labels: CrowdLabels) -> Ints:
    """All items, the most valuable first; ties keep the order of the items."""
    worth = removed if labels.offsets is None else sum_by(labels.item_of_unit, len(labels.items), removed)
    return np.argsort(-worth, kind="stable")


def sample_order(n_items: int, seed: int) -> Ints:
    """The permutation of all items that random ones are taken from."""
    return np.random.default_rng(seed).permutation(n_items)


def random_sample(at_random: Bools, seed: int) -> Ints:
    """The items that make up the random sample so far.

    That is the beginning of the permutation up to the last item that was drawn from it. Some of them may have been
    decided because the queue came first; they belong to the sample all the same.

    Args:
        at_random: at_random[s], whether item s was shown because it was drawn at random.
        seed: Random seed of the sample.
    """
    order = sample_order(len(at_random), seed)
    places = np.flatnonzero(at_random[order])
    return order[: int(places[-1]) + 1] if len(places) else order[:0]


def _is_random(place: Ints, share: float) -> Bools:
    """Whether the item at a place is drawn at random: so that, from the first place on, the share is kept."""
    return np.asarray(np.floor((place + 1) * share + 1e-9) > np.floor(place * share + 1e-9))


def _take_in_turn(drawn: Bools, sampled: Iterator[int], ranked: Iterator[int]) -> Ints:
    """The next item of the sample where one is due, else the most valuable one; none twice."""
    taken: dict[int, None] = {}
    for is_drawn in drawn.tolist():
        source = sampled if is_drawn else ranked
        taken[int(next(item for item in source if int(item) not in taken))] = None
    return np.fromiter(taken, dtype=np.int64, count=len(taken))
