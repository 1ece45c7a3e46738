"""A shard: rows, units, narrow codes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdlogic.data.blocks import make_shard, narrow_codes


def example() -> np.ndarray:
    return np.array([0, 0, 2, 2, 2])


def test_a_shard_is_made_from_sorted_columns() -> None:
    shard = make_shard(example(), np.arange(5), np.array([1, 0, 1, 1, 0]), n_units=4, first=10)

    assert shard.starts.tolist() == [0, 2, 2, 5, 5]
    assert shard.units == slice(10, 14)
    assert shard.unit.tolist() == [0, 0, 2, 2, 2]
    assert shard.labelled.tolist() == [True, False, True, False]
    assert shard.cells(2).tolist() == [1, 2, 5, 7, 8]
    assert shard.row_weights() is None


def test_rows_weigh_by_their_weight_and_by_what_their_unit_stands_for() -> None:
    shard = make_shard(example(), np.arange(5), np.zeros(5, dtype=int), n_units=3, times=np.array([2.0, 5.0, 3.0]))
    weighted = replace(shard, weight=np.array([1.0, 0.5, 1.0, 1.0, 0.0]))

    assert shard.row_weights() is not None
    np.testing.assert_array_equal(shard.row_weights(), [2, 2, 3, 3, 3])
    np.testing.assert_array_equal(weighted.row_weights(), [2, 1, 3, 3, 0])
    assert shard.unit_sum(np.array([1.0, 100.0, 10.0])) == 32.0  # the second unit has no labels


def test_codes_are_as_narrow_as_they_can_be() -> None:
    narrow, wide = np.array([0, 65_535]), np.array([0, 65_536])

    assert narrow_codes(narrow).dtype == np.uint16
    assert narrow_codes(wide).dtype == np.int32
    assert narrow_codes(wide).tolist() == [0, 65_536]
    assert narrow_codes(np.empty(0, dtype=np.int64)).dtype == np.uint16


def test_the_known_classes_of_a_shard() -> None:
    shard = make_shard(example(), np.arange(5), np.zeros(5, dtype=int), n_units=3)

    assert not shard.known.any()
    assert replace(shard, fixed=np.array([1, -1, 0])).known.tolist() == [True, False, True]
