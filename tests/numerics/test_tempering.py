"""Distributions made flatter or sharper, and mixed with doubt."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.numerics.logspace import design_effect, temper, temper_logs


def test_a_row_is_raised_to_its_power_and_mixed_with_uniform_doubt() -> None:
    q = np.array([[0.8, 0.15, 0.05], [0.2, 0.2, 0.6]])

    found = temper(q, np.array([0.5, 2.0]), 0.1)

    for row, power, one in zip(q, (0.5, 2.0), found, strict=True):
        weights = [value**power for value in row]
        expected = [0.9 * weight / sum(weights) + 0.1 / 3 for weight in weights]
        np.testing.assert_allclose(one, expected, rtol=1e-12)


def test_sharpness_one_without_doubt_changes_nothing() -> None:
    q = np.random.default_rng(0).dirichlet(np.ones(4), 20)

    np.testing.assert_allclose(temper(q, 1.0), q, rtol=1e-12)


@pytest.mark.parametrize("sharpness", [0.01, 0.5, 3.0])
def test_the_order_of_the_classes_stays_and_rows_sum_to_one(sharpness: float) -> None:
    q = np.random.default_rng(1).dirichlet(np.full(5, 0.2), 50)

    found = temper(q, sharpness, 0.02)

    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(found.argmax(axis=1), q.argmax(axis=1))


def test_an_impossible_class_stays_impossible_but_for_the_doubt() -> None:
    assert temper(np.array([[1.0, 0.0]]), 0.3).tolist() == [[1.0, 0.0]]
    np.testing.assert_allclose(temper(np.array([[1.0, 0.0]]), 0.3, 0.02), [[0.99, 0.01]], rtol=1e-12)


def test_the_argument_is_not_changed() -> None:
    q = np.array([[0.7, 0.3]])

    temper(q, 0.5, 0.1)

    assert q.tolist() == [[0.7, 0.3]]


def test_no_classes_and_no_units_are_no_problem() -> None:
    assert temper(np.empty((0, 3)), np.empty(0), 0.1).shape == (0, 3)
    assert temper(np.empty((2, 0)), np.ones(2), 0.1).shape == (2, 0)


def test_labels_that_depend_wholly_count_as_one() -> None:
    np.testing.assert_allclose(design_effect(np.arange(6), 1.0), [1, 1, 2, 3, 4, 5])
    np.testing.assert_allclose(design_effect(np.arange(6), 0.0), np.ones(6))


def test_logs_are_tempered_as_their_distributions_are() -> None:
    rng = np.random.default_rng(0)
    log_weight, sharpness = 40.0 * rng.normal(size=(20, 3)), rng.uniform(0.2, 1.0, size=20)

    found = temper_logs(log_weight, sharpness, 0.02)

    whole = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    expected = temper(whole / whole.sum(axis=1, keepdims=True), sharpness, 0.02)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
