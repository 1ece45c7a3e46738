"""Encoding of hashes in order of first appearance, with vectorised hash tables."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdlogic.numerics.arrays import Ints

Hashes: TypeAlias = NDArray[np.uint64]

MOST_SLOT_BITS = 22
"""Maximum number of bits of a slot number, so that a hash table takes at most 32 MB."""

SCATTER = np.uint64(0x9E3779B97F4A7C15)
"""Odd multiplier, which keeps hashes distinct and makes their upper bits look random."""


def code_hashes(hashes: Hashes) -> tuple[Ints, Ints]:
    """Return codes[n] of every hash in order of first appearance, and rows[c], the row where code c first appears."""
    first = _first_rows(hashes)
    rows = np.flatnonzero(first == np.arange(len(first)))
    code_of_row = np.empty(len(first), dtype=np.int32)  # only the entries of `rows` are filled and read
    code_of_row[rows] = np.arange(len(rows), dtype=np.int32)
    return code_of_row[first], rows


def _first_rows(hashes: Hashes) -> Ints:
    """Return first[n], the first row with the hash of row n.

    Every slot keeps the first row that falls into it; rows with another hash are put into a further table.
    """
    bits = min(max(len(hashes), 1).bit_length(), MOST_SLOT_BITS)
    slot = (hashes >> np.uint64(64 - bits)).view(np.int64)
    table = np.empty(1 << bits, dtype=np.int64)
    table[slot[::-1]] = np.arange(len(hashes) - 1, -1, -1)  # reversed: the first row is written last
    first = table[slot]
    others = np.flatnonzero(hashes[first] != hashes)
    if len(others):
        first[others] = others[_first_rows(hashes[others] * SCATTER)]
    return first
