"""The pass of GLAD against its mathematics, unit by unit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit
from tests.numerics.planted_tables import ANNOTATORS, CLASSES, UNITS, random_table

from crowdlogic.numerics.label_kernels import ability_pass, unrolled_states

STATES = unrolled_states(CLASSES)


def bound_curvature(x: float) -> float:
    """Of the parabola that touches log sigmoid at x and -x from below (Jaakkola and Jordan, 2000)."""
    return (expit(x) - 0.5) / (2 * x)


@pytest.mark.parametrize("kind", [set(), {"weighted", "fixed"}, {"repeated"}, {"weighted", "fixed", "repeated"}])
def test_a_pass_is_the_e_step_then_the_best_ease_and_the_sums_for_abilities(kind: set[str]) -> None:
    rng, labels = np.random.default_rng(5), random_table(5, **dict.fromkeys(kind, True))
    ability, start = rng.normal(1.0, 0.5, ANNOTATORS), rng.normal(0.0, 0.3, UNITS)
    ease, q = start.copy(), np.empty((UNITS, CLASSES))
    pull, curvature = np.zeros(ANNOTATORS), np.zeros(ANNOTATORS)

    evidence = ability_pass(
        STATES, CLASSES, *labels.columns, ability, ease, q, np.empty((0, CLASSES)), pull, curvature, 50, 20
    )

    expected_pull, expected_curvature, expected_evidence = np.zeros(ANNOTATORS), np.zeros(ANNOTATORS), 0.0
    for i in range(UNITS):
        log_q = np.full(CLASSES, -np.log(CLASSES))
        for j, n, weight in labels.rows(i):
            x = ability[j] * np.exp(start[i])
            wrong = log_expit(-x) - np.log(CLASSES - 1)
            log_q += weight * np.where(np.arange(CLASSES) == n, log_expit(x), wrong)
        if len(labels.fixed) and labels.fixed[i] >= 0:
            log_q = np.where(np.arange(CLASSES) == labels.fixed[i], log_q, -np.inf)
        log_sum = np.logaddexp.reduce(log_q)
        expected_evidence += labels.often[i] * log_sum if labels.rows(i) else 0.0
        np.testing.assert_allclose(q[i], np.exp(log_q - log_sum), rtol=1e-10)
        lift = sum(weight * (q[i, n] - 0.5) * ability[j] for j, n, weight in labels.rows(i))
        curve = sum(
            weight * bound_curvature(ability[j] * np.exp(start[i])) * ability[j] ** 2 for j, n, weight in labels.rows(i)
        )
        best = minimize_scalar(
            lambda b, lift=lift, curve=curve: -(lift * np.exp(b) - curve * np.exp(2 * b) - 0.5 * (b - 1) ** 2),
            bracket=(-1.0, 1.0),
        )
        np.testing.assert_allclose(ease[i], best.x, atol=1e-6)
        for j, n, weight in labels.rows(i):
            beta = np.exp(ease[i])
            expected_pull[j] += labels.often[i] * weight * (q[i, n] - 0.5) * beta
            expected_curvature[j] += 2.0 * labels.often[i] * weight * bound_curvature(ability[j] * beta) * beta**2
    np.testing.assert_allclose(evidence, expected_evidence, rtol=1e-10)
    np.testing.assert_allclose(pull, expected_pull, rtol=1e-10)
    np.testing.assert_allclose(curvature, expected_curvature, rtol=1e-10)


def test_given_beliefs_replace_those_of_the_e_step() -> None:
    rng, labels = np.random.default_rng(6), random_table(6)
    given = rng.dirichlet(np.ones(CLASSES), size=UNITS)
    ease, q = np.zeros(UNITS), np.empty((UNITS, CLASSES))

    ability_pass(
        STATES, CLASSES, *labels.columns, np.ones(ANNOTATORS), ease, q, given, np.zeros(ANNOTATORS),
        np.zeros(ANNOTATORS), 5, 5,
    )  # fmt: skip

    np.testing.assert_array_equal(q, given)
