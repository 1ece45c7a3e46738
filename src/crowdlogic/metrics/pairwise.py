"""How far each two annotators agree: Cohen's kappa for every pair that shares a unit, and its mean.

Nothing here is as large as units times annotators: what is counted is pairs of labels on the same unit, by sparse
matrix products. A label that repeats an (item, annotator) pair counts as a label of its own: each of a's labels meets
each of b's. Weights are ignored: agreement is about the labels themselves.

The mean of the kappas is weighted by the units that the pairs share, over the pairs that share enough. Its standard
error is the infinitesimal jackknife [EFRON82]: the derivative of the mean by the weight of each item, which is what the
bootstrap over items gives in the linear approximation, in one pass instead of a thousand. (Bootstrapping the pairs'
tables themselves would be slow, and wrong where pairs share few items: a resample holds copies, and so fewer different
items than were shared.)

Axes: i unit, j annotator (a < b in a pair p), k class.

[COHEN60] Cohen: A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 1960.
[EFRON82] Efron: The Jackknife, the Bootstrap and Other Resampling Plans. SIAM 1982, chapter 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Bools, Floats, Ints, stable_order

MIN_SHARED = 10
"""Pairs that share fewer units have no part in the mean. On few units kappa is too low: for a true value near one half
by about 1 / (4 s) on s of them, 0.03 on 10; on a single one it is 0 or undefined, whatever the annotators do."""

ROOM = 8
"""A table is held in full when it has at most this many cells for each one that is not 0."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PairTable:
    """Every pair of annotators who share a unit, ordered by a, then b.

    Attributes:
        a: a[p], the code of one annotator.
        b: b[p], the code of the other; a < b.
        shared: shared[p], how many units both labelled (pairs of labels, when someone labelled a unit twice).
        agreement: agreement[p], the share of them with the same label.
        kappa: kappa[p], agreement beyond chance ([COHEN60]); NaN where both always gave one and the same class.
    """

    a: Ints
    b: Ints
    shared: Ints
    agreement: Floats
    kappa: Floats

    def __len__(self) -> int:
        return len(self.a)

    def counts(self, min_shared: int = MIN_SHARED) -> Bools:
        """counts[p], whether the pair has a kappa and shares enough units to have a part in the mean."""
        return np.isfinite(self.kappa) & (self.shared >= min_shared)

    def mean_kappa(self, min_shared: int = MIN_SHARED) -> float:
        """The mean kappa of the pairs that share enough, weighted by the units they share; NaN when none does."""
        counted = self.counts(min_shared)
        total = self.shared[counted].sum()
        return float((self.shared[counted] * self.kappa[counted]).sum() / total) if total else float("nan")


@dataclass(frozen=True, eq=False)
class Cells:
    """Whole numbers in those cells of a large table that are not 0.

    Attributes:
        key: The cells' numbers, sorted.
        value: Their values.
        table: The whole table, when it is not much larger than its cells: looking up is then much quicker.
    """

    key: Ints
    value: Ints
    table: Ints | None

    def at(self, key: Ints) -> Ints:
        """The values of some cells."""
        if self.table is not None:
            return self.table[key]
        if not len(self.key):
            return np.zeros(len(key), dtype=np.int64)
        # In sorted order the search walks through memory instead of jumping about, which is several times as quick.
        order = stable_order(key)
        where = np.empty(len(key), dtype=np.int64)
        where[order] = np.minimum(np.searchsorted(self.key, key[order]), len(self.key) - 1)
        return np.where(self.key[where] == key, self.value[where], 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class PairCounts:
    """What kappa is made of, for each pair p.

    Attributes:
        key: key[p] = a J + b, sorted.
        place: The position p of each key.
        shared: shared[p], pairs of labels on the same unit.
        agreed: agreed[p], those of them with the same class.
        chance: chance[p], sum_k A[p, k] B[p, k], with A and B how often a and b gave class k on what they share.
        said: how often j gave k on what j shares with another annotator o, at (j K + k) J + o.
    """

    key: Ints
    place: Cells
    shared: Floats
    agreed: Floats
    chance: Floats
    said: Cells


def pairwise_agreement(labels: CrowdLabels) -> PairTable:
    """Agreement and Cohen's kappa of every pair of annotators who share a unit."""
    return pair_table(pair_counts(labels), len(labels.annotators))


def pair_table(counts: PairCounts, n_annotators: int) -> PairTable:
    """The table of the pairs' figures."""
    a, b = np.divmod(counts.key, max(n_annotators, 1))
    s, o, e = counts.shared, counts.agreed, counts.chance
    defined = s**2 > e
    kappa = np.where(defined, (o * s - e) / np.where(defined, s**2 - e, 1.0), np.nan)
    return PairTable(a=a, b=b, shared=s.astype(np.int64), agreement=o / s, kappa=kappa)


def pair_counts(labels: CrowdLabels) -> PairCounts:
    """Count, for every pair of annotators, what they share and how they answered there."""
    from scipy import sparse

    n, n_classes = len(labels.annotators), labels.n_classes
    unit, annotator, label = (column.astype(np.int64) for column in (labels.unit, labels.annotator, labels.label))
    # gave[i, j] and gave_class[i, (j, k)]: products of these count pairs of labels on the same unit
    gave = _incidence(unit, annotator, (labels.n_units, n))
    gave_class = _incidence(unit, annotator * n_classes + label, (labels.n_units, n * n_classes))
    # Only the answers that were given get a row: units times classes can be many more.
    answers, answer_of_label = np.unique(unit * n_classes + label, return_inverse=True)
    answer = _incidence(answer_of_label, annotator, (len(answers), n))
    said = _sparse_cells(gave_class.T @ gave)
    shared = _sparse_cells(sparse.triu(gave.T @ gave, k=1))
    agreed = _sparse_cells(answer.T @ answer)
    place = make_cells(shared.key, np.arange(len(shared.key)), n * n)
    shared_by, agreed_by = (counts.astype(np.float64) for counts in (shared.value, agreed.at(shared.key)))
    return PairCounts(
        key=shared.key,
        place=place,
        shared=shared_by,
        agreed=agreed_by,
        chance=_chance(said, place, n, n_classes),
        said=said,
    )


def _chance(said: Cells, place: Cells, n: int, n_classes: int) -> Floats:
    """sum_k A[p, k] B[p, k]."""
    who, other = np.divmod(said.key, max(n, 1))
    a, k = np.divmod(who, max(n_classes, 1))
    upper = a < other
    a, b, k = a[upper], other[upper], k[upper]
    product = said.value[upper].astype(np.float64) * said.at((b * n_classes + k) * n + a)
    return np.bincount(place.at(a * n + b), weights=product, minlength=len(place.key)).astype(np.float64)


def mean_kappa_influence(labels: CrowdLabels, counts: PairCounts, *, min_shared: int = MIN_SHARED) -> Floats:
    """influence[i], the derivative of the mean kappa by the weight of unit i, at all weights 1.

    With s = shared, o = agreed and e = chance, the mean is the sum of f = s (o s - e) / (s² - e) over the sum of s, and
    a unit that a labels m and b labels n adds 1 to s, [m = n] to o, and B[p, m] + A[p, n] to e.
    """
    n, n_classes = len(labels.annotators), labels.n_classes
    table = pair_table(counts, n)
    counted = table.counts(min_shared)
    influence = np.zeros(labels.n_units)
    if not counted.any():
        return influence
    by_shared, by_agreed, by_chance = (np.where(counted, slope, 0.0) for slope in _slopes(counts))
    by_shared -= np.where(counted, table.mean_kappa(min_shared), 0.0)
    for first, second in label_pairs(labels):
        a, b = (labels.annotator[rows].astype(np.int64) for rows in (first, second))
        given_a, given_b = labels.label[first], labels.label[second]
        p = counts.place.at(a * n + b)
        chance = counts.said.at((b * n_classes + given_a) * n + a) + counts.said.at((a * n_classes + given_b) * n + b)
        change = by_shared[p] + by_agreed[p] * (given_a == given_b) + by_chance[p] * chance
        influence += np.bincount(labels.unit[first], weights=change, minlength=labels.n_units)
    return np.asarray(influence / counts.shared[counted].sum())


def _slopes(counts: PairCounts) -> tuple[Floats, Floats, Floats]:
    """The derivatives of f by s, o and e; anything for pairs without a kappa."""
    s, o, e = counts.shared, counts.agreed, counts.chance
    room = np.where(s**2 > e, s**2 - e, 1.0)
    by_shared = ((2 * o * s - e) * room - 2 * s**2 * (o * s - e)) / room**2
    by_agreed = s**2 / room
    by_chance = s**2 * (o - s) / room**2
    return by_shared, by_agreed, by_chance


def label_pairs(labels: CrowdLabels) -> Iterator[tuple[Ints, Ints]]:
    """Every two rows that label one unit by different annotators, a < b, in portions no larger than the table.

    Rows are sorted by unit: the portion number d pairs each row with the one d places further on.
    """
    rows, distance = np.arange(labels.n_labels), 0
    while len(rows):
        distance += 1
        rows = rows[rows < labels.n_labels - distance]
        rows = rows[labels.unit[rows] == labels.unit[rows + distance]]
        pairs = rows[labels.annotator[rows] != labels.annotator[rows + distance]]
        yield pairs, pairs + distance


def _incidence(row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    """A sparse table of how often each (row, column) occurs."""
    from scipy import sparse

    return sparse.csr_array(sparse.coo_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=shape))


def _sparse_cells(table: Any) -> Cells:
    """The cells of a sparse table, numbered row by row."""
    from scipy import sparse

    ordered = sparse.csr_array(table)
    ordered.sum_duplicates()
    rows = np.repeat(np.arange(ordered.shape[0], dtype=np.int64), np.diff(ordered.indptr))
    return make_cells(rows * ordered.shape[1] + ordered.indices, ordered.data, ordered.shape[0] * ordered.shape[1])


def make_cells(key: Ints, value: Ints, size: int) -> Cells:
    """Cells of a table of the given size, by their sorted numbers."""
    if size > ROOM * len(key):
        return Cells(key, value, None)
    table: Ints = np.zeros(size, dtype=np.int32 if value.max(initial=0) < 1 << 31 else np.int64)
    table[key] = value
    return Cells(key, value, table)
