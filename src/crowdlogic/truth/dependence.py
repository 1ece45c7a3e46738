"""How sure an answer is, given that the labels of one item depend on each other.

Models of annotators take their errors to be independent given the truth. Real annotators stumble over the same items,
so a posterior of n labels claims far too much. Here its evidence is divided by the design effect of [KISH65],

    log q_stated[i] = log q[i] / (1 + correlation (n_i - 1)) + const,    and a little uniform doubt is mixed in.

The correlation is not known from labels alone; on public crowd sets it is well described by `strength` times the square
root of Krippendorff's alpha ([KRIPP11]), which measures how far the labels of one item go together. The fit itself is
as the method has it: only what is stated changes, and the answer of an item never does.

[KISH65] Kish, "Survey Sampling", 1965, section 5.4.
[KRIPP11] Krippendorff, "Computing Krippendorff's alpha-reliability", 2011.
Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowdlogic.data.estimate import Calibration, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shard import UNKNOWN
from crowdlogic.engines.shards import anchor_classes
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.sums import row_sums
from crowdlogic.numerics.tempering import design_effect, temper, temper_logs
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.vote_patterns import find_vote_patterns
from crowdlogic.truth.vote_posterior import log_posterior_of_votes


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """How far labels of one item depend on each other, and how that is known.

    Attributes:
        strength: The correlation of the labels of one item, in units of the square root of Krippendorff's alpha.
        doubt: Share of uniform doubt in every stated belief.
        spread: Standard deviation, from data set to data set, of accuracy minus mean confidence.
        sharpness_spread: Standard deviation, from data set to data set, of the log of the best sharpness.
        sets: On how many data sets these are known.
        source: What they were learnt from, in words.
        span_shift: For tags: what is added to the log odds of a span.
        span_slope: For tags: what the log odds of a span are multiplied by.
    """

    strength: float
    doubt: float
    spread: float
    sharpness_spread: float
    sets: int
    source: str
    span_shift: float = 0.0
    span_slope: float = 1.0

    def __post_init__(self) -> None:
        for name in ("strength", "doubt"):
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name} must lie between 0 and 1, not at {getattr(self, name)}.")

    def calibration(self, votes: Floats, times: Floats | None = None) -> Calibration:
        """What it makes of labels with votes[i, k], where unit i stands for times[i] with the same; None for itself."""
        return self.with_alpha(nominal_alpha(votes, times))

    def with_alpha(self, alpha: float) -> Calibration:
        """What it makes of labels with that alpha of Krippendorff's."""
        return Calibration(
            source=self.source,
            correlation=self.strength * float(np.sqrt(max(alpha, 0.0))),
            doubt=self.doubt,
            spread=self.spread,
            sets=self.sets,
            span_shift=self.span_shift,
            span_slope=self.span_slope,
        )


PUBLIC_CROWDS = Dependence(
    strength=0.83,
    doubt=0.02,
    spread=0.04,
    sharpness_spread=0.25,
    sets=11,
    source="eleven public data sets",
    span_shift=-0.77,
    span_slope=0.79,
)
"""The default, as `python -m benchmarks.calibration` fits it; doubt is set by hand: nobody should claim certainty. The
scale of spans is from one set alone, named entities by 47 annotators."""


def state_confidence(
    labels: CrowdLabels,
    estimate: Estimate,
    *,
    dependence: Dependence = PUBLIC_CROWDS,
    anchors: Mapping[Any, Any] | None = None,
    times: Floats | None = None,
) -> Estimate:
    """The estimate with a confidence that one can act on, for the same answers.

    Shares of votes are first turned into the posterior of annotators who are all equally good. An item whose truth is
    known is certain, and has that answer even from a method that does not heed known truths.

    Args:
        labels: The labels that the estimate was made from.
        estimate: What a method believes.
        dependence: How far labels of one item depend on each other.
        anchors: item -> true class (or the tags of a sequence), for items whose truth is known.
        times: times[i], how many units have the labels of unit i; None where each is one.
    """
    if estimate.calibration is not None or not labels.n_labels:
        return estimate
    stated, calibration = _state(estimate, labels.votes(), dependence, times)
    answer = known_answers(estimate.answer, labels, anchors)
    return replace(estimate, beliefs=keep_known(stated, labels, anchors), answer=answer, calibration=calibration)


def _state(
    estimate: Estimate, votes: Floats, dependence: Dependence, times: Floats | None
) -> tuple[Floats, Calibration]:
    """stated[i, k], and what it rests on; for units with the same votes once, where beliefs are shares of these."""
    shares = gives_shares(estimate.method)
    patterns = find_vote_patterns(votes) if shares and times is None else None
    if patterns is None or not patterns.determine(estimate.beliefs):
        return _state_rows(estimate.beliefs, votes, dependence, times, shares=shares)
    first = patterns.first
    rows, calibration = _state_rows(estimate.beliefs[first], votes[first], dependence, patterns.times, shares=shares)
    return patterns.expand(rows), calibration


def _state_rows(
    beliefs: Floats, votes: Floats, dependence: Dependence, times: Floats | None, *, shares: bool
) -> tuple[Floats, Calibration]:
    calibration = dependence.calibration(votes, times)
    sharpness = label_sharpness(votes, calibration.correlation)
    if shares:
        log_posterior = log_posterior_of_votes(beliefs, votes, times)
        return temper_logs(log_posterior, sharpness, calibration.doubt), calibration
    return temper(beliefs, sharpness, calibration.doubt), calibration


def label_sharpness(votes: Floats, correlation: float) -> Floats:
    """sharpness[i] = 1 / (1 + correlation (n_i - 1)), one over the design effect of the n_i labels of a unit."""
    n = row_sums(votes)
    return np.asarray(1.0 / design_effect(n, correlation))


def keep_known(beliefs: Floats, labels: CrowdLabels, anchors: Mapping[Any, Any] | None) -> Floats:
    """The beliefs with certainty where the truth is known."""
    fixed = anchor_classes(labels, anchors)
    if len(fixed):
        known = np.flatnonzero(fixed != UNKNOWN)
        beliefs[known] = np.eye(beliefs.shape[1])[fixed[known]]
    return beliefs


def known_answers(answer: Ints, labels: CrowdLabels, anchors: Mapping[Any, Any] | None) -> Ints:
    """The answers, with the truth where it is known."""
    fixed = anchor_classes(labels, anchors)
    return np.where(fixed != UNKNOWN, fixed, answer).astype(answer.dtype) if len(fixed) else answer


def nominal_alpha(votes: Floats, times: Floats | None = None) -> float:
    """Krippendorff's alpha from votes[i, k] ([KRIPP11] section C); 0 where it is undefined, as with a single class.

    Args:
        votes: votes[i, k].
        times: times[i], how many units have these votes; None where each is one.
    """
    n = row_sums(votes)
    pairable = n > 1
    # A unit with a single label has no pair to agree or disagree
    votes, n = votes[pairable], n[pairable]
    each = (n**2 - np.einsum("ik,ik->i", votes, votes)) / (n - 1)
    total = votes.sum(axis=0) if times is None else times[pairable] @ votes
    return alpha_of_sums(total, each.sum() if times is None else times[pairable] @ each)


def alpha_of_sums(totals: Floats, observed: Floats) -> float:
    """Krippendorff's alpha from totals[k], the labels of units with two or more, and their observed disagreement."""
    expected = totals.sum() ** 2 - (totals**2).sum()
    return float(1.0 - (totals.sum() - 1) * observed / expected) if expected > 0 else 0.0


def gives_shares(method: str) -> bool:
    """Whether the beliefs of a method are shares of votes, and so no posterior."""
    return method in TRUTH_METHODS and bool(getattr(TRUTH_METHODS.load(method), "gives_shares", False))
