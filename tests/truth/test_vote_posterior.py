"""The posterior of a vote by annotators who are all equally good."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.truth.dependence import UNKNOWN_ACCURACY, common_accuracy, posterior_of_votes, vote_log_odds


@pytest.mark.parametrize(("classes", "right"), [(2, 0.7), (3, 0.8), (6, 0.55)])
def test_the_planted_accuracy_is_found_again(classes: int, right: float) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(classes, size=20_000)
    wrong = (truth[:, None] + rng.integers(1, classes, size=(20_000, 4))) % classes
    given = np.where(rng.random((20_000, 4)) < right, truth[:, None], wrong)
    votes = np.stack([(given == k).sum(axis=1) for k in range(classes)], axis=1).astype(float)

    assert common_accuracy(votes) == pytest.approx(right, abs=0.01)


def test_the_posterior_is_bayes_rule_written_out() -> None:
    votes = np.array([[2.0, 1.0, 0.0], [0.0, 4.0, 0.0], [1.0, 1.0, 1.0]])
    p = common_accuracy(votes)

    found = posterior_of_votes(votes / votes.sum(axis=1, keepdims=True), votes)

    for row, one in zip(votes, found, strict=True):
        likelihood = [p**n * ((1 - p) / 2) ** (row.sum() - n) for n in row]
        np.testing.assert_allclose(one, np.array(likelihood) / sum(likelihood), rtol=1e-9)


def test_a_vote_counts_for_what_it_says_even_where_labels_agree_less_than_chance() -> None:
    votes = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 1.0]])

    assert vote_log_odds(common_accuracy(votes), 2) > 0
    assert posterior_of_votes(votes / votes.sum(axis=1, keepdims=True), votes)[2, 0] > 0.5


def test_without_two_labels_of_one_item_the_accuracy_is_a_guess() -> None:
    assert common_accuracy(np.array([[1.0, 0.0], [0.0, 1.0]])) == UNKNOWN_ACCURACY


def test_perfect_agreement_is_not_certainty() -> None:
    votes = np.array([[3.0, 0.0], [0.0, 3.0]])

    assert posterior_of_votes(votes / 3, votes).max() < 1


def test_a_unit_without_votes_is_uniform_and_a_single_class_certain() -> None:
    votes = np.array([[2.0, 0.0], [0.0, 0.0]])

    assert posterior_of_votes(np.array([[1.0, 0.0], [0.0, 0.0]]), votes)[1].tolist() == [0.5, 0.5]
    assert posterior_of_votes(np.array([[1.0], [0.0]]), np.array([[2.0], [0.0]])).tolist() == [[1.0], [1.0]]
