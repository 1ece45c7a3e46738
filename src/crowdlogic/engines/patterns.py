"""Patterns: units with the same labels of the same annotators are one unit that counts many times.

Posteriors depend on a unit's labels alone, and statistics are sums over units, so units with equal labels need be
computed once. Where few annotators label everything, millions of units are a few thousand patterns.

A pattern is a number: the digit of annotator j is the label that j gave, plus one, in base K + 1. So it is exact, and
there are none where the number would not fit, where an annotator labelled a unit twice, or where labels have weights.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import Shards, make_shards
from crowdlogic.engines.sweeps import LARGE as COMPILED
from crowdlogic.numerics.arrays import Floats, Ints

LARGE = 100_000
"""From this many labels on, patterns are looked for."""

PAYS = 8
"""How many units a pattern must stand for on average: with fewer, finding them costs more than it saves."""

SAMPLE = 5_000
"""How many units are looked at first."""

DENSE = 1 << 22
"""Up to so many possible patterns, they are counted in a table; beyond, by sorting."""

MOST = 2.0**62
"""The largest number that a pattern can be."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns of some units.

    Attributes:
        unit: unit[p], the first unit with the labels of pattern p.
        times: times[p], how many units have them.
        pattern: pattern[i], the pattern of each unit.
    """

    unit: Ints
    times: Floats
    pattern: Ints

    def __len__(self) -> int:
        return len(self.unit)


def find_patterns(labels: CrowdLabels, fixed: Ints | None = None) -> Patterns | None:
    """The patterns of labels of single items; None where there are no such numbers.

    Args:
        labels: The labels.
        fixed: fixed[i], the class that a unit is known to be of, or -1; units of one pattern agree in it, too.
    """
    codes = _pattern_codes(labels, np.empty(0, dtype=np.int32) if fixed is None else fixed)
    if codes is None:
        return None
    n_codes = int(codes.max(initial=-1)) + 1
    if n_codes > DENSE:
        _, unit, pattern, times = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return Patterns(unit, times.astype(np.float64), pattern)
    counts = np.bincount(codes, minlength=n_codes)
    found = np.flatnonzero(counts)
    position = np.zeros(n_codes, dtype=np.int32)
    position[found] = np.arange(len(found), dtype=np.int32)
    first = np.empty(n_codes, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last write is the first unit
    return Patterns(first[found], counts[found].astype(np.float64), position[codes])


def paying_patterns(labels: CrowdLabels, fixed: Ints | None = None) -> Patterns | None:
    """The patterns, where there are so few of them that to compute each once pays; else None."""
    if labels.n_labels < LARGE or not _is_packable(labels):
        return None
    if labels.n_units > SAMPLE:  # a sample of the units, spread over all, has hardly fewer patterns than it has units
        sample = np.linspace(0, labels.n_units - 1, SAMPLE).astype(np.int64)
        if len(np.unique(_sample_codes(labels, sample))) * 2 > SAMPLE:
            return None
    found = find_patterns(labels, fixed)
    return found if found is not None and len(found) * PAYS <= labels.n_units else None


def pattern_shards(
    labels: CrowdLabels, times: Floats, *, fixed: Ints | None = None, compiled: bool | None = None
) -> Shards:
    """The engine over patterns: labels of which each unit stands for many.

    Args:
        labels: The labels of each pattern.
        times: times[p], how many units it stands for.
        fixed: fixed[p], the class that its units are known to be of, or -1.
        compiled: Whether to use the compiled kernels.
    """
    whole = make_shards(labels, threads=1, compiled=compiled, partial=True)
    known = np.empty(0, dtype=np.int32) if fixed is None else fixed
    parts = [replace(part, times=times, fixed=known) for part in whole.parts]
    n_labels = int(times @ labels.labels_per_unit())
    # Whether to compile is decided by what is computed, and not by what it stands for
    small = labels.n_labels * max(labels.n_classes, 1) < COMPILED and compiled is None
    return replace(whole, parts=parts, n_labels=n_labels, compiled=False if small else compiled)


def _is_packable(labels: CrowdLabels) -> bool:
    base, size = 2 * labels.n_classes + 1, len(labels.annotators)
    single = labels.weight is None and labels.offsets is None
    return single and (size + 1) * np.log2(base) < np.log2(MOST)


def _pattern_codes(labels: CrowdLabels, fixed: Ints) -> Ints | None:
    """code[i], the labels of each unit as one number; None where there is none."""
    if not _is_packable(labels):
        return None
    repeated = (labels.unit[1:] == labels.unit[:-1]) & (labels.annotator[1:] == labels.annotator[:-1])
    if repeated.any():
        return None
    codes = np.zeros(labels.n_units, dtype=np.int64)
    starts = np.flatnonzero(np.diff(labels.unit, prepend=-1))
    if len(starts):
        codes[labels.unit[starts]] = np.add.reduceat(_digits(labels), starts)
    if len(fixed):
        codes = codes * np.int64(labels.n_classes + 1) + (fixed + 1)
    return codes


def _digits(labels: CrowdLabels, rows: Ints | slice = slice(None)) -> Ints:
    """What each label adds to the number of its unit."""
    partial = labels.negated is not None
    base = (2 if partial else 1) * labels.n_classes + 1
    place = np.int64(base) ** np.arange(len(labels.annotators), dtype=np.int64)
    digit = labels.label[rows] + np.int64(1)
    if labels.negated is not None:
        digit = digit + labels.n_classes * labels.negated[rows]
    return np.asarray(place[labels.annotator[rows]] * digit)


def _sample_codes(labels: CrowdLabels, units: Ints) -> Ints:
    """The numbers of some units, which are sorted."""
    begin, end = np.searchsorted(labels.unit, units), np.searchsorted(labels.unit, units, side="right")
    rows = np.concatenate([np.arange(a, b) for a, b in zip(begin, end, strict=True)] or [np.empty(0, np.int64)])
    owner = np.repeat(np.arange(len(units)), end - begin)
    codes = np.zeros(len(units), dtype=np.int64)
    np.add.at(codes, owner, _digits(labels, rows))
    return codes
