from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import row_maxima, row_sums, sum_by


def test_values_are_summed_by_group_and_empty_groups_are_zero() -> None:
    total = sum_by(np.array([2, 0, 2, 2]), 4, np.array([1.0, 2.5, -3.0, 0.5]))

    assert total.tolist() == [2.5, 0.0, -1.5, 0.0]


def test_without_values_entries_are_counted_as_floats() -> None:
    total = sum_by(np.array([2, 0, 2, 2]), 4)

    assert total.tolist() == [1.0, 0.0, 3.0, 0.0]
    assert total.dtype == np.float64


def test_row_sums_are_the_sums_of_the_rows() -> None:
    table = np.random.default_rng(0).random((7, 3))

    np.testing.assert_allclose(row_sums(table), table.sum(axis=1), rtol=1e-12)
    assert row_sums(np.empty((0, 3))).shape == (0,)
    assert row_sums(np.empty((2, 0))).tolist() == [0.0, 0.0]


def test_row_maxima_are_the_largest_of_few_or_many_columns() -> None:
    for columns in (1, 5, 40):
        table = np.random.default_rng(0).normal(size=(7, columns))

        assert row_maxima(table).tolist() == table.max(axis=1).tolist()
    assert row_maxima(np.empty((2, 0))).tolist() == [-np.inf, -np.inf]
