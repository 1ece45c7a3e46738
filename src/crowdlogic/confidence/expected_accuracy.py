"""Number of wrong answers of an estimate, as a range; and signs that an estimate is unreliable.

Labels alone do not reveal how strongly annotators' errors are correlated. A range therefore begins at independent
errors and ends at errors that all labels of an item share (`truth.dependence`). Panels of language-model judges and
labelling functions can share even more mistakes. If the labels show signs of this (`sharing_sign`), no range is given,
and `low` and `high` are NaN: only gold could help. With gold drawn at random, the range is the exact interval of the
mistakes on gold items, each answered without its own gold ([CP34]).

[CP34] Clopper and Pearson, "The use of confidence or fiducial limits", 1934.
Axes: i unit, j annotator, k class, m true class, n label row.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.estimate import Beliefs, Calibration, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import approximate, percent, pluralise
from crowdlogic.errors import OptionError, require_kind
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.truth.dependence import WIDTH
from crowdlogic.truth.ties import best_classes

GOLD_TO_LABEL = 100
"""Recommended number of random gold items. They show the share of right answers within 10 percentage points."""


@dataclass(frozen=True, kw_only=True)
class ExpectedAccuracy:
    """Expected share of right answers, with a range.

    Attributes:
        mean: Mean confidence.
        low: Lower end of the range; NaN if it cannot be estimated.
        high: Upper end of the range; NaN if it cannot be estimated.
        n: Number of answers whose truth is unknown, to which the figures refer.
        calibration: Calibration of the answers.
    """

    mean: float
    low: float
    high: float
    n: int
    calibration: Calibration

    def __repr__(self) -> str:
        if not self.is_known:
            return f"ExpectedAccuracy(unknown: {self.calibration.unknown}; of {self.n:,})"
        return f"ExpectedAccuracy({self.mean:.3f}, from {self.low:.3f} to {self.high:.3f}, of {self.n:,})"

    @property
    def is_known(self) -> bool:
        """Whether there is a range."""
        return math.isfinite(self.low)

    @property
    def mistakes(self) -> tuple[int, int]:
        """The fewest and the most wrong answers; 0 and all answers if there is no range."""
        if not self.is_known:
            return 0, self.n
        return round(self.n * (1 - self.high)), round(self.n * (1 - self.low))

    @property
    def expected_mistakes(self) -> float:
        """The expected number of wrong answers: the sum of 1 - confidence over the answers whose truth is unknown."""
        return self.n * (1.0 - self.mean)


def expected_accuracy(estimate: Estimate) -> ExpectedAccuracy | None:
    """Return the expected share of right answers; None if the truth of every answer is known.

    Raises an error if the estimate is not calibrated, as the result of a method's own `infer`: the mean of such a
    posterior is usually far too high.

    Args:
        estimate: A calibrated estimate, such as that of `crowdlogic.aggregate`, or the outcome of a training.
    """
    estimate = getattr(estimate, "estimate", estimate)
    remedy = "Write expected_accuracy(crowdlogic.aggregate(labels))."
    require_kind(estimate, Estimate, "expected_accuracy", remedy)
    if estimate.calibration is None:
        raise OptionError(
            f"expected_accuracy: the confidence of this estimate ({estimate.method}) is not calibrated; it is the "
            f"method's own posterior. Use crowdlogic.aggregate(labels, method) in place of method.infer(labels), or "
            f"crowdlogic.truth.state_confidence(labels, estimate)."
        )
    confidence = estimate.confidence[estimate.answered]
    confidence = confidence[confidence < 1.0]  # the truth of all other answers is known
    if not len(confidence):
        return None
    return accuracy_range(float(confidence.mean()), n=len(confidence), calibration=estimate.calibration)


def accuracy_range(mean: float, *, n: int, calibration: Calibration) -> ExpectedAccuracy:
    """Return the expected accuracy of n answers with that mean confidence; its range includes the mean."""
    low, high = math.nan, math.nan
    if calibration.fewest_wrong is not None and calibration.most_wrong is not None:
        low = min(max(1.0 - calibration.most_wrong / n, 0.0), mean)
        high = max(min(1.0 - calibration.fewest_wrong / n, 1.0), mean)
    return ExpectedAccuracy(mean=mean, low=low, high=high, n=n, calibration=calibration)


def describe_mistakes(expected: ExpectedAccuracy, noun: str = "label", *, option: str = "--anchors") -> str:
    """Return a sentence on the number of wrong answers, its assumptions, and how to find out."""
    said = describe_range(expected, noun)
    if expected.calibration.checked or expected.n <= GOLD_TO_LABEL:
        return f"{said}."
    within = f"Label {GOLD_TO_LABEL} items at random and give them with {option} to know it within 10 points."
    return f"{said}. {within}"


def describe_range(expected: ExpectedAccuracy, noun: str, *, which: str = "") -> str:
    """Say how many answers are likely wrong, without a final period; `which` specifies the answers that are counted."""
    few, many = expected.mistakes
    of_all = f"{pluralise(expected.n, noun)}{which}"
    if not expected.is_known:
        why = f": {expected.calibration.unknown}" if expected.calibration.unknown else ""
        return f"The number of wrong answers cannot be estimated from these labels alone{why}"
    n, checked = round(expected.expected_mistakes), expected.calibration.checked
    if checked:
        by = f"judging by {pluralise(checked, 'item')} labelled at random"
        return f"About {n:,} of {of_all} are likely wrong (95% interval: {few:,} to {many:,}), {by}"
    ends = f"{few:,} if annotators err independently, {many:,} if they share their mistakes"
    return f"About {n:,} of {of_all} are likely wrong: {ends}"


def describe_spans(estimate: Estimate) -> str:
    """Say how many spans of an estimate of tags are likely wrong, by their confidence; empty without spans."""
    from crowdlogic.data.character_spans import span_confidence

    spans, confidence = span_confidence(estimate)
    if not len(spans):
        return ""
    wrong = float((1.0 - confidence).sum())
    return (
        f"{approximate(wrong).capitalize()} of {len(spans):,} spans are likely wrong (boundaries or type), if "
        f"your annotators made the same mistakes as often as those of a public data set of named entities; check some "
        f"at random to be sure."
    )


def describe_source(calibration: Calibration) -> str:
    """Describe the basis of the confidences."""
    if calibration.anchors:
        return f"judging by {pluralise(calibration.anchors, 'item')} labelled at random"
    return f"if your annotators share mistakes as those of {calibration.source} do"


# The ends of ranges: exact intervals by gold, reliability of annotators, mistakes among the most doubtful answers.

LEVEL = 0.98
"""Level of the exact intervals. It is above 95 %, because each gold item is predicted by a fit with only four fifths of
the gold, and because a data set is a single sample."""
MIN_GOLD = 20
"""Minimum number of gold items for fitting weights."""
LOW, HIGH, GROUP = "reliability_low", "reliability_high", "near_copies"
"""Parameters of an assessed estimate: the range of each annotator's reliability, and the group of near-copies."""
MAX_EXACT = 1_000_000
"""Maximum number of remaining items for the hypergeometric distribution; otherwise the binomial one is used."""


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
    """Return the range low[j] to high[j] of the share of right labels of each annotator; NaN without labels.

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
    """Return the units in the order of their confidence, least confident first."""
    return np.argsort(beliefs.max(axis=1, initial=0.0), kind="stable")


def mistakes_in_first(wrong: Floats, *, first: tuple[int, ...] = (50, 100, 200)) -> list[tuple[int, float, float]]:
    """Return the share of all mistakes among the first items to check, at both ends of the range.

    Args:
        wrong: wrong[i, e] of the answers in the order of checking, from `probability_wrong`.
        first: Numbers of items to check.
    """
    shares = np.cumsum(wrong, axis=0) / np.maximum(wrong.sum(axis=0), 1e-12)
    return [(size, *map(float, shares[size - 1])) for size in first if size < len(wrong)]  # type: ignore[misc]


# Signs that errors are shared more than in any public crowd.

MOST_RESIDUAL = 0.1
"""Maximum share of pairs of annotators who agree significantly more than Dawid-Skene explains. In public crowds, it is
at most 0.03."""
RESIDUAL_Z = 3.0
"""Number of standard errors that count as significant."""
MOST_DISAGREEMENT = 0.15
"""Maximum share of items on which Dawid-Skene and the pool disagree, more than in any public crowd."""
MOST_ANNOTATORS = 300
"""Maximum number of annotators whose pairs are compared: those with the most labels."""
MOST_CONSTANT = 0.5
"""Maximum share of labels by annotators who only give one class, as labelling functions do."""


@dataclass(frozen=True, kw_only=True)
class Residuals:
    """Agreement of pairs of annotators beyond that expected from independent annotators.

    Attributes:
        share: Share of the pairs who agree significantly more than expected.
        effective_votes: Number of independent votes with the same information as all votes of an item.
        pairs: Number of pairs with enough items in common.
    """

    share: float
    effective_votes: float
    pairs: int


def residual_agreement(labels: CrowdLabels, dawid_skene: Beliefs, *, seed: int = 0) -> Residuals:
    """Compare how often annotators agree in pairs with what Dawid-Skene expects (bivariate residuals).

    If errors are independent, the confusion matrices explain all agreement. Near-copies should be merged before.

    Args:
        labels: The labels, near-copies merged.
        dawid_skene: q[i, k] of Dawid-Skene.
        seed: Random seed of the sample of items, if there are very many.
    """
    from crowdlogic.truth.near_copies import count_pairs, first_labels

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
    a, b, n, agreed = count_pairs(unit, annotator, label, shape=(labels.n_units, size))
    if not len(a):
        return Residuals(share=0.0, effective_votes=float(n_all), pairs=0)
    e = np.clip(expected[a, b], 0.0, 1.0 - 1e-6)
    excess = agreed / n - e
    error = np.sqrt(np.maximum(e * (1.0 - e), 1e-6) / n)
    shared = np.zeros(size)
    # excess as a share of the possible excess, without the part that may be noise
    correlation = np.clip(excess - error, 0.0, None) / (1.0 - e)
    np.add.at(shared, a, correlation)
    np.add.at(shared, b, correlation)
    effective = float((1.0 / (1.0 + shared)).sum()) + n_all - size
    return Residuals(share=float((excess > RESIDUAL_Z * error).mean()), effective_votes=effective, pairs=len(a))


def sharing_sign(labels: CrowdLabels, residuals: Residuals | None, answer: Ints, dawid_skene: Beliefs) -> str | None:
    """Return a description of a sign that annotators share more mistakes than in any public crowd; None without one.

    Args:
        labels: The labels.
        residuals: Agreement of pairs of annotators beyond that expected by Dawid-Skene; None if unknown.
        answer: answer[i], the chosen classes.
        dawid_skene: q[i, k] of Dawid-Skene.
    """
    size = len(labels.annotators) * labels.n_classes
    cell = labels.annotator.astype(np.int64) * labels.n_classes + labels.label
    counts = np.bincount(cell, minlength=size).reshape(len(labels.annotators), -1)
    constant = ((counts > 0).sum(axis=1) == 1) & (counts.sum(axis=1) > 2)
    if counts[constant].sum() > MOST_CONSTANT * counts.sum():
        return "most labels are by annotators who only give one class, as labelling functions do"
    if residuals is not None and residuals.pairs >= 3 and residuals.share > MOST_RESIDUAL:
        return "pairs of annotators agree far more than independent errors explain, as language models do"
    differs = (dawid_skene.argmax(axis=1) != answer)[labels.labels_per_unit() > 1]
    if len(differs) and differs.mean() > MOST_DISAGREEMENT + 2.0 * np.sqrt(0.25 / len(differs)):
        return "models of annotators and votes disagree on more items than in any public crowd"
    return None


# Signs that a fit failed: all answers are of one class, or many annotators are treated as adversaries.

FEW_ITEMS = 20
"""Minimum number of answers for these checks."""
NOTABLE = 0.1
"""Minimum share of the votes for a class that should be the answer of some item."""
MANY_BACKWARDS = 0.25
"""Minimum share of labels by annotators who are treated as adversaries, for a warning."""


def warning_signs(labels: CrowdLabels, estimate: Estimate) -> Iterator[str]:
    """Yield one sentence for every sign that the estimate is unreliable."""
    if labels.n_classes < 2 or np.count_nonzero(estimate.answered) < FEW_ITEMS:
        return
    chosen = np.flatnonzero(np.bincount(estimate.answer[estimate.answered]))
    if len(chosen) == 1:
        # All answers are of one class. shares[k], the share of units on which class k has the most votes, ties in parts
        won = best_classes(labels.votes())[estimate.answered]
        shares = (won / won.sum(axis=1, keepdims=True)).mean(axis=0)
        if np.delete(shares, chosen).max(initial=0.0) >= NOTABLE:
            other = int(np.argmax(np.where(np.arange(len(shares)) == chosen[0], -1.0, shares)))
            yield (
                f"{estimate.method} has collapsed: its answer is {str(labels.classes[int(chosen[0])])!r} everywhere, "
                f"while most votes are for {str(labels.classes[other])!r} on {percent(float(shares[other]))} of the "
                f"items. Use another method."
            )
    if estimate.confusion is not None:
        # Annotators who are less accurate than guessing by the prior: their labels count against the class they name
        right = np.diagonal(estimate.confusion, axis1=1, axis2=2)
        prior = np.full(labels.n_classes, 1.0 / labels.n_classes) if estimate.prior is None else estimate.prior
        backwards = right @ prior < (prior**2).sum() - 0.1
        given = labels.labels_per_annotator()
        share = given[backwards].sum() / given.sum()
        if share > MANY_BACKWARDS:
            yield (
                f"{estimate.method} inverts {percent(float(share))} of the labels, as if their annotators "
                f"({int(backwards.sum()):,} of {len(given):,}) were wrong on purpose. Compare --methods all."
            )
