"""Quantiles of Student's t beside scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

from crowdlogic.numerics.intervals import student_cdf, student_quantile


@pytest.mark.parametrize("freedom", [1.0, 2.0, 5.0, 11.0, 40.0, 1000.0])
@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.6, 0.9, 0.975, 0.9999])
def test_quantiles_are_those_of_scipy(p: float, freedom: float) -> None:
    np.testing.assert_allclose(student_quantile(p, freedom), stdtrit(freedom, p), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("t", [-30.0, -1.0, 0.0, 0.1, 2.2, 9.0])
def test_probabilities_are_those_of_scipy(t: float) -> None:
    np.testing.assert_allclose(student_cdf(t, 11.0), stdtr(11.0, t), rtol=1e-9, atol=1e-14)
