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
    """A classifier and annotators by EM ([AGG]).

    Attributes:
        classifier: What the items say.
        annotators: What an annotator's label says.
        start: The truth method whose beliefs are the first targets; see LogicLNCL.
        doubt: Votes added to every class in the first targets; see LogicLNCL.
        limits: How long a fit goes on, what stops it, and its random seed.
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
        """Learn from crowd labels; rules are refused."""
        return learn_without_rules(self, data, checkpoint=checkpoint, callback=callback)


class WithoutRules(Protocol):
    """The options that Algorithm 1 has without rules."""

    @property
    def name(self) -> str:
        """The method's name."""

    @property
    def classifier(self) -> Architecture:
        """What the items say."""

    @property
    def annotators(self) -> AnnotatorModel:
        """What an annotator's label says."""

    @property
    def start(self) -> TruthMethod:
        """The first targets."""

    @property
    def doubt(self) -> float | None:
        """Votes added to every class in the first targets."""

    @property
    def limits(self) -> TrainingLimits:
        """How long, and what stops it."""


def learn_without_rules(
    method: WithoutRules, data: TrainingData, *, checkpoint: FitCheckpoint | None, callback: EpochCallback | None
) -> Learned:
    """Algorithm 1 with a method's classifier and annotators, under the method's name."""
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
    """A linear classifier and annotators by EM ([RAY]).

    Attributes:
        classifier: The linear classifier's options.
        annotators: What an annotator's label says.
        start: The first targets, a majority vote; with soft ties they are the shares of the votes.
        doubt: Votes added to every class in the first targets; see LogicLNCL.
        limits: How long a fit goes on, what stops it, and its random seed.
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
        """Learn from crowd labels; rules are refused."""
        return learn_without_rules(self, data, checkpoint=checkpoint, callback=callback)
