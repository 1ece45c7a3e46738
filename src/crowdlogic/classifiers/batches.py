"""Mini-batches of sequences of similar length: little padding, and new batches in every epoch.

All sequences are shuffled and cut into pools of many batches; each pool is sorted by length and cut into batches, which
are then shuffled. So a batch holds sequences of nearly equal length, and its composition changes between epochs.

Axes: s sequence, t position within a sequence, i position in the concatenation of all sequences.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crowdlogic.numerics.arrays import Bools, Ints

POOL = 32
"""Number of batches that are sorted together. A larger pool means less padding, a smaller one more mixing."""
NO_UNIT = -1
"""The unit of a position that has none: a special token, or a word piece after the first of its word."""


def shuffled_batches(
    lengths: Ints, size: int, rng: np.random.Generator, *, among: Ints | None = None, max_positions: int = 0
) -> list[Ints]:
    """Every sequence (or every one of `among`) once, in batches of `size` sequences of similar length.

    Args:
        lengths: lengths[s] of each sequence.
        size: Number of sequences in a batch.
        rng: What shuffles.
        among: The sequences to take; all if not given.
        max_positions: Maximum size of a batch with padding, so that long sequences make small batches; 0 for any.
    """
    order = rng.permutation(np.arange(len(lengths)) if among is None else among)
    batches: list[Ints] = []
    for begin in range(0, len(order), size * POOL):
        pool = order[begin : begin + size * POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        whole = [pool[first : first + size] for first in range(0, len(pool), size)]
        batches += [part for batch in whole for part in _cut(batch, int(lengths[batch[-1]]), max_positions)]
    return [batches[b] for b in rng.permutation(len(batches))]


def _cut(batch: Ints, longest: int, max_positions: int) -> list[Ints]:
    """A batch in parts of at most `max_positions` with padding (or of one sequence); whole if that is 0."""
    most = max(max_positions // max(longest, 1), 1) if max_positions else len(batch)
    return [batch[first : first + most] for first in range(0, len(batch), most)]


def sorted_batches(lengths: Ints, max_positions: int) -> Iterator[Ints]:
    """Every sequence once, shortest first, in batches of at most `max_positions` with padding (or of one sequence)."""
    order = np.argsort(lengths, kind="stable")
    width = np.maximum(lengths[order], 1)
    begin = 0
    while begin < len(order):
        # size[b] is the padded size of the next b + 1 sequences: they are sorted, so the last of them is the longest.
        size = np.arange(1, min(len(order) - begin, max_positions) + 1) * width[begin : begin + max_positions]
        end = begin + max(int(np.searchsorted(size, max_positions, side="right")), 1)
        yield order[begin:end]
        begin = end


def padded_positions(offsets: Ints, sequences: Ints) -> tuple[Ints, Bools]:
    """The indices of some sequences' positions in the concatenation of all.

    Returns:
        at[s, t], 0 for padding, and mask[s, t], False for padding. There is at least one column.
    """
    lengths = offsets[sequences + 1] - offsets[sequences]
    position = np.arange(max(int(lengths.max(initial=0)), 1))
    mask = position < lengths[:, None]
    return np.where(mask, offsets[sequences][:, None] + position, 0), mask
