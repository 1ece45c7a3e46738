"""Calibration of answers and predictions after training.

Calibration is applied to the results of a fit. It changes confidence only, never an answer.

- Training items: the evidence in q_f is divided by 1 + correlation n_i, the design effect of n_i + 1 labels
  (`truth.dependence`): the n_i labels of a unit and the classifier, which was trained on the same crowd and counts as
  one more. If the annotator model has already discounted correlated labels, only the remaining discount is applied.
- New items: the beliefs of student and teacher are each raised to a power, their sharpness ([GUO17]), chosen to
  maximise the likelihood of the gold of the dev items or, without gold, of held-out labels.

[GUO17] Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", 2017.
Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from crowdlogic.classifiers.protocol import predict_units
from crowdlogic.confidence.calibration import ENOUGH_ANCHORS, find_sharpness, fit_sharpness, predict_anchors
from crowdlogic.confidence.expected_accuracy import sharing_sign
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Calibration, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.stopping import HeldOutLikelihood, HeldOutUnit
from crowdlogic.learning.task import Task
from crowdlogic.learning.training import TrainingPass
from crowdlogic.metrics.calibration import calibration_error
from crowdlogic.numerics.arrays import Floats, Ints, row_sums
from crowdlogic.numerics.logspace import design_effect, normalise, safe_log, temper
from crowdlogic.truth.dependence import PUBLIC_CROWDS, label_sharpness, probability_wrong, with_range
from crowdlogic.truth.fitting import Fitting

SPREAD = 0.4
"""Prior standard deviation of the log sharpness of a classifier, as measured with a linear model and a network on two
public sets and simulated reviews."""


SPAN_SHIFT, SPAN_SLOPE = 0.53, 0.83
"""Shift and slope of the calibration of spans, fitted by `python -m benchmarks.calibration` on a public set of named
entities."""
CHAIN_SPAN_SHIFT, CHAIN_SPAN_SLOPE = -0.28, 0.76
"""Shift and slope if the classifier models chains of tags, as the tagger of `--preset ner` does."""


class ScaleSource(StrEnum):
    """Data that a sharpness was fitted to."""

    gold = "gold"
    """Gold of the dev items."""
    held_out = "held-out labels"
    """Labels of items that the classifier was not trained on."""
    nothing = "nothing"
    """Neither was available; beliefs are not changed."""


@dataclass(frozen=True, kw_only=True)
class PredictionScale:
    """Calibration of predictions on new items.

    Attributes:
        sharpness: Power that beliefs are raised to; values below 1 make them less confident.
        source: Data it was fitted to.
        n: Number of units it was fitted to.
        error_before: Calibration error on the dev items before calibration; None without gold.
        error_after: Calibration error after calibration, with each half of the items calibrated on the other half.
    """

    sharpness: float = 1.0
    source: ScaleSource = ScaleSource.nothing
    n: int = 0
    error_before: float | None = None
    error_after: float | None = None

    def state(self, beliefs: Beliefs) -> Beliefs:
        """Return the calibrated beliefs."""
        return beliefs if self.sharpness == 1.0 else temper(beliefs, self.sharpness)


@dataclass(frozen=True, kw_only=True)
class PredictionScales:
    """Calibration of student and teacher for new items.

    Attributes:
        student: Calibration of the classifier alone.
        teacher: Calibration of the classifier with the rules; equal to the student's if there are none.
    """

    student: PredictionScale = PredictionScale()
    teacher: PredictionScale = PredictionScale()


def fit_scales(training: TrainingPass) -> PredictionScales:
    """Fit the calibration of student and teacher to dev gold, otherwise to held-out labels, otherwise leave it out."""
    dev = training.task.dev
    if dev is not None and dev.gold is not None:
        student = predict_units(training.classifier, dev)
        teacher = training.teacher.reweight(training.outcome.factors).predict(dev, training.classifier, student)
        gold = np.asarray(dev.gold)
        return PredictionScales(student=fit_to_gold(student, gold), teacher=fit_to_gold(teacher, gold))
    chose = training if training.first is None else training.first
    stopping, epoch = chose.stopping, chose.outcome
    if not (isinstance(stopping, HeldOutLikelihood) and stopping.unit == HeldOutUnit.items):
        return PredictionScales()  # a classifier is more confident on its training items than on new ones
    # The labels that were held out in a pass, at its chosen epoch
    projected = chose.teacher.reweight(epoch.factors).predict(chose.task.corpus, chose.classifier, epoch.p)
    evidence = stopping.evidence(epoch.annotators)
    return PredictionScales(
        student=fit_to_labels(epoch.p, stopping.held, evidence),
        teacher=fit_to_labels(projected, stopping.held, evidence),
    )


def fit_to_gold(beliefs: Beliefs, gold: Ints) -> PredictionScale:
    """Return the calibration that maximises the likelihood of gold."""
    # Each half of the units is calibrated on the other half, to measure the error afterwards.
    stated, second = beliefs.copy(), np.arange(len(gold)) % 2 == 1
    for half in (second, ~second):
        if half.any():
            stated[half] = temper(beliefs[half], fit_sharpness(beliefs[~half], gold[~half], spread=SPREAD))
    return PredictionScale(
        sharpness=fit_sharpness(beliefs, gold, spread=SPREAD),
        source=ScaleSource.gold,
        n=int(np.count_nonzero(gold != UNKNOWN)),
        error_before=calibration_error(gold, beliefs),
        error_after=calibration_error(gold, stated),
    )


def fit_to_labels(beliefs: Beliefs, held: CrowdLabels, evidence: Floats) -> PredictionScale:
    """Return the calibration that maximises the likelihood of held-out labels, weighted by the design effect of a unit.

    Args:
        beliefs: Beliefs[i, k] of the classifier, which was not trained on these labels.
        held: The labels.
        evidence: evidence[i, k], the log-likelihood of the labels under the annotator model.
    """
    units, votes = np.unique(held.unit), held.votes()
    weight = label_sharpness(votes, PUBLIC_CROWDS.calibration(votes).correlation)[units]

    def cost(sharpness: float) -> float:
        stated = temper(beliefs[units], sharpness)
        return -float(weight @ normalise(evidence[units] + safe_log(stated))[1])

    sharpness = find_sharpness(cost, spread=SPREAD)
    return PredictionScale(sharpness=sharpness, source=ScaleSource.held_out, n=len(units))


def state_answers(
    estimate: Estimate, task: Task, scales: PredictionScales, *, counted: float = 0.0, is_chain: bool = False
) -> Estimate:
    """Return the answers for the training items with calibrated confidence; known truths remain certain.

    Args:
        estimate: The answers with the uncalibrated beliefs of the method (q_f).
        task: The training data.
        scales: Calibration of predictions, used for units without labels.
        counted: The correlation of labels that q_f has already accounted for.
        is_chain: Whether the classifier models chains of tags, whose spans are calibrated differently.
    """
    calibration = replace(_fit_answers(task), counted=counted)
    if is_chain:
        calibration = replace(calibration, span_shift=CHAIN_SPAN_SHIFT, span_slope=CHAIN_SPAN_SLOPE)
    sharpness = answer_sharpness(task.labels, calibration, scales)
    stated = task.clamp(temper(estimate.beliefs, sharpness, calibration.doubt))
    calibration = range_of_answers(task, estimate.beliefs, estimate.answer, calibration)
    return replace(estimate, beliefs=stated, calibration=calibration)


def range_of_answers(task: Task, q_f: Beliefs, answer: Ints, calibration: Calibration) -> Calibration:
    """Return the calibration with the range of the number of wrong answers; the classifier counts as one more label.

    Args:
        task: The training data.
        q_f: q[i, k], the uncalibrated beliefs of the method.
        answer: answer[i], the chosen classes.
        calibration: The calibration of the answers.
    """
    is_open = answer != NO_ANSWER
    if len(task.known):
        is_open = is_open & (task.known == UNKNOWN)
    n = row_sums(task.labels.votes())
    taken = 1.0 + n / design_effect(n, calibration.counted)
    calibration = with_range(calibration, probability_wrong(q_f[is_open], taken[is_open], answer[is_open]))
    if task.labels.is_sequential or task.labels.negated is not None:
        return calibration
    sign = sharing_sign(task.labels, None, answer, q_f)
    return calibration if sign is None else replace(calibration, fewest_wrong=None, most_wrong=None, unknown=sign)


def answer_sharpness(labels: CrowdLabels, calibration: Calibration, scales: PredictionScales) -> Floats:
    """Return sharpness[i] of a training item's beliefs; units without labels get that of predictions."""
    n = row_sums(labels.votes())
    worth = (n + 1.0) / design_effect(n + 1.0, calibration.correlation)
    taken = 1.0 + n / design_effect(n, calibration.counted)  # n + 1 if labels were treated as independent
    return np.where(n > 0, calibration.sharpness * worth / taken, scales.teacher.sharpness)


def _fit_answers(task: Task) -> Calibration:
    """Return the default calibration, or one fitted by Dawid-Skene to enough randomly drawn known truths.

    The classifier was trained on the known truths, so it cannot show how accurate it would be without them.
    """
    from crowdlogic.truth.dawid_skene import DawidSkene

    public = PUBLIC_CROWDS.calibration(task.labels.votes())
    # The classifier knows more than the labels, so few labels are no reason for more doubt
    calibration = replace(public, doubt=PUBLIC_CROWDS.doubt, span_shift=SPAN_SHIFT, span_slope=SPAN_SLOPE)
    sampled = task.known if task.sampled is None else task.sampled
    drawn = len(_known_truths(task, sampled))
    if drawn < ENOUGH_ANCHORS:
        return calibration
    fitting = Fitting(anchors=_known_truths(task, task.known))
    predicted = predict_anchors(DawidSkene(), task.labels, None, fitting=fitting, dependence=PUBLIC_CROWDS)
    sharpness = fit_sharpness(predicted, sampled, spread=PUBLIC_CROWDS.sharpness_spread)
    return replace(calibration, sharpness=sharpness, anchors=drawn)


def _known_truths(task: Task, known: Ints) -> dict[Any, Any]:
    """Return a dictionary from item to true class (or the tags of a sequence), from known[i]."""
    if not len(known):
        return {}
    names = [*task.labels.classes, None]  # code -1 (unknown) selects the last one
    truths = [names[code] for code in known]
    items, offsets = task.labels.items.to_list(), task.labels.offsets
    if offsets is None:
        return {item: truth for item, truth in zip(items, truths, strict=True) if truth is not None}
    by_item = {item: truths[a:b] for item, a, b in zip(items, offsets[:-1], offsets[1:], strict=True)}
    return {item: tags for item, tags in by_item.items() if any(tag is not None for tag in tags)}
