"""Coefficients of agreement among annotators, with intervals.

Every coefficient is computed from n[i, k], the number of labels k of unit i, except Cohen's kappa, which compares pairs
of annotators. Repeated labels of an (item, annotator) pair count, and weights are ignored. For sequences, the units are
tokens, and whole sequences are resampled, since the tokens of a sentence are not independent.

- observed: the share of agreeing pairs among the labels of a unit, averaged over the units with at least two labels;
- alpha: Krippendorff's, for nominal data [KRIPP11];
- fleiss: Fleiss' kappa [FLEISS71] for any number of labels per unit, as [GWET14] generalises it: the chance of a class
  is the mean over all labelled units of its share among the unit's labels;
- ac1: Gwet's AC1 [GWET08], with the same chances; its number of classes is that of the label set, used or not;
- cohen: the mean of Cohen's kappa over the pairs of annotators who share enough units, weighted by these.

The interval is the percentile interval of the bootstrap over items, without resamples in which a coefficient is
undefined. For cohen, it is the normal interval by the infinitesimal jackknife over items (see below).

Axes: i unit, k class, s sequence, b block (units or sequences with equal counts), r replicate.

[KRIPP11] Krippendorff: Computing Krippendorff's alpha-reliability. University of Pennsylvania 2011.
[FLEISS71] Fleiss: Measuring nominal scale agreement among many raters. Psychological Bulletin 76, 1971.
[GWET08] Gwet: Computing inter-rater reliability and its variance in the presence of high agreement. BJMSP 61, 2008.
[GWET14] Gwet: Handbook of Inter-Rater Reliability, 4th edition, 2014, chapter 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from crowdlogic.data.frames import as_labels
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints

# Pairwise agreement: Cohen's kappa for every pair of annotators who share a unit, and its mean.
#
# Pairs of labels on the same unit are counted by sparse matrix products, so no array has the size units x annotators.
# If an annotator labelled an item several times, each label counts: every label of a is compared with every label of b.
# Weights are ignored, since agreement is about the labels themselves.
#
# The mean of the kappas is over pairs that share enough units, weighted by the number of these units. Its standard
# error is that of the infinitesimal jackknife [EFRON82]: the derivative of the mean by the weight of each item. This is
# the linear approximation of the bootstrap over items, in one pass instead of a thousand. (Bootstrapping the tables of
# the pairs would be slow, and biased for pairs with few common items: a resample contains copies, and so fewer distinct
# items.)
#
# Axes: i unit, j annotator (a < b in a pair p), k class.
#
# [COHEN60] Cohen: A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 1960.
# [EFRON82] Efron: The Jackknife, the Bootstrap and Other Resampling Plans. SIAM 1982, chapter 6.

MIN_SHARED = 10
"""Minimum number of shared units for a pair to count in the mean. With few units, kappa is biased downwards: for a true
value near 0.5, by about 1 / (4 s) with s units, or 0.03 with 10. With a single unit it is always 0 or undefined."""

MAX_LABEL_PAIRS, MAX_PAIR_CELLS = 500_000_000, 20_000_000
"""Maximum number of pairs of labels of the same unit, and of pairs of annotators times classes, that are compared
within agreement; more for many labels (see `_has_too_many_pairs`)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PairTable:
    """Table of all pairs of annotators who share a unit, sorted by a, then b.

    Attributes:
        a: a[p], the code of one annotator.
        b: b[p], the code of the other; a < b.
        shared: shared[p], the number of units that both labelled (or of pairs of labels, with repeated labels).
        agreed: agreed[p], the number of these units with equal labels.
        chance: chance[p], sum_k A[p, k] B[p, k], where A and B count how often a and b gave class k to shared units.
        place: place[a, b], sparse: the position of each pair.
        said: said[j K + k, o], sparse: how often j gave k to units shared with another annotator o.
    """

    a: Ints
    b: Ints
    shared: Ints
    agreed: Ints
    chance: Floats
    place: Any
    said: Any

    @property
    def agreement(self) -> Floats:
        """Return agreement[p], the share of the shared units with equal labels."""
        return np.asarray(self.agreed / self.shared)

    @cached_property
    def kappa(self) -> Floats:
        """Return kappa[p], agreement beyond chance ([COHEN60]); NaN if both always gave the same single class."""
        s, o, e = self.shared.astype(np.float64), self.agreed, self.chance
        defined = s**2 > e
        return np.where(defined, (o * s - e) / np.where(defined, s**2 - e, 1.0), np.nan)

    def __len__(self) -> int:
        return len(self.a)

    def counts(self, min_shared: int = MIN_SHARED) -> Bools:
        """Return counts[p], whether the pair has a kappa and shares enough units to count in the mean."""
        return np.isfinite(self.kappa) & (self.shared >= min_shared)

    def mean_kappa(self, min_shared: int = MIN_SHARED) -> float:
        """Return the mean kappa of pairs with enough shared units, weighted by their number; NaN if there are none."""
        counted = self.counts(min_shared)
        total = self.shared[counted].sum()
        return float((self.shared[counted] * self.kappa[counted]).sum() / total) if total else float("nan")


def pairwise_agreement(labels: CrowdLabels) -> PairTable:
    """Return agreement and Cohen's kappa of every pair of annotators who share a unit."""
    from scipy import sparse

    def incidence(row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
        """Return a sparse table of how often each (row, column) occurs."""
        return sparse.csr_matrix((np.ones(len(row), dtype=np.int64), (row, column)), shape=shape)

    n, n_classes = len(labels.annotators), labels.n_classes
    unit, annotator, label = (column.astype(np.int64) for column in (labels.unit, labels.annotator, labels.label))
    # gave[i, j] and gave_class[i, j K + k]: products of these count pairs of labels on the same unit
    gave = incidence(unit, annotator, (labels.n_units, n))
    gave_class = incidence(unit, annotator * n_classes + label, (labels.n_units, n * n_classes))
    # Only the answers that were given get a row: units times classes can be many more.
    answers, answer_of_label = np.unique(unit * n_classes + label, return_inverse=True)
    answer = incidence(answer_of_label, annotator, (len(answers), n))
    said = (gave_class.T @ gave).tocsr()
    shared = sparse.triu(gave.T @ gave, k=1, format="csr")
    for table in (said, shared):
        table.sort_indices()
    pairs = shared.tocoo()
    a, b = pairs.row.astype(np.int64), pairs.col.astype(np.int64)
    place = sparse.csr_matrix((np.arange(len(a)), shared.indices, shared.indptr), shape=shared.shape)
    # chance[p] = sum over k of said[a K + k, b] said[b K + k, a]
    who, other = said.tocoo().row.astype(np.int64), said.indices
    upper = who // max(n_classes, 1) < other
    first, k = np.divmod(who[upper], max(n_classes, 1))
    product = said.data[upper] * look_up(said, other[upper] * n_classes + k, first)
    chance = np.bincount(look_up(place, first, other[upper]), weights=product, minlength=len(a)).astype(np.float64)
    agreed = look_up((answer.T @ answer).tocsr(), a, b)
    return PairTable(a=a, b=b, shared=pairs.data, agreed=agreed, chance=chance, place=place, said=said)


def look_up(table: Any, row: Ints, column: Ints) -> Ints:
    """Return some entries of a sparse table."""
    return np.asarray(table[row, column]).ravel() if len(row) else np.zeros(0, dtype=np.int64)


def mean_kappa_influence(labels: CrowdLabels, table: PairTable, *, min_shared: int = MIN_SHARED) -> Floats:
    """Return influence[i], the derivative of the mean kappa by the weight of unit i, at all weights 1.

    With s = shared, o = agreed and e = chance, the mean is the sum of f = s (o s - e) / (s² - e) over the sum of s, and
    a unit that a labels m and b labels n adds 1 to s, [m = n] to o, and B[p, m] + A[p, n] to e.
    """
    n_classes = labels.n_classes
    counted = table.counts(min_shared)
    influence = np.zeros(labels.n_units)
    if not counted.any():
        return influence
    # The derivatives of f by s, o and e, and that of the mean by s; 0 for pairs that do not count
    s, o, e = table.shared.astype(np.float64), table.agreed, table.chance
    room = np.where(s**2 > e, s**2 - e, 1.0)
    by_shared = ((2 * o * s - e) * room - 2 * s**2 * (o * s - e)) / room**2 - table.mean_kappa(min_shared)
    by_shared, by_agreed, by_chance = (
        np.where(counted, slope, 0.0) for slope in (by_shared, s**2 / room, s**2 * (o - s) / room**2)
    )
    for first, second in label_pairs(labels):
        a, b = (labels.annotator[rows].astype(np.int64) for rows in (first, second))
        given_a, given_b = labels.label[first], labels.label[second]
        p = look_up(table.place, a, b)
        chance = look_up(table.said, b * n_classes + given_a, a) + look_up(table.said, a * n_classes + given_b, b)
        change = by_shared[p] + by_agreed[p] * (given_a == given_b) + by_chance[p] * chance
        influence += np.bincount(labels.unit[first], weights=change, minlength=labels.n_units)
    return np.asarray(influence / table.shared[counted].sum())


def label_pairs(labels: CrowdLabels) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of rows that label one unit by different annotators, a < b, in portions no larger than the table.

    Rows are sorted by unit; portion number d pairs each row with the row d positions later.
    """
    rows, distance = np.arange(labels.n_labels), 0
    while len(rows):
        distance += 1
        rows = rows[rows < labels.n_labels - distance]
        rows = rows[labels.unit[rows] == labels.unit[rows + distance]]
        pairs = rows[labels.annotator[rows] != labels.annotator[rows + distance]]
        yield pairs, pairs + distance


# Bootstrap of sums over items, without another pass over the items.
#
# If a statistic is a function of sums over items, a resample only needs to know how often each kind of item was drawn.
# Items that add the same row to the sums form a block, and a resample is a multinomial draw over blocks. This is exact,
# and its cost depends on the number of distinct rows instead of the number of items.
#
# Axes: b block, r replicate, d column of a row.
#
# [ET93] Efron, Tibshirani: An Introduction to the Bootstrap. Chapman & Hall 1993, chapters 6 and 13.

PORTION = 1 << 21
"""Maximum number of draws (replicates times blocks) in memory: 16 MB."""

FEW = 16
"""Approximate cost of a multinomial draw per block, relative to the cost of drawing and counting per item."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Items grouped by their contribution to the sums.

    Attributes:
        rows: rows[b, d], the contribution of one item of block b to the sums.
        frequency: frequency[b], the number of items in block b.
    """

    rows: Floats
    frequency: Ints


def distinct_rows(counts: Ints) -> tuple[Ints, Ints]:
    """Return the distinct rows of a table of non-negative integers, and their frequencies.

    Rows are converted to mixed-base numbers, column by column; if these would exceed 64 bits, they are ranked first.
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
    """Return sums[r, d] over items drawn with replacement, as many as in the data.

    Fewer than two items cannot be resampled; the result then has no replicates.
    """
    n, size = int(blocks.frequency.sum()), len(blocks.frequency)
    if n < 2:
        return np.empty((0, blocks.rows.shape[1]))
    at_a_time = max(PORTION // size, 1)
    block_of_item = np.repeat(np.arange(size), blocks.frequency)
    sums = [np.empty((0, blocks.rows.shape[1]))]
    for done in range(0, replicates, at_a_time):
        portion = min(at_a_time, replicates - done)
        # drawn[r, b], how often block b is drawn; drawing single items is faster if most blocks contain few
        if FEW * size < n:
            drawn = rng.multinomial(n, blocks.frequency / n, size=portion)
        else:
            items = (block_of_item[rng.integers(n, size=n)] for _ in range(portion))
            drawn = np.stack([np.bincount(chosen, minlength=size) for chosen in items])
        sums.append(drawn.astype(np.float64) @ blocks.rows)
    return np.concatenate(sums)


NO_PAIRS = "no item has two labels"
ONE_CLASS = "all labels are of one class, so chance alone would agree"
ONE_CHOICE = "there is only one class"
TOO_MANY_PAIRS = "there are too many pairs of annotators to compare them all; select some annotators or items"
NO_KAPPA = "no two annotators share at least {min_shared} answers with more than one class"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Coefficient of agreement.

    Attributes:
        name: observed, alpha, fleiss, ac1 or cohen.
        title: Name of the coefficient in words.
        value: The coefficient; NaN if it is undefined.
        low: Lower end of the interval; NaN if there is none.
        high: Upper end of the interval.
        level: Level of the interval, such as 0.95.
        n_items: Number of items that contain a unit with at least two labels.
        n_units: Number of units with at least two labels; for documents, equal to n_items.
        n_labels: Number of labels of these units.
        reason: Why the coefficient is undefined; None if it is defined.
    """

    name: str
    title: str
    value: float
    low: float
    high: float
    level: float
    n_items: int
    n_units: int
    n_labels: int
    reason: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class AgreementSums:
    """Sums over units from which every coefficient follows; the first axis of each is the replicate.

    Attributes:
        pairable: pairable[r], the number of units with at least two labels.
        agreeing: agreeing[r], the sum over these units of the share of agreeing pairs.
        disagreeing: disagreeing[r], the sum over these units of (n_i² - sum_k n_ik²) / (n_i - 1).
        paired: paired[r, k], the number of labels k of these units.
        labelled: labelled[r], the number of units with a label.
        shares: shares[r, k], the sum over units with a label of n_ik / n_i.
    """

    pairable: Floats
    agreeing: Floats
    disagreeing: Floats
    paired: Floats
    labelled: Floats
    shares: Floats


def agreement(
    labels: CrowdLabels, *, replicates: int = 1000, level: float = 0.95, seed: int = 0, min_shared: int = MIN_SHARED
) -> tuple[Agreement, ...]:
    """Return all coefficients of agreement, with their intervals.

    Args:
        labels: The labels, or a data frame of labels.
        replicates: Number of bootstrap replicates; 0 for no intervals (except for cohen, which needs no replicates).
        level: Level of the intervals.
        seed: Random seed of the bootstrap.
        min_shared: Minimum number of units that two annotators must share to count in cohen.
    """
    if replicates < 0:
        raise OptionError(f"replicates must be at least 0, got {replicates}.")
    if not 0 < level < 1:
        raise OptionError(f"level must be between 0 and 1, such as 0.95; got {level}.")
    labels = as_labels(labels, "agreement")
    require_whole_labels(labels, "Agreement")
    blocks = resampling_blocks(labels)
    sums = split_sums(blocks.frequency @ blocks.rows[None])
    drawn = split_sums(resample_sums(blocks, replicates, np.random.default_rng(seed)))
    sizes = _sizes(labels)
    found = []
    for name, (title, coefficient) in COEFFICIENTS.items():
        value, low, high, reason = float(coefficient(sums)[0]), np.nan, np.nan, None
        if np.isfinite(value):
            defined = coefficient(drawn)
            defined = defined[np.isfinite(defined)]
            if len(defined):
                low, high = map(float, np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]))
        else:
            reason = NO_PAIRS if not sums.pairable[0] else ONE_CHOICE if name == "ac1" else ONE_CLASS
        found.append(
            Agreement(name=name, title=title, value=value, low=low, high=high, level=level, **sizes, reason=reason)
        )
    return (*found, _cohen(labels, level, min_shared, sizes))


def resampling_blocks(labels: CrowdLabels) -> Blocks:
    """Return the blocks to resample: documents, grouped by their counts, or whole sequences."""
    counts = labels.votes(weighted=False)
    labelled = counts.sum(axis=1) > 0
    if not labels.is_sequential:
        patterns, frequency = distinct_rows(counts[labelled].astype(np.int64))
        return Blocks(unit_contributions(patterns), frequency)
    item, rows = labels.item_of_unit[labelled], unit_contributions(counts[labelled])
    seen, position = np.unique(item, return_inverse=True)
    # totals[s, d], the sum of the rows of each sequence, computed column by column
    totals = [np.bincount(position, weights=column, minlength=len(seen)) for column in rows.T]
    return Blocks(np.stack(totals, axis=1).astype(np.float64), np.ones(len(seen), dtype=np.int64))


def unit_contributions(counts: Floats | Ints) -> Floats:
    """Return the contribution of each unit with a label to AgreementSums, as columns for `split_sums`."""
    n = counts.sum(axis=1)
    squares = (counts**2).sum(axis=1)  # sum_k n_ik²
    pairable = n > 1
    pairs = np.where(pairable, n * (n - 1), 1)  # ordered pairs of labels of a unit
    agreeing = np.where(pairable, (squares - n) / pairs, 0.0)
    disagreeing = np.where(pairable, (n**2 - squares) / np.maximum(n - 1, 1), 0.0)
    paired = np.where(pairable[:, None], counts, 0)
    return np.column_stack([pairable, agreeing, disagreeing, np.ones(len(n)), paired, counts / n[:, None]])


def split_sums(rows: Floats) -> AgreementSums:
    """Return AgreementSums from sums of the columns of `unit_contributions`."""
    pairable, agreeing, disagreeing, labelled = rows[:, :4].T
    paired, shares = np.split(rows[:, 4:], 2, axis=1)
    return AgreementSums(
        pairable=pairable, agreeing=agreeing, disagreeing=disagreeing, paired=paired, labelled=labelled, shares=shares
    )


def observed_agreement(sums: AgreementSums) -> Floats:
    """Return the mean over units of the share of agreeing pairs of labels ([FLEISS71] eq. 3)."""
    return _ratio(sums.agreeing, sums.pairable)


def krippendorff_alpha(sums: AgreementSums) -> Floats:
    """Return 1 - observed / expected disagreement ([KRIPP11] section C, nominal)."""
    return alpha_of_totals(sums.paired, sums.disagreeing)


def alpha_of_totals(paired: Floats, disagreeing: Floats) -> Floats:
    """Return Krippendorff's alpha; NaN if no disagreement is expected.

    Args:
        paired: paired[..., k], the number of labels k of units with at least two labels.
        disagreeing: The sum over these units of (n_i² - sum_k n_ik²) / (n_i - 1).
    """
    n = paired.sum(axis=-1)
    expected = n**2 - (paired**2).sum(axis=-1)
    return 1.0 - _ratio((n - 1) * disagreeing, expected)


def fleiss_kappa(sums: AgreementSums) -> Floats:
    """Return (observed - chance) / (1 - chance) ([FLEISS71] eq. 7)."""
    chance = (_class_chances(sums) ** 2).sum(axis=1)
    return _ratio(observed_agreement(sums) - chance, 1.0 - chance)


def gwet_ac1(sums: AgreementSums) -> Floats:
    """Return (observed - chance) / (1 - chance), with Gwet's chance agreement ([GWET08] eq. 3 and 4)."""
    chances = _class_chances(sums)
    n_classes = chances.shape[1]
    chance = _ratio((chances * (1.0 - chances)).sum(axis=1), np.full(len(chances), n_classes - 1.0))
    return _ratio(observed_agreement(sums) - chance, 1.0 - chance)


COEFFICIENTS: dict[str, tuple[str, Callable[[AgreementSums], Floats]]] = {
    "observed": ("Observed agreement", observed_agreement),
    "alpha": ("Krippendorff's alpha", krippendorff_alpha),
    "fleiss": ("Fleiss' kappa", fleiss_kappa),
    "ac1": ("Gwet's AC1", gwet_ac1),
}


def _class_chances(sums: AgreementSums) -> Floats:
    """Return chance[r, k], the mean share of class k among a unit's labels."""
    return _ratio(sums.shares, sums.labelled[:, None])


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return the quotient without a warning; NaN for a division by zero."""
    return np.asarray(part / np.where(whole > 0, whole, np.nan))


def _sizes(labels: CrowdLabels) -> dict[str, int]:
    """Return the numbers of items, units and labels that are part of a pair of labels."""
    n = labels.labels_per_unit()
    pairable: Bools = n > 1
    return {
        "n_items": len(np.unique(labels.item_of_unit[pairable])),
        "n_units": int(pairable.sum()),
        "n_labels": int(n[pairable].sum()),
    }


def _cohen(labels: CrowdLabels, level: float, min_shared: int, sizes: dict[str, int]) -> Agreement:
    """Return the mean of the pairs' kappas with its normal interval, by the jackknife over items."""
    title = "Cohen's kappa, mean of pairs"
    undefined = Agreement(
        name="cohen", title=title, value=np.nan, low=np.nan, high=np.nan, level=level, **sizes, reason=None
    )
    # Without repeated labels, annotators with fewer labels than min_shared are in no pair that counts
    repeated = (np.diff(labels.unit) == 0) & (np.diff(labels.annotator) == 0)
    if not repeated.any():
        labels = labels.take(labels.labels_per_annotator()[labels.annotator] >= min_shared)
    if _has_too_many_pairs(labels):
        return replace(undefined, reason=TOO_MANY_PAIRS)
    table = pairwise_agreement(labels)
    value = table.mean_kappa(min_shared)
    slopes = mean_kappa_influence(labels, table, min_shared=min_shared)
    influence = np.bincount(labels.item_of_unit, weights=slopes)
    n_items = sizes["n_items"]
    margin = np.nan
    if n_items > 1:
        # infinitesimal jackknife: the variance is the sum of squared influences of the items
        from scipy.special import ndtri

        error = np.sqrt((influence**2).sum() * n_items / (n_items - 1))
        margin = float(ndtri((1 + level) / 2) * error)
    low, high = np.clip([value - margin, value + margin], -1.0, 1.0)
    reason = None if np.isfinite(value) else NO_KAPPA.format(min_shared=min_shared) if sizes["n_units"] else NO_PAIRS
    return replace(undefined, value=value, low=float(low), high=float(high), reason=reason)


def _has_too_many_pairs(labels: CrowdLabels) -> bool:
    """Return whether comparing all pairs of annotators would take too much time or memory."""
    label_pairs = float((labels.labels_per_unit().astype(np.float64) ** 2).sum())
    cells = min(label_pairs, len(np.unique(labels.annotator)) ** 2 * labels.n_classes)
    return label_pairs > max(MAX_LABEL_PAIRS, 20 * labels.n_labels) or cells > max(MAX_PAIR_CELLS, 4 * labels.n_labels)
