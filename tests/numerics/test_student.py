"""Quantiles of Student's t against published tables."""

from __future__ import annotations

import pytest

from crowdlogic.numerics.intervals import student_quantile


@pytest.mark.parametrize(
    ("p", "freedom", "published"), [(0.975, 1.0, 12.706), (0.975, 11.0, 2.201), (0.95, 5.0, 2.015), (0.5, 3.0, 0.0)]
)
def test_quantiles_are_those_of_the_tables(p: float, freedom: float, published: float) -> None:
    assert student_quantile(p, freedom) == pytest.approx(published, abs=5e-4)
