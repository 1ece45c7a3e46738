"""Credible intervals of shares."""

from __future__ import annotations

import numpy as np
from scipy import stats

from crowdlogic.numerics.logspace import credible_interval


def test_the_interval_is_the_central_one_of_the_beta_posterior() -> None:
    low, high = credible_interval(np.array([0.0, 7.0, 10.0]), np.array([0.0, 10.0, 10.0]), 0.9)

    posterior = stats.beta(np.array([0.5, 7.5, 10.5]), np.array([0.5, 3.5, 0.5]))
    np.testing.assert_allclose(low, posterior.ppf(0.05), rtol=1e-9)
    np.testing.assert_allclose(high, posterior.ppf(0.95), rtol=1e-9)
