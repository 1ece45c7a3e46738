"""The trend test against SciPy, and false discoveries by hand."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.report.pages.annotators.drift import control_false_discoveries, falling_trend_p_values


def test_the_trend_is_the_t_test_of_scipy() -> None:
    from scipy.stats import linregress

    rng = np.random.default_rng(3)
    annotator = np.repeat([0, 1, 2], [30, 50, 2])
    x = np.concatenate([np.arange(n) for n in (30, 50, 2)]).astype(np.float64)
    y = rng.random(82) - 0.01 * x

    p = falling_trend_p_values(annotator, x, y, 3)

    for j in (0, 1):
        expected = linregress(x[annotator == j], y[annotator == j], alternative="less").pvalue
        assert p[j] == pytest.approx(expected, rel=1e-9)
    assert np.isnan(p[2])


def test_discoveries_are_benjamini_and_hochbergs() -> None:
    # Against 0.05 i / 5 = 0.01, 0.02, 0.03, 0.04, 0.05: the third passes, and takes the second with it.
    found = control_false_discoveries(np.array([0.9, 0.025, np.nan, 0.005, 0.029, 0.3]))

    assert found.tolist() == [False, True, False, True, True, False]
