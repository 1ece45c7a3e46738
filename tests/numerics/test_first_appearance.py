from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.numerics.first_appearance import code_hashes

NUMBERS = st.integers(0, 2**64 - 1)


@given(st.lists(st.one_of(NUMBERS, st.integers(0, 5), st.integers(0, 5).map(lambda n: n << 60)), max_size=80))
def test_codes_stand_for_numbers_in_order_of_first_appearance(values: list[int]) -> None:
    codes, rows = code_hashes(np.array(values, dtype=np.uint64))

    distinct = list(dict.fromkeys(values))
    assert [distinct[code] for code in codes] == values
    assert rows.tolist() == [values.index(value) for value in distinct]


def test_hashes_that_fall_into_one_slot_are_told_apart() -> None:
    hashes = np.array([7, 3, 7, 5, 3, 9, 7], dtype=np.uint64)  # all below 2^60: the first table has one slot for them

    codes, rows = code_hashes(hashes)

    assert codes.tolist() == [0, 1, 0, 2, 1, 3, 0]
    assert rows.tolist() == [0, 1, 3, 5]
