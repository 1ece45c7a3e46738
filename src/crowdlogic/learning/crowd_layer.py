"""The crowd layer: a network learns from the labels as they are, through a layer for each annotator on top of it.

[ROD18] Rodrigues and Pereira, "Deep learning from crowds", 2018. What its authors' program does, and so do we: the
layer takes the network's softmax; a softmax follows the layer, for documents and for tokens; every label counts the
same, whatever its item; the network first learns the majority vote for some epochs, and then the optimiser begins
anew. It has Adam throughout; ours is the network's own. Here the rate's schedule and the seeds run on from the first
epochs to the others.

The first epochs are done within epoch 1 of the course, so that a checkpoint, which is kept after every epoch, has
them behind it. The answers for the training items are the network's own.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING

from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.learning.course import Course, Epoch, Keeper, Progress, Step
from crowdlogic.learning.learned import Learned, learned_from
from crowdlogic.learning.logic_lncl import first_targets
from crowdlogic.learning.networks import idle_teacher, network_for
from crowdlogic.learning.passes import trained
from crowdlogic.learning.stopping import HeldOut, Limits
from crowdlogic.learning.task import Task, task_of
from crowdlogic.numerics.arrays import Floats
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.ties import Ties

if TYPE_CHECKING:
    from crowdlogic.classifiers.crowd_layer import CrowdLayerClassifier


class Kind(StrEnum):
    """What an annotator's layer holds."""

    MW = "MW"
    """A matrix, the identity at first."""
    VW = "VW"
    """A scale for each class, ones at first."""
    VW_B = "VW-B"
    """The scales and a bias for each class, zeros at first."""


@dataclass(frozen=True)
class CrowdLayer:
    """[ROD18].

    Attributes:
        classifier: The network beneath: KimCNN, CNNGRU, MLP, ...
        kind: MW, VW or VW-B.
        pretraining: The epochs that the network first learns the majority vote for.
        start: That vote; its `ties` are `soft` for the shares of the votes.
        epochs: The most epochs after those.
        patience: Epochs without a better stopping score before stopping.
        held_out: The labels to stop by when there is no dev gold; None runs all epochs and keeps the last.
        seed: Where all chance comes from.
    """

    classifier: Architecture
    kind: Kind | str = Kind.MW
    pretraining: int = 5
    start: MajorityVote = MajorityVote(ties=Ties.soft)
    epochs: int = 30
    patience: int = 5
    held_out: HeldOut | None = HeldOut()
    seed: int = 0

    name = "crowd-layer"

    def __post_init__(self) -> None:
        Limits(self.epochs, self.patience)
        if self.kind not in list(Kind):
            raise OptionError(f"kind: {self.kind!r} is none of {', '.join(Kind)}.")
        if self.pretraining < 0:
            raise OptionError(f"pretraining must be 0 or more epochs, not {self.pretraining}.")

    def fit(
        self,
        corpus: Corpus,
        labels: CrowdLabels,
        *,
        rules: RuleSet | None = None,
        vocabulary: Vocabulary | None = None,
        dev: Corpus | None = None,
        watched: Mapping[str, Corpus] | None = None,
        keeper: Keeper | None = None,
        progress: Progress | None = None,
    ) -> Learned:
        """Learn from crowd labels; rules are refused. See LogicLNCL.fit."""
        task = task_of(corpus, labels, dev=dev, watched=watched, held_out=self.held_out, seed=self.seed)
        teacher = idle_teacher(self.name, task, rules, vocabulary)

        def begin(task: Task, _: Floats | None) -> tuple[Course, Step]:
            network, majority = self.network(task), first_targets(task.learnt, self.start)
            course = Course(task, teacher, network, majority, look=lambda epoch: seen(task, network, epoch.loss))
            return course, lambda t, _, __: self.epoch(task, network, majority, t)

        limits = task.limits(self.epochs, self.patience)
        done = trained(task, begin, limits, keeper=keeper, progress=progress)
        return learned_from(self.name, done, done.best)

    def network(self, task: Task) -> CrowdLayerClassifier:
        """A new network with a layer for the annotators of a task."""
        plain = network_for(self.name, self.classifier, task, seed=self.seed)
        layers = import_module("crowdlogic.classifiers.crowd_layer")  # by its name, since it needs torch
        made: CrowdLayerClassifier = layers.add_crowd_layer(
            plain, task.labels, matrix=self.kind == Kind.MW, bias=self.kind == Kind.VW_B
        )
        return made

    def epoch(self, task: Task, network: CrowdLayerClassifier, majority: Beliefs, t: int) -> Epoch:
        """A pass over the labels; before the first one, some over the majority vote."""
        if t == 1 and self.pretraining:
            for _ in range(self.pretraining):
                network.fit_epoch(task.corpus, majority, task.counted)
            network.reset_optimiser()
        return seen(task, network, network.fit_labels(task.corpus, task.learnt))


def seen(task: Task, network: CrowdLayerClassifier, loss: float) -> Epoch:
    """What a network believes: of the items, and of how annotators answer."""
    p = network.predict_proba(task.corpus)
    return Epoch(loss, 0.0, p, p, p, p, network.confusion())
