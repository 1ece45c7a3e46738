"""Rules applied to a truth inferred by another method: MV-Rule, GLAD-Rule and AggNet-Rule in the paper's Table 5.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Algorithm 1 with a fixed posterior: q_a comes from another method
and never changes; the rules still correct it (eq. 15), and the classifier is trained on the mixture (eq. 9). The
difference to Logic-LNCL measures the benefit of estimating classifier, annotators and truth jointly.

Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import CorpusError
from crowdlogic.learning.algorithm import (
    GrowingImitation,
    Imitation,
    Loss,
    Parts,
    fit_parts,
    loss_weights,
    make_teacher,
)
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import FitMixin, TrainingData
from crowdlogic.learning.posterior import FixedPosterior, first_targets
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.training import EpochCallback, FitCheckpoint
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, as_truth_method, infer_truth
from crowdlogic.truth.ties import Ties


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

        @cache
        def infer_beliefs(labels: CrowdLabels) -> Beliefs:
            if self.truth is None:
                return first_targets(labels, self.start, doubt=self.doubt, corpus=task.corpus)
            return infer_truth(self.truth, labels, task.corpus).beliefs

        parts = Parts(
            classifier=self.classifier,
            annotators=self.annotators,
            teacher=make_teacher(self.projector, data, task),
            imitation=self.imitation,
            weights=loss_weights(self.loss),
            targets=lambda task: infer_beliefs(task.training_labels),
            posterior=lambda labels: FixedPosterior(infer_beliefs(labels), labels.labels_per_unit() > 0),
            seed=self.limits.seed,
        )
        return fit_parts(self.name, task, self.limits, parts, checkpoint=checkpoint, callback=callback)


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
