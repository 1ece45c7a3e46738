"""GLAD: abilities and difficulties."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from tests.truth.planted import planted

from crowdlogic.data.frames import from_matrix
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.glad import GLAD


def test_glad_ranks_abilities_and_difficulties() -> None:
    rng = np.random.default_rng(2)
    ability, ease = np.array([3.0, 1.5, 1.0, 0.6, 0.3, 2.0, 0.1, 1.2]), rng.choice([0.3, 3.0], size=1500)
    truth = rng.integers(2, size=1500)
    right = rng.random((1500, 8)) < 1 / (1 + np.exp(-ability * ease[:, None]))
    labels = from_matrix(np.where(right, truth[:, None], 1 - truth[:, None]))

    estimate = GLAD().infer(labels)

    assert np.corrcoef(estimate.reliability, ability)[0, 1] > 0.9
    difficulty = estimate.parameters["difficulty"]
    assert difficulty[ease < 1].mean() > 1.5 * difficulty[ease > 1].mean()
    assert (estimate.answer == truth).mean() >= (right.mean(axis=1) > 0.5).mean()


def test_the_estimate_is_a_maximum_of_the_log_posterior() -> None:
    """A general optimiser that starts from GLAD's estimate finds nothing better, and the trace is its objective."""
    labels = planted(1, units=8, annotators=4, classes=3, given=0.9).labels

    def negative_log_posterior(parameters: np.ndarray) -> float:
        ability, ease = parameters[:4], parameters[4:]
        right = expit(ability[labels.annotator] * np.exp(ease)[labels.unit])
        joint = np.full((8, 3), 1 / 3)
        for row, (unit, n) in enumerate(zip(labels.unit, labels.label, strict=True)):
            joint[unit] *= np.where(np.arange(3) == n, right[row], (1 - right[row]) / 2)
        return float(0.5 * ((parameters - 1.0) ** 2).sum() - np.log(joint.sum(axis=1)).sum())

    estimate = GLAD(convergence=Convergence(tolerance=1e-11, max_iterations=5000)).infer(labels)

    found = np.concatenate([estimate.reliability, -np.log(estimate.parameters["difficulty"])])
    best = minimize(negative_log_posterior, found, method="BFGS")
    np.testing.assert_allclose(estimate.trace[-1], -negative_log_posterior(found), rtol=1e-10)
    np.testing.assert_allclose(best.fun, negative_log_posterior(found), rtol=0, atol=1e-6)
