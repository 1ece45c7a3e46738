"""The trend test against SciPy, and false discoveries by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.confidence.annotator_verdicts import (
    FALSE_DISCOVERY_RATE,
    DriftStatistics,
    falling_trend_p_values,
    measure_drift,
)
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import find_discoveries


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
    found = find_discoveries(np.array([0.9, 0.025, np.nan, 0.005, 0.029, 0.3]), FALSE_DISCOVERY_RATE)

    assert found.tolist() == [False, True, False, True, True, False]


def drift_of(right: list[list[float]]) -> DriftStatistics:
    """Of annotators whose labels, one after another, are right with these probabilities."""
    annotator = np.repeat(np.arange(len(right)), [len(row) for row in right])
    n = len(annotator)
    labels = CrowdLabels(
        unit=np.arange(n),
        annotator=annotator,
        label=np.zeros(n, dtype=np.int32),
        items=pl.Series([f"u{i}" for i in range(n)]),
        annotators=pl.Series([f"w{j}" for j in range(len(right))]),
        classes=("x", "y"),
        time=np.arange(n, dtype=np.float64),
    )
    belief = np.concatenate([np.asarray(row) for row in right])
    return measure_drift(labels, np.stack([belief, 1 - belief], axis=1), 0.95)


def falling_from(first: float, last: float, n: int = 200) -> list[float]:
    """In five steps, with a little noise that a test needs."""
    noise = 0.001 * np.resize([1, -1], n)
    return list(np.repeat(np.linspace(first, last, 5), n // 5) + noise)


@pytest.mark.parametrize(("fall", "falls"), [(0.0999, False), (0.1001, True)])
def test_a_fall_counts_from_ten_points_on(fall: float, falls: bool) -> None:
    found = drift_of([falling_from(0.9, 0.9 - fall)])

    assert found.change[0] == pytest.approx(-fall)
    assert found.p_value[0] < 1e-6
    assert found.falls.tolist() == [falls]


@pytest.mark.parametrize(("n", "is_tested"), [(39, False), (40, True)])
def test_a_trend_is_looked_for_from_40_annotations_on(n: int, is_tested: bool) -> None:
    found = drift_of([falling_from(0.9, 0.3)[::5][:n]])

    assert (bool(found.is_tested[0]), bool(found.falls[0])) == (is_tested, is_tested)
    assert not is_tested or found.n[0].tolist() == [8] * 5


@pytest.mark.parametrize(("p", "found"), [(0.0499, True), (0.0501, False)])
def test_a_single_fall_is_significant_at_five_percent(p: float, found: bool) -> None:
    assert find_discoveries(np.array([p]), FALSE_DISCOVERY_RATE).tolist() == [found]
