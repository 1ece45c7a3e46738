"""The first targets: shares of the votes, with doubt, or the winner."""

from __future__ import annotations

import numpy as np

from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.posterior import FEW, SINGLE_DOUBT, first_targets
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import prepare_task
from crowdlogic.truth.majority import MajorityVote

SOFT = MajorityVote(ties="soft")


def two_items() -> CrowdLabels:
    return from_arrays(["a", "a", "a", "b"], ["x", "y", "z", "x"], ["no", "yes", "no", "yes"])


def test_first_targets_are_shares_or_the_winner() -> None:
    soft = first_targets(two_items(), SOFT)
    hard = first_targets(two_items(), MajorityVote(ties="first"))

    np.testing.assert_allclose(soft, [[2 / 3, 1 / 3], [0, 1]])
    assert hard.tolist() == [[1, 0], [0, 1]]


def test_doubt_adds_votes_to_every_class() -> None:
    doubted = first_targets(two_items(), SOFT, doubt=0.5)

    np.testing.assert_allclose(doubted, [[2.5 / 4, 1.5 / 4], [0.25, 0.75]])


def test_doubt_is_left_to_the_labels_where_most_units_have_one() -> None:
    single = from_arrays(["a", "b"], ["x", "y"], ["no", "yes"])

    usual = first_targets(two_items(), SOFT, doubt=None)
    alone = first_targets(single, SOFT, doubt=None)

    assert (SINGLE_DOUBT, FEW) == (0.3, 1.5)
    np.testing.assert_allclose(usual, [[2 / 3, 1 / 3], [0, 1]])
    np.testing.assert_allclose(alone, [[1.3 / 1.6, 0.3 / 1.6], [0.3 / 1.6, 1.3 / 1.6]])


def test_doubt_begins_below_three_labels_for_two_units() -> None:
    rows = [("a", "x", 0), ("a", "y", 0), ("b", "x", 1)]
    at_the_limit = from_arrays(*map(list, zip(*rows, strict=True)))
    below = from_arrays(*map(list, zip(*rows, ("c", "x", 1), strict=True)))

    assert first_targets(at_the_limit, SOFT, doubt=None)[0].tolist() == [1, 0]
    np.testing.assert_allclose(first_targets(below, SOFT, doubt=None)[0], [2.3 / 2.6, 0.3 / 2.6])


def test_an_order_of_ties_need_not_name_every_class() -> None:
    labels = from_arrays(["a", "a"], ["x", "y"], ["no", "yes"]).with_classes(("no", "yes", "maybe"))

    hard = first_targets(labels, MajorityVote(ties="order", order=("yes", "no")))

    assert hard.tolist() == [[0, 1, 0]]


def test_a_unit_that_nobody_labelled_is_uniform() -> None:
    corpus = documents(["a", "b", "c"], ["one", "two", "three"])
    labels = prepare_task(corpus, two_items(), limits=TrainingLimits(held_out=None)).labels

    for start in (SOFT, MajorityVote(ties="first")):
        assert first_targets(labels, start)[2].tolist() == [0.5, 0.5]
