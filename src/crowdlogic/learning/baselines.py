"""Methods to compare with Logic-LNCL: Algorithm 1 without rules, or with a fixed posterior.

Without rules:

- `AggNet`: a network and confusion matrices by EM ([AGG]);
- `Raykar`: AggNet with the linear classifier ([RAY]).

With a fixed posterior, q_a comes from another method, or from gold, and never changes:

- `FixedTruth`: the rules correct q_a (eq. 15), and the classifier is trained on the mixture (eq. 9): MV-Rule, GLAD-Rule
  and AggNet-Rule in the paper's Table 5. The difference to Logic-LNCL measures the benefit of estimating classifier,
  annotators and truth jointly.
- `TwoStage`: the classifier is trained on q_a, and the rules only correct predictions (the rows "MV-t").
- `Gold`: the upper bound, trained on gold.

[AGG] Albarqouni et al., "AggNet: deep learning from crowds", 2016.
[RAY] Raykar et al., "Learning from crowds", 2010.
[LNCL] "Learning from Noisy Crowd Labels with Logics".

Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.learning.algorithm import (
    ConstantImitation,
    GrowingImitation,
    Imitation,
    LogicLNCL,
    Loss,
    Parts,
    fit_parts,
    loss_weights,
    make_teacher,
)
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import FitMixin, TrainingData, refuse_rules
from crowdlogic.learning.posterior import FixedPosterior, first_targets
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import Task, is_scorable
from crowdlogic.learning.training import EpochCallback, FitCheckpoint
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, as_truth_method, infer_truth
from crowdlogic.truth.ties import Ties


@dataclass(frozen=True)
class AggNet(FitMixin):
    """AggNet: a classifier and an annotator model, fitted by EM ([AGG]).

    Attributes:
        classifier: Classifier for the items.
        annotators: Annotator model.
        start: Truth method whose beliefs are the first targets; see LogicLNCL.
        doubt: Pseudo-count added to every class in the first targets; see LogicLNCL.
        limits: Number of epochs, stopping criterion and random seed.
    """

    classifier: Architecture = Linear()
    annotators: AnnotatorModel = ConfusionMatrices()
    start: TruthMethod = MajorityVote(ties=Ties.soft)
    doubt: float | None = None
    limits: TrainingLimits = TrainingLimits()

    name = "aggnet"

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Learn from crowd labels; rules are not supported."""
        refuse_rules(self.name, data)
        algorithm = LogicLNCL(
            classifier=self.classifier,
            annotators=self.annotators,
            start=self.start,
            doubt=self.doubt,
            limits=self.limits,
        )
        learned = algorithm.learn(data, checkpoint=checkpoint, callback=callback)
        return replace(learned, estimate=replace(learned.estimate, method=self.name))


@dataclass(frozen=True)
class Raykar(AggNet):
    """Raykar's method: a linear classifier and an annotator model, fitted by EM ([RAY]).

    Attributes:
        classifier: The linear classifier.
    """

    classifier: Linear = Linear()

    name = "raykar"
    own_classifier: ClassVar[Linear] = Linear()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.classifier, Linear):
            raise OptionError(f"{self.name} has a linear classifier, not {self.classifier.name}. Use aggnet for that.")


@dataclass(frozen=True)
class FixedTruth(FitMixin):
    """Algorithm 1 with q_a fixed to the beliefs of another method.

    Attributes:
        truth: Truth method or its name; None for the majority vote that starts Algorithm 1 (`start`).
        classifier: Classifier to train.
        annotators: Annotator model, for the verdicts on annotators and for stopping.
        projector: Projector that applies the rules.
        imitation: k(t).
        loss: plain (eq. 8) or annotators (eq. 10).
        start: Majority vote that is used as the truth if no method is given.
        doubt: Pseudo-count added to every class in that vote; see LogicLNCL.
        limits: Number of epochs, stopping criterion and random seed.
    """

    truth: TruthMethod | None = None
    classifier: Architecture = Linear()
    annotators: AnnotatorModel = ConfusionMatrices()
    projector: Projector = Projector()
    imitation: Imitation = GrowingImitation()
    loss: Loss | str = Loss.plain
    start: TruthMethod = MajorityVote(ties=Ties.soft)
    doubt: float | None = None
    limits: TrainingLimits = TrainingLimits()

    name = "fixed-truth"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.truth is not None:
            object.__setattr__(self, "truth", as_truth_method(self.truth))

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Infer the truth once, then train on it, corrected by the rules."""
        task = data.task(self.limits)

        def infer(labels: CrowdLabels) -> Beliefs:
            if self.truth is None:
                return first_targets(labels, self.start, doubt=self.doubt, corpus=task.corpus)
            return infer_truth(self.truth, labels, task.corpus).beliefs

        parts = _parts(self, data, task, infer, imitation=self.imitation, weights=loss_weights(self.loss))
        return fit_parts(self.name, task, self.limits, parts, checkpoint=checkpoint, callback=callback)


def _parts(
    method: FixedTruth | TwoStage | Gold,
    data: TrainingData,
    task: Task,
    infer: Callable[[CrowdLabels], Beliefs],
    **others: Any,
) -> Parts:
    """Return the parts of Algorithm 1 whose posterior is fixed to infer(labels), computed once per table of labels."""
    infer = cache(infer)
    given: dict[str, Any] = {
        "imitation": ConstantImitation(0.0),
        "weights": lambda task: task.unit_weights,
        "targets": lambda task: infer(task.training_labels),
        "posterior": lambda labels: FixedPosterior(infer(labels), labels.labels_per_unit() > 0),
    }
    return Parts(
        classifier=method.classifier,
        annotators=method.annotators,
        teacher=make_teacher(method.projector, data, task),
        seed=method.limits.seed,
        **given | others,
    )


@dataclass(frozen=True)
class TwoStage(FitMixin):
    """Two-stage method: a truth method, then a classifier.

    Attributes:
        truth: Truth method for the targets: MajorityVote(), DawidSkene(), GLAD(), ..., or its name.
        classifier: Classifier trained on the targets.
        hard: Whether the targets are the answers instead of the beliefs.
        annotators: Annotator model, for the verdicts on annotators and for stopping.
        projector: Projector with which the rules correct predictions.
        limits: Number of epochs, stopping criterion and random seed.
    """

    truth: TruthMethod = MajorityVote()
    classifier: Architecture = Linear()
    hard: bool = False
    annotators: AnnotatorModel = ConfusionMatrices()
    projector: Projector = Projector()
    limits: TrainingLimits = TrainingLimits()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "truth", as_truth_method(self.truth))

    @property
    def name(self) -> str:
        """Name of the method in tables."""
        return f"{self.truth.name} + {self.classifier.name}"

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Infer the truth, then train the classifier on it."""
        task = data.task(self.limits)

        def infer(labels: CrowdLabels) -> Beliefs:
            """Return the beliefs of the truth method, or one-hot answers if `hard` is set."""
            estimate = infer_truth(self.truth, labels, task.corpus)
            if not self.hard:
                return estimate.beliefs
            hard = np.eye(task.labels.n_classes)[estimate.answer]
            return np.where(estimate.answered[:, None], hard, estimate.beliefs)

        parts = _parts(self, data, task, infer, corrects_targets=False)
        return fit_parts(self.name, task, self.limits, parts, checkpoint=checkpoint, callback=callback)


@dataclass(frozen=True)
class Gold(FitMixin):
    """Upper bound: a classifier trained on gold. The labels are only used to evaluate the annotators.

    Attributes:
        classifier: Classifier trained on gold.
        annotators: Annotator model, for the verdicts on annotators.
        projector: Projector with which the rules correct predictions.
        limits: Number of epochs and random seed; without a dev set, all epochs are run.
    """

    classifier: Architecture = Linear()
    annotators: AnnotatorModel = ConfusionMatrices()
    projector: Projector = Projector()
    limits: TrainingLimits = TrainingLimits()

    name = "gold"

    def __post_init__(self) -> None:
        super().__post_init__()
        # The labels are not used for training, so none are held out.
        object.__setattr__(self, "limits", replace(self.limits, held_out=None))

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Train on gold; no labels are held out."""
        task = data.task(self.limits)
        if not is_scorable(task.corpus):
            raise CorpusError("The items have no gold to train on. Add gold, or choose another method.")
        gold = np.asarray(task.corpus.gold)
        known = gold != UNKNOWN
        targets = np.where(known[:, None], np.eye(task.labels.n_classes)[gold], 1.0 / task.labels.n_classes)
        # annotators are evaluated on the items with gold
        judged = replace(task, training_labels=task.labels.take(known[task.labels.unit]))
        parts = _parts(
            self,
            data,
            task,
            lambda _: targets,
            weights=lambda _: known.astype(np.float64),
            posterior=lambda _: FixedPosterior(targets, known),
            corrects_targets=False,
        )
        return fit_parts(self.name, judged, self.limits, parts, checkpoint=checkpoint, callback=callback)


@dataclass(frozen=True, eq=False)
class KnownAnswers:
    """Truth method that returns the answers of an earlier fit on the same labels."""

    estimate: Estimate

    @property
    def name(self) -> str:
        """Name of the method that gave the answers."""
        return self.estimate.method

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002
        """Return the given answers."""
        if len(self.estimate.beliefs) != labels.n_units:
            raise CorpusError(
                f"The answers of {self.name} cover {len(self.estimate.beliefs):,} units, the labels "
                f"{labels.n_units:,}. Pass answers for the same labels."
            )
        return self.estimate
