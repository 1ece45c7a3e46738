"""Calibration of answers under dependence between the labels of an item.

Models of annotators assume that errors are independent given the truth. Real annotators tend to fail on the same items,
so the posterior of n labels is far too confident. Here its evidence is divided by the design effect of [KISH65],

    log q_calibrated[i] = log q[i] / (1 + correlation (n_i - 1)) + const,    and mixed with a little uniform doubt.

The correlation cannot be estimated from labels alone. On public crowd data, it is well described by `strength` times
the square root of Krippendorff's alpha ([KRIPP11]), which measures the agreement of the labels of an item. Calibration
only changes confidences; the fit of the method and the answers stay the same.

[KISH65] Kish, "Survey Sampling", 1965, section 5.4.
[KRIPP11] Krippendorff, "Computing Krippendorff's alpha-reliability", 2011.
Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from crowdlogic.annotators.label_sums import Q, count_votes
from crowdlogic.data.blocks import UNKNOWN, Arrays, Engine, Shard, Step, anchor_classes
from crowdlogic.data.estimate import Calibration, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.metrics.agreement import alpha_of_totals
from crowdlogic.numerics.arrays import Bools, Floats, Ints, row_sums, sum_by
from crowdlogic.numerics.logspace import design_effect, normalise, temper, temper_logs
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.fitting import BeliefPass, EngineFit

# Posterior given votes, if all annotators have the same accuracy and err uniformly.
#
# Two labels of one item agree if both are right, or both wrong in the same way: A = p² + (1 - p)² / (K - 1). So the
# mean agreement of two labels gives p, and each vote for a class adds log p (K - 1) / (1 - p) to its log odds.
#
# Axes: i unit, k class.

UNKNOWN_ACCURACY = 0.8
"""Assumed accuracy of an annotator if no item has two labels."""

MOST_ACCURATE = 0.99
"""Maximum accuracy, however well the labels agree."""

LEAST_SKILL = 0.05
"""Minimum distance of the accuracy from chance, as a share of the distance from chance to certainty."""


def posterior_of_votes(shares: Floats, votes: Floats, times: Floats | None = None) -> Floats:
    """Return the posterior q[i, k] of the votes if all annotators have the same accuracy.

    Args:
        shares: shares[i, k], the vote shares of a unit, which may be weighted.
        votes: votes[i, k], from which the accuracy is estimated.
        times: times[i], the number of units with these votes; None if all are 1.
    """
    return normalise(log_posterior_of_votes(shares, votes, common_accuracy(votes, times)))[0]


def log_posterior_of_votes(shares: Floats, votes: Floats, accuracy: float) -> Floats:
    """Return log q[i, k], up to a constant for each unit, if all annotators have this accuracy."""
    log_odds = vote_log_odds(accuracy, max(shares.shape[1], 2))
    return np.asarray(shares * (row_sums(votes) * log_odds)[:, None])


def common_accuracy(votes: Floats, times: Floats | None = None) -> float:
    """Return the accuracy that explains the agreement of votes[i, k]."""
    return accuracy_of_pairs(pair_sums(votes, times))


def pair_sums(votes: Floats, times: Floats | None = None) -> dict[str, Floats]:
    """Return sums over the units with at least two labels, which form pairs.

    Args:
        votes: votes[i, k].
        times: times[i], the number of units with these votes; None if all are 1.

    Returns:
        pairable, the number of these units; totals[k], the number of their labels; agreement, the sum of their shares
        of agreeing pairs; and observed, the sum of their disagreement in Krippendorff's alpha.
    """
    n = row_sums(votes)
    pairable = n > 1
    votes, n = votes[pairable], n[pairable]
    times = np.ones(len(n)) if times is None else times[pairable]
    squares = np.einsum("ik,ik->i", votes, votes)
    return {
        "pairable": np.array(times.sum()),
        "totals": times @ votes,
        "agreement": np.array(times @ ((squares - n) / (n * (n - 1)))),
        "observed": np.array(times @ ((n**2 - squares) / (n - 1))),
    }


def accuracy_of_pairs(sums: Arrays) -> float:
    """Return the accuracy that explains the agreement in `pair_sums`; UNKNOWN_ACCURACY if there are no pairs."""
    n_classes, pairable = len(sums["totals"]), float(sums["pairable"])
    if n_classes < 2 or not pairable:
        return UNKNOWN_ACCURACY
    return accuracy_of_agreement(float(sums["agreement"]) / pairable, n_classes)


def accuracy_of_agreement(agreement: float, n_classes: int) -> float:
    """Return the accuracy of annotators whose labels agree in this share of the pairs."""
    # The larger root of p² + (1 - p)² / (K - 1) = A, with A at least 1 / K
    chance, room = 1.0 / n_classes, 1.0 - 1.0 / n_classes
    skill = max(np.sqrt(max(agreement - chance, 0.0) / room), LEAST_SKILL)
    return float(min(chance + room * skill, MOST_ACCURATE))


def vote_log_odds(accuracy: float, n_classes: int) -> float:
    """Return the change in log odds by one vote for a class."""
    return float(np.log(accuracy * (n_classes - 1) / (1.0 - accuracy)))


MAX_DOUBT = 0.3
"""Doubt if no item has two labels, so that the reliability of annotators is unknown."""
HALF_KNOWN = 5.0
"""Number of labels, excluding the first of each item, that halves this additional doubt."""


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """Dependence of labels on one item, and its source.

    Attributes:
        strength: The correlation of the labels of one item, in units of the square root of Krippendorff's alpha.
        doubt: Share of uniform doubt in every calibrated belief.
        sharpness_spread: Standard deviation, from data set to data set, of the log of the best sharpness.
        source: Description of the data to which the parameters were fitted.
        span_shift: For tags: shift of the log odds of a span.
        span_slope: For tags: factor of the log odds of a span.
    """

    strength: float
    doubt: float
    sharpness_spread: float
    source: str
    span_shift: float = 0.0
    span_slope: float = 1.0

    def __post_init__(self) -> None:
        for name in ("strength", "doubt"):
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name} must be between 0 and 1, got {getattr(self, name)}.")

    def calibration(self, votes: Floats, times: Floats | None = None) -> Calibration:
        """Return the calibration for votes[i, k], where unit i represents times[i] units."""
        return self.calibration_of_pairs(pair_sums(votes, times))

    def calibration_of_pairs(self, sums: Arrays) -> Calibration:
        """Return the calibration for labels with these `pair_sums`."""
        return self.with_alpha(alpha_of_pairs(sums), float(sums["totals"].sum() - sums["pairable"]))

    def with_alpha(self, alpha: float, pairs: float = np.inf) -> Calibration:
        """Return the calibration for labels with the given value of Krippendorff's alpha.

        Args:
            alpha: Krippendorff's alpha.
            pairs: Number of labels, excluding the first of each item. If there are few, little is known about the
                reliability of annotators, so the doubt is larger.
        """
        unknown = HALF_KNOWN / (HALF_KNOWN + pairs)
        return Calibration(
            source=self.source,
            correlation=self.strength * float(np.sqrt(max(alpha, 0.0))),
            doubt=self.doubt + max(MAX_DOUBT - self.doubt, 0.0) * unknown,
            span_shift=self.span_shift,
            span_slope=self.span_slope,
        )


PUBLIC_CROWDS = Dependence(
    strength=0.83,
    doubt=0.02,
    sharpness_spread=0.25,
    source="eleven public data sets",
    span_shift=-0.77,
    span_slope=0.79,
)
"""Default values, fitted by `python -m benchmarks.calibration`. The doubt is set by hand, because no answer should be
certain. The calibration of spans is fitted to a single data set, named entities by 47 annotators."""


def state_confidence(
    labels: CrowdLabels,
    estimate: Estimate,
    *,
    dependence: Dependence = PUBLIC_CROWDS,
    anchors: Mapping[Any, Any] | None = None,
    times: Floats | None = None,
) -> Estimate:
    """Return the estimate with calibrated confidence and unchanged answers.

    Vote shares are first converted to the posterior for annotators with equal accuracy. Items whose truth is known have
    that answer with certainty, even if the method does not use known truths.

    Args:
        labels: The labels from which the estimate was computed.
        estimate: The uncalibrated estimate of a method.
        dependence: Dependence of labels on one item.
        anchors: item -> true class (or the tags of a sequence), for items whose truth is known.
        times: times[i], the number of units with the labels of unit i; None if all are 1.
    """
    if estimate.calibration is not None or not labels.n_labels:
        return estimate
    votes = labels.votes()
    calibration = dependence.calibration(votes, times)
    sharpness = label_sharpness(votes, calibration.correlation)
    if gives_shares(estimate.method):
        log_posterior = log_posterior_of_votes(estimate.beliefs, votes, common_accuracy(votes, times))
        stated, own = temper_logs(log_posterior, sharpness, calibration.doubt), normalise(log_posterior)[0]
    else:
        stated, own = temper(estimate.beliefs, sharpness, calibration.doubt), estimate.beliefs
    answer = known_answers(estimate.answer, labels, anchors)
    is_open = open_units(estimate, labels, anchors)
    wrong = probability_wrong(own[is_open], row_sums(votes)[is_open], answer[is_open])
    calibration = with_range(calibration, wrong, None if times is None else times[is_open])
    return replace(estimate, beliefs=keep_known(stated, labels, anchors), answer=answer, calibration=calibration)


# Range of the number of wrong answers: from independent errors to errors shared by all labels of an item.
#
# The correlation of errors cannot be estimated from labels alone. At the independent end, the posterior of a model of
# independent annotators is right. At the shared end, the n labels of an item are worth one: its evidence is divided by
# the design effect with a correlation of 1. No public crowd needs more (the worst needs 0.84), and every crowd and
# every simulated team with independent errors lies in between (`python -m benchmarks.shared_mistakes`).

SHARED_CORRELATION = 1.0
"""Correlation of the labels of one item at the shared end."""
WIDTH = 2.0
"""Number of standard deviations of the sampling error by which each end is widened."""
MIN_BELIEF = 1e-12
"""Minimum belief before the evidence is divided."""


def probability_wrong(own: Floats, n: Floats | Ints, answer: Ints) -> Floats:
    """Return wrong[i, e], the probability that each answer is wrong for independent (0) and shared (1) errors.

    Args:
        own: own[i, k], the posterior of a model of independent annotators.
        n: n[i], the number of labels of each unit.
        answer: answer[i], the chosen classes.
    """
    rows = np.arange(len(answer))
    shared = temper(np.maximum(own, MIN_BELIEF), 1.0 / design_effect(n, SHARED_CORRELATION))
    return np.stack([1.0 - own[rows, answer], 1.0 - shared[rows, answer]], axis=1)


def with_range(calibration: Calibration, wrong: Floats, times: Floats | None = None) -> Calibration:
    """Return the calibration with the range of the number of wrong answers.

    Args:
        calibration: The calibration.
        wrong: wrong[i, e] of the answers whose truth is unknown, from `probability_wrong`.
        times: times[i], the number of answers that each row represents; None if all are 1.
    """
    each = np.ones(len(wrong)) if times is None else times
    return with_range_of_sums(calibration, each @ wrong, each @ (wrong * (1.0 - wrong)), count=float(each.sum()))


def with_range_of_sums(calibration: Calibration, mean: Floats, variance: Floats, *, count: float) -> Calibration:
    """Return the calibration with a range, from mean[e] and variance[e] of the number of wrong answers of `count`."""
    sd = np.sqrt(variance + 1.0)
    low, high = float((mean - WIDTH * sd).min()), float((mean + WIDTH * sd).max())
    return replace(calibration, fewest_wrong=max(low, 0.0), most_wrong=min(high, count))


def label_sharpness(votes: Floats, correlation: float) -> Floats:
    """Return sharpness[i] = 1 / (1 + correlation (n_i - 1)), the inverse design effect of the labels of a unit."""
    n = row_sums(votes)
    return np.asarray(1.0 / design_effect(n, correlation))


def keep_known(beliefs: Floats, labels: CrowdLabels, anchors: Mapping[Any, Any] | None) -> Floats:
    """Return the beliefs, with certainty for units whose truth is known."""
    fixed = anchor_classes(labels, anchors)
    if len(fixed):
        known = np.flatnonzero(fixed != UNKNOWN)
        beliefs[known] = np.eye(beliefs.shape[1])[fixed[known]]
    return beliefs


def known_answers(answer: Ints, labels: CrowdLabels, anchors: Mapping[Any, Any] | None) -> Ints:
    """Return the answers, replaced by the truth where it is known."""
    fixed = anchor_classes(labels, anchors)
    return np.where(fixed != UNKNOWN, fixed, answer).astype(answer.dtype) if len(fixed) else answer


def open_units(estimate: Estimate, labels: CrowdLabels, anchors: Mapping[Any, Any] | None) -> Bools:
    """Return is_open[i], whether unit i has an answer whose truth is unknown."""
    fixed = anchor_classes(labels, anchors)
    return estimate.answered & (fixed == UNKNOWN) if len(fixed) else estimate.answered


def alpha_of_pairs(sums: Arrays) -> float:
    """Return Krippendorff's alpha from `pair_sums`; 0 if it is undefined, as with a single class."""
    return float(np.nan_to_num(alpha_of_totals(sums["totals"], sums["observed"])))


def gives_shares(method: str) -> bool:
    """Return whether the beliefs of a method are vote shares and therefore not a posterior."""
    return method in TRUTH_METHODS and bool(getattr(TRUTH_METHODS.load(method), "gives_shares", False))


# Calibration over any engine: the same computation, shard by shard.
#
# The dependence of labels is computed from sums over units (`vote_sums`); beliefs are then calibrated where the labels
# of an item are stored (`StatedStep`). The ensemble is a pool of several members.
#
# Axes: i unit, j annotator, k class, n given label.


def vote_sums(shard: Shard, _p: Arrays, _state: Arrays, *, n_annotators: int, n_classes: int) -> tuple[Arrays, Arrays]:
    """Return `pair_sums` of a block, and given[j, n], the number of labels n of annotator j."""
    sums = pair_sums(count_votes(shard, n_classes), shard.times if len(shard.times) else None)
    rows = replace(shard, weight=np.empty(0)).row_weights()
    given = sum_by(shard.cells(n_classes), n_annotators * n_classes, rows).reshape(n_annotators, n_classes)
    return sums | {"given": given}, {}


def sum_votes(engine: Engine) -> Arrays:
    """Return `vote_sums` over all labels."""
    return engine.sum(partial(vote_sums, n_annotators=engine.n_annotators, n_classes=engine.n_classes), {})[0]


@dataclass(frozen=True, kw_only=True)
class StatedStep:
    """Step that computes calibrated beliefs of one method, or of a weighted mean of several, as new state q[i, k].

    Parameters: those of each member, prefixed by its position and a colon. State: that of its members.

    Attributes:
        members: Steps whose new states contain q[i, k].
        weights: Weight of each member; they sum to one.
        shares: Whether the beliefs of each member are vote shares.
        n_classes: Number of classes.
        accuracy: Accuracy of annotators, for vote shares; None uses the shares directly.
        correlation: Correlation of labels on one unit; None does not calibrate beliefs.
        doubt: Share of uniform doubt.
        keep_own: Whether the new state also contains the beliefs of the first member, as `own`.
        raw_shares: Whether vote shares are used directly, neither converted to posteriors nor calibrated.
    """

    members: tuple[Step, ...]
    weights: tuple[float, ...]
    shares: tuple[bool, ...]
    n_classes: int
    accuracy: float | None = None
    correlation: float | None = None
    doubt: float = 0.0
    keep_own: bool = False
    raw_shares: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """Return sums of confidences and the state: calibrated beliefs and the probability of error of each answer."""
        votes = count_votes(shard, self.n_classes)
        stated, kept = np.full(votes.shape, self.doubt / max(self.n_classes, 1)), {}
        own, total = np.zeros(votes.shape), 0.0
        for at, (step, weight, share) in enumerate(zip(self.members, self.weights, self.shares, strict=True)):
            prefix = f"{at}:"
            own_parameters = {
                name.removeprefix(prefix): array for name, array in parameters.items() if name.startswith(prefix)
            }
            q = step(shard, own_parameters, state)[1][Q]
            if self.keep_own and at == 0:
                kept = {"own": q}
            raw = share and self.raw_shares
            if share and self.accuracy is not None and not raw:
                q = normalise(log_posterior_of_votes(q, votes, self.accuracy))[0]
            if not raw:
                own, total = own + weight * q, total + weight
            if self.correlation is not None and not raw:
                q = temper(q, label_sharpness(votes, self.correlation))
            stated += (1.0 - self.doubt) * weight * q
        confidence = stated.max(axis=1, initial=0.0)
        answered = row_sums(votes) > 0
        unsure = (confidence < 1.0) & answered
        counts = {
            "confidence": shard.unit_sum(np.where(unsure, confidence, 0.0)),
            "unsure": shard.unit_sum(unsure.astype(np.float64)),
        }
        kept["wrong"] = probability_wrong(own / total, row_sums(votes), stated.argmax(axis=1))
        return counts, {Q: stated, "answered": answered, **kept}


@dataclass(frozen=True, eq=False, kw_only=True)
class StatedMember:
    """Member of a calibrated pool: its pass, its weight, and whether its beliefs are vote shares."""

    beliefs: BeliefPass
    weight: float = 1.0
    shares: bool = False


def state_members(
    members: Sequence[StatedMember],
    engine: Engine,
    votes: Arrays,
    dependence: Dependence | None,
    *,
    posteriors: bool = True,
    raw_shares: bool = False,
) -> tuple[BeliefPass, Calibration | None]:
    """Return the pass that calibrates the weighted mean of some members, and the calibration.

    Args:
        members: The members.
        engine: The engine with the labels.
        votes: Result of `sum_votes` for the labels.
        dependence: Dependence of labels on one item; None returns the members' uncalibrated posteriors.
        posteriors: Whether vote shares are converted to posteriors.
        raw_shares: Whether vote shares are used directly, regardless of the dependence.
    """
    total = sum(member.weight for member in members)
    calibration = None if dependence is None else dependence.calibration_of_pairs(votes)
    step = StatedStep(
        members=tuple(member.beliefs.step for member in members),
        weights=tuple(member.weight / total for member in members),
        shares=tuple(member.shares for member in members),
        n_classes=engine.n_classes,
        accuracy=accuracy_of_pairs(votes) if posteriors else None,
        correlation=None if calibration is None else calibration.correlation,
        doubt=0.0 if calibration is None else calibration.doubt,
        raw_shares=raw_shares,
    )
    parameters = {
        f"{at}:{name}": array for at, member in enumerate(members) for name, array in member.beliefs.parameters.items()
    }
    states = members[0].beliefs.states if len(members) == 1 else None
    return BeliefPass(step=step, parameters=parameters, states=states), calibration


def state_fit(fit: EngineFit, dependence: Dependence | None, *, keep_own: bool = False) -> EngineFit:
    """Return the fit with calibrated confidence and unchanged answers; a calibrated fit is returned unchanged.

    Args:
        fit: The uncalibrated fit of a method.
        dependence: Dependence of labels on one item; None returns the method's uncalibrated posterior.
        keep_own: Whether the uncalibrated posterior is kept as well.
    """
    if isinstance(fit.beliefs.step, StatedStep):
        return fit
    member = StatedMember(beliefs=fit.beliefs, shares=gives_shares(fit.method))
    votes, posteriors = sum_votes(fit.engine), dependence is not None
    beliefs, calibration = state_members([member], fit.engine, votes, dependence, posteriors=posteriors)
    if keep_own and isinstance(beliefs.step, StatedStep):
        beliefs = replace(beliefs, step=replace(beliefs.step, keep_own=True))
    return replace(fit, beliefs=beliefs, calibration=calibration)
