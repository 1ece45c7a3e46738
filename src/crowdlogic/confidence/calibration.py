"""Truth methods with calibrated confidence: `infer_calibrated` is what every command and `crowdlogic.aggregate` call.

The default pool is assessed as a whole (`assessment`): near-copies are merged and gold is learnt from. Any other method
keeps its own answers. Random gold items (anchors) then say how many of these are wrong: each is predicted by fits that
did not know it, and the sharpness of all beliefs is the one under which these predictions are most probable ([GUO17]
temperature scaling).

[GUO17] Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", 2017.
Axes: i unit, k class.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from crowdlogic.confidence.ranges import (
    MIN_GOLD,
    binomial_interval,
    checked_range,
    mistakes_in_first,
    residual_agreement,
    sharing_sign,
)
from crowdlogic.data.answers import drawn_at_random
from crowdlogic.data.blocks import UNKNOWN, anchor_classes
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Calibration, Estimate
from crowdlogic.data.frames import as_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.metrics.calibration import log_loss
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import design_effect, temper
from crowdlogic.truth.dependence import (
    MIN_BELIEF,
    PUBLIC_CROWDS,
    Dependence,
    keep_known,
    open_units,
    probability_wrong,
    state_confidence,
)
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.methods import TruthMethod, as_truth_method, infer_truth

ENOUGH_ANCHORS = MIN_GOLD
"""Minimum number of random gold items for fitting the scale and the range."""
FOLDS = 5
"""Each gold item is predicted by a fit that knows only the other folds."""
SEED = 0
"""Random seed of the folds."""
WIDEST = 3.0
"""Largest log sharpness, either way."""


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
        labels: The labels, or the frame that holds them.
        corpus: The items, for methods that read them.
        fitting: Options of the fit. The pool learns from its anchors if there are enough.
        dependence: Dependence of labels on one item; None keeps the method's own posterior.
        groups: groups[j], the same number for annotators who count once; for the pool only.
        ordered: Whether the order of the classes means something; used when the pool learns from gold.
    """
    from crowdlogic.confidence.assessment import assess
    from crowdlogic.truth.pool import MethodPool

    method, labels = as_truth_method(method), as_labels(labels, "infer_calibrated")
    assessed = (
        isinstance(method, MethodPool)
        and method.dependence is not None
        and dependence is not None
        and not labels.is_sequential
    )
    if groups is not None and not assessed:
        raise OptionError(
            f"Groups of annotators can be given for single items and the method pool only, not for {method.name}"
            f"{' of sentences' if labels.is_sequential else ''}."
        )
    if dependence is None or not labels.n_labels:
        return infer_truth(method, labels, corpus, fitting=fitting)
    sampled = drawn_at_random(fitting.anchors)
    if isinstance(method, MethodPool) and assessed:
        known = anchor_classes(labels, fitting.anchors)
        random = anchor_classes(labels, sampled)
        at_random = random != UNKNOWN if len(random) else np.zeros(labels.n_units, dtype=bool)
        gold = known if len(known) else None
        return assess(
            labels,
            gold=gold,
            random_gold=at_random,
            ordered=ordered,
            groups=groups,
            method=method,
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
        return _with_checked_range(estimate, labels, fitting, predicted, truth)
    if not labels.is_sequential and labels.negated is None:
        has_model = found.confusion is not None and found.calibration is None
        residuals = residual_agreement(labels, found.beliefs) if has_model else None
        sign = sharing_sign(labels, residuals, found.answer, found.beliefs)
        if sign is not None and estimate.calibration is not None:
            withheld = replace(estimate.calibration, fewest_wrong=None, most_wrong=None, unknown=sign)
            return replace(estimate, calibration=withheld)
    return estimate


def _with_checked_range(
    estimate: Estimate, labels: CrowdLabels, fitting: Fitting, predicted: Beliefs, truth: Ints
) -> Estimate:
    """Return the estimate with the exact interval of the mistakes on gold items that the fits did not know."""
    if estimate.calibration is None:
        return estimate
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
    calibration = replace(estimate.calibration, fewest_wrong=low, most_wrong=high, checked=estimate.calibration.anchors)
    return replace(estimate, calibration=calibration)


def predict_anchors(
    method: TruthMethod, labels: CrowdLabels, corpus: Corpus | None, *, fitting: Fitting, dependence: Dependence
) -> Beliefs:
    """Return q[i, k] of every unit whose truth is known, stated by a fit that does not know it; uniform elsewhere."""
    anchors = list((fitting.anchors or {}).items())
    order = np.random.default_rng(SEED).permutation(len(anchors))
    predicted = np.full((labels.n_units, labels.n_classes), 1.0 / max(labels.n_classes, 1))
    for fold in range(FOLDS):
        left_out = dict(anchors[at] for at in order[fold::FOLDS])
        others = {item: truth for item, truth in anchors if item not in left_out}
        hidden = np.flatnonzero(anchor_classes(labels, left_out) != UNKNOWN)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the whole fit has warned already
            found = method.infer(labels, corpus, fitting=Fitting(anchors=others, threads=fitting.threads))
        predicted[hidden] = state_confidence(labels, found, dependence=dependence, anchors=others).beliefs[hidden]
    return predicted


def fit_sharpness(beliefs: Beliefs, gold: Ints, *, spread: float) -> float:
    """Return the sharpness under which the known truths are most probable, its logarithm drawn to 0 by a normal prior.

    Args:
        beliefs: q[i, k].
        gold: gold[i], UNKNOWN where the truth is not known.
        spread: Standard deviation of the prior.
    """
    from scipy.optimize import minimize_scalar

    known = gold != UNKNOWN
    q, truth = beliefs[known], gold[known]

    def cost(log_sharpness: float) -> float:
        stated = temper(q, float(np.exp(log_sharpness)))
        return len(truth) * log_loss(truth, stated) + 0.5 * (log_sharpness / spread) ** 2

    return float(np.exp(minimize_scalar(cost, bounds=(-WIDEST, WIDEST), method="bounded").x))


def sharpen(
    estimate: Estimate, labels: CrowdLabels, anchors: Mapping[Any, Any], sharpness: float, *, checked: int | None = None
) -> Estimate:
    """Return the estimate with its stated beliefs made sharper (or flatter); known truths stay certain.

    Args:
        estimate: An estimate with a calibration.
        labels: Its labels.
        anchors: item -> true class of every item whose truth is known.
        sharpness: Factor of the log beliefs.
        checked: Number of anchors that the sharpness was fitted to; None for all.
    """
    calibration = estimate.calibration
    if calibration is None:
        return estimate
    beliefs = keep_known(temper(estimate.beliefs, sharpness), labels, anchors)
    rests_on = len(anchors) if checked is None else checked
    return replace(estimate, beliefs=beliefs, calibration=replace(calibration, sharpness=sharpness, anchors=rests_on))


# Which answers are confident enough, and which items should be labelled again.


def mistakes_by_rank(labels: CrowdLabels, estimate: Estimate) -> list[tuple[int, float, float]]:
    """Return which share of the mistakes the 50, 100 and 200 most doubtful answers contain, at either end of the range.

    Empty for tags, for estimates without a calibration and for few answers.

    Args:
        labels: The labels that the estimate was made from.
        estimate: A calibrated estimate.
    """
    scale = estimate.calibration
    if scale is None or labels.is_sequential or not labels.n_classes or len(estimate.beliefs) != labels.n_units:
        return []
    open_answers = np.flatnonzero(estimate.answered & ~(estimate.confidence >= 1.0))
    order = open_answers[np.argsort(estimate.confidence[open_answers], kind="stable")]
    q = estimate.beliefs[order]
    if scale.checked:  # learnt from gold: one scale
        return mistakes_in_first(np.tile(1.0 - estimate.confidence[order][:, None], (1, 2)))
    n = labels.votes()[order].sum(axis=1)
    own = independent_beliefs(q, n, scale)
    return mistakes_in_first(probability_wrong(own, n, estimate.answer[order]))


def independent_beliefs(q: Beliefs, n: Floats | Ints, scale: Calibration) -> Beliefs:
    """Return the posterior of independent annotators: stated beliefs without the doubt, their evidence undivided.

    Args:
        q: q[i, k], the calibrated beliefs.
        n: n[i], the number of labels of each unit.
        scale: What they were stated by.
    """
    own = np.maximum(q - scale.doubt / max(q.shape[1], 1), MIN_BELIEF)
    return temper(own / own.sum(axis=1, keepdims=True), design_effect(n, scale.correlation) / scale.sharpness)


def split_by_confidence(estimate: Estimate, minimum: float) -> tuple[Ints, Ints]:
    """Return the items whose confidence is at least `minimum`, and the others: less confident, or without an answer.

    A sentence is as confident as its least confident token.
    """
    if not 0 <= minimum <= 1:
        raise OptionError(f"The minimum confidence must lie between 0 and 1, not at {minimum}.")
    doubtful = ~(estimate.confidence >= minimum)
    if estimate.offsets is not None:
        item = np.repeat(np.arange(len(estimate.items)), np.diff(estimate.offsets))
        doubtful = np.bincount(item, weights=doubtful, minlength=len(estimate.items)) > 0
    return np.flatnonzero(~doubtful), np.flatnonzero(doubtful)


def take_items(estimate: Estimate, items: Ints) -> Estimate:
    """Return the part of an estimate that is about some items, in the given order; annotators stay."""
    if estimate.calibration is not None:  # the range is about all items
        estimate = replace(estimate, calibration=replace(estimate.calibration, fewest_wrong=None, most_wrong=None))
    if estimate.offsets is None:
        return replace(
            estimate, beliefs=estimate.beliefs[items], answer=estimate.answer[items], items=estimate.items.gather(items)
        )
    lengths = np.diff(estimate.offsets)[items]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    # The units of the sequences taken, in order: the old first unit of each, and the position within it
    units = np.repeat(estimate.offsets[:-1][items] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return replace(
        estimate,
        beliefs=estimate.beliefs[units],
        answer=estimate.answer[units],
        items=estimate.items.gather(items),
        offsets=offsets,
    )
