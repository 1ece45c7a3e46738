"""How frequent each class is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from crowdlogic.annotators.confusion import ClassProportions, VariationalProportions

TOTALS = np.array([6.0, 3.0, 0.0])


def test_proportions_are_smoothed_shares() -> None:
    found = ClassProportions(smoothing=0.5).from_totals(TOTALS)

    np.testing.assert_allclose(found, np.array([6.5, 3.5, 0.5]) / 10.5, rtol=1e-12)
    np.testing.assert_allclose(ClassProportions().log(found), np.log(found), rtol=1e-12)
    assert ClassProportions().mean(found) is found


def test_a_class_that_nobody_saw_stays_possible() -> None:
    assert (ClassProportions(smoothing=0.0).from_totals(TOTALS) > 0).all()


def test_the_log_prior_is_a_dirichlet_density_up_to_a_constant() -> None:
    model = ClassProportions(smoothing=0.5)
    one, other = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.1, 0.8])

    found = model.log_prior(one) - model.log_prior(other)

    expected = stats.dirichlet.logpdf(one, np.full(3, 1.5)) - stats.dirichlet.logpdf(other, np.full(3, 1.5))
    assert found == pytest.approx(expected, rel=1e-12)
    assert ClassProportions(smoothing=0.0).log_prior(one) == 0.0


def test_a_posterior_of_proportions_is_counts_beyond_its_prior() -> None:
    model = VariationalProportions(count=2.0)

    found = model.from_totals(TOTALS)

    np.testing.assert_allclose(found, [8.0, 5.0, 2.0])
    np.testing.assert_allclose(model.mean(found), stats.dirichlet.mean(found), rtol=1e-12)
    drawn = np.random.default_rng(0).dirichlet(found, size=200_000)
    np.testing.assert_allclose(model.log(found), np.log(drawn).mean(axis=0), rtol=0, atol=0.01)
    ratio = stats.dirichlet.logpdf(drawn.T, found) - stats.dirichlet.logpdf(drawn.T, np.full(3, 2.0))
    assert model.log_prior(found) == pytest.approx(-ratio.mean(), abs=0.02)
