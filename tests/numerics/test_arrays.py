from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.numerics.arrays import read_only, stable_order


def test_a_read_only_view_refuses_writes_and_leaves_the_array_writeable() -> None:
    array = np.arange(3)

    view = read_only(array)

    with pytest.raises(ValueError, match="read-only"):
        view[0] = 7
    array[0] = 5
    assert view[0] == 5  # no copy


@pytest.mark.parametrize("largest", [1, 7, 2**17, 2**32 - 1, 2**40, 2**61])
def test_equal_keys_keep_their_order(largest: int) -> None:
    key = np.random.default_rng(0).integers(largest + 1, size=50) if largest > 1 else np.ones(50, dtype=np.int64)
    before = key.copy()

    order = stable_order(key)

    assert order.tolist() == sorted(range(50), key=lambda row: (int(key[row]), row))
    np.testing.assert_array_equal(key, before)


def test_keys_whose_upper_bits_are_in_order_are_sorted_below_them() -> None:
    key = np.repeat(np.arange(100), 5) * 70_000 + np.random.default_rng(0).integers(3, size=500)

    order = stable_order(key)

    assert order.tolist() == sorted(range(500), key=lambda row: (int(key[row]), row))


def test_no_keys_and_one_key_are_sorted() -> None:
    assert stable_order(np.zeros(0, dtype=np.int64)).tolist() == []
    assert stable_order(np.array([3])).tolist() == [0]
