"""Array types of signatures, read-only views and stable sorting."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.signedinteger[Any]]
Bools: TypeAlias = NDArray[np.bool_]

AnyArray = TypeVar("AnyArray", bound=NDArray[Any])


def read_only(array: AnyArray) -> AnyArray:
    """A read-only view of an array, for the fields of frozen dataclasses."""
    view = array.view()
    view.flags.writeable = False
    return view


def stable_order(key: Ints) -> Ints:
    """The permutation that sorts non-negative integers; equal ones keep their order.

    Numbers below 2^32 are sorted by their lower and then their upper 16 bits, which numpy does by counting; where the
    upper ones are in order already, as in a table that goes item by item, by runs. Larger ones are packed with their
    position into one integer, where both fit: that is quicker to sort than `argsort` is.
    """
    bits = max(len(key) - 1, 1).bit_length()
    largest = int(key.max(initial=0))
    if largest < 1 << 32:
        return _order_by_halves(key.astype(np.uint32))
    if largest >= 1 << (62 - bits):
        return np.argsort(key, kind="stable")
    packed = key.astype(np.int64)  # a copy, changed in place: at ten million rows every further copy takes 80 MB
    packed <<= bits
    packed |= np.arange(len(key))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def _order_by_halves(key: NDArray[np.uint32]) -> Ints:
    upper = (key >> 16).astype(np.uint16)
    if (upper[1:] >= upper[:-1]).all():
        return np.argsort(key, kind="stable")
    by_lower = np.argsort(key.astype(np.uint16), kind="stable")  # the lower half: the rest is cut off
    return np.asarray(by_lower[np.argsort(upper[by_lower], kind="stable")])
