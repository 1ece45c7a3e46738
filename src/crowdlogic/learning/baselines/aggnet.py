"""AggNet: Algorithm 1 without rules.

[AGG] Albarqouni et al., "AggNet: deep learning from crowds", 2016: a network and confusion matrices by EM.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.epoch import EpochCallback, FitCheckpoint
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import FitMixin, TrainingData, refuse_rules
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
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
        return learn_without_rules(self, data, checkpoint=checkpoint, callback=callback)


class WithoutRules(Protocol):
    """Protocol for methods that run Algorithm 1 without rules."""

    @property
    def name(self) -> str:
        """Name of the method."""

    @property
    def classifier(self) -> Architecture:
        """Classifier for the items."""

    @property
    def annotators(self) -> AnnotatorModel:
        """Annotator model."""

    @property
    def start(self) -> TruthMethod:
        """Truth method for the first targets."""

    @property
    def doubt(self) -> float | None:
        """Pseudo-count added to every class in the first targets."""

    @property
    def limits(self) -> TrainingLimits:
        """Number of epochs, stopping criterion and random seed."""


def learn_without_rules(
    method: WithoutRules, data: TrainingData, *, checkpoint: FitCheckpoint | None, callback: EpochCallback | None
) -> Learned:
    """Run Algorithm 1 without rules with the options of a method, under the method's name."""
    refuse_rules(method.name, data)
    algorithm = LogicLNCL(
        classifier=method.classifier,
        annotators=method.annotators,
        start=method.start,
        doubt=method.doubt,
        limits=method.limits,
    )
    learned = algorithm.learn(data, checkpoint=checkpoint, callback=callback)
    return replace(learned, estimate=replace(learned.estimate, method=method.name))


# Raykar's method: AggNet with the linear classifier.
#
# [RAY] Raykar et al., "Learning from crowds", 2010.


@dataclass(frozen=True)
class Raykar(FitMixin):
    """Raykar's method: a linear classifier and an annotator model, fitted by EM ([RAY]).

    Attributes:
        classifier: The linear classifier.
        annotators: Annotator model.
        start: Truth method for the first targets; majority vote with soft ties uses the vote shares.
        doubt: Pseudo-count added to every class in the first targets; see LogicLNCL.
        limits: Number of epochs, stopping criterion and random seed.
    """

    classifier: Linear = Linear()
    annotators: AnnotatorModel = ConfusionMatrices()
    start: TruthMethod = MajorityVote(ties=Ties.soft)
    doubt: float | None = None
    limits: TrainingLimits = TrainingLimits()

    name = "raykar"
    own_classifier: ClassVar[Linear] = Linear()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.classifier, Linear):
            raise OptionError(f"{self.name} has a linear classifier, not {self.classifier.name}. Use aggnet for that.")

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Learn from crowd labels; rules are not supported."""
        return learn_without_rules(self, data, checkpoint=checkpoint, callback=callback)
