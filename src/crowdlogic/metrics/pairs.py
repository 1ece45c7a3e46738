"""How far each two annotators agree: Cohen's kappa for every pair that shares a unit, and its mean.

Nothing here is as large as units times annotators: what is counted is pairs of labels on the same unit, by sparse
matrix products. A label that repeats an (item, annotator) pair counts as a label of its own: each of a's labels meets
each of b's. Weights do not count: agreement is about what was said.

The mean of the kappas is weighted by the units that the pairs share. Its standard error is the infinitesimal jackknife
[EFRON82]: the derivative of the mean by the weight of each item, which is what the bootstrap over items gives in the
linear approximation, in one pass instead of a thousand. (Bootstrapping the pairs' tables themselves would be slow, and
wrong where pairs share few items: a resample holds copies, and so fewer different items than were shared.)

Axes: i unit, j annotator (a < b in a pair p), k class.

[COHEN60] Cohen: A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 1960.
[EFRON82] Efron: The Jackknife, the Bootstrap and Other Resampling Plans. SIAM 1982, chapter 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, Ints

ROOM = 16
"""A table is held in full when it has at most this many cells for each one that is not 0."""


@dataclass(frozen=True, eq=False)
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

    @property
    def mean_kappa(self) -> float:
        """The mean kappa of the pairs that have one, weighted by the units they share; NaN when none has.

        A pair that shares few units says little, and one that agrees on a single class throughout says nothing and is
        left out, which pulls the mean down where most pairs share only a handful.
        """
        known = np.isfinite(self.kappa)
        total = self.shared[known].sum()
        return float((self.shared[known] * self.kappa[known]).sum() / total) if total else float("nan")


@dataclass(frozen=True, eq=False)
class Cells:
    """Whole numbers in those cells of a large table that are not 0.

    Attributes:
        key: The cells' numbers, sorted.
        value: Their values.
        table: The whole table, when it is not much larger than its cells: looking up is then ten times as quick.
    """

    key: Ints
    value: Floats
    table: Floats | None

    def at(self, key: Ints) -> Floats:
        """The values of some cells."""
        if self.table is not None:
            return self.table[key]
        if not len(self.key):
            return np.zeros(len(key))
        where = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[where] == key, self.value[where], 0.0)


@dataclass(frozen=True, eq=False)
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


def pairwise(labels: CrowdLabels) -> PairTable:
    """Agreement and Cohen's kappa of every pair of annotators who share a unit."""
    return pair_table(pair_counts(labels), len(labels.annotators))


def pair_table(counts: PairCounts, n_annotators: int) -> PairTable:
    """The table of the pairs' figures."""
    a, b = np.divmod(counts.key, max(n_annotators, 1))
    s, o, e = counts.shared, counts.agreed, counts.chance
    defined = s**2 > e
    kappa = np.where(defined, (o * s - e) / np.where(defined, s**2 - e, 1.0), np.nan)
    return PairTable(a, b, s.astype(np.int64), o / s, kappa)


def pair_counts(labels: CrowdLabels) -> PairCounts:
    """Count, for every pair of annotators, what they share and how they answered there."""
    n, n_classes = len(labels.annotators), labels.n_classes
    unit, annotator, label = (column.astype(np.int64) for column in (labels.unit, labels.annotator, labels.label))
    gave = _incidence(unit, annotator, (labels.n_units, n))
    gave_class = _incidence(unit, annotator * n_classes + label, (labels.n_units, n * n_classes))
    answer = _incidence(unit * n_classes + label, annotator, (labels.n_units * n_classes, n))
    said = _cells(gave_class.T @ gave)
    shared = _cells(sparse.triu(gave.T @ gave, k=1))
    agreed = _cells(answer.T @ answer)
    place = cells(shared.key, np.arange(len(shared.key), dtype=np.float64), n * n)
    return PairCounts(shared.key, place, shared.value, agreed.at(shared.key), _chance(said, place, n, n_classes), said)


def _chance(said: Cells, place: Cells, n: int, n_classes: int) -> Floats:
    """sum_k A[p, k] B[p, k]."""
    who, other = np.divmod(said.key, max(n, 1))
    a, k = np.divmod(who, max(n_classes, 1))
    upper = a < other
    a, b, k = a[upper], other[upper], k[upper]
    product = said.value[upper] * said.at((b * n_classes + k) * n + a)
    p = place.at(a * n + b).astype(np.int64)
    return np.bincount(p, weights=product, minlength=len(place.key)).astype(np.float64)


def mean_kappa_influence(labels: CrowdLabels, counts: PairCounts) -> Floats:
    """influence[i], the derivative of the mean kappa by the weight of unit i, at all weights 1.

    With s = shared, o = agreed and e = chance, the mean is the sum of f = s (o s - e) / (s² - e) over the sum of s, and
    a unit that a labels m and b labels n adds 1 to s, [m = n] to o, and B[p, m] + A[p, n] to e.
    """
    n, n_classes = len(labels.annotators), labels.n_classes
    table = pair_table(counts, n)
    by_shared, by_agreed, by_chance = _slopes(counts)
    total = counts.shared[np.isfinite(table.kappa)].sum()
    if not total:
        return np.zeros(labels.n_units)
    by_shared = np.where(np.isfinite(table.kappa), by_shared - table.mean_kappa, 0.0)
    influence = np.zeros(labels.n_units)
    for first, second in meetings(labels):
        a, b = (labels.annotator[rows].astype(np.int64) for rows in (first, second))
        given_a, given_b = labels.label[first], labels.label[second]
        p = counts.place.at(a * n + b).astype(np.int64)
        chance = counts.said.at((b * n_classes + given_a) * n + a) + counts.said.at((a * n_classes + given_b) * n + b)
        change = by_shared[p] + by_agreed[p] * (given_a == given_b) + by_chance[p] * chance
        influence += np.bincount(labels.unit[first], weights=change, minlength=labels.n_units)
    return np.asarray(influence / total)


def _slopes(counts: PairCounts) -> tuple[Floats, Floats, Floats]:
    """The derivatives of f by s, o and e; 0 for pairs without a kappa."""
    s, o, e = counts.shared, counts.agreed, counts.chance
    defined = s**2 > e
    room = np.where(defined, s**2 - e, 1.0)
    by_shared = ((2 * o * s - e) * room - 2 * s**2 * (o * s - e)) / room**2
    by_agreed = s**2 / room
    by_chance = s**2 * (o - s) / room**2
    return np.where(defined, by_shared, 0.0), np.where(defined, by_agreed, 0.0), np.where(defined, by_chance, 0.0)


def meetings(labels: CrowdLabels) -> Iterator[tuple[Ints, Ints]]:
    """Every two rows that label one unit by different annotators, a < b, in portions no larger than the table.

    Rows are sorted by unit: the portion number d pairs each row with the one d places further on.
    """
    rows, distance = np.arange(labels.n_labels), 0
    while len(rows):
        distance += 1
        rows = rows[rows < labels.n_labels - distance]
        rows = rows[labels.unit[rows] == labels.unit[rows + distance]]
        apart = rows[labels.annotator[rows] != labels.annotator[rows + distance]]
        yield apart, apart + distance


def _incidence(row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    """A sparse table of how often each (row, column) occurs."""
    return sparse.csr_array(sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape))


def _cells(table: Any) -> Cells:
    """The cells of a sparse table, numbered row by row."""
    ordered = sparse.csr_array(table)
    ordered.sum_duplicates()
    rows = np.repeat(np.arange(ordered.shape[0], dtype=np.int64), np.diff(ordered.indptr))
    return cells(rows * ordered.shape[1] + ordered.indices, ordered.data, ordered.shape[0] * ordered.shape[1])


def cells(key: Ints, value: Floats, size: int) -> Cells:
    """Cells of a table of the given size, by their sorted numbers."""
    if size > ROOM * len(key):
        return Cells(key, value, None)
    table = np.zeros(size)
    table[key] = value
    return Cells(key, value, table)
