"""MACE: who knows and who spams."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma
from tests.truth.planted import planted

from crowdlogic.data.frames import from_matrix
from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.mace import MACE


def test_those_who_know_are_separated_from_those_who_spam() -> None:
    rng = np.random.default_rng(1)
    knows, truth = np.array([0.9, 0.8, 0.7, 0.6, 0.0, 0.0]), rng.integers(3, size=2000)
    spam = np.stack([rng.integers(3, size=2000)] * 4 + [np.zeros(2000, int), np.full(2000, 2)], axis=1)
    labels = from_matrix(np.where(rng.random((2000, 6)) < knows, truth[:, None], spam))

    estimate = MACE().infer(labels)

    np.testing.assert_allclose(estimate.reliability[:4], knows[:4], rtol=0, atol=0.05)
    assert (estimate.reliability[4:] < 0.05).all()
    np.testing.assert_allclose(estimate.parameters["strategy"][4:], [[1, 0, 0], [0, 0, 1]], rtol=0, atol=0.05)


def expected_log(concentration: np.ndarray) -> np.ndarray:
    """E[log p] along the last axis."""
    return np.asarray(digamma(concentration) - digamma(concentration.sum(axis=-1, keepdims=True)))


def test_the_estimate_is_the_fixed_point_of_the_updates_written_out() -> None:
    """[HBVH13] section 3: each label is either copied from the truth or drawn from the annotator's strategy."""
    labels = planted(1, units=40, annotators=4, classes=3, given=0.7).labels
    rows = list(zip(labels.unit, labels.annotator, labels.label, strict=True))
    votes = labels.votes()
    shares = votes / votes.sum(axis=1, keepdims=True)
    known, given = np.zeros((4, 3)), np.zeros((4, 3))
    for unit, j, n in rows:
        known[j, n] += 0.5 * shares[unit, n]
        given[j, n] += 1
    for _ in range(500):
        spam = given - known
        knowing = np.stack([known.sum(axis=1), spam.sum(axis=1)], axis=1) + 0.5
        strategy = spam + 10.0
        theta, xi = np.exp(expected_log(knowing)), np.exp(expected_log(strategy))
        joint = np.ones((40, 3))
        for unit, j, n in rows:
            joint[unit] *= theta[j, 1] * xi[j, n] + theta[j, 0] * (np.arange(3) == n)
        q = joint / joint.sum(axis=1, keepdims=True)
        known = np.zeros((4, 3))
        for unit, j, n in rows:
            known[j, n] += q[unit, n] * theta[j, 0] / (theta[j, 0] + theta[j, 1] * xi[j, n])

    estimate = MACE(convergence=Convergence(tolerance=1e-12, max_iterations=5000)).infer(labels)

    np.testing.assert_allclose(estimate.beliefs, q, rtol=0, atol=1e-4)
    np.testing.assert_allclose(estimate.reliability, knowing[:, 0] / knowing.sum(axis=1), rtol=0, atol=1e-4)
    mean = strategy / strategy.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(estimate.parameters["strategy"], mean, rtol=0, atol=1e-4)


@pytest.mark.parametrize("option", ["knowing_count", "strategy_count"])
def test_prior_counts_must_be_positive(option: str) -> None:
    with pytest.raises(OptionError) as refused:
        MACE(**{option: 0.0})  # type: ignore[arg-type]

    assert str(refused.value) == f"mace: {option} must be greater than 0, got 0.0."
