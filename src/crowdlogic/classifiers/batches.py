"""Mini-batches of sequences of like length: little padding, and still a new mixture every epoch.

The order is drawn anew, cut into pools of many batches, and each pool is sorted by length; batches then come in random
order. So a batch holds sequences of nearly one length, and which ones are together changes from epoch to epoch.

Axes: s sequence, t place within a sequence.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowdlogic.numerics.arrays import Bools, Ints

POOL = 32
"""Batches that are sorted together. More means less padding; fewer, more mixing."""


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
    """Every sequence once, shortest first, in batches of at most about `cells` places with their padding."""
    order = np.argsort(lengths, kind="stable")
    begin = 0
    while begin < len(order):
        # sorted, so the last one of a batch is its longest
        end = begin + 1
        while end < len(order) and (end + 1 - begin) * max(int(lengths[order[end]]), 1) <= cells:
            end += 1
        yield order[begin:end]
        begin = end


def padded(rows: Ints, offsets: Ints, sequences: Ints, *, least: int = 1) -> tuple[Ints, Bools]:
    """rows[s, t] of some sequences and which places are real; what is not holds 0.

    Args:
        rows: rows[i], a whole number for every unit.
        offsets: Where each sequence begins.
        sequences: Which sequences.
        least: The least number of places, for a network that needs some.
    """
    lengths = offsets[sequences + 1] - offsets[sequences]
    place = np.arange(max(int(lengths.max(initial=0)), least))
    real = place < lengths[:, None]
    unit = np.minimum(offsets[sequences][:, None] + place, max(len(rows) - 1, 0))
    return np.where(real, rows[unit] if len(rows) else 0, 0), real
