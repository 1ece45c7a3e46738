"""Mini-batches of sequences of like length: little padding, and still a new mixture every epoch.

The order is drawn anew, cut into pools of many batches, and each pool is sorted by length; batches then come in random
order. So a batch holds sequences of nearly one length, and which ones are together changes from epoch to epoch.

Axes: s sequence, t place within a sequence, i place in the text of all sequences.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowdlogic.numerics.arrays import Bools, Ints

POOL = 32
"""Batches that are sorted together. More means less padding; fewer, more mixing."""
NO_UNIT = -1
"""The unit of a place that is none: a mark that a network wants, or a word's second piece."""


def shuffled_batches(lengths: Ints, size: int, rng: np.random.Generator, *, among: Ints | None = None) -> list[Ints]:
    """Every sequence (or every one `among` them) once, in batches of `size` of like length, in random order."""
    order = rng.permutation(np.arange(len(lengths)) if among is None else among)
    batches: list[Ints] = []
    for begin in range(0, len(order), size * POOL):
        pool = order[begin : begin + size * POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[first : first + size] for first in range(0, len(pool), size)]
    return [batches[b] for b in rng.permutation(len(batches))]


def sorted_batches(lengths: Ints, cells: int) -> Iterator[Ints]:
    """Every sequence once, shortest first, in batches of at most `cells` places with their padding (or of one)."""
    order = np.argsort(lengths, kind="stable")
    width = np.maximum(lengths[order], 1)
    begin = 0
    while begin < len(order):
        # Sorted, so the last sequence of a batch is its longest, and its size grows with every one that joins.
        size = np.arange(1, min(len(order) - begin, cells) + 1) * width[begin : begin + cells]
        end = begin + max(int(np.searchsorted(size, cells, side="right")), 1)
        yield order[begin:end]
        begin = end


def padded_places(offsets: Ints, sequences: Ints) -> tuple[Ints, Bools]:
    """at[s, t], where each place of some sequences stands in the text of all, and which places are real.

    There is one place at least, and one that is not real is at 0: an index that is always good when there is any text.
    """
    lengths = offsets[sequences + 1] - offsets[sequences]
    place = np.arange(max(int(lengths.max(initial=0)), 1))
    real = place < lengths[:, None]
    return np.where(real, offsets[sequences][:, None] + place, 0), real
