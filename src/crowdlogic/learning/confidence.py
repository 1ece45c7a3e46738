"""How sure answers and predictions are after training, on a scale that one can act on.

Training stays as its method has it; what is stated afterwards is put on another scale, and no answer changes.

- Training items: the evidence of q_f is divided by 1 + correlation n_i. That is the design effect of n_i + 1 labels
  (`truth.dependence`): the n_i labels of a unit, and the classifier, which learnt from the same crowd, as one more.
  Where the annotator model has discounted the labels itself, only what is missing of that.
- New items: the student's and the teacher's beliefs are raised to a power each, their sharpness ([GUO17]), under which
  the gold of the dev items is most probable, or, without any, the labels of held-out items.

[GUO17] Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", 2017.
Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from crowdlogic.classifiers.protocol import predict_units
from crowdlogic.confidence.calibration import ENOUGH_ANCHORS, WIDEST, fit_sharpness, predict_anchors
from crowdlogic.confidence.ranges import sharing_sign
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Calibration, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.stopping import HeldOutLikelihood, HeldOutUnit
from crowdlogic.learning.task import Task
from crowdlogic.learning.training import TrainingPass
from crowdlogic.metrics.calibration import calibration_error
from crowdlogic.numerics.arrays import Floats, Ints, row_sums
from crowdlogic.numerics.logspace import design_effect, normalise, safe_log, temper
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import PUBLIC_CROWDS, label_sharpness, probability_wrong, with_range
from crowdlogic.truth.fitting import Fitting

SPREAD = 0.4
"""Standard deviation of the log of a classifier's sharpness before anything is known of it, as measured with a linear
model and a network on two public sets and simulated reviews."""


SPAN_SHIFT, SPAN_SLOPE = 0.53, 0.83
"""The scale of the spans of a run, fitted by `python -m benchmarks.calibration` on one public set of named entities."""
CHAIN_SPAN_SHIFT, CHAIN_SPAN_SLOPE = -0.28, 0.76
"""The same where the tags of the classifier form chains, as with the tagger of `--preset ner`."""


class ScaleSource(StrEnum):
    """What a sharpness was fitted to."""

    gold = "gold"
    """The gold of the dev items."""
    held_out = "held-out labels"
    """The labels of items that the classifier had not learnt from."""
    nothing = "nothing"
    """Neither was there: the beliefs stay as they are."""


@dataclass(frozen=True, kw_only=True)
class PredictionScale:
    """How the confidence of predictions on new items was put on a scale that one can act on.

    Attributes:
        sharpness: The power that beliefs are raised to; below 1 makes them less confident.
        source: What it was fitted to.
        n: How many units that is.
        error_before: Calibration error on the dev items as the classifier states it; None without gold.
        error_after: The same afterwards, each half of the items with the sharpness of the other half.
    """

    sharpness: float = 1.0
    source: ScaleSource = ScaleSource.nothing
    n: int = 0
    error_before: float | None = None
    error_after: float | None = None

    def state(self, beliefs: Beliefs) -> Beliefs:
        """Return the beliefs on this scale."""
        return beliefs if self.sharpness == 1.0 else temper(beliefs, self.sharpness)


@dataclass(frozen=True, kw_only=True)
class PredictionScales:
    """The scales of both who answer new items.

    Attributes:
        student: Of the classifier alone.
        teacher: Of the classifier and the rules; the student's where there are none.
    """

    student: PredictionScale = PredictionScale()
    teacher: PredictionScale = PredictionScale()


def fit_scales(training: TrainingPass) -> PredictionScales:
    """Return the scales of student and teacher: by dev gold, else by held-out labels, else as they are."""
    dev = training.task.dev
    if dev is not None and dev.gold is not None:
        student = predict_units(training.classifier, dev)
        teacher = training.teacher.reweight(training.outcome.factors).predict(dev, training.classifier, student)
        gold = np.asarray(dev.gold)
        return PredictionScales(student=fit_to_gold(student, gold), teacher=fit_to_gold(teacher, gold))
    chose = training if training.first is None else training.first
    if isinstance(chose.stopping, HeldOutLikelihood) and chose.stopping.unit == HeldOutUnit.items:
        return _fit_to_held_out(chose, chose.stopping)
    return PredictionScales()  # of items that were learnt from, a classifier is surer than of new ones


def _fit_to_held_out(chose: TrainingPass, stopping: HeldOutLikelihood) -> PredictionScales:
    """Return the scales by the labels that were held out in a pass, at its chosen epoch."""
    epoch, held = chose.outcome, stopping.held
    teacher = chose.teacher.reweight(epoch.factors)
    projected = teacher.predict(chose.task.corpus, chose.classifier, epoch.p)
    evidence = stopping.evidence(epoch.annotators)
    return PredictionScales(
        student=fit_to_labels(epoch.p, held, evidence), teacher=fit_to_labels(projected, held, evidence)
    )


def fit_to_gold(beliefs: Beliefs, gold: Ints) -> PredictionScale:
    """Return the scale under which gold is most probable."""
    return PredictionScale(
        sharpness=fit_sharpness(beliefs, gold, spread=SPREAD),
        source=ScaleSource.gold,
        n=int(np.count_nonzero(gold != UNKNOWN)),
        error_before=calibration_error(gold, beliefs),
        error_after=calibration_error(gold, _state_by_halves(beliefs, gold)),
    )


def _state_by_halves(beliefs: Beliefs, gold: Ints) -> Beliefs:
    """Return every second unit on the scale of the others."""
    stated, second = beliefs.copy(), np.arange(len(gold)) % 2 == 1
    for half in (second, ~second):
        if half.any():
            stated[half] = temper(beliefs[half], fit_sharpness(beliefs[~half], gold[~half], spread=SPREAD))
    return stated


def fit_to_labels(beliefs: Beliefs, held: CrowdLabels, evidence: Floats) -> PredictionScale:
    """Return the scale under which held-out labels are most probable; labels of one unit count by their design effect.

    Args:
        beliefs: The classifier's beliefs[i, k], which it formed without these labels.
        held: The labels.
        evidence: evidence[i, k], their log-likelihood by the annotator model.
    """
    from scipy.optimize import minimize_scalar

    units, votes = np.unique(held.unit), held.votes()
    weight = label_sharpness(votes, PUBLIC_CROWDS.calibration(votes).correlation)[units]

    def cost(log_sharpness: float) -> float:
        stated = temper(beliefs[units], float(np.exp(log_sharpness)))
        log_likelihood = normalise(evidence[units] + safe_log(stated))[1]
        return 0.5 * (log_sharpness / SPREAD) ** 2 - float(weight @ log_likelihood)

    found = minimize_scalar(cost, bounds=(-WIDEST, WIDEST), method="bounded").x
    return PredictionScale(sharpness=float(np.exp(found)), source=ScaleSource.held_out, n=len(units))


def state_answers(
    estimate: Estimate, task: Task, scales: PredictionScales, *, counted: float = 0.0, is_chain: bool = False
) -> Estimate:
    """Return the answers for the training items with a confidence that one can act on; known truths stay certain.

    Args:
        estimate: The answers, as the method believes them (q_f).
        task: What was learnt from.
        scales: The scales of predictions, for units without labels.
        counted: The correlation of labels that q_f has counted with already.
        is_chain: Whether the tags of the classifier form chains, whose spans have a scale of their own.
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
        task: What was learnt from.
        q_f: q[i, k], the answers as the method believes them.
        answer: answer[i], the classes chosen.
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
    """Return sharpness[i] of the beliefs in a training item's answer: that of a prediction where nobody labelled it."""
    n = row_sums(labels.votes())
    worth = (n + 1.0) / design_effect(n + 1.0, calibration.correlation)
    taken = 1.0 + n / design_effect(n, calibration.counted)  # n + 1 where labels were taken to be independent
    return np.where(n > 0, calibration.sharpness * worth / taken, scales.teacher.sharpness)


def _fit_answers(task: Task) -> Calibration:
    """As on public crowd sets; from enough random known truths on, with the sharpness that Dawid-Skene shows on them.

    The classifier has learnt the known truths by heart, so it cannot be asked how well it would have done without them.
    """
    public = PUBLIC_CROWDS.calibration(task.labels.votes())
    calibration = replace(public, span_shift=SPAN_SHIFT, span_slope=SPAN_SLOPE)
    sampled = task.known if task.sampled is None else task.sampled
    drawn = len(_known_truths(task, sampled))
    if drawn < ENOUGH_ANCHORS:
        return calibration
    fitting = Fitting(anchors=_known_truths(task, task.known))
    predicted = predict_anchors(DawidSkene(), task.labels, None, fitting=fitting, dependence=PUBLIC_CROWDS)
    sharpness = fit_sharpness(predicted, sampled, spread=PUBLIC_CROWDS.sharpness_spread)
    return replace(calibration, sharpness=sharpness, anchors=drawn)


def _known_truths(task: Task, known: Ints) -> dict[Any, Any]:
    """Item -> true class, or the tags of a sequence, from known[i]."""
    if not len(known):
        return {}
    names = [*task.labels.classes, None]  # code -1, not known, is the last one
    truths = [names[code] for code in known]
    items, offsets = task.labels.items.to_list(), task.labels.offsets
    if offsets is None:
        return {item: truth for item, truth in zip(items, truths, strict=True) if truth is not None}
    by_item = {item: truths[a:b] for item, a, b in zip(items, offsets[:-1], offsets[1:], strict=True)}
    return {item: tags for item, tags in by_item.items() if any(tag is not None for tag in tags)}
