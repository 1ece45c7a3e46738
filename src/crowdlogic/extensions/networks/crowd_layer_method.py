"""The crowd layer: a network learns from the labels as they are, through a layer for each annotator on top of it.

[ROD18] Rodrigues and Pereira, "Deep learning from crowds", 2018. What its authors' program does, and so do we: the
layer takes the network's softmax; a softmax follows the layer, for documents and for tokens; every label counts the
same; the network first learns the majority vote for some epochs, and then the optimiser is
reset. It has Adam throughout; ours is the network's own. Here the rate's schedule and the seeds run on from the first
epochs to the others.

The first epochs are done within epoch 1 of a pass, so that a checkpoint, which is kept after every epoch, has
them behind it. The answers for the training items are the network's own.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, cast

from crowdlogic.annotators.confusion import Confusion, ConfusionMatrices
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.errors import OptionError
from crowdlogic.learning.epoch import Epoch, EpochCallback, FitCheckpoint
from crowdlogic.learning.learned import Learned, make_learned
from crowdlogic.learning.method import (
    FitMixin,
    TrainingData,
    idle_teacher,
    refuse_anchors,
    refuse_partial_labels,
    refuse_rules,
)
from crowdlogic.learning.posterior import first_targets
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import Task, prepare_task
from crowdlogic.learning.training import TrainingPass, passes
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.ties import Ties

if TYPE_CHECKING:
    from crowdlogic.extensions.networks.crowd_layer import CrowdLayerClassifier
    from crowdlogic.extensions.networks.network import NeuralClassifier


# The network of methods that add something of their own to one: a classifier of another kind is refused.


def build_network(method: str, architecture: Architecture, task: Task, *, seed: int) -> NeuralClassifier:
    """A new network for a task; a classifier of another kind is refused."""
    made = architecture.build(task.corpus, task.labels.classes, seed=seed)
    if not hasattr(made, "network"):
        raise OptionError(
            f"{method} adds to a network, and {architecture.name} is none. Choose a model that is: kim-cnn, cnn-gru, "
            f"mlp or transformer."
        )
    return cast("NeuralClassifier", made)


class LayerKind(StrEnum):
    """What an annotator's layer holds."""

    MW = "MW"
    """A matrix, the identity at first."""
    VW = "VW"
    """A scale for each class, ones at first."""
    VW_B = "VW-B"
    """The scales and a bias for each class, zeros at first."""


@dataclass(frozen=True)
class CrowdLayer(FitMixin):
    """[ROD18].

    Attributes:
        classifier: The network beneath: KimCNN, CNNGRU, MLP, ...
        kind: MW, VW or VW-B.
        pretraining: The epochs that the network first learns the majority vote for.
        start: That vote; its `ties` are `soft` for the shares of the votes.
        limits: How long a fit goes on after those epochs, what stops it, and its random seed.
    """

    classifier: Architecture
    kind: LayerKind | str = LayerKind.MW
    pretraining: int = 5
    start: TruthMethod = MajorityVote(ties=Ties.soft)
    limits: TrainingLimits = TrainingLimits()

    name = "crowd-layer"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in list(LayerKind):
            raise OptionError(f"kind: expected one of {', '.join(LayerKind)}; got {self.kind!r}.")
        if self.pretraining < 0:
            raise OptionError(f"pretraining must be 0 or more epochs, not {self.pretraining}.")

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Learn from crowd labels; rules are refused."""
        refuse_rules(self.name, data)
        refuse_partial_labels(self.name, data)
        refuse_anchors(self.name, data)
        task = prepare_task(data.corpus, data.labels, dev=data.dev, watched=data.watched, limits=self.limits)
        for training in passes(task, self.limits, checkpoint=checkpoint, callback=callback):
            self._run(training)
        return make_learned(self.name, training)

    def _run(self, training: TrainingPass) -> None:
        """Epochs over the labels; before the first one, some over the majority vote."""
        task = training.task
        network, majority = self.network(task), first_targets(task.training_labels, self.start)
        training.begin(classifier=network, teacher=idle_teacher(task), model=ConfusionMatrices(), targets=majority)
        for t in training.epochs():
            if t == 1 and self.pretraining:
                for _ in range(self.pretraining):
                    network.fit_epoch(task.corpus, majority, task.unit_weights)
                network.reset_optimiser()
            training.record(believe(task, network, network.fit_labels(task.corpus, task.training_labels)))
        training.finish(lambda epoch: believe(task, network, epoch.loss))

    def network(self, task: Task) -> CrowdLayerClassifier:
        """A new network with a layer for the annotators of a task."""
        plain = build_network(self.name, self.classifier, task, seed=self.limits.seed)
        layers = import_module("crowdlogic.extensions.networks.crowd_layer")  # by its name, since it needs torch
        made: CrowdLayerClassifier = layers.add_crowd_layer(
            plain, task.labels, matrix=self.kind == LayerKind.MW, bias=self.kind == LayerKind.VW_B
        )
        return made


def believe(task: Task, network: CrowdLayerClassifier, loss: float) -> Epoch:
    """What a network believes: of the items, and of how annotators answer."""
    p = network.predict_proba(task.corpus)
    annotators = Confusion(network.confusion().transpose(0, 2, 1))
    return Epoch(loss=loss, k=0.0, p=p, q_a=p, q_b=p, q_f=p, annotators=annotators)
