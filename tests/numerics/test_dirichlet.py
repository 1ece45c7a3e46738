"""Dirichlet distributions against scipy's beta distribution, numerical integration and samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from crowdlogic.numerics.logspace import LOG_ZERO, dirichlet_divergence, dirichlet_mean, expected_log


def test_expected_log_is_the_integral_over_a_beta_distribution() -> None:
    density = stats.beta(2.5, 4.0).pdf
    truth = [integrate.quad(lambda x: np.log(x) * density(x), 0, 1)[0]]
    truth += [integrate.quad(lambda x: np.log1p(-x) * density(x), 0, 1)[0]]

    np.testing.assert_allclose(expected_log(np.array([2.5, 4.0]), axis=0), truth, rtol=1e-9)


def test_divergence_is_the_integral_over_beta_distributions() -> None:
    p, q = stats.beta(3.0, 1.5), stats.beta(1.2, 2.0)
    truth = integrate.quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), 0, 1)[0]

    assert dirichlet_divergence(np.array([3.0, 1.5]), np.array([1.2, 2.0]), axis=0) == pytest.approx(truth, rel=1e-7)


def test_divergence_adds_up_over_distributions_and_is_zero_from_itself() -> None:
    rng = np.random.default_rng(0)
    posterior, prior = rng.gamma(2.0, size=(5, 3)) + 0.1, rng.gamma(2.0, size=3) + 0.1

    each = [dirichlet_divergence(row, prior, axis=0) for row in posterior]

    assert dirichlet_divergence(posterior, prior, axis=1) == pytest.approx(sum(each), rel=1e-12)
    assert dirichlet_divergence(prior, prior, axis=0) == pytest.approx(0.0, abs=1e-12)
    assert min(each) > 0


def test_mean_is_the_share_of_the_concentration_and_zero_where_nothing_is_possible() -> None:
    found = dirichlet_mean(np.array([[1.0, 3.0], [0.0, 0.0]]), axis=1)

    np.testing.assert_array_equal(found, [[0.25, 0.75], [0.0, 0.0]])


def test_an_impossible_outcome_takes_no_part() -> None:
    with_zero, prior = np.array([2.0, 0.0, 5.0]), np.array([1.0, 0.0, 1.0])
    without, prior_without = with_zero[[0, 2]], prior[[0, 2]]

    np.testing.assert_allclose(expected_log(with_zero, axis=0)[[0, 2]], expected_log(without, axis=0), rtol=1e-12)
    assert expected_log(with_zero, axis=0)[1] == LOG_ZERO
    assert dirichlet_divergence(with_zero, prior, axis=0) == pytest.approx(
        dirichlet_divergence(without, prior_without, axis=0), rel=1e-12
    )
