"""The committee: members weigh as much as they foretold."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.simulate.crowds import SimulatedCrowd, label_truth, simulate_crowd
from crowdlogic.extensions.review.review_queue import (
    NO_DECISIONS,
    OTHERS_WEIGHT,
    Committee,
    Decisions,
    make_committee,
    refit,
)
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.pool import Ensemble


def crowd() -> SimulatedCrowd:
    return simulate_crowd(np.random.default_rng(3), units=200, annotators=15, classes=3, labels_per_unit=5)


def test_before_any_decision_the_weights_are_the_prior() -> None:
    labels = crowd().labels
    committee = make_committee(labels, refit(DawidSkene(), labels, None, NO_DECISIONS))

    weights = committee.weights(NO_DECISIONS.classes(labels))

    assert tuple(committee.beliefs) == ("ensemble", "mace", "majority", "glad")
    np.testing.assert_allclose(weights, np.array([1, *[OTHERS_WEIGHT] * 3]) / (1 + 3 * OTHERS_WEIGHT))


def test_weights_are_the_prior_times_the_probability_of_what_came_out() -> None:
    labels = crowd().labels
    sure, unsure = np.tile([0.8, 0.1, 0.1], (200, 1)), np.tile([0.4, 0.3, 0.3], (200, 1))
    beliefs = {"a": unsure, "b": sure}
    committee = Committee(labels=labels, answer=np.zeros(200, dtype=np.int32), own=sure, beliefs=beliefs)
    decided = np.full(200, -1)
    decided[[4, 9, 11]] = [0, 0, 2]  # two answers were right, one was wrong

    weights = committee.weights(decided)

    score = np.array([1.0 * 0.4**2 * 0.6, OTHERS_WEIGHT * 0.8**2 * 0.2])
    np.testing.assert_allclose(weights, score / score.sum())


def test_the_ensemble_is_pooled_from_the_present_posterior_as_the_method_itself_does() -> None:
    labels = crowd().labels
    committee = make_committee(labels, refit(DawidSkene(), labels, None, NO_DECISIONS))

    own = Ensemble().infer(labels).beliefs

    assert np.abs(committee.beliefs["ensemble"] - own).max() < 0.02


@pytest.mark.parametrize("method", [DawidSkene(), Ensemble(), MajorityVote()])
def test_what_is_pooled_are_beliefs(method: DawidSkene | Ensemble | MajorityVote) -> None:
    labels = crowd().labels
    estimate = refit(method, labels, None, NO_DECISIONS)

    pooled = make_committee(labels, estimate).pool(estimate, NO_DECISIONS)

    np.testing.assert_allclose(pooled.sum(axis=1), 1.0)
    assert pooled.min() > 0


def test_sentences_have_a_committee_of_one() -> None:
    offsets = np.array([0, 2, 5, 6])
    truth = np.array([0, 1, 1, 0, 0, 1], dtype=np.int32)
    labels = label_truth(np.random.default_rng(0), truth, 2, annotators=4, offsets=offsets).labels
    estimate = refit(DawidSkene(), labels, None, NO_DECISIONS)

    committee = make_committee(labels, estimate)

    assert tuple(committee.beliefs) == ("dawid-skene",)
    np.testing.assert_allclose(committee.pool(estimate, NO_DECISIONS), estimate.beliefs)


def test_a_member_that_knows_better_takes_over() -> None:
    """Decisions that follow one member's beliefs give it nearly all weight."""
    drawn = crowd()
    labels = drawn.labels
    estimate = refit(DawidSkene(), labels, None, NO_DECISIONS)
    members = dict(make_committee(labels, estimate).beliefs)
    members["glad"] = 0.94 * np.eye(3)[drawn.truth] + 0.02
    committee = Committee(labels=labels, answer=estimate.answer, own=estimate.beliefs, beliefs=members)
    decisions = Decisions(truth={labels.items[i]: labels.classes[int(drawn.truth[i])] for i in range(120)})

    assert committee.weights(decisions.classes(labels))[-1] > 0.9
