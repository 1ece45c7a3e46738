"""The hidden states of layers that are not trained, computed once for each text and kept in memory.

They depend on the frozen weights and the word pieces alone, so every epoch, every pass and every classifier of this
process with the same frozen weights takes them from here. Only so much memory is used: what was not asked for longest
is dropped, and a corpus whose states would not fit is recomputed batch by batch.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

LIMIT = 2**30
"""Bytes of hidden states that are kept in all."""

States = NDArray[np.floating[Any]]
"""states[i, d], the hidden state at every position of a corpus."""


class StateCache:
    """Arrays by key, up to a limit of bytes: those used last are kept."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self._held: OrderedDict[bytes, States] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return sum(array.nbytes for array in self._held.values())

    def get(self, key: bytes, size: int, compute: Callable[[], States]) -> States | None:
        """The array of a key, computed if it is not there; None if it would need more than the limit.

        Args:
            key: What the array depends on.
            size: Its number of bytes.
            compute: Computes it.
        """
        if size > self.limit:
            return None
        if key not in self._held:
            while self._held and self.size + size > self.limit:
                self._held.popitem(last=False)
            self._held[key] = compute()
        self._held.move_to_end(key)
        return self._held[key]


CACHE = StateCache()
"""The states of this process."""


def digest(arrays: Iterable[NDArray[Any]]) -> bytes:
    """A key of the content of arrays."""
    found = hashlib.blake2b(digest_size=16)
    for array in arrays:
        found.update(f"{array.dtype} {array.shape} ".encode())
        found.update(np.ascontiguousarray(array).view(np.uint8).data)
    return found.digest()
