"""Estimates with calibrated confidence. `infer_calibrated` is used by all commands and by `crowdlogic.aggregate`.

The default pool of methods is assessed by `assess`: near-copies are merged, the pool is fitted, and gold is used for
learning if there is enough. Figures such as the number of wrong answers are given as ranges, or not at all if the
labels show that annotators share more mistakes than in public crowds.

All other methods keep their own answers. With gold items that were drawn at random, every gold item is predicted by
fits without its truth. The number of mistakes among them determines the range, and the sharpness of all beliefs is the
one that maximises the likelihood of the gold ([GUO17] temperature scaling).

[GUO17] Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", 2017.
Axes: i unit, j annotator, k class, n label row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdlogic.annotators.label_sums import MOST_CELLS
from crowdlogic.confidence.expected_accuracy import (
    GROUP,
    HIGH,
    LOW,
    MIN_GOLD,
    Residuals,
    binomial_interval,
    checked_range,
    mistakes_in_first,
    order_by_doubt,
    reliability_ranges,
    residual_agreement,
    sharing_sign,
)
from crowdlogic.data.blocks import UNKNOWN, anchor_classes
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Calibration, Estimate, drawn_at_random
from crowdlogic.data.frames import as_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning, DataError, OptionError
from crowdlogic.metrics.calibration import log_loss
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import design_effect, temper
from crowdlogic.truth.dependence import (
    MIN_BELIEF,
    PUBLIC_CROWDS,
    SHARED_CORRELATION,
    Dependence,
    keep_known,
    open_units,
    probability_wrong,
    state_confidence,
    with_range,
)
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.methods import TruthMethod, as_truth_method, infer_truth
from crowdlogic.truth.near_copies import Similarity, find_similar, merge_groups
from crowdlogic.truth.pool import TEAMS_CROWDS_PANELS, Members, MethodPool, independent_posterior, split_groups

if TYPE_CHECKING:
    from crowdlogic.confidence.learning_from_gold import LearntFromGold

ENOUGH_ANCHORS = MIN_GOLD
"""Minimum number of random gold items for fitting the scale and the range."""
FOLDS = 5
"""Number of folds; each gold item is predicted by a fit that only uses the gold of the other folds."""
SEED = 0
"""Random seed of the folds."""
WIDEST = 3.0
"""Maximum absolute value of the log sharpness."""


def infer_calibrated(
    method: TruthMethod,
    labels: CrowdLabels,
    corpus: Corpus | None = None,
    *,
    fitting: Fitting = DEFAULT_FIT,
    dependence: Dependence | None = PUBLIC_CROWDS,
    groups: Ints | None = None,
    ordered: bool = False,
) -> Estimate:
    """Fit a method, calibrate its confidence, and give the range of the number of wrong answers.

    Args:
        method: The truth method, or its name.
        labels: The labels, or a frame of labels.
        corpus: The items, for methods that use them.
        fitting: Options of the fit. The pool learns from its anchors if there are enough.
        dependence: Dependence of labels on one item; None keeps the method's own posterior.
        groups: groups[j], equal for annotators who count as one; only for the pool.
        ordered: Whether the classes are ordered; used if the pool learns from gold.
    """
    method, labels = as_truth_method(method), as_labels(labels, "infer_calibrated")
    states = dependence is not None and not labels.is_sequential
    pool = method if isinstance(method, MethodPool) and method.dependence is not None and states else None
    if groups is not None and pool is None:
        raise OptionError(
            f"Groups of annotators are only supported by the method pool for single items, not by {method.name}"
            f"{' for sentences' if labels.is_sequential else ''}. Use pool, or remove the groups."
        )
    if dependence is None or not labels.n_labels:
        return infer_truth(method, labels, corpus, fitting=fitting)
    sampled = drawn_at_random(fitting.anchors)
    if pool is not None:
        known, random = anchor_classes(labels, fitting.anchors), anchor_classes(labels, sampled)
        return assess(
            labels,
            gold=known if len(known) else None,
            random_gold=random != UNKNOWN if len(random) else False,
            ordered=ordered,
            groups=groups,
            method=pool,
            fitting=fitting,
        ).estimate

    found = infer_truth(method, labels, corpus, fitting=fitting)
    estimate = state_confidence(labels, found, dependence=dependence, anchors=fitting.anchors)
    if estimate.calibration is None:
        return estimate
    if len(sampled) >= ENOUGH_ANCHORS:
        predicted = predict_anchors(method, labels, corpus, fitting=fitting, dependence=dependence)
        truth = anchor_classes(labels, sampled)
        sharpness = fit_sharpness(predicted, truth, spread=dependence.sharpness_spread)
        estimate = sharpen(estimate, labels, fitting.anchors or {}, sharpness, checked=len(sampled))
        # The exact interval of the number of mistakes, from those on gold items that the fits did not know
        units = np.flatnonzero(truth != UNKNOWN)
        is_wrong = (predicted[units].argmax(axis=1) != truth[units]).astype(np.float64)
        remaining = int(np.count_nonzero(open_units(estimate, labels, fitting.anchors)))
        if not labels.is_sequential:
            low, high = checked_range(int(is_wrong.sum()), len(units), remaining)
        else:
            # The tags of a sentence are not independent, so a sentence counts as one observation
            share, sentences = float(is_wrong.mean()), len(np.unique(labels.item_of_unit[units]))
            ends = binomial_interval(share * sentences, sentences)
            low, high = float(ends[0]) * remaining, float(ends[1]) * remaining
        return _change_calibration(estimate, fewest_wrong=low, most_wrong=high, checked=len(sampled))
    if not labels.is_sequential and labels.negated is None:
        has_model = found.confusion is not None and found.calibration is None
        residuals = residual_agreement(labels, found.beliefs) if has_model else None
        sign = sharing_sign(labels, residuals, found.answer, found.beliefs)
        if sign is not None:
            return _change_calibration(estimate, fewest_wrong=None, most_wrong=None, unknown=sign)
    return estimate


def _change_calibration(estimate: Estimate, **changes: Any) -> Estimate:
    """Return the estimate with a changed calibration."""
    if estimate.calibration is None:
        return estimate
    return replace(estimate, calibration=replace(estimate.calibration, **changes))


def predict_anchors(
    method: TruthMethod, labels: CrowdLabels, corpus: Corpus | None, *, fitting: Fitting, dependence: Dependence
) -> Beliefs:
    """Return calibrated q[i, k] of every unit with known truth, by a fit without this truth; uniform elsewhere."""
    anchors = list((fitting.anchors or {}).items())
    order = np.random.default_rng(SEED).permutation(len(anchors))
    predicted = np.full((labels.n_units, labels.n_classes), 1.0 / max(labels.n_classes, 1))
    for fold in range(FOLDS):
        left_out = dict(anchors[at] for at in order[fold::FOLDS])
        others = {item: truth for item, truth in anchors if item not in left_out}
        hidden = np.flatnonzero(anchor_classes(labels, left_out) != UNKNOWN)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the fit with all anchors has already warned
            found = method.infer(labels, corpus, fitting=Fitting(anchors=others, threads=fitting.threads))
        predicted[hidden] = state_confidence(labels, found, dependence=dependence, anchors=others).beliefs[hidden]
    return predicted


def fit_sharpness(beliefs: Beliefs, gold: Ints, *, spread: float) -> float:
    """Return the sharpness that maximises the likelihood of the known truths, with a normal prior on its logarithm.

    Args:
        beliefs: q[i, k].
        gold: gold[i], UNKNOWN if unknown.
        spread: Standard deviation of the prior.
    """
    q, truth = beliefs[gold != UNKNOWN], gold[gold != UNKNOWN]
    return find_sharpness(lambda sharpness: len(truth) * log_loss(truth, temper(q, sharpness)), spread=spread)


def find_sharpness(cost: Callable[[float], float], *, spread: float) -> float:
    """Return the sharpness with the lowest cost, a negative log-likelihood, under a normal prior on its logarithm."""
    from scipy.optimize import minimize_scalar

    def penalised(log_sharpness: float) -> float:
        return cost(float(np.exp(log_sharpness))) + 0.5 * (log_sharpness / spread) ** 2

    return float(np.exp(minimize_scalar(penalised, bounds=(-WIDEST, WIDEST), method="bounded").x))


def sharpen(
    estimate: Estimate, labels: CrowdLabels, anchors: Mapping[Any, Any], sharpness: float, *, checked: int | None = None
) -> Estimate:
    """Return the estimate with sharpened (or flattened) calibrated beliefs; known truths stay certain.

    Args:
        estimate: A calibrated estimate.
        labels: Its labels.
        anchors: item -> true class of every item whose truth is known.
        sharpness: Factor of the log beliefs.
        checked: Number of anchors to which the sharpness was fitted; None for all.
    """
    calibration = estimate.calibration
    if calibration is None:
        return estimate
    beliefs = keep_known(temper(estimate.beliefs, sharpness), labels, anchors)
    fitted_to = len(anchors) if checked is None else checked
    return replace(estimate, beliefs=beliefs, calibration=replace(calibration, sharpness=sharpness, anchors=fitted_to))


# Assessment of labels by the pool: answers, expected accuracy, and signs that annotators share mistakes.


@dataclass(frozen=True, eq=False, kw_only=True)
class Assessment:
    """Answers and their estimated quality.

    Attributes:
        estimate: Beliefs and answers of all units. Gold items have their gold answer. The calibration contains the
            range of the number of wrong answers and the effective number of votes.
        similarity: Annotators with similar answers; near-copies were merged.
        reliability: reliability[j], the share of right labels of each annotator according to `estimate`.
        doubtful: The answered units without gold, least confident first.
        first: For the first 50, 100 and 200 doubtful units: the share of all mistakes that they contain, at both ends
            of the range.
        learnt: Weights fitted to gold; None without gold, or with too little of it.
        gold_note: Reason why gold was not used; None if it was used, or if there is none.
    """

    estimate: Estimate
    similarity: Similarity
    reliability: Floats
    doubtful: Ints
    first: tuple[tuple[int, float, float], ...]
    learnt: LearntFromGold | None
    gold_note: str | None

    @property
    def calibration(self) -> Calibration:
        """Calibration of the estimate."""
        found = self.estimate.calibration
        if found is None:
            raise DataError(
                "assess: the estimate is not calibrated. Use a pool with a dependence, such as MethodPool()."
            )
        return found

    @property
    def mistakes(self) -> tuple[float, float] | None:
        """The fewest and the most wrong answers among items without gold; None if they cannot be estimated."""
        low, high = self.calibration.fewest_wrong, self.calibration.most_wrong
        return None if low is None or high is None else (low, high)

    @property
    def reliability_range(self) -> tuple[Floats, Floats]:
        """Lower and upper end of the reliability of each annotator, low[j] and high[j]."""
        return self.estimate.parameters[LOW], self.estimate.parameters[HIGH]


@dataclass(frozen=True, eq=False, kw_only=True)
class Unsupervised:
    """Assessment of labels without gold.

    Attributes:
        similarity: Annotators with similar answers.
        merged: The labels with near-copies merged.
        members: Beliefs of the members of the pool.
        estimate: Estimate of the pool, with the annotators of the original labels.
        residuals: Agreement of pairs of annotators beyond that expected from independent errors.
        sign: Description of a sign that annotators share more mistakes than in any public crowd; None without one.
        taught: Result of `members_to_weigh`, if gold is used repeatedly; empty to compute it if needed.
    """

    similarity: Similarity
    merged: CrowdLabels
    members: Members
    estimate: Estimate
    residuals: Residuals
    sign: str | None
    taught: tuple[Beliefs, ...] = ()


def fit_without_gold(
    labels: CrowdLabels,
    *,
    groups: Ints | None = None,
    method: MethodPool | None = None,
    fitting: Fitting = DEFAULT_FIT,
    seed: int = 0,
) -> Unsupervised:
    """Merge near-copies, fit the pool and look for signs of shared mistakes.

    Args:
        labels: The labels of single items.
        groups: groups[j], equal for annotators who count as one, in addition to the near-copies that are found.
        method: The pool; None for the default pool.
        fitting: Options of the fits.
        seed: Random seed.
    """
    if labels.is_sequential:
        raise DataError("assess: expected labels of single items, found tags of sequences.")
    pool = method or MethodPool()
    similarity = find_similar(labels, seed=seed)
    group = similarity.group if groups is None else _join(similarity.group, groups)
    merged = merge_groups(labels, group)
    members = pool.fit_members(merged, fitting=fitting)
    estimate = split_groups(pool.pooled(merged, members, fitting=fitting), labels, group)
    dawid_skene = members.dawid_skene.posterior
    residuals = residual_agreement(merged, dawid_skene, seed=seed)
    return Unsupervised(
        similarity=replace(similarity, group=group),
        merged=merged,
        members=members,
        estimate=estimate,
        residuals=residuals,
        sign=sharing_sign(labels, residuals, estimate.answer, dawid_skene),
    )


def members_to_weigh(fit: Unsupervised, *, seed: int = 0) -> tuple[Beliefs, ...]:
    """Return the beliefs that are weighted with the help of gold: those of votes, MACE, the pool, CATD and EBCC.

    Dawid-Skene is a member of the pool, and a special case of EBCC. Its own beliefs are too extreme to be added.
    """
    from crowdlogic.confidence.learning_from_gold import subtype_beliefs
    from crowdlogic.truth.ebcc import EBCC
    from crowdlogic.truth.weighting import CATD

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # CATD is only one of several members
        catd = CATD().infer(fit.merged).beliefs
    known = (fit.members.vote.posterior, fit.members.mace.posterior, fit.estimate.beliefs, catd)
    if len(fit.merged.annotators) * EBCC().subtypes * fit.merged.n_classes**2 > MOST_CELLS:
        return known  # EBCC would not fit into memory
    return *known, subtype_beliefs(fit.merged, seed=seed)


def assess(
    labels: CrowdLabels,
    *,
    fit: Unsupervised | None = None,
    gold: Ints | None = None,
    random_gold: bool | Bools = True,
    scores: Floats | None = None,
    ordered: bool = False,
    groups: Ints | None = None,
    method: MethodPool | None = None,
    fitting: Fitting = DEFAULT_FIT,
    seed: int = 0,
) -> Assessment:
    """Answer the items, and estimate how many answers are wrong.

    Args:
        labels: The labels of single items.
        fit: Result of `fit_without_gold` for these labels, if available; groups, method and fitting are then ignored.
        gold: gold[i], the true class of each unit, UNKNOWN if unknown.
        random_gold: Whether the gold items (or which units) were drawn at random. Other gold items are used for
            learning, but not for estimating how many answers are wrong.
        scores: score[n] of each label, if annotators gave scores that are finer than the classes.
        ordered: Whether the classes are ordered.
        groups: See `fit_without_gold`.
        method: See `fit_without_gold`.
        fitting: Options of the fits. Their anchors are used if there is too little gold for learning.
        seed: Random seed.
    """
    gold = np.full(labels.n_units, UNKNOWN) if gold is None else np.asarray(gold)
    known = gold != UNKNOWN
    note, learns = None, False
    if known.any():
        from crowdlogic.confidence.learning_from_gold import gold_problem, learn_from_gold

        note = gold_problem(gold, labels.n_classes)
        learns = note is None
    if learns:
        fitting = replace(fitting, anchors=None)  # members that are weighted by gold must be fitted without it
    fit = fit or fit_without_gold(labels, groups=groups, method=method, fitting=fitting, seed=seed)
    estimate = fit.estimate
    independent = independent_posterior(fit.members, fit.merged.votes())
    learnt = None
    if learns:
        taught = fit.taught or members_to_weigh(fit, seed=seed)
        learnt = learn_from_gold(labels, gold, taught, scores=scores, ordered=ordered, seed=seed)

    # Answers: gold if known, otherwise those learnt from gold, otherwise those of the pool
    beliefs, answer = np.array(estimate.beliefs if learnt is None else learnt.beliefs), np.array(estimate.answer)
    if learnt is not None:
        answered = answer != NO_ANSWER
        answer[answered] = beliefs.argmax(axis=1)[answered]
    beliefs[known], answer[known] = np.eye(labels.n_classes)[gold[known]], gold[known]

    # The range of the number of wrong answers: exact with random gold; otherwise from the labels, unless they show that
    # annotators share more mistakes than in public crowds
    open_units = np.flatnonzero(~known & (answer != NO_ANSWER))
    order = open_units[order_by_doubt(beliefs[open_units])]
    n_labels = fit.merged.votes().sum(axis=1)
    wrong = probability_wrong(independent[order], n_labels[order], answer[order])
    sampled = np.flatnonzero(known & random_gold)
    calibration = estimate.calibration or TEAMS_CROWDS_PANELS.calibration(fit.merged.votes())
    calibration = replace(calibration, effective_votes=fit.residuals.effective_votes)
    if learnt is not None and len(sampled) >= MIN_GOLD:
        is_sampled = np.isin(learnt.gold, sampled)
        mistakes, size = int(np.count_nonzero(learnt.is_wrong[is_sampled])), len(sampled)
        low, high = checked_range(mistakes, size, len(open_units))
        calibration = replace(calibration, fewest_wrong=low, most_wrong=high, anchors=size, checked=size)
        wrong = np.tile(1.0 - beliefs[order].max(axis=1, initial=0.0)[:, None], (1, 2))
        ends: tuple[Beliefs, ...] = (beliefs,)
    else:
        calibration = with_range(calibration, wrong)
        if fit.sign is not None:
            calibration = replace(calibration, fewest_wrong=None, most_wrong=None, unknown=fit.sign)
        shared = temper(np.maximum(independent, MIN_BELIEF), 1.0 / design_effect(n_labels, SHARED_CORRELATION))
        ends = (independent, shared)

    low_ends, high_ends = reliability_ranges(labels, ends, gold_items=calibration.checked)
    right = np.bincount(labels.annotator, weights=beliefs[labels.unit, labels.label], minlength=len(labels.annotators))
    parameters = {LOW: low_ends, HIGH: high_ends, GROUP: fit.similarity.group.astype(np.float64)}
    return Assessment(
        estimate=replace(
            estimate, beliefs=beliefs, answer=answer.astype(np.int32), calibration=calibration, parameters=parameters
        ),
        similarity=fit.similarity,
        reliability=right / np.maximum(labels.labels_per_annotator(), 1),
        doubtful=order,
        first=tuple(mistakes_in_first(wrong)),
        learnt=learnt,
        gold_note=note,
    )


def _join(first: Ints, second: Ints) -> Ints:
    """Return groups of annotators who are connected through either of two groupings."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    size = len(first)
    rows = np.concatenate([np.arange(size), np.arange(size)])
    _, first_code = np.unique(first, return_inverse=True)
    _, second_code = np.unique(second, return_inverse=True)
    columns = np.concatenate([size + first_code, size + first_code.max() + 1 + second_code])
    total = int(columns.max()) + 1
    graph = csr_matrix((np.ones(2 * size), (rows, columns)), shape=(total, total))
    return connected_components(graph, directed=False)[1][:size]


# Answers that are confident enough, and items that should be labelled again.


def mistakes_by_rank(labels: CrowdLabels, estimate: Estimate) -> list[tuple[int, float, float]]:
    """Return the share of all mistakes among the 50, 100 and 200 most doubtful answers, at both ends of the range.

    The result is empty for tags, for estimates without a calibration and for few answers.

    Args:
        labels: The labels from which the estimate was computed.
        estimate: A calibrated estimate.
    """
    scale = estimate.calibration
    if scale is None or labels.is_sequential or not labels.n_classes or len(estimate.beliefs) != labels.n_units:
        return []
    open_answers = np.flatnonzero(estimate.answered & ~(estimate.confidence >= 1.0))
    order = open_answers[np.argsort(estimate.confidence[open_answers], kind="stable")]
    q = estimate.beliefs[order]
    if scale.checked:  # learnt from gold: both ends are equal
        return mistakes_in_first(np.tile(1.0 - estimate.confidence[order][:, None], (1, 2)))
    n = labels.votes()[order].sum(axis=1)
    own = independent_beliefs(q, n, scale)
    return mistakes_in_first(probability_wrong(own, n, estimate.answer[order]))


def independent_beliefs(q: Beliefs, n: Floats | Ints, scale: Calibration) -> Beliefs:
    """Return the posterior for independent annotators, by undoing the calibration of beliefs.

    Args:
        q: q[i, k], the calibrated beliefs.
        n: n[i], the number of labels of each unit.
        scale: The calibration.
    """
    own = np.maximum(q - scale.doubt / max(q.shape[1], 1), MIN_BELIEF)
    return temper(own / own.sum(axis=1, keepdims=True), design_effect(n, scale.correlation) / scale.sharpness)


def split_by_confidence(estimate: Estimate, minimum: float) -> tuple[Ints, Ints]:
    """Return the items whose confidence is at least `minimum`, and all other items, with or without an answer.

    The confidence of a sentence is that of its least confident token.
    """
    if not 0 <= minimum <= 1:
        raise OptionError(f"The minimum confidence must be between 0 and 1, got {minimum}.")
    doubtful = ~(estimate.confidence >= minimum)
    if estimate.offsets is not None:
        item = np.repeat(np.arange(len(estimate.items)), np.diff(estimate.offsets))
        doubtful = np.bincount(item, weights=doubtful, minlength=len(estimate.items)) > 0
    return np.flatnonzero(~doubtful), np.flatnonzero(doubtful)


def take_items(estimate: Estimate, items: Ints) -> Estimate:
    """Return the estimate of some items, in the given order; the annotators are unchanged."""
    estimate = _change_calibration(estimate, fewest_wrong=None, most_wrong=None)  # the range refers to all items
    units, offsets = items, None
    if estimate.offsets is not None:
        lengths = np.diff(estimate.offsets)[items]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # The units of the chosen sequences, in order: the old first unit of each, and the position within it
        units = np.repeat(estimate.offsets[:-1][items] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return replace(
        estimate,
        beliefs=estimate.beliefs[units],
        answer=estimate.answer[units],
        items=estimate.items.gather(items),
        offsets=offsets,
    )
