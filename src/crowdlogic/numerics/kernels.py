"""Compiled kernels, for inputs so large that compiling (once, cached on disk) pays for itself.

Nothing imports this module at the top: numba takes a third of a second to load, so a caller with a large
input imports it at the place of use.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from crowdlogic.numerics.arrays import Ints


def first_appearance_codes(keys: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """Code equal keys alike, 0, 1, 2... in order of first appearance.

    Returns:
        codes[n], and rows[c], the row where code c appeared first.
    """
    bits = max(int(keys.size).bit_length() + 1, 4)
    codes, rows = _code_by_open_addressing(np.ascontiguousarray(keys), 1 << bits)
    return codes, rows


@njit(cache=True, nogil=True)
def _code_by_open_addressing(keys, size):  # type: ignore[no-untyped-def]
    """One pass with linear probing; the table is at least twice as large as the keys, so probes stay short."""
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
    """Load the kernel from its cache (or compile it), so that the first large table need not wait."""
    first_appearance_codes(np.zeros(1, np.uint64))
