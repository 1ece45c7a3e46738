"""Raykar's method: AggNet with the linear classifier.

[RAY] Raykar et al., "Learning from crowds", 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.linear import Linear
from crowdlogic.errors import OptionError
from crowdlogic.learning.baselines.aggnet import learn_without_rules
from crowdlogic.learning.checkpoint import FitCheckpoint
from crowdlogic.learning.epoch import EpochCallback
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import FitMixin, TrainingData
from crowdlogic.learning.stopping.protocol import TrainingLimits
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.ties import Ties


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
