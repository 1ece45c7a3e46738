"""Queue of a review: which item is served next, by the expected number of mistakes that its decision removes.

A decision certainly removes the mistake of its own unit, if there is one. The probability of a mistake combines three
sources: a committee of truth methods, the method itself, which has learnt most from the decisions, with weight 1/4, and
what decisions revealed about answers of the same class or by the same annotators (`answer_effects`).

A method is often confident in its own mistakes, so other methods are better at finding them. Members of the committee
are the ensemble, MACE, majority vote and GLAD. Their weights are those of Bayesian model averaging [HOETING99]: a prior
times the probability that the member assigned, before the first decision, to the outcome of every decision (answer
right or wrong). So the first items follow the ensemble, and later ones the member that best predicts where answers are
wrong. `refit` fits a method again with the decisions as known truths.

Items drawn at random are mixed into the queue. They are the beginning of a single permutation of all items, which only
depends on the seed. So the items up to the last one drawn are a random sample of all items, regardless of the queue:
their decisions can calibrate the confidence and give an unbiased estimate of the accuracy.

[HOETING99] Hoeting, Madigan, Raftery and Volinsky, "Bayesian model averaging: a tutorial", 1999.
[GELMAN08] Gelman, Jakulin, Pittau and Su, "A weakly informative default prior distribution for logistic and other
regression models", 2008.

Axes: i unit, j annotator, k class, n label, e member, s item, p place in the queue.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdlogic.confidence.calibration import ENOUGH_ANCHORS, fit_sharpness, predict_anchors, sharpen
from crowdlogic.data.blocks import UNKNOWN, anchor_classes
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels, find_codes
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, sum_by
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import normalise, safe_log, temper
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import (
    PUBLIC_CROWDS,
    Dependence,
    gives_shares,
    label_sharpness,
    posterior_of_votes,
    state_confidence,
)
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.glad import GLAD
from crowdlogic.truth.mace import MACE
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.pool import BESIDE_CONFUSION, Ensemble, Member, MethodPool, pool

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Effects: mistakes are correlated. If four of five answers "jazz" were wrong, the others are suspect as well; if ann
# was right against the answer three times, she may be right elsewhere. A refit learns this slowly, since a known truth
# is one count among hundreds. So the log odds that an answer is right get an offset per class and per annotator: plus
# the effects of those who gave the answer, minus those of the others, over the root of their number. This is a logistic
# regression with an offset and normal priors on the effects ([GELMAN08] section 2), equivalent to a Gaussian process
# over the votes. The selection by the queue causes no bias, because it depends on the beliefs, which are the offset.

SPREAD = 0.5
"""Standard deviation of the effect of a class or an annotator, in log odds."""
MIN_EFFECT_ANSWERS = 0.01
"""Probabilities are clipped to this margin in the fit, so that a single surprise does not dominate."""
EPSILON = 1e-9
"""Margin that keeps log odds finite."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerEffects:
    """Offsets to the log odds that an answer is right.

    Attributes:
        of_class: effect[k], for an answer k.
        of_annotator: effect[j], added if annotator j's label supports the answer, subtracted otherwise.
    """

    of_class: Floats
    of_annotator: Floats

    def add_to(self, right: Floats, labels: CrowdLabels, answer: Ints) -> Floats:
        """Return right[i], the probability that the answer is right, with the effects added."""
        votes = sum_by(labels.unit, labels.n_units, self.of_annotator[labels.annotator] * support(labels, answer))
        return np.asarray(1.0 / (1.0 + np.exp(-log_odds(right) - self.of_class[answer] - votes)))


def answer_effects(labels: CrowdLabels, right: Floats, answer: Ints, decided: Ints) -> AnswerEffects:
    """Return the MAP estimate of the effects of classes and annotators, given the decisions so far.

    Args:
        labels: The labels.
        right: right[i], the probability before the first decision that the answer is right.
        answer: answer[i], the answers before the first decision.
        decided: decided[i], the decided class; UNKNOWN if undecided.
    """
    from scipy.sparse import csr_matrix, hstack

    known = (decided != UNKNOWN) & (answer >= 0)
    offset = log_odds(right[known], MIN_EFFECT_ANSWERS)
    # x[i, effect], the design matrix of the known units: answer classes, then the support of annotators
    units, place = np.flatnonzero(known), np.cumsum(known) - 1
    of_class = csr_matrix(
        (np.ones(len(units)), (np.arange(len(units)), answer[units])), shape=(len(units), labels.n_classes)
    )
    rows = np.flatnonzero(known[labels.unit])
    of_annotator = csr_matrix(
        (support(labels, answer)[rows], (place[labels.unit[rows]], labels.annotator[rows])),
        shape=(len(units), len(labels.annotators)),
    )
    x = csr_matrix(hstack([of_class, of_annotator], format="csr"))
    effect = fit_effects(x, offset, (decided == answer)[known])
    return AnswerEffects(of_class=effect[: labels.n_classes], of_annotator=effect[labels.n_classes :])


def support(labels: CrowdLabels, answer: Ints) -> Floats:
    """Return support[n]: 1 if the label agrees with the unit's answer, else -1, over the root of their number."""
    agrees = labels.label == answer[labels.unit]
    if labels.negated is not None:
        agrees ^= labels.negated
    scale = 1.0 / np.sqrt(np.maximum(labels.labels_per_unit(), 1))
    return np.asarray(np.where(agrees, 1.0, -1.0) * scale[labels.unit])


def fit_effects(x: csr_matrix, offset: Floats, is_right: Bools) -> Floats:
    """Return the effects that maximise the posterior; zeros without decisions."""
    if not x.shape[0]:
        return np.zeros(x.shape[1])
    from scipy.optimize import minimize

    found = minimize(log_loss(x, offset, is_right), np.zeros(x.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x)


def log_loss(x: csr_matrix, offset: Floats, is_right: Bools) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the negative log posterior of the effects up to a constant, with its gradient."""
    sign = np.where(is_right, 1.0, -1.0)

    def loss(effect: Floats) -> tuple[float, Floats]:
        margin = sign * (offset + x @ effect)
        value = np.logaddexp(0.0, -margin).sum() + 0.5 * (effect @ effect) / SPREAD**2
        slope = effect / SPREAD**2 - x.T @ (sign / (1.0 + np.exp(margin)))
        return float(value), slope

    return loss


def log_odds(right: Floats, least: float = EPSILON) -> Floats:
    """Return the log odds of probabilities clipped to [least, 1 - least]."""
    p = np.clip(right, least, 1.0 - least)
    return np.asarray(np.log(p) - np.log1p(-p))


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """Decisions of reviewers on items.

    Attributes:
        truth: item -> true class, or the tags of a sequence (None for a token that was left open).
        at_random: The decided items that were drawn at random; only these may be used for calibration and accuracy.
    """

    truth: Mapping[Any, Any] = field(default_factory=dict)
    at_random: frozenset[Any] = frozenset()

    @property
    def random_truth(self) -> dict[Any, Any]:
        """Item -> true class, for items drawn at random."""
        return {item: truth for item, truth in self.truth.items() if item in self.at_random}

    def classes(self, labels: CrowdLabels) -> Ints:
        """Return decided[i], the decided class of unit i; UNKNOWN if undecided."""
        fixed = anchor_classes(labels, self.truth)
        return fixed if len(fixed) else np.full(labels.n_units, UNKNOWN, dtype=np.int32)

    def items(self, labels: CrowdLabels) -> Bools:
        """Return decided[s], whether item s was decided."""
        decided = np.zeros(len(labels.items), dtype=bool)
        if self.truth:
            decided[find_codes(self.truth, labels.items, "item")] = True
        return decided


NO_DECISIONS = Decisions()
"""Decisions at the start of a review."""


POOLED = "ensemble"
"""Method whose beliefs are a mean over members, from which no single posterior can be recovered."""


def refit(
    method: TruthMethod,
    labels: CrowdLabels,
    last: Estimate | None,
    decisions: Decisions,
    *,
    corpus: Corpus | None = None,
    dependence: Dependence | None = PUBLIC_CROWDS,
    recalibrate: bool = True,
    threads: int = 1,
) -> Estimate:
    """Refit a method with the decisions as known truths, starting from the last estimate.

    Args:
        method: The truth method.
        labels: The labels.
        last: The last estimate; None starts from scratch.
        decisions: All decisions so far.
        corpus: The items, for methods that use them.
        dependence: Assumed dependence between labels of an item; None for the method's own posterior.
        recalibrate: Whether to recalibrate the confidence on decisions drawn at random, if there are enough, which
            takes five more fits; otherwise the calibration of `last` is kept. Decisions chosen by the queue are not
            used, since they are harder than average.
        threads: Number of threads.
    """
    start = None if last is None else replace(last, beliefs=own_posterior(labels, last))
    fitting = Fitting(start=start, anchors=dict(decisions.truth), threads=threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the first fit already warned
        found = method.infer(labels, corpus, fitting=fitting)
    if dependence is None:
        return found
    estimate = state_confidence(labels, found, dependence=dependence, anchors=decisions.truth)
    sampled = decisions.random_truth
    if recalibrate and len(sampled) >= ENOUGH_ANCHORS:
        # Every decision is predicted by a fit without it; only random ones are used for calibration
        predicted = predict_anchors(method, labels, corpus, fitting=replace(fitting, start=None), dependence=dependence)
        known = anchor_classes(labels, sampled)
        sharpness = fit_sharpness(predicted, known, spread=dependence.sharpness_spread)
        return sharpen(estimate, labels, decisions.truth, sharpness, checked=len(sampled))
    if last is None or last.calibration is None or last.calibration.anchors == 0:
        return estimate
    kept = last.calibration
    return sharpen(estimate, labels, decisions.truth, kept.sharpness, checked=kept.anchors)


def own_posterior(labels: CrowdLabels, estimate: Estimate) -> Beliefs:
    """Return q[i, k] before calibration, recovered from the calibrated beliefs; pooled beliefs are unchanged."""
    calibration = estimate.calibration
    if calibration is None or estimate.method in (POOLED, MethodPool.name) or gives_shares(estimate.method):
        return estimate.beliefs
    votes = labels.votes()
    doubt = calibration.doubt / max(labels.n_classes, 1)
    stated = temper(estimate.beliefs, 1.0 / calibration.sharpness)
    without = np.maximum(stated - doubt, 0.0)
    without /= without.sum(axis=1, keepdims=True)
    return temper(without, 1.0 / label_sharpness(votes, calibration.correlation))


OTHERS_WEIGHT = 0.3
"""Prior weight of every other member, relative to 1 for the ensemble."""

MIN_PROBABILITY = 0.01
"""Margin for the members' probabilities, so that no member is ruled out by a single item."""

FEW_STEPS = Convergence(max_iterations=8)
"""Iteration limit of fits that start from the current beliefs."""
OPINION = Convergence(max_iterations=100, tolerance=1e-5)
"""Stopping criterion of GLAD, which need not be exact here."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Committee:
    """Beliefs of several methods about the same units before the first decision.

    Attributes:
        labels: The labels.
        answer: answer[i], the answers before the first decision.
        own: q[i, k], the beliefs of the method that gave these answers.
        beliefs: Member -> q[i, k]; the first is the ensemble, or the only one.
    """

    labels: CrowdLabels
    answer: Ints
    own: Beliefs
    beliefs: Mapping[str, Beliefs]

    def weights(self, decided: Ints) -> Floats:
        """Return weight[e]: the prior times the member's likelihood of the answers being right or wrong.

        Args:
            decided: decided[i], the decided class of unit i; UNKNOWN if undecided.
        """
        units = np.flatnonzero((decided != UNKNOWN) & (self.answer >= 0))
        answer = self.answer[units]
        is_right = decided[units] == answer
        prior = np.array([1.0, *[OTHERS_WEIGHT] * (len(self.beliefs) - 1)])
        right = [np.clip(q[units, answer], MIN_PROBABILITY, 1.0 - MIN_PROBABILITY) for q in self.beliefs.values()]
        log_score = [float(np.log(np.where(is_right, p, 1.0 - p)).sum()) for p in right]
        return normalise(safe_log(prior) + np.array(log_score))[0]

    def pool(self, present: Estimate, decisions: Decisions) -> Beliefs:
        """Return q[i, k], the weighted mean of the members' current beliefs.

        Args:
            present: The current estimate, with calibrated beliefs.
            decisions: All decisions so far.
        """
        now = dict(self.beliefs) | (
            {present.method: present.beliefs} if len(self.beliefs) == 1 else opinions(self.labels, present, decisions)
        )
        return self._mix(now, decisions)

    def pool_first(self, decisions: Decisions) -> Beliefs:
        """Return q[i, k], the mean of the members' beliefs before the first decision, with current weights."""
        return self._mix(self.beliefs, decisions)

    def _mix(self, beliefs: Mapping[str, Beliefs], decisions: Decisions) -> Beliefs:
        weights = self.weights(decisions.classes(self.labels))
        return np.asarray(sum(weight * beliefs[name] for name, weight in zip(self.beliefs, weights, strict=True)))


def make_committee(labels: CrowdLabels, before: Estimate) -> Committee:
    """Create the committee, once per set of labels.

    For tags of sentences, partial labels and runs (which use the items), the committee only contains the estimate.

    Args:
        labels: The labels.
        before: The estimate before the first decision.
    """
    own = state_confidence(labels, before)
    alone = labels.is_sequential or labels.negated is not None or own.method not in TRUTH_METHODS
    if alone or not labels.n_labels:
        return Committee(labels=labels, answer=own.answer, own=own.beliefs, beliefs={own.method: own.beliefs})
    found = opinions(labels, own, Decisions())
    found["glad"] = state_confidence(labels, _infer(GLAD(convergence=OPINION), labels, Fitting())).beliefs
    return Committee(labels=labels, answer=own.answer, own=own.beliefs, beliefs=found)


def opinions(labels: CrowdLabels, present: Estimate, decisions: Decisions) -> dict[str, Beliefs]:
    """Return the beliefs of the ensemble, MACE and majority vote, after a few iterations from `present`."""
    votes = labels.votes()
    calibration = PUBLIC_CROWDS.calibration(votes)
    sharpness = label_sharpness(votes, calibration.correlation)
    own = own_posterior(labels, present)
    fitting = Fitting(start=replace(present, beliefs=own), anchors=dict(decisions.truth))
    mace = _infer(MACE(convergence=FEW_STEPS), labels, fitting).beliefs
    vote = posterior_of_votes(vote_shares(votes), votes)
    # The beliefs of the ensemble from its members, or the current ones if they are already pooled
    pooled = present.beliefs
    if present.method not in (POOLED, MethodPool.name):
        weight = Ensemble().confusion_weight(labels)
        members = [Member(1.0 - BESIDE_CONFUSION * weight, mace), Member(1.0 - weight, vote)]
        if weight > 0 and present.method == DawidSkene.name:
            members.append(Member(weight, own))
        elif weight > 0:
            members.append(Member(weight, _infer(DawidSkene(convergence=FEW_STEPS), labels, fitting).beliefs))
        pooled = pool(members, votes, calibration)
    return {
        POOLED: pooled,
        "mace": temper(mace, sharpness, calibration.doubt),
        "majority": temper(vote, sharpness, calibration.doubt),
    }


def _infer(method: TruthMethod, labels: CrowdLabels, fitting: Fitting) -> Estimate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few iterations are intended
        return method.infer(labels, fitting=fitting)


OWN_SHARE = 0.25
"""Weight of the method's own log odds; the rest is the committee's."""


def expected_mistakes_removed(
    labels: CrowdLabels,
    estimate: Estimate,
    *,
    decisions: Decisions = NO_DECISIONS,
    before: Estimate | Committee | None = None,
) -> Floats:
    """Return removed[i], the expected number of mistakes corrected by deciding unit i; 0 if decided.

    Args:
        labels: The labels.
        estimate: The current estimate.
        decisions: All decisions so far.
        before: The committee of the labels (`make_committee`), which should be shared by repeated calls, or the
            estimate before the first decision, to create a committee; None uses the current estimate.
    """
    stated = state_confidence(labels, estimate, anchors=decisions.truth)
    if not labels.n_classes:
        return np.zeros(labels.n_units)
    committee = before if isinstance(before, Committee) else make_committee(labels, before or estimate)
    decided = decisions.classes(labels)
    answer = np.maximum(stated.answer, 0)
    right = _right(committee.pool(stated, decisions), stated.beliefs, answer)
    if decisions.truth and not labels.is_sequential:
        first = _right(committee.pool_first(decisions), committee.own, np.maximum(committee.answer, 0))
        right = answer_effects(labels, first, committee.answer, decided).add_to(right, labels, answer)
    return np.where(decided == UNKNOWN, 1.0 - right, 0.0)


def _right(pooled: Floats, own: Floats, answer: Ints) -> Floats:
    """Return right[i], the probability that answer i is right: a weighted mean of log odds by committee and method."""
    units = np.arange(len(answer))
    z = (1.0 - OWN_SHARE) * log_odds(pooled[units, answer]) + OWN_SHARE * log_odds(own[units, answer])
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


RANDOM_SHARE = 0.1
"""Default share of items drawn at random."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewQueue:
    """Items in the order of review.

    Attributes:
        items: items[p], the item at place p of the queue.
        at_random: at_random[p], whether it was drawn at random.
    """

    items: Ints
    at_random: Bools


def make_queue(
    removed: Floats,
    labels: CrowdLabels,
    *,
    open_items: Bools,
    answered: int = 0,
    random_share: float = RANDOM_SHARE,
    seed: int = 0,
    length: int | None = None,
) -> ReviewQueue:
    """Return the open items, most valuable first, with a share drawn at random instead.

    Args:
        removed: removed[i] from `expected_mistakes_removed`; values are summed over the units of an item.
        labels: The labels.
        open_items: open_items[s], whether item s is still to be decided.
        answered: Number of items decided or skipped before, which determines when the next random item is due.
        random_share: Share of items drawn at random, from 0 to 1.
        seed: Random seed of the sample.
        length: Number of items to return; None for all open items.
    """
    if not 0 <= random_share <= 1:
        raise OptionError(f"The share of items drawn at random must be between 0 and 1, got {random_share}.")
    size = int(np.count_nonzero(open_items))
    size = size if length is None else min(size, max(length, 0))
    # drawn[p], whether place p is filled at random, spaced evenly so that the share always holds
    place = np.arange(answered, answered + size)
    drawn = np.floor((place + 1) * random_share + 1e-9) > np.floor(place * random_share + 1e-9)
    sampled = iter(item for item in sample_order(len(labels.items), seed) if open_items[item])
    ranked = iter(item for item in rank_items(removed, labels) if open_items[item])
    # Take the next item of the sample if one is due, otherwise the most valuable one; no repeats
    taken: dict[int, None] = {}
    for is_drawn in drawn.tolist():
        source = sampled if is_drawn else ranked
        taken[int(next(item for item in source if int(item) not in taken))] = None
    return ReviewQueue(items=np.fromiter(taken, dtype=np.int64, count=len(taken)), at_random=drawn)


def rank_items(removed: Floats, labels: CrowdLabels) -> Ints:
    """Return all items, most valuable first; ties are ordered by item."""
    worth = removed if labels.offsets is None else sum_by(labels.item_of_unit, len(labels.items), removed)
    return np.argsort(-worth, kind="stable")


def sample_order(n_items: int, seed: int) -> Ints:
    """Return the permutation of all items from which random items are taken."""
    return np.random.default_rng(seed).permutation(n_items)


def random_sample(at_random: Bools, seed: int) -> Ints:
    """Return the items of the random sample so far.

    These are the beginning of the permutation up to the last item drawn from it. Items in between that the queue served
    first belong to the sample as well.

    Args:
        at_random: at_random[s], whether item s was shown because it was drawn at random.
        seed: Random seed of the sample.
    """
    order = sample_order(len(at_random), seed)
    places = np.flatnonzero(at_random[order])
    return order[: int(places[-1]) + 1] if len(places) else order[:0]
