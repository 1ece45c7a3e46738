from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.numerics.logspace import LOG_ZERO, log_sum_exp, normalise, safe_log


def test_the_log_of_zero_is_minus_infinity_without_a_warning() -> None:
    found = safe_log(np.array([0.0, 1.0, np.e]))

    np.testing.assert_array_equal(found, [LOG_ZERO, 0.0, 1.0])
    assert -np.inf == LOG_ZERO


@pytest.mark.parametrize("shift", [0.0, -1e4, 1e4])
def test_rows_are_normalised_to_their_share_whatever_their_scale(shift: float) -> None:
    weight = np.array([[1.0, 3.0], [2.0, 2.0], [5.0, 0.0]])

    p, log_sum = normalise(safe_log(weight) + shift)

    np.testing.assert_allclose(p, weight / weight.sum(axis=1, keepdims=True), rtol=1e-10)
    np.testing.assert_allclose(log_sum, np.log(weight.sum(axis=1)) + shift, rtol=1e-12)
    assert p[2, 1] == 0.0


def test_an_impossible_row_is_uniform_with_a_log_sum_of_log_zero() -> None:
    p, log_sum = normalise(np.array([[LOG_ZERO] * 4, [0.0, LOG_ZERO, LOG_ZERO, LOG_ZERO]]))

    np.testing.assert_array_equal(p, [[0.25] * 4, [1.0, 0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(log_sum, [LOG_ZERO, 0.0])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_log_sum_exp_is_the_log_of_the_sum_along_any_axis(axis: int) -> None:
    log_weight = np.random.default_rng(0).normal(size=(3, 4, 5)) * 5

    np.testing.assert_allclose(log_sum_exp(log_weight, axis), np.log(np.exp(log_weight).sum(axis=axis)), rtol=1e-12)


def test_log_sum_exp_neither_overflows_nor_warns_where_all_is_impossible() -> None:
    found = log_sum_exp(np.array([[1000.0, 1000.0], [LOG_ZERO, LOG_ZERO], [LOG_ZERO, -1000.0]]), 1)

    np.testing.assert_allclose(found, [1000.0 + np.log(2.0), LOG_ZERO, -1000.0], rtol=1e-12)
    np.testing.assert_array_equal(log_sum_exp(np.zeros((2, 0)), 1), [LOG_ZERO, LOG_ZERO])
