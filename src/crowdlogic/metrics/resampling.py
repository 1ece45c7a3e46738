"""The bootstrap of sums over items, without touching the items again.

A statistic that is a function of sums over items needs, for a resample, only how often each kind of item was drawn.
Items that add the same row to the sums are one block, and a resample is a multinomial draw over blocks: exact, and as
cheap as the number of different rows, however many items there are.

Axes: b block, r replicate, d column of a row.

[ET93] Efron, Tibshirani: An Introduction to the Bootstrap. Chapman & Hall 1993, chapters 6 and 13.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints

PORTION = 1 << 21
"""How many draws (replicates times blocks) are held at a time: 16 MB."""

FEW = 16
"""A multinomial draw costs about this many times as much per block as drawing and counting costs per item."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Items grouped by what they add.

    Attributes:
        rows: rows[b, d], what one item of block b adds to the sums.
        frequency: frequency[b], how many such items there are.
    """

    rows: Floats
    frequency: Ints


def distinct_rows(counts: Ints) -> tuple[Ints, Ints]:
    """The different rows of a table of whole numbers of 0 or more, and how often each occurs.

    Rows become numbers in a mixed base, column by column; where these would outgrow 64 bits they are ranked first.
    """
    code = np.zeros(len(counts), dtype=np.int64)
    for column in counts.T:
        base = int(column.max(initial=0)) + 1
        if (int(code.max(initial=0)) + 1) * base >= 1 << 62:
            code = np.unique(code, return_inverse=True)[1]
        code = code * base + column
    _, first, frequency = np.unique(code, return_index=True, return_counts=True)
    return counts[first], frequency


def resample_sums(blocks: Blocks, replicates: int, rng: np.random.Generator) -> Floats:
    """sums[r, d] over items drawn with replacement, as many as there are.

    Fewer than two items cannot be resampled: then there are no replicates.
    """
    n, size = int(blocks.frequency.sum()), len(blocks.frequency)
    if n < 2:
        return np.empty((0, blocks.rows.shape[1]))
    at_a_time = max(PORTION // size, 1)
    draw = _draw_blocks if FEW * size < n else _draw_items
    portions = [min(at_a_time, replicates - done) for done in range(0, replicates, at_a_time)]
    sums = [draw(blocks.frequency, portion, rng) @ blocks.rows for portion in portions]
    return np.concatenate([np.empty((0, blocks.rows.shape[1])), *sums])


def _draw_blocks(frequency: Ints, replicates: int, rng: np.random.Generator) -> Floats:
    """drawn[r, b], how often block b is drawn, all at once."""
    return rng.multinomial(frequency.sum(), frequency / frequency.sum(), size=replicates).astype(np.float64)


def _draw_items(frequency: Ints, replicates: int, rng: np.random.Generator) -> Floats:
    """The same, item by item: quicker where most blocks hold few items."""
    block = np.repeat(np.arange(len(frequency)), frequency)
    drawn = np.empty((replicates, len(frequency)))
    for r in range(replicates):
        drawn[r] = np.bincount(block[rng.integers(len(block), size=len(block))], minlength=len(frequency))
    return drawn
