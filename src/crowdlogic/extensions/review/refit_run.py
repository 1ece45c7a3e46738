"""Refit with additional known truths: M- and E-steps of Algorithm 1, starting from the end of a fit.

    annotators = model.m_step(crowd, q_f)        # eq. 12
    q_a = posterior(p, annotators, crowd)        # eq. 13; certain where the truth is known
    q_b = teacher.project(corpus, q_a, p)        # eq. 15
    q_f = mix(q_a, q_b, k)                       # eq. 9

The classifier is not trained, which takes seconds instead of minutes, unless epochs are requested. The calibration of
the confidence is kept, because truths that somebody chose to look up are not a random sample.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from crowdlogic.annotators.abstaining import Abstaining
from crowdlogic.classifiers.protocol import ChainClassifier, fit_epoch, predict
from crowdlogic.data.chain_beliefs import ChainBeliefs, answers, unit_beliefs
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.learning.algorithm import BeliefStep, repeat_until_settled
from crowdlogic.learning.confidence import answer_sharpness, range_of_answers
from crowdlogic.learning.explain import is_explicable
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.posterior import crowd_posterior
from crowdlogic.learning.task import Task
from crowdlogic.learning.training import Epoch
from crowdlogic.numerics.arrays import Ints
from crowdlogic.numerics.logspace import temper

MOST_STEPS = 20
"""Maximum number of steps with a fixed classifier."""
SETTLED = 1e-3
"""Maximum change of beliefs at convergence."""


def known_truths(learned: Learned) -> Ints:
    """Return known[i] of a fit: the class of a unit with given truth, UNKNOWN elsewhere.

    A saved run does not store them, but calibrated beliefs are only certain for known truths.
    """
    if len(learned.task.known):
        return learned.task.known
    beliefs = learned.estimate.beliefs
    if learned.estimate.calibration is None:
        return np.full(len(beliefs), UNKNOWN, dtype=np.int32)
    return np.where(beliefs.max(axis=1, initial=0.0) == 1.0, beliefs.argmax(axis=1), UNKNOWN).astype(np.int32)


def refit(learned: Learned, known: Ints, *, epochs: int = 0) -> Learned:
    """Return a refit with additional known truths, starting from the end of a fit, which is not modified.

    Args:
        learned: Result of a fit, or `load_run(folder).learned`.
        known: known[i], the class of a unit whose truth is known, UNKNOWN elsewhere.
        epochs: Number of extra training epochs for a copy of the classifier.
    """
    if epochs:
        learned = replace(learned, classifier=deepcopy(learned.classifier))
    task = replace(learned.task, known=known.astype(np.int32))
    targets = task.clamp_targets(learned.epoch.targets)
    pair = targets.pair if isinstance(targets, ChainBeliefs) else None
    epoch = replace(learned.epoch, q_f=unit_beliefs(targets), pair=pair)
    if is_explicable(learned):
        epoch = _iterate(learned, task, epoch, epochs=epochs)
    return replace(learned, task=task, epoch=epoch, estimate=_state(learned, task, epoch))


def _iterate(learned: Learned, task: Task, epoch: Epoch, *, epochs: int) -> Epoch:
    """Run `epochs` training epochs, then steps with a fixed classifier until convergence."""
    step = BeliefStep(
        task=task,
        model=learned.model,
        crowd=learned.model.observe(task.labels),
        posterior=task.clamp_posterior(crowd_posterior),
        project=learned.teacher.project,
        classifier=learned.classifier,
        annotators=learned.epoch.annotators if isinstance(learned.model, Abstaining) else None,  # labelling functions
    )
    # chain classifiers return more than the beliefs about units stored in an epoch
    p = predict(learned.classifier, task.corpus) if isinstance(learned.classifier, ChainClassifier) else epoch.p
    for _ in range(epochs):
        fit_epoch(learned.classifier, task.corpus, epoch.targets, task.unit_weights)
        p = predict(learned.classifier, task.corpus)
        epoch = step(epoch, p)
    return repeat_until_settled(lambda last: step(last, p), epoch, most=MOST_STEPS, change=SETTLED)


def _state(learned: Learned, task: Task, epoch: Epoch) -> Estimate:
    """Return the estimate, calibrated like that of the training."""
    calibration, labels = learned.estimate.calibration, task.labels
    stated = epoch.q_f
    if calibration is not None:
        sharpness = answer_sharpness(labels, calibration, learned.scales)
        stated = task.clamp(temper(epoch.q_f, sharpness, calibration.doubt))
    estimate = make_estimate(
        labels,
        learned.estimate.method,
        stated,
        answer=None if epoch.pair is None else answers(epoch.targets, task.corpus.offsets),
        confusion=epoch.annotators.confusion,
        answer_all=True,
    )
    if calibration is not None:
        calibration = range_of_answers(task, epoch.q_f, estimate.answer, calibration)
    return replace(estimate, calibration=calibration, trace=learned.estimate.trace)
