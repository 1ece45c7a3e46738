"""Ranges for answers as a whole: intervals from gold, ranges of reliability, signs of shared mistakes.

Labels alone do not reveal how strongly annotators' errors are correlated, so summary figures span from independent
errors to errors that all labels of an item share (`truth.dependence`). Panels of language-model judges and labelling
functions can share more than that. Some of it shows in the labels (`sharing_sign`); then no range is given, and only
gold decides. With gold drawn at random, the interval is the exact binomial one ([CP34]) of the mistakes on gold items,
each answered without its own gold.

[CP34] Clopper and Pearson, "The use of confidence or fiducial limits", 1934.
Axes: i unit, j annotator, k class, n label row.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.truth.dependence import WIDTH

MOST_RESIDUAL = 0.1
"""Share of the pairs of annotators who agree significantly more than Dawid-Skene explains; up to 0.03 in crowds."""
RESIDUAL_Z = 3.0
"""Number of standard errors that count as significant."""
MOST_DISAGREEMENT = 0.15
"""Share of the items on which Dawid-Skene and the pool disagree, above that of any public crowd."""
MOST_ANNOTATORS = 300
"""Pairs are looked at among the most active annotators only."""
MOST_CONSTANT = 0.5
"""Share of the labels by annotators who give one class only; labelling functions do."""
LEVEL = 0.98
"""Level of the exact intervals: nominally more than 95 %, because gold items are predicted by fits that know only four
fifths of the gold, and because a set is one draw among many."""
MIN_GOLD = 20
"""Minimum number of gold items for fitting weights."""
LOW, HIGH, GROUP = "reliability_low", "reliability_high", "near_copies"
"""Parameters of an assessed estimate: the range of each annotator's reliability, and the group of near-copies."""
MAX_EXACT = 1_000_000
"""With more remaining items, the binomial interval is used."""


def checked_range(wrong: int, checked: int, remaining: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Return the fewest and the most wrong answers among the remaining items, from a random sample that was checked.

    Exact: all numbers under which as few mistakes, or as many, are not too improbable in the sample (hypergeometric;
    for very many items binomial, [CP34]).

    Args:
        wrong: Mistakes among the checked items.
        checked: Number of checked items.
        remaining: Number of items that were not checked.
        level: Level of the interval.
    """
    if remaining > MAX_EXACT:
        share = binomial_interval(wrong, checked, level=level)
        return float(share[0]) * remaining, float(share[1]) * remaining
    from scipy.stats import hypergeom

    tail = (1.0 - level) / 2.0

    def at_most(left: int) -> float:
        """Return probability of at most `wrong` mistakes in the sample if `left` remain; falls with `left`."""
        return float(hypergeom.cdf(wrong, checked + remaining, wrong + left, checked))

    def at_least(left: int) -> float:
        """Return probability of at least `wrong` mistakes in the sample; rises with `left`."""
        return float(hypergeom.sf(wrong - 1, checked + remaining, wrong + left, checked))

    # The first number that is possible, and the last, by bisection
    possible = range(remaining + 1)
    low = bisect_right(possible, tail, key=at_least)
    high = bisect_left(possible, -tail, key=lambda left: -at_most(left)) - 1
    return float(low), float(high)


def binomial_interval(count: Floats | float, n: Floats | float, *, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the exact interval of a share, from `count` of `n` ([CP34])."""
    from scipy.special import betaincinv

    count, n = np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = (1.0 - level) / 2.0
    low = np.where(count > 0, betaincinv(np.maximum(count, 1e-9), n - count + 1.0, tail), 0.0)
    high = np.where(count < n, betaincinv(count + 1.0, np.maximum(n - count, 1e-9), 1.0 - tail), 1.0)
    return low, high


def reliability_ranges(labels: CrowdLabels, ends: tuple[Beliefs, ...], *, gold_items: int = 0) -> tuple[Floats, Floats]:
    """Return low[j] and high[j] of the share of right labels of each annotator; NaN for annotators without labels.

    Args:
        labels: The labels.
        ends: q[i, k] if errors are independent and if they are shared; with gold, the beliefs learnt from it.
        gold_items: Number of random gold items that the beliefs were fitted to.
    """
    n_annotators = len(labels.annotators)
    given = np.bincount(labels.annotator, minlength=n_annotators).astype(np.float64)
    lows, highs = [], []
    for q in ends:
        # right[j], the expected share of right labels; its variance from the labels given and from the gold
        right = np.bincount(labels.annotator, weights=q[labels.unit, labels.label], minlength=n_annotators)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = right / given
        pulled = (right + 1.0) / (given + 2.0)  # never certain: Laplace's rule
        variance = pulled * (1.0 - pulled) * (1.0 / np.maximum(given, 1.0))
        if gold_items:
            variance += pulled * (1.0 - pulled) / gold_items
        lows.append(share - WIDTH * np.sqrt(variance))
        highs.append(share + WIDTH * np.sqrt(variance))
    return np.clip(np.min(lows, axis=0), 0.0, 1.0), np.clip(np.max(highs, axis=0), 0.0, 1.0)


def order_by_doubt(beliefs: Beliefs) -> Ints:
    """Return the units, the least confident first."""
    return np.argsort(beliefs.max(axis=1, initial=0.0), kind="stable")


def mistakes_in_first(wrong: Floats, *, first: tuple[int, ...] = (50, 100, 200)) -> list[tuple[int, float, float]]:
    """Return, for each number of items to check, the share of all mistakes that they contain, at either end.

    Args:
        wrong: wrong[i, e] of the answers in the order of checking, from `probability_wrong`.
        first: Numbers of items.
    """
    shares = np.cumsum(wrong, axis=0) / np.maximum(wrong.sum(axis=0), 1e-12)
    return [(size, *map(float, shares[size - 1])) for size in first if size < len(wrong)]  # type: ignore[misc]


@dataclass(frozen=True, kw_only=True)
class Residuals:
    """Excess agreement of pairs of annotators over a model of independent annotators.

    Attributes:
        share: Share of the pairs who agree significantly more.
        effective_votes: Number of independent votes with the same information.
        pairs: Number of pairs with enough items in common.
    """

    share: float
    effective_votes: float
    pairs: int


def residual_agreement(labels: CrowdLabels, dawid_skene: Beliefs, *, seed: int = 0) -> Residuals:
    """Compare how often annotators agree in pairs with what Dawid-Skene expects (bivariate residuals).

    With independent errors the confusion matrices explain all pairwise agreement. Near-copies should be merged before.

    Args:
        labels: The labels, near-copies merged.
        dawid_skene: q[i, k] of Dawid-Skene.
        seed: Random seed of the items looked at, if there are very many.
    """
    from crowdlogic.truth.near_copies import MIN_COMMON, first_labels

    n_classes, n_all = labels.n_classes, len(labels.annotators)
    given = labels.labels_per_annotator()
    active = np.argsort(-given, kind="stable")[:MOST_ANNOTATORS]
    position = np.full(n_all, -1)
    position[active] = np.arange(len(active))
    unit, annotator, label = first_labels(labels, seed)
    kept = position[annotator] >= 0
    unit, annotator, label = unit[kept], position[annotator[kept]], label[kept]
    size = len(active)
    # confusion[j, m, n] of the posterior, and the prior of the labelled units
    cell = annotator.astype(np.int64) * n_classes + label
    counts = np.stack(
        [np.bincount(cell, weights=dawid_skene[unit, m], minlength=size * n_classes) for m in range(n_classes)]
    )
    confusion = counts.reshape(n_classes, size, n_classes).transpose(1, 0, 2) + 0.01
    confusion /= confusion.sum(axis=2, keepdims=True)
    prior = dawid_skene[np.unique(unit)].mean(axis=0) if len(unit) else np.full(n_classes, 1.0 / max(n_classes, 1))
    # expected[a, b] = sum over m and n of prior[m] confusion[a, m, n] confusion[b, m, n]
    rows = (confusion * np.sqrt(prior)[:, None]).reshape(size, -1)
    expected = rows @ rows.T
    ones = np.ones(len(unit))
    said = sparse.csr_matrix((ones, (unit, annotator)), shape=(labels.n_units, size))
    by_class = sparse.csr_matrix((ones, (unit.astype(np.int64) * n_classes + label, annotator)))
    common = np.triu((said.T @ said).toarray(), 1)
    a, b = np.nonzero(common >= MIN_COMMON)
    if not len(a):
        return Residuals(share=0.0, effective_votes=float(n_all), pairs=0)
    n, e = common[a, b], np.clip(expected[a, b], 0.0, 1.0 - 1e-6)
    excess = (by_class.T @ by_class).toarray()[a, b] / n - e
    error = np.sqrt(np.maximum(e * (1.0 - e), 1e-6) / n)
    shared = np.zeros(size)
    # excess as a share of what is possible; what may be noise is left out
    correlation = np.clip(excess - error, 0.0, None) / (1.0 - e)
    np.add.at(shared, a, correlation)
    np.add.at(shared, b, correlation)
    effective = float((1.0 / (1.0 + shared)).sum()) + n_all - size
    return Residuals(share=float((excess > RESIDUAL_Z * error).mean()), effective_votes=effective, pairs=len(a))


def sharing_sign(labels: CrowdLabels, residuals: Residuals | None, answer: Ints, dawid_skene: Beliefs) -> str | None:
    """Return a sign that errors are shared more than in any public crowd, in words, or None.

    Args:
        labels: The labels.
        residuals: Excess agreement of pairs of annotators over Dawid-Skene; None if unknown.
        answer: answer[i], the classes chosen.
        dawid_skene: q[i, k] of Dawid-Skene.
    """
    size = len(labels.annotators) * labels.n_classes
    cell = labels.annotator.astype(np.int64) * labels.n_classes + labels.label
    counts = np.bincount(cell, minlength=size).reshape(len(labels.annotators), -1)
    constant = ((counts > 0).sum(axis=1) == 1) & (counts.sum(axis=1) > 2)
    if counts[constant].sum() > MOST_CONSTANT * counts.sum():
        return "most labels are by annotators who only ever give one class, as labelling functions do"
    if residuals is not None and residuals.pairs >= 3 and residuals.share > MOST_RESIDUAL:
        return "pairs of annotators agree far more than independent errors explain, as language models do"
    differs = (dawid_skene.argmax(axis=1) != answer)[labels.labels_per_unit() > 1]
    if len(differs) and differs.mean() > MOST_DISAGREEMENT + 2.0 * np.sqrt(0.25 / len(differs)):
        return "models of annotators and votes disagree on more items than in any public crowd"
    return None
