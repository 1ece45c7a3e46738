"""Compiled kernel that numbers distinct keys, for inputs so large that compilation (once, cached on disk) pays off.

Import this module inside functions only, because loading numba takes a third of a second.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from crowdlogic.numerics.arrays import Ints


def first_appearance_codes(keys: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """Number distinct keys 0, 1, 2, ... in order of first appearance.

    Returns:
        codes[n] of every key, and rows[c], the row where code c first appears.
    """
    bits = max(int(keys.size).bit_length() + 1, 4)
    codes, rows = _code_by_open_addressing(np.ascontiguousarray(keys), 1 << bits)
    return codes, rows


@njit(cache=True, nogil=True)
def _code_by_open_addressing(keys, size):  # type: ignore[no-untyped-def]
    """Number the keys in one pass over a hash table with linear probing and at least twice as many slots as keys."""
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, np.int32)
    rows = np.empty(keys.size, np.int32)
    codes = np.empty(keys.size, np.int32)
    found = 0
    for row in range(keys.size):
        at = keys[row] & mask
        while slots[at] >= 0 and keys[rows[slots[at]]] != keys[row]:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = found
            rows[found] = row
            found += 1
        codes[row] = slots[at]
    return codes, rows[:found].copy()


def warm_up() -> None:
    """Load the kernel from its cache (or compile it) before the first large table needs it."""
    first_appearance_codes(np.zeros(1, np.uint64))
