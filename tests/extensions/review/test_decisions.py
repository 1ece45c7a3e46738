"""Decisions by item, as classes of units."""

from __future__ import annotations

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.extensions.review.review_queue import NO_DECISIONS, Decisions


def crowd() -> CrowdLabels:
    return simulate_crowd(np.random.default_rng(0), units=6, annotators=4, classes=("no", "yes")).labels


def test_the_class_of_decided_units_is_known() -> None:
    labels = crowd()

    decided = Decisions(truth={labels.items[4]: "no", labels.items[1]: "yes"})

    assert decided.classes(labels).tolist() == [-1, 1, -1, -1, 0, -1]
    assert decided.items(labels).tolist() == [False, True, False, False, True, False]


def test_without_decisions_no_class_is_known() -> None:
    labels = crowd()

    assert NO_DECISIONS.classes(labels).tolist() == [-1] * 6
    assert not NO_DECISIONS.items(labels).any()


def test_only_items_drawn_at_random_are_in_the_random_truth() -> None:
    decided = Decisions(truth={"a": "no", "b": "yes"}, at_random=frozenset({"b", "c"}))

    assert decided.random_truth == {"b": "yes"}
