"""How far annotators agree, and how sure that figure is.

Every coefficient comes from n[i, k], how many labels k unit i received, except Cohen's kappa, which looks at pairs of
annotators (`pairwise`). Labels count as they are: one that repeats an (item, annotator) pair is a label, and weights do
not count. For sequences the units are tokens, and what is resampled is whole sequences, since a sentence's tokens are
not independent.

- observed: the share of agreeing pairs among the labels of a unit, averaged over the units with two labels or more;
- alpha: Krippendorff's, for nominal data [KRIPP11];
- fleiss: Fleiss' kappa [FLEISS71] for any number of labels per unit, as [GWET14] generalises it: the chance of a class
  is the mean over all labelled units of its share among the unit's labels;
- ac1: Gwet's AC1 [GWET08], with the same chances; its number of classes is that of the label set, used or not;
- cohen: the mean of Cohen's kappa over the pairs of annotators who share enough units, weighted by these.

The interval is the percentile one of the bootstrap over items; a resample in which a coefficient is undefined is left
out. For cohen it is the normal one around the value, by the infinitesimal jackknife over items (see `pairwise`).

Axes: i unit, k class, s sequence, b block (units, or sequences, that count alike), r replicate.

[KRIPP11] Krippendorff: Computing Krippendorff's alpha-reliability. University of Pennsylvania 2011.
[FLEISS71] Fleiss: Measuring nominal scale agreement among many raters. Psychological Bulletin 76, 1971.
[GWET08] Gwet: Computing inter-rater reliability and its variance in the presence of high agreement. BJMSP 61, 2008.
[GWET14] Gwet: Handbook of Inter-Rater Reliability, 4th edition, 2014, chapter 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from crowdlogic.data.frames import as_labels
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import OptionError
from crowdlogic.metrics.pairwise import MIN_SHARED, mean_kappa_influence, pair_counts, pair_table
from crowdlogic.metrics.resampling import Blocks, distinct_rows, resample_sums
from crowdlogic.numerics.arrays import Bools, Floats, Ints

NO_PAIRS = "no item has two labels"
ONE_CLASS = "all labels are of one class, so chance alone would agree"
ONE_CHOICE = "there is only one class to choose"
NO_KAPPA = "no two annotators share {min_shared} answers or more in which they used more than one class"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """One coefficient of agreement.

    Attributes:
        name: observed, alpha, fleiss, ac1 or cohen.
        title: The same, in words.
        value: The coefficient; NaN where it is undefined.
        low: The lower end of its interval; NaN where there is none.
        high: The upper end.
        level: The interval's level, such as 0.95.
        n_items: How many items hold a unit with two labels or more.
        n_units: How many such units there are; the items, when these are documents.
        n_labels: How many labels these units received.
        reason: Why the coefficient is undefined; None when it is not.
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
    """Sums over units, from which every coefficient follows; each has a first axis of replicates.

    Attributes:
        pairable: pairable[r], how many units have two labels or more.
        agreeing: agreeing[r], over these, the sum of the shares of agreeing pairs.
        disagreeing: disagreeing[r], over these, the sum of (n_i² - sum_k n_ik²) / (n_i - 1).
        paired: paired[r, k], over these, the labels of each class.
        labelled: labelled[r], how many units have a label.
        shares: shares[r, k], over these, the sum of n_ik / n_i.
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
    """Every coefficient of agreement, with its interval.

    Args:
        labels: Who gave which label to what, or the frame that says so.
        replicates: How many resamples of the items the intervals come from; 0 for no interval (cohen needs none).
        level: The level of the intervals.
        seed: The seed of the resamples.
        min_shared: How many units two annotators must share to have a part in cohen.
    """
    _check_options(replicates, level)
    labels = as_labels(labels, "agreement")
    require_whole_labels(labels, "Agreement")
    blocks = resampling_blocks(labels)
    sums = split_sums(blocks.frequency @ blocks.rows[None])
    drawn = split_sums(resample_sums(blocks, replicates, np.random.default_rng(seed)))
    sizes = _sizes(labels)
    found = []
    for name, (title, coefficient) in COEFFICIENTS.items():
        value = float(coefficient(sums)[0])
        low, high = _percentiles(coefficient(drawn), level) if np.isfinite(value) else (np.nan, np.nan)
        reason = _reason(name, value, sums)
        found.append(
            Agreement(name=name, title=title, value=value, low=low, high=high, level=level, **sizes, reason=reason)
        )
    return (*found, _cohen(labels, level, min_shared, sizes))


def resampling_blocks(labels: CrowdLabels) -> Blocks:
    """What is resampled: documents, grouped by what they count, or whole sequences."""
    counts = labels.votes(weighted=False)
    labelled = counts.sum(axis=1) > 0
    if not labels.is_sequential:
        patterns, frequency = distinct_rows(counts[labelled].astype(np.int64))
        return Blocks(unit_contributions(patterns), frequency)
    item, rows = labels.item_of_unit[labelled], unit_contributions(counts[labelled])
    seen, position = np.unique(item, return_inverse=True)
    # totals[s, d], the sum of the rows of each sequence, column by column
    totals = [np.bincount(position, weights=column, minlength=len(seen)) for column in rows.T]
    return Blocks(np.stack(totals, axis=1).astype(np.float64), np.ones(len(seen), dtype=np.int64))


def unit_contributions(counts: Floats | Ints) -> Floats:
    """What each unit, with at least one label, adds to the Sums, in the order that `split_sums` takes apart."""
    n = counts.sum(axis=1)
    squares = (counts**2).sum(axis=1)  # sum_k n_ik²
    pairable = n > 1
    pairs = np.where(pairable, n * (n - 1), 1)  # ordered pairs of labels of a unit
    agreeing = np.where(pairable, (squares - n) / pairs, 0.0)
    disagreeing = np.where(pairable, (n**2 - squares) / np.maximum(n - 1, 1), 0.0)
    paired = np.where(pairable[:, None], counts, 0)
    return np.column_stack([pairable, agreeing, disagreeing, np.ones(len(n)), paired, counts / n[:, None]])


def split_sums(rows: Floats) -> AgreementSums:
    """Name the columns of sums of `unit_contributions`."""
    pairable, agreeing, disagreeing, labelled = rows[:, :4].T
    paired, shares = np.split(rows[:, 4:], 2, axis=1)
    return AgreementSums(
        pairable=pairable, agreeing=agreeing, disagreeing=disagreeing, paired=paired, labelled=labelled, shares=shares
    )


def observed_agreement(sums: AgreementSums) -> Floats:
    """The mean over units of the share of agreeing pairs of labels ([FLEISS71] eq. 3)."""
    return _ratio(sums.agreeing, sums.pairable)


def krippendorff_alpha(sums: AgreementSums) -> Floats:
    """1 - observed over expected disagreement ([KRIPP11] section C, nominal)."""
    n = sums.paired.sum(axis=1)
    expected = n**2 - (sums.paired**2).sum(axis=1)
    return 1.0 - _ratio((n - 1) * sums.disagreeing, expected)


def fleiss_kappa(sums: AgreementSums) -> Floats:
    """Agreement beyond chance, over the room that chance leaves ([FLEISS71] eq. 7)."""
    chance = (_class_chances(sums) ** 2).sum(axis=1)
    return _ratio(observed_agreement(sums) - chance, 1.0 - chance)


def gwet_ac1(sums: AgreementSums) -> Floats:
    """The same with chance agreement only where a label is a guess ([GWET08] eq. 3 and 4)."""
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
    """chance[r, k], the mean share of class k among a unit's labels."""
    return _ratio(sums.shares, sums.labelled[:, None])


def _ratio(part: Floats, whole: Floats) -> Floats:
    """The quotient; NaN, without a warning, where there is nothing to divide by."""
    return np.asarray(part / np.where(whole > 0, whole, np.nan))


def _percentiles(values: Floats, level: float) -> tuple[float, float]:
    defined = values[np.isfinite(values)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _reason(name: str, value: float, sums: AgreementSums) -> str | None:
    if np.isfinite(value):
        return None
    if not sums.pairable[0]:
        return NO_PAIRS
    return ONE_CHOICE if name == "ac1" else ONE_CLASS


def _sizes(labels: CrowdLabels) -> dict[str, int]:
    """How many items, units and labels have a part in a pair of labels."""
    n = labels.labels_per_unit()
    pairable: Bools = n > 1
    return {
        "n_items": len(np.unique(labels.item_of_unit[pairable])),
        "n_units": int(pairable.sum()),
        "n_labels": int(n[pairable].sum()),
    }


def _cohen(labels: CrowdLabels, level: float, min_shared: int, sizes: dict[str, int]) -> Agreement:
    """The mean of the pairs' kappas, give or take a normal quantile of jackknife standard errors over items."""
    counts = pair_counts(labels)
    value = pair_table(counts, len(labels.annotators)).mean_kappa(min_shared)
    slopes = mean_kappa_influence(labels, counts, min_shared=min_shared)
    influence = np.bincount(labels.item_of_unit, weights=slopes)
    n_items = sizes["n_items"]
    margin = np.nan
    if n_items > 1:
        # infinitesimal jackknife: the variance is the sum of squared influences of the items
        error = np.sqrt((influence**2).sum() * n_items / (n_items - 1))
        margin = NormalDist().inv_cdf((1 + level) / 2) * float(error)
    low, high = np.clip([value - margin, value + margin], -1.0, 1.0)
    reason = None if np.isfinite(value) else NO_KAPPA.format(min_shared=min_shared) if sizes["n_units"] else NO_PAIRS
    title = "Cohen's kappa, mean of pairs"
    return Agreement(
        name="cohen", title=title, value=value, low=float(low), high=float(high), level=level, **sizes, reason=reason
    )


def _check_options(replicates: int, level: float) -> None:
    if replicates < 0:
        raise OptionError(f"replicates: {replicates} is not valid. Give 0 or more.")
    if not 0 < level < 1:
        raise OptionError(f"level: {level} is no level of an interval. Give one between 0 and 1, such as 0.95.")
