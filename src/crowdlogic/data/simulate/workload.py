"""Who labels what, and when: long-tailed activity, distinct annotators per item, times.

Axes: i item (here always a whole document or sequence), j annotator; p a pair of both.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints

STREAM_ROUNDS = 3
"""After so many rounds of drawing, the few items that still lack annotators get them by a race."""
RACE_CELLS = 1 << 22
"""How many (item, annotator) cells a race holds in memory at once: 32 MB."""
EPOCH = 1_704_067_200.0
"""1 January 2024, when the first simulated annotators begin."""
RECRUITING = 14 * 24 * 3600.0
"""Annotators begin at any time within these two weeks."""


def long_tailed_activity(rng: np.random.Generator, annotators: int, exponent: float) -> Floats:
    """activity[j], shares that fall like rank^-exponent (Zipf); 0 makes all alike. The ranks are dealt at random."""
    activity = np.arange(1, annotators + 1, dtype=np.float64) ** -exponent
    return rng.permutation(activity / activity.sum())


def draw_counts(rng: np.random.Generator, items: int, annotators: int, mean: float) -> Ints:
    """n[i], how many annotators each item gets: 1 to all of them, with exactly the given mean in expectation."""
    if annotators == 1:
        return np.ones(items, dtype=np.int64)
    return 1 + rng.binomial(annotators - 1, (mean - 1) / (annotators - 1), size=items)


def draw_pairs(rng: np.random.Generator, counts: Ints, activity: Floats) -> tuple[Ints, Ints]:
    """item[p], annotator[p]: for each item the given number of distinct annotators, the active ones more often.

    Each item gets the first so many distinct annotators of a stream in which annotator j turns up at rate activity[j].
    The stream is drawn for all items at once; where the last ones are long in coming, waiting for each annotator's
    first arrival (independent exponential times) is the same distribution at a bounded cost.
    """
    annotators = len(activity)
    keys = np.empty(0, dtype=np.int64)
    arrivals = np.cumsum(activity) / activity.sum()
    for _ in range(STREAM_ROUNDS):
        item = np.repeat(np.arange(len(counts)), counts - np.bincount(keys // annotators, minlength=len(counts)))
        drawn = np.minimum(np.searchsorted(arrivals, rng.random(len(item)), side="right"), annotators - 1)
        keys = _distinct_keys(np.concatenate([keys, item * annotators + drawn]))
    missing = counts - np.bincount(keys // annotators, minlength=len(counts))
    late = _draw_latecomers(rng, keys, missing, activity)
    keys = np.sort(np.concatenate([keys, late]))
    return keys // annotators, keys % annotators


def _distinct_keys(keys: Ints) -> Ints:
    """The distinct keys, sorted; sorting is several times quicker here than np.unique's hashing."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _draw_latecomers(rng: np.random.Generator, keys: Ints, missing: Ints, activity: Floats) -> Ints:
    """The further keys of the items that miss some: of the annotators not there yet, those who arrive first."""
    annotators = len(activity)
    short = np.flatnonzero(missing)
    row_of = np.full(len(missing), -1, dtype=np.int64)
    found = [np.empty(0, dtype=np.int64)]
    for block in np.array_split(short, max(1, -(-len(short) * annotators // RACE_CELLS))):
        row_of[block] = np.arange(len(block))
        arrival = rng.exponential(size=(len(block), annotators)) / activity
        there = keys[row_of[keys // annotators] >= 0]
        arrival[row_of[there // annotators], there % annotators] = np.inf
        rank = arrival.argsort(axis=1).argsort(axis=1)
        row, annotator = np.nonzero(rank < missing[block, None])
        found.append(block[row] * annotators + annotator)
        row_of[block] = -1
    return np.concatenate(found)


def annotator_progress(rng: np.random.Generator, annotator: Ints, annotators: int) -> tuple[Ints, Ints]:
    """place[p], when in an annotator's own (random) order pair p was done, from 0; and count[j], how many each did."""
    order = np.lexsort((rng.random(len(annotator)), annotator))
    count = np.bincount(annotator, minlength=annotators)
    first = np.cumsum(count) - count
    place = np.empty(len(annotator), dtype=np.int64)
    place[order] = np.arange(len(annotator)) - first[annotator[order]]
    return place, count


def label_times(rng: np.random.Generator, annotator: Ints, place: Ints, count: Ints, *, pace: float) -> Floats:
    """time[p] in seconds since 1970: each annotator begins some day and works on, `pace` seconds a label on average."""
    begin = EPOCH + rng.uniform(0, RECRUITING, size=len(count))
    gaps = rng.exponential(pace, size=len(annotator))
    order = np.lexsort((place, annotator))
    elapsed = np.cumsum(gaps)
    first = np.cumsum(count) - count
    before = np.concatenate([[0.0], elapsed])[first]
    time = np.empty(len(annotator))
    time[order] = begin[annotator[order]] + elapsed - before[annotator[order]]
    return time
