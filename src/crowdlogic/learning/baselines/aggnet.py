"""AggNet: Algorithm 1 without rules.

[AGG] Albarqouni et al., "AggNet: deep learning from crowds", 2016: a network and confusion matrices by EM.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import FitMixin, TrainingData, refuse_rules
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.training import EpochCallback, FitCheckpoint
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


# Raykar's method: AggNet with the linear classifier.
#
# [RAY] Raykar et al., "Learning from crowds", 2010.


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
