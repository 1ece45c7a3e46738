from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from crowdlogic.extensions.paper.results import mean_interval, paired_difference


def test_a_mean_has_students_interval() -> None:
    values = [73.1, 72.4, 74.0, 73.5, 72.9]

    found = mean_interval(values)

    low, high = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert found.mean == pytest.approx(np.mean(values))
    assert (found.mean - found.half_width, found.mean + found.half_width) == pytest.approx((low, high))
    assert found.deviation == pytest.approx(np.std(values, ddof=1))


def test_a_single_run_has_no_interval() -> None:
    found = mean_interval([70.0])

    assert found.mean == 70.0
    assert np.isnan(found.half_width)


def test_a_paired_difference_is_scipys_related_t_test() -> None:
    ours, theirs = [73.1, 72.4, 74.0, 73.5], [72.0, 72.1, 73.0, 73.6]

    found = paired_difference(ours, theirs)

    oracle = stats.ttest_rel(ours, theirs, alternative="greater")
    assert found.t == pytest.approx(oracle.statistic)
    assert found.p == pytest.approx(oracle.pvalue)
    assert found.mean == pytest.approx(np.mean(ours) - np.mean(theirs))


def test_equal_runs_have_no_t() -> None:
    found = paired_difference([1.0, 1.0], [1.0, 1.0])

    assert found.mean == 0
    assert np.isnan(found.t)
