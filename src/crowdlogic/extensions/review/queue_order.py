"""Order of the review queue: items by the expected number of mistakes that their decision removes.

A decision certainly removes the mistake of its own unit, if there is one. The probability of a mistake combines three
sources: a committee of methods (`committee`), the method itself, which has learnt most from the decisions, with weight
1/4, and what decisions revealed about answers of the same class or by the same annotators (`answer_effects`).

Items drawn at random are mixed into the queue. They are the beginning of a single permutation of all items, which only
depends on the seed. So the items up to the last one drawn are a random sample of all items, regardless of the queue:
their decisions can calibrate the confidence and give an unbiased estimate of the accuracy.

Axes: i unit, k class, s item, p place in the queue.
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
"""Weight of the method's own log odds; the rest is the committee's."""


def expected_mistakes_removed(
    labels: CrowdLabels,
    estimate: Estimate,
    *,
    decisions: Decisions = NO_DECISIONS,
    before: Estimate | Committee | None = None,
) -> Floats:
    """Return removed[i], the expected number of mistakes corrected by deciding unit i; 0 if decided.

    Args:
        labels: The labels.
        estimate: The current estimate.
        decisions: All decisions so far.
        before: The committee of the labels (`make_committee`), which should be shared by repeated calls, or the
            estimate before the first decision, to create a committee; None uses the current estimate.
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
    """Return right[i], the probability of the answers, mixing log odds of the committee and the method."""
    units = np.arange(len(answer))
    z = (1.0 - OWN_SHARE) * log_odds(pooled[units, answer]) + OWN_SHARE * log_odds(own[units, answer])
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


RANDOM_SHARE = 0.1
"""Default share of items drawn at random."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewQueue:
    """Items in the order of review.

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
    """Return the open items, most valuable first, with a share drawn at random instead.

    Args:
        removed: removed[i] from `expected_mistakes_removed`; values are summed over the units of an item.
        labels: The labels.
        open_items: open_items[s], whether item s is still to be decided.
        answered: Number of items decided or skipped before, which determines when the next random item is due.
        random_share: Share of items drawn at random, from 0 to 1.
        seed: Random seed of the sample.
        length: Number of items to return; None for all open items.
    """
    if not 0 <= random_share <= 1:
        raise OptionError(f"The share of items drawn at random must be between 0 and 1, got {random_share}.")
    size = int(np.count_nonzero(open_items))
    size = size if length is None else min(size, max(length, 0))
    drawn = _is_random(np.arange(answered, answered + size), random_share)
    sampled = iter(item for item in sample_order(len(labels.items), seed) if open_items[item])
    ranked = iter(item for item in rank_items(removed, labels) if open_items[item])
    return ReviewQueue(items=_take_in_turn(drawn, sampled, ranked), at_random=drawn)


def rank_items(removed: Floats, labels: CrowdLabels) -> Ints:
    """Return all items, most valuable first; ties keep the order of the items."""
    worth = removed if labels.offsets is None else sum_by(labels.item_of_unit, len(labels.items), removed)
    return np.argsort(-worth, kind="stable")


def sample_order(n_items: int, seed: int) -> Ints:
    """Return the permutation of all items from which random items are taken."""
    return np.random.default_rng(seed).permutation(n_items)


def random_sample(at_random: Bools, seed: int) -> Ints:
    """Return the items of the random sample so far.

    These are the beginning of the permutation up to the last item drawn from it. Items in between that the queue served
    first belong to the sample as well.

    Args:
        at_random: at_random[s], whether item s was shown because it was drawn at random.
        seed: Random seed of the sample.
    """
    order = sample_order(len(at_random), seed)
    places = np.flatnonzero(at_random[order])
    return order[: int(places[-1]) + 1] if len(places) else order[:0]


def _is_random(place: Ints, share: float) -> Bools:
    """Return whether each place is filled at random, spaced evenly so that the share always holds."""
    return np.asarray(np.floor((place + 1) * share + 1e-9) > np.floor(place * share + 1e-9))


def _take_in_turn(drawn: Bools, sampled: Iterator[int], ranked: Iterator[int]) -> Ints:
    """Take the next item of the sample if one is due, otherwise the most valuable one; no repeats."""
    taken: dict[int, None] = {}
    for is_drawn in drawn.tolist():
        source = sampled if is_drawn else ranked
        taken[int(next(item for item in source if int(item) not in taken))] = None
    return np.fromiter(taken, dtype=np.int64, count=len(taken))
