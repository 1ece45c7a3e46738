from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.extensions.compat.test_kos import with_liars
from tests.truth.planted import planted

from crowdlogic.data.frames import from_arrays, from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.extensions.compat.m_msr import (
    MMSR,
    AgreementMatrix,
    compare_pairs,
    complete_rank_one,
    signed_skills,
    vote_weights,
)
from crowdlogic.numerics.convergence import Convergence


def rank_one(skill: np.ndarray) -> AgreementMatrix:
    common = ~np.eye(len(skill), dtype=bool)
    return AgreementMatrix(np.where(common, np.outer(skill, skill), 0.0), common, 10_000, 3)


def test_a_matrix_of_rank_one_is_completed_with_its_signs() -> None:
    skill = np.array([0.9, 0.7, -0.5, 0.6, 0.8, -0.2, 0.4])
    pairs = rank_one(skill)

    size, trace, converged = complete_rank_one(
        pairs, np.ones(7), np.ones(7), Convergence(max_iterations=1000, tolerance=1e-12)
    )

    np.testing.assert_allclose(signed_skills(pairs, size), skill, rtol=1e-6)
    assert converged
    assert trace[-1] < trace[0]


@pytest.mark.parametrize("wrong", [0.05, 5.0])
def test_a_few_entries_that_lie_change_little(wrong: float) -> None:
    skill = np.array([0.9, 0.7, 0.5, 0.6, 0.8, 0.7, 0.4, 0.6, 0.75])
    pairs = rank_one(skill)
    pairs.covariance[0, 1] = pairs.covariance[1, 0] = wrong

    size, _, _ = complete_rank_one(pairs, np.ones(9), np.ones(9), Convergence(max_iterations=5000, tolerance=1e-10))

    np.testing.assert_allclose(size, skill, rtol=0, atol=0.01)


def test_agreement_of_pairs_by_hand() -> None:
    given = np.array([[0, 0, 1], [1, 1, -1], [2, 0, 2], [-1, 2, 2]])
    labels = from_matrix(given)

    pairs = compare_pairs(labels.unit, labels.annotator, labels.label, n_annotators=3)

    # 0 and 1 agree on 2 of 3, 0 and 2 on 1 of 2, 1 and 2 on 1 of 3; scaled so that a third is 0
    expected = np.array([[0, 0.5, 0.25], [0.5, 0, 0.0], [0.25, 0.0, 0]])
    np.testing.assert_allclose(pairs.covariance, expected, rtol=0, atol=1e-12)
    assert pairs.common.tolist() == [[False, True, True], [True, False, True], [True, True, False]]
    assert (pairs.n_units, pairs.n_classes) == (4, 3)


def test_planted_accuracies_are_recovered() -> None:
    crowd = planted(0, units=4000, annotators=8, classes=3, right=0.7, given=0.8)

    weight = MMSR().infer(crowd.labels).reliability

    right = np.exp(weight) / (2 + np.exp(weight))
    label, unit, who = crowd.labels.label, crowd.labels.unit, crowd.labels.annotator
    share = np.bincount(who, weights=label == crowd.truth[unit]) / np.bincount(who)
    np.testing.assert_allclose(right, share, rtol=0, atol=0.05)


def test_liars_have_negative_weights() -> None:
    given, truth = with_liars(0)

    estimate = MMSR().infer(from_matrix(given))

    assert (estimate.reliability[:5] < 0).all()
    assert (estimate.answer == truth).mean() > 0.85


def test_weights_are_log_odds_within_bounds() -> None:
    pairs = rank_one(np.ones(3))

    weight = vote_weights(np.array([0.4, 1.0, -0.5]), pairs)

    # s = 0.4 with three classes is right 6 times in 10; s = 1 is held at 0.99
    np.testing.assert_allclose(weight[0], np.log(0.6 * 2 / 0.4), rtol=1e-9)
    np.testing.assert_allclose(weight[1], np.log((0.99 * 2 / 3 + 1 / 3) * 2 / (1 - 0.99 * 2 / 3 - 1 / 3)), rtol=1e-9)


def test_few_rounds_are_said_to_be_few() -> None:
    with pytest.warns(ConvergenceWarning, match=r"m-msr did not converge in 1 iterations\."):
        MMSR(convergence=Convergence(max_iterations=1, tolerance=1e-10)).infer(planted(0).labels)


def test_too_many_pairs_are_refused() -> None:
    many = 10**5
    codes = np.zeros(1, dtype=np.int32)
    labels = CrowdLabels(
        unit=codes,
        annotator=codes,
        label=codes,
        items=pl.Series([0]),
        annotators=pl.Series(range(many)),
        classes=(0, 1),
    )

    with pytest.raises(OptionError, match=r"m-msr compares all pairs of 100,000 annotators\."):
        MMSR().infer(labels)


def tied_crowd() -> list[tuple[str, str, str]]:
    """Two camps of equal size that contradict each other on every item."""
    camps = {"ann": "x", "bob": "x", "cat": "y", "dan": "y"}
    return [(f"u{i}", who, said if i % 2 else "yx"["xy".index(said)]) for i in range(40) for who, said in camps.items()]


@pytest.mark.parametrize("seed", range(6))
def test_a_perfect_tie_is_answered_alike_in_any_order_of_the_rows(seed: int) -> None:
    rows = tied_crowd()
    shuffled = [rows[n] for n in np.random.default_rng(seed).permutation(len(rows))]

    answers = []
    for given in (rows, shuffled):
        estimate = MMSR().infer(from_arrays(*zip(*given, strict=True)))
        answers.append(dict(zip(estimate.items.to_list(), estimate.answer_names(), strict=True)))

    assert answers[0] == answers[1]
