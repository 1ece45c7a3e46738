from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.numerics.kernels import first_appearance_codes


@pytest.mark.parametrize("distinct", [1, 5, 300])
def test_distinct_keys_are_numbered_in_the_order_of_their_first_appearance(distinct: int) -> None:
    rng = np.random.default_rng(0)
    keys = rng.choice(rng.integers(2**64, size=distinct, dtype=np.uint64), size=400)

    codes, rows = first_appearance_codes(keys)

    order = list(dict.fromkeys(keys.tolist()))
    assert codes.tolist() == [order.index(key) for key in keys.tolist()]
    assert rows.tolist() == [keys.tolist().index(key) for key in order]


def test_keys_that_fall_into_one_slot_stay_distinct() -> None:
    keys = np.array([0, 2**40, 2**41, 2**40, 0, 2**42], dtype=np.uint64)  # equal in all low bits

    codes, rows = first_appearance_codes(keys)

    assert codes.tolist() == [0, 1, 2, 1, 0, 3]
    assert rows.tolist() == [0, 1, 2, 5]


def test_no_keys_have_no_codes() -> None:
    codes, rows = first_appearance_codes(np.zeros(0, dtype=np.uint64))

    assert (len(codes), len(rows)) == (0, 0)
