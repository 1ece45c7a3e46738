"""Logic-LNCL: learn classifier, annotators and truth jointly, guided by rules (Algorithm 1).

[LNCL] "Learning from Noisy Crowd Labels with Logics". The posterior combines three parts, each with a protocol: a
classifier for the items (`Classifier`), a model of the annotators (`AnnotatorModel`), and the rules (`Projector`).
`run_algorithm` is the loop, and methods differ in their parts. Without rules it is AggNet; with the linear classifier,
Raykar's method; with the class prior as classifier, Dawid-Skene. With a fixed posterior from another method, it gives
the rows MV-Rule, GLAD-Rule and AggNet-Rule of the paper, and the two-stage methods.

Axes: i unit, j annotator, k class, l rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from crowdlogic.annotators.abstaining import Abstaining
from crowdlogic.annotators.confusion import AssumedAccuracy, ConfusionMatrices
from crowdlogic.annotators.label_sums import find_labelling_functions
from crowdlogic.annotators.protocol import AnnotatorModel, Annotators
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture, ChainClassifier, Classifier, fit_epoch, predict
from crowdlogic.data.blocks import Shards
from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, unit_beliefs
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.learning.learned import Learned, judge_teacher, make_learned
from crowdlogic.learning.method import FitMixin, TrainingData
from crowdlogic.learning.posterior import Posterior, Teacher, crowd_posterior, first_targets, mostly_single
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import Task, annotator_weights
from crowdlogic.learning.training import (
    Epoch,
    EpochCallback,
    FitCheckpoint,
    TrainingPass,
    build_classifier,
    make_views,
    passes,
)
from crowdlogic.numerics.arrays import Floats, check_amounts
from crowdlogic.registry import IMITATIONS
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, as_truth_method, choose_method, infer_truth, truth_method
from crowdlogic.truth.ties import Ties

# Imitation: k(t), the weight of q_b in the targets of an epoch (eq. 9). Epochs are counted from 1.

Imitation: TypeAlias = Callable[[int], float]
IMITATIONS.serves(Imitation)


@dataclass(frozen=True)
class GrowingImitation:
    """Schedule k(t) = min(maximum, 1 - base^t), which grows as the classifier learns.

    The paper uses base 0.94 without a limit for sentiment, and base 0.90 with a limit of 0.8 for named entities.
    """

    name = "growing"

    base: float = 0.94
    maximum: float = 1.0

    def __post_init__(self) -> None:
        if not (0 <= self.base <= 1 and 0 <= self.maximum <= 1):
            raise OptionError(
                f"imitation: base and maximum must lie between 0 and 1, got {self.base} and {self.maximum}."
            )

    def __call__(self, epoch: int) -> float:
        """Return the imitation of an epoch."""
        return min(self.maximum, 1.0 - self.base**epoch)


@dataclass(frozen=True)
class ConstantImitation:
    """Schedule with the same k in every epoch."""

    name = "constant"

    k: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.k <= 1:
            raise OptionError(f"imitation: k must lie between 0 and 1, got {self.k}.")

    def __call__(self, epoch: int) -> float:  # noqa: ARG002 (independent of the epoch)
        """Return the imitation of an epoch."""
        return self.k


def imitation_at(schedule: Imitation, epoch: int) -> float:
    """Return the k of an epoch after validation, since user-defined functions may return anything."""
    k = float(schedule(epoch))
    if not 0 <= k <= 1:
        raise OptionError(f"imitation: epoch {epoch} has k = {k}; it must lie between 0 and 1.")
    return k


def mix(q_a: AnyBeliefs, q_b: AnyBeliefs, k: float) -> AnyBeliefs:
    """Return q_f = (1 - k) q_a + k q_b ([LNCL] eq. 9), for units or chains; q_a itself without rules."""
    if q_b is q_a:
        return q_a
    if isinstance(q_a, ChainBeliefs) and isinstance(q_b, ChainBeliefs):
        return (1.0 - k) * q_a + k * q_b
    return (1.0 - k) * unit_beliefs(q_a) + k * unit_beliefs(q_b)


@dataclass(frozen=True, eq=False, kw_only=True)
class BeliefStep:
    """One M-step and E-step with fixed classifier predictions p: eqs. 12, 13, 15 and 9 of [LNCL].

    Attributes:
        task: The training items and the known truths.
        model: The annotator model.
        crowd: The labels in the form that the annotator model uses.
        posterior: Computes q_a.
        project: Computes q_b from q_a (`Teacher.project`); None if rules do not correct the targets.
        classifier: The classifier, for rules that depend on its predictions.
        annotators: Fixed parameters of the annotators; None estimates them in every step.
    """

    task: Task
    model: AnnotatorModel
    crowd: Shards
    posterior: Posterior
    project: Callable[[Corpus, AnyBeliefs, AnyBeliefs, Classifier], AnyBeliefs] | None
    classifier: Classifier
    annotators: Annotators | None = None

    def __call__(self, epoch: Epoch, p: AnyBeliefs) -> Epoch:
        """Return the epoch with the beliefs after the step."""
        annotators = self.annotators or self.model.m_step(self.crowd, epoch.q_f)
        q_a, objective = self.posterior(p, annotators, self.crowd)
        q_b = q_a if self.project is None else self.project(self.task.corpus, q_a, p, self.classifier)
        q_f = self.task.clamp_targets(mix(q_a, q_b, epoch.k))
        return replace(epoch, annotators=annotators, objective=objective, **make_views(p=p, q_a=q_a, q_b=q_b, q_f=q_f))


FUNCTIONS_WARM_UP = 3
"""Number of epochs on the answers of labelling functions, from which the classifier learns the shares of classes."""

MOST_STEPS, SETTLED = 10, 0.01
"""Maximum number of steps after the last epoch, and the change of beliefs at which they converge."""


class Loss(StrEnum):
    """Weighting of units in the classifier's loss."""

    plain = "plain"
    """Equal weights (eq. 8)."""
    annotators = "annotators"
    """Weights proportional to the number of annotators of an item (eq. 10)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """Parts of Algorithm 1, which do not change during a fit.

    Attributes:
        classifier: The classifier's hyper-parameters.
        annotators: The annotator model.
        teacher: The rules and their projection.
        imitation: k(t).
        weights: Function from a task to the weight of each unit in the classifier's loss.
        targets: Function from a task's training labels to the first q_f.
        posterior: Function that makes the posterior of q_a for a table of labels; None for that of eq. 13.
        corrects_targets: Whether the rules correct the targets; otherwise they only correct predictions.
        factors: factors[l], the multipliers of the rules' weights; None for ones.
        estimate_once: Whether annotators are estimated only once, from the first targets.
        warm_up: Number of epochs that are trained on the first targets.
        folds: Number of folds for cross-fitting; 1 disables it, None uses SINGLE_FOLDS if most units have one label.
        settle: Whether to continue M- and E-steps after the last epoch until beliefs converge.
        seed: Random seed.
    """

    classifier: Architecture
    annotators: AnnotatorModel
    teacher: Teacher
    imitation: Imitation
    weights: Callable[[Task], Floats]
    targets: Callable[[Task], Beliefs]
    posterior: Callable[[CrowdLabels], Posterior] | None = None
    corrects_targets: bool = True
    factors: Floats | None = None
    estimate_once: bool = False
    warm_up: int = 1
    folds: int | None = 1
    settle: bool = False
    seed: int = 0


def run_algorithm(training: TrainingPass, parts: Parts) -> None:
    """Run one pass of Algorithm 1: train epochs until the stopping rule ends the pass."""
    task, model = training.task, parts.annotators
    classifier = build_classifier(
        parts.classifier,
        task.corpus,
        task.labels.classes,
        seed=parts.seed,
        folds=parts.folds,
        single=mostly_single(task.labels),
    )
    crowd, weights, posterior = (
        model.observe(task.training_labels),
        parts.weights(task),
        task.clamp_posterior(make_posterior(parts, task.training_labels)),
    )
    targets = task.clamp(parts.targets(task))
    fixed = model.m_step(crowd, targets) if parts.estimate_once else None
    # Transitions that are to be estimated are counted in the first targets.
    projector = parts.teacher.projector
    projector = projector.with_transitions(targets, task.corpus.offsets, parts.teacher.classes)
    teacher = parts.teacher.with_projector(projector)
    training.begin(classifier=classifier, teacher=teacher, model=model, targets=targets, factors=parts.factors)
    for t in training.epochs():
        k, q_f, teacher = imitation_at(parts.imitation, t), training.targets, teacher.reweight(training.factors)
        annotators = fixed or model.m_step(crowd, unit_beliefs(q_f))  # eq. 12
        loss = fit_epoch(classifier, task.corpus, q_f, weights)  # eq. 8 or 10
        p = predict(classifier, task.corpus, n_classes=task.labels.n_classes)
        q_a, objective = posterior(p, annotators, crowd)  # eq. 13; for chains, forward-backward
        q_b = teacher.project(task.corpus, q_a, p, classifier) if parts.corrects_targets else q_a  # eq. 15
        q_f = task.clamp_targets(mix(q_a, q_b, k))  # eq. 9; certain where the truth is known
        views = make_views(p=p, q_a=q_a, q_b=q_b, q_f=q_f)
        epoch = Epoch(loss=loss, k=k, annotators=annotators, objective=objective, **views)
        epoch = replace(epoch, factors=training.factors)
        training.record(epoch, targets=targets if t < parts.warm_up else None)
    training.finish(lambda epoch: reevaluate(training, parts, crowd, posterior, epoch))


def reevaluate(
    training: TrainingPass,
    parts: Parts,
    crowd: Shards,
    posterior: Posterior,
    epoch: Epoch,
    p: AnyBeliefs | None = None,
) -> Epoch:
    """Run one M-step and E-step after an epoch on the given labels, with the current classifier (or its given p)."""
    classifier, task, model = training.classifier, training.task, parts.annotators
    step = BeliefStep(
        task=task,
        model=model,
        crowd=crowd,
        posterior=posterior,
        project=training.teacher.reweight(epoch.factors).project if parts.corrects_targets else None,
        classifier=classifier,
        annotators=model.m_step(crowd, task.clamp(parts.targets(task))) if parts.estimate_once else None,
    )
    return step(epoch, predict(classifier, task.corpus) if p is None else p)


def finish_with_all_labels(training: TrainingPass, parts: Parts) -> Epoch:
    """Return the best epoch; if labels are still held out, recompute its beliefs with all labels."""
    if training.task.held_labels is None and not parts.settle:
        return training.outcome
    labels = training.task.labels
    crowd, posterior = parts.annotators.observe(labels), training.task.clamp_posterior(make_posterior(parts, labels))
    if training.task.held_labels is None:
        return settle_beliefs(training, parts, crowd, posterior, training.outcome)
    epoch = reevaluate(training, parts, crowd, posterior, training.outcome)
    return settle_beliefs(training, parts, crowd, posterior, epoch) if parts.settle else epoch


def settle_beliefs(training: TrainingPass, parts: Parts, crowd: Shards, posterior: Posterior, epoch: Epoch) -> Epoch:
    """Run M- and E-steps with a fixed classifier until no belief changes by more than SETTLED."""
    chain = isinstance(training.classifier, ChainClassifier)
    p = predict(training.classifier, training.task.corpus) if chain else epoch.p
    return repeat_until_settled(
        lambda last: reevaluate(training, parts, crowd, posterior, last, p), epoch, most=MOST_STEPS, change=SETTLED
    )


def repeat_until_settled(step: Callable[[Epoch], Epoch], epoch: Epoch, *, most: int, change: float) -> Epoch:
    """Repeat a step until no belief changes by more than `change`, at most `most` times."""
    for _ in range(most):
        before, epoch = epoch.q_f, step(epoch)
        if np.abs(epoch.q_f - before).max(initial=0.0) <= change:
            break
    return epoch


def fit_parts(
    name: str,
    task: Task,
    limits: TrainingLimits,
    parts: Parts,
    *,
    checkpoint: FitCheckpoint | None = None,
    callback: EpochCallback | None = None,
) -> Learned:
    """Fit Algorithm 1 with these parts, in one pass or two.

    Args:
        name: The method's name.
        task: The training data.
        limits: Number of epochs, stopping rule and random seed.
        parts: The parts.
        checkpoint: Checkpoint to save after each epoch and to resume from.
        callback: Function called after each epoch.
    """
    for training in passes(task, limits, checkpoint=checkpoint, callback=callback):
        run_algorithm(training, parts)
    final = finish_with_all_labels(training, parts)
    return make_learned(name, training, final, is_posterior=parts.posterior is None)


def make_posterior(parts: Parts, labels: CrowdLabels) -> Posterior:
    """Return the posterior of q_a for a table of labels."""
    return crowd_posterior if parts.posterior is None else parts.posterior(labels)


@dataclass(frozen=True)
class LogicLNCL(FitMixin):
    """Logic-LNCL, Algorithm 1 of [LNCL].

    Attributes:
        classifier: Classifier for the items: Linear, KimCNN, CNNGRU, MLP, ...
        annotators: Annotator model: ConfusionMatrices, Sequential, Abstaining, ... If `annotators` and `start` are the
            defaults, labelling functions are Abstaining, and their rates are estimated once, from the answers of the
            truth method that suits them.
        projector: How the rules are applied: their strength C, the preset of the projection, transitions, ...
        imitation: k(t): GrowingImitation, ConstantImitation, or any function of the epoch number, which starts at 1.
        loss: plain (eq. 8) or annotators (eq. 10).
        start: Truth method or its name; its beliefs are the first targets. A majority vote with soft ties uses the vote
            shares.
        doubt: Pseudo-count added to every class in the first targets if they are shares. None chooses it by the number
            of labels per unit.
        learn_weights: Whether held-out labels may lower the weight of a rule (`learning.rule_verdicts`): a rule that
            they contradict gets weight 0. Otherwise every rule keeps its weight, as in the paper.
        warm_up: Number of epochs that are trained on the first targets. Before a network has learned enough, its
            posterior can be worse than these.
        folds: Number of folds for cross-fitting, in which each training item is predicted by a classifier that was not
            trained on it; training takes that many times as long. 1 disables it, as in the paper. None uses 5 folds if
            most units have one label, because a classifier that was trained on the only label of an item cannot correct
            it.
        settle: Whether to continue M- and E-steps after the last epoch, with a fixed classifier, until beliefs
            converge. Useful if a network is trained for few epochs, in which annotators and answers also get few
            updates.
        limits: Number of epochs, stopping rule and random seed.
    """

    classifier: Architecture = Linear()
    annotators: AnnotatorModel = ConfusionMatrices()
    projector: Projector = Projector()
    imitation: Imitation = GrowingImitation()
    loss: Loss | str = Loss.plain
    start: TruthMethod = MajorityVote(ties=Ties.soft)
    doubt: float | None = None
    learn_weights: bool = True
    warm_up: int = 1
    folds: int | None = None
    settle: bool = False
    limits: TrainingLimits = TrainingLimits()

    name = "logic-lncl"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "start", as_truth_method(self.start, option="start"))
        if self.doubt is not None:
            check_amounts(self, not_negative=("doubt",))
        if self.warm_up < 1:
            raise OptionError(f"warm_up must be at least 1, got {self.warm_up}.")
        if self.folds is not None and self.folds < 1:
            raise OptionError(f"folds must be at least 1, got {self.folds}. Use 1 to disable cross-fitting.")
        if self.loss not in list(Loss):
            raise OptionError(f"loss must be one of {', '.join(Loss)}; got {self.loss!r}.")

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Learn from crowd labels and rules."""
        task = data.task(self.limits)
        teacher = make_teacher(self.projector, data, task)
        weighs = self.learn_weights and teacher.projector.strength > 0
        verdicts = judge_teacher(teacher, task) if weighs else None
        factors = np.array([one.factor for one in verdicts or ()])
        model = self._annotator_model(task)
        # Re-estimated from beliefs that contain the classifier's view, labelling functions would confirm a classifier
        # that has learned from them, and a few mistaken ones can lead all answers astray.
        by_functions = isinstance(model, Abstaining) and model is not self.annotators and self.start == LogicLNCL.start
        parts = Parts(
            classifier=self.classifier,
            annotators=model,
            teacher=teacher,
            imitation=self.imitation,
            weights=loss_weights(self.loss),
            targets=answers_of_functions if by_functions else self._targets,
            estimate_once=by_functions,
            factors=None if (factors == 1.0).all() else factors,
            warm_up=max(self.warm_up, FUNCTIONS_WARM_UP) if by_functions else self.warm_up,
            folds=self.folds,
            settle=self.settle,
            seed=self.limits.seed,
        )
        learned = fit_parts(self.name, task, self.limits, parts, checkpoint=checkpoint, callback=callback)
        return replace(learned, verdicts=verdicts)

    def _targets(self, task: Task) -> Beliefs:
        """Return the first q_f."""
        return first_targets(task.training_labels, self.start, doubt=self.doubt, corpus=task.corpus)

    def _annotator_model(self, task: Task) -> AnnotatorModel:
        """Return the annotator model; for labelling functions that mostly give a single class, an abstaining one.

        Unnamed annotators with one label per item get a model with an assumed accuracy. With one label per unit and one
        annotator, any accuracy explains the labels: re-estimated from beliefs that come from the labels themselves, it
        would grow towards 1, and no label would ever be corrected.
        """
        alone = len(task.labels.annotators) == 1 and not len(task.known) and self.folds is None
        if alone and type(self.annotators) is ConfusionMatrices:
            return AssumedAccuracy()
        if type(self.annotators) is ConfusionMatrices and self.annotators == ConfusionMatrices():
            labels = task.labels
            if labels.negated is None and not labels.is_sequential and find_labelling_functions(labels).any():
                return Abstaining()
        return self.annotators


def answers_of_functions(task: Task) -> Beliefs:
    """Return the first q_f of labelling functions: the answers of the truth method that suits them, as certain beliefs.

    Units without labels get the share of each class among the answers.
    """
    estimate = infer_truth(truth_method(choose_method(task.training_labels)[0]), task.training_labels, task.corpus)
    answers = np.eye(task.labels.n_classes)[estimate.answer[estimate.answered]]
    targets = np.tile(answers.mean(axis=0), (len(estimate.answered), 1))
    targets[estimate.answered] = answers
    return targets


def make_teacher(projector: Projector, data: TrainingData, task: Task) -> Teacher:
    """Return a teacher with the rules of the data and the options of the projector."""
    rules = projector.rules if data.rules is None else data.rules
    vocabulary = projector.vocabulary if data.vocabulary is None else data.vocabulary
    projector = replace(projector, rules=rules, vocabulary=vocabulary)
    return Teacher(task.labels.classes, projector, corpus=task.corpus)


def loss_weights(loss: Loss | str) -> Callable[[Task], Floats]:
    """Return a function from a task to weights[i] of the classifier's loss."""
    return annotator_weights if loss == Loss.annotators else lambda task: task.unit_weights
