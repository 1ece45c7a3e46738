"""A truth method with a confidence that one can act on: as on public crowd sets, and by known truths.

Known truths (anchors) fix the answers of their items. From 30 on they also say how far the scale is off on this very
data: each is predicted by fits that did not know it, and the sharpness of all beliefs is the one under which these
predictions are most probable ([GUO17] temperature scaling), drawn to 1 as far as public sets are alike. Anchors have to
be a random sample of the items: those that somebody picked for being hard make everything look harder than it is.

[GUO17] Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", 2017.
Axes: i unit, k class.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from crowdlogic.data.answers import drawn_at_random
from crowdlogic.data.blocks import UNKNOWN, anchor_classes
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.frames import as_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.metrics.calibration import log_loss
from crowdlogic.numerics.arrays import Ints
from crowdlogic.numerics.logspace import temper
from crowdlogic.truth.dependence import PUBLIC_CROWDS, Dependence, keep_known, state_confidence
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.methods import TruthMethod, as_truth_method, infer_truth

ENOUGH_ANCHORS = 30
"""With fewer known items their own scale is not fitted."""
FOLDS = 5
"""Each known item is predicted by a fit that knows the other folds only."""
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
) -> Estimate:
    """Fit a method, and state its beliefs on a calibrated scale.

    Args:
        method: The truth method, or its name.
        labels: The labels, or the frame that holds them.
        corpus: The items, for methods that read them.
        fitting: Options of the fit; its anchors, if enough were drawn at random, also fit the scale.
        dependence: How far labels of one item depend on each other; None keeps the method's own posterior.
    """
    method, labels = as_truth_method(method), as_labels(labels, "infer_calibrated")
    found = infer_truth(method, labels, corpus, fitting=fitting)
    if dependence is None:
        return found
    estimate = state_confidence(labels, found, dependence=dependence, anchors=fitting.anchors)
    sampled = drawn_at_random(fitting.anchors)
    if not fitting.anchors or len(sampled) < ENOUGH_ANCHORS or estimate.calibration is None:
        return estimate
    predicted = predict_anchors(method, labels, corpus, fitting=fitting, dependence=dependence)
    known = anchor_classes(labels, sampled)
    sharpness = fit_sharpness(predicted, known, spread=dependence.sharpness_spread)
    return sharpen(estimate, labels, fitting.anchors, sharpness, checked=len(sampled))


def predict_anchors(
    method: TruthMethod, labels: CrowdLabels, corpus: Corpus | None, *, fitting: Fitting, dependence: Dependence
) -> Beliefs:
    """q[i, k] of every unit whose truth is known, stated by a fit that does not know it; uniform elsewhere."""
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
    """The sharpness under which the known truths are most probable, its logarithm drawn to 0 by a normal prior.

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
    """The estimate with its stated beliefs made sharper (or flatter); known truths stay certain.

    Args:
        estimate: An estimate with a calibration.
        labels: Its labels.
        anchors: item -> true class of every item whose truth is known.
        sharpness: What the log beliefs are multiplied by.
        checked: How many anchors the sharpness rests on; None for all.
    """
    calibration = estimate.calibration
    if calibration is None:
        return estimate
    beliefs = keep_known(temper(estimate.beliefs, sharpness), labels, anchors)
    rests_on = len(anchors) if checked is None else checked
    return replace(estimate, beliefs=beliefs, calibration=replace(calibration, sharpness=sharpness, anchors=rests_on))


# Which answers are confident enough, and which items should be labelled again.


def split_by_confidence(estimate: Estimate, minimum: float) -> tuple[Ints, Ints]:
    """The items whose confidence is at least `minimum`, and the others: less confident, or without an answer.

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
    """The part of an estimate that is about some items, in the given order; annotators and parameters stay."""
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
