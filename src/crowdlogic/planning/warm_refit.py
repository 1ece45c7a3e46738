"""A warm re-fit: decisions enter as known truths, and the fit goes on from the last state.

Decisions that the queue chose are hard ones, so they fix their answers and teach the model of the annotators, but the
scale of the confidence is fitted by those alone that were drawn at random.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import anchor_classes
from crowdlogic.errors import ConvergenceWarning
from crowdlogic.numerics.tempering import temper
from crowdlogic.planning.decisions import Decisions
from crowdlogic.truth.calibrated import ENOUGH_ANCHORS, fit_sharpness, predict_anchors, sharpen
from crowdlogic.truth.dependence import PUBLIC_CROWDS, Dependence, gives_shares, label_sharpness, state_confidence
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.methods import TruthMethod

POOLED = "ensemble"
"""The method whose beliefs are a mean over members: no single posterior can be recovered from them."""


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
    """Fit a method with the decisions as known truths, from the last estimate on.

    Args:
        method: The truth method.
        labels: The labels.
        last: The estimate before; None starts anew.
        decisions: All decisions so far.
        corpus: The items, for methods that read them.
        dependence: How far labels of one item depend on each other; None keeps the method's own posterior.
        recalibrate: Whether decisions drawn at random, from 30 on, fit the scale anew, which takes five more fits;
            without it the scale stays as it was in `last`.
        threads: Number of threads.
    """
    start = None if last is None else replace(last, beliefs=own_posterior(labels, last))
    fitting = Fitting(start=start, anchors=dict(decisions.truth), threads=threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the first fit has warned already
        found = method.infer(labels, corpus, fitting=fitting)
    if dependence is None:
        return found
    estimate = state_confidence(labels, found, dependence=dependence, anchors=decisions.truth)
    sampled = decisions.random_truth
    if recalibrate and len(sampled) >= ENOUGH_ANCHORS:
        # Every decision is predicted by a fit without it; only those drawn at random count for the scale
        predicted = predict_anchors(method, labels, corpus, fitting=replace(fitting, start=None), dependence=dependence)
        known = anchor_classes(labels, sampled)
        sharpness = fit_sharpness(predicted, known, spread=dependence.sharpness_spread)
        return sharpen(estimate, labels, decisions.truth, sharpness, checked=len(sampled))
    if last is None or last.calibration is None or last.calibration.anchors == 0:
        return estimate
    kept = last.calibration
    return sharpen(estimate, labels, decisions.truth, kept.sharpness, checked=kept.anchors)


def own_posterior(labels: CrowdLabels, estimate: Estimate) -> Beliefs:
    """q[i, k] of the method itself, recovered from what was stated; as stated where a mean was."""
    calibration = estimate.calibration
    if calibration is None or estimate.method == POOLED or gives_shares(estimate.method):
        return estimate.beliefs
    votes = labels.votes()
    doubt = calibration.doubt / max(labels.n_classes, 1)
    stated = temper(estimate.beliefs, 1.0 / calibration.sharpness)
    without = np.maximum(stated - doubt, 0.0)
    without /= without.sum(axis=1, keepdims=True)
    return temper(without, 1.0 / label_sharpness(votes, calibration.correlation))
