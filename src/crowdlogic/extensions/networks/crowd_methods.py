"""Methods that train a network directly on crowd labels: the crowd layer, and doctor nets with a head per annotator.

[ROD18] Rodrigues and Pereira, "Deep learning from crowds", 2018. As in its authors' program: the layer takes the
network's softmax and is followed by a softmax, for documents and for tokens; every label has the same weight; the
network is first trained on the majority vote for some epochs, after which the optimiser is reset. The authors always
use Adam; here, the optimiser is that of the network. The learning rate schedule and the seeds continue after
pretraining. Pretraining is part of epoch 1 of a pass, so that checkpoints, which are written after every epoch, include
it. The answers for the training items are the network's predictions.

[GUAN18] Guan, Gulshan, Dai and Hinton, "Who said what: modeling individual labelers improves classification", 2018. Its
doctor net (DL-DN in the paper's tables) averages the heads with equal weights. Its weighted doctor net (DL-WDN) then
learns the weights, with fixed heads, at the end of every epoch, so that stopping criteria evaluate the final predictor.
The heads share one body: the labels of all annotators train the representation of an item, those of one annotator train
their head. The answers for the training items are the average of the heads.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, cast

from crowdlogic.annotators.confusion import Confusion, ConfusionMatrices
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.estimate import vote_shares
from crowdlogic.errors import OptionError
from crowdlogic.learning.learned import Learned, make_learned
from crowdlogic.learning.method import FitMixin, TrainingData, idle_teacher, prepare_plain_task
from crowdlogic.learning.posterior import first_targets
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import Task
from crowdlogic.learning.training import Epoch, EpochCallback, FitCheckpoint, TrainingPass, passes
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.ties import Ties

if TYPE_CHECKING:
    from crowdlogic.extensions.networks.crowd_layer import AnnotatorHeadsClassifier, CrowdLayerClassifier
    from crowdlogic.extensions.networks.network import NeuralClassifier


def build_network(method: str, architecture: Architecture, task: Task, *, seed: int) -> NeuralClassifier:
    """Build a new network for a task; raise an error for other kinds of classifiers."""
    made = architecture.build(task.corpus, task.labels.classes, seed=seed)
    if not hasattr(made, "network"):
        raise OptionError(
            f"{method} requires a neural network, which {architecture.name} is not. Choose kim-cnn, cnn-gru, mlp or "
            f"transformer."
        )
    return cast("NeuralClassifier", made)


class LayerKind(StrEnum):
    """Parameters of an annotator's layer."""

    MW = "MW"
    """A matrix, initialised to the identity."""
    VW = "VW"
    """One scale per class, initialised to ones."""
    VW_B = "VW-B"
    """Scales, and one bias per class, initialised to zeros."""


@dataclass(frozen=True)
class CrowdLayer(FitMixin):
    """Crowd layer method ([ROD18]).

    Attributes:
        classifier: The network below the layer: KimCNN, CNNGRU, MLP, ...
        kind: MW, VW or VW-B.
        pretraining: Number of epochs of training on the majority vote.
        start: Truth method for pretraining; majority vote with `soft` ties uses the vote shares.
        limits: Number of epochs after pretraining, stopping criterion and random seed.
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
            raise OptionError(f"pretraining must be at least 0 epochs, got {self.pretraining}.")

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Learn from crowd labels; rules are not supported."""
        task = prepare_plain_task(self.name, data, self.limits)
        for training in passes(task, self.limits, checkpoint=checkpoint, callback=callback):
            self._run(training)
        return make_learned(self.name, training)

    def _run(self, training: TrainingPass) -> None:
        """Train on the labels, after pretraining on the majority vote."""
        task = training.task
        network, majority = self.network(task), first_targets(task.training_labels, self.start)
        training.begin(classifier=network, teacher=idle_teacher(task), model=ConfusionMatrices(), targets=majority)
        for t in training.epochs():
            if t == 1 and self.pretraining:
                for _ in range(self.pretraining):
                    network.fit_epoch(task.corpus, majority, task.unit_weights)
                network.reset_optimiser()
            training.record(_believe(task, network, network.fit_labels(task.corpus, task.training_labels)))
        training.finish(lambda epoch: _believe(task, network, epoch.loss))

    def network(self, task: Task) -> CrowdLayerClassifier:
        """Build a new network with a layer for the annotators of a task."""
        from crowdlogic.extensions.networks.crowd_layer import add_crowd_layer  # needs torch

        plain = build_network(self.name, self.classifier, task, seed=self.limits.seed)
        return add_crowd_layer(plain, task.labels, matrix=self.kind == LayerKind.MW, bias=self.kind == LayerKind.VW_B)


ANNOTATORS = ConfusionMatrices()
"""Model for estimating the annotators' reliability."""


@dataclass(frozen=True)
class DoctorNets(FitMixin):
    """Doctor nets ([GUAN18]).

    Attributes:
        classifier: The network whose body is shared: KimCNN, CNNGRU, MLP, ...
        weighted: Whether the weights of the heads are learnt (DL-WDN) or equal (DL-DN).
        limits: Number of epochs, stopping criterion and random seed.
    """

    classifier: Architecture
    weighted: bool = False
    limits: TrainingLimits = TrainingLimits()

    @property
    def name(self) -> str:
        """Name of the method in tables."""
        return "dl-wdn" if self.weighted else "dl-dn"

    def learn(
        self, data: TrainingData, *, checkpoint: FitCheckpoint | None = None, callback: EpochCallback | None = None
    ) -> Learned:
        """Learn from crowd labels; rules are not supported."""
        task = prepare_plain_task(self.name, data, self.limits)
        for training in passes(task, self.limits, checkpoint=checkpoint, callback=callback):
            self._run(training)
        epoch = training.outcome
        judged = ANNOTATORS.m_step(ANNOTATORS.observe(task.labels), epoch.p)
        return make_learned(self.name, training, replace(epoch, annotators=judged))

    def _run(self, training: TrainingPass) -> None:
        """Train on the labels, and fit the weights of the heads after each epoch."""
        task, network = training.task, self.network(training.task)
        targets = vote_shares(task.training_labels.votes())
        training.begin(classifier=network, teacher=idle_teacher(task), model=ANNOTATORS, targets=targets)
        for _ in training.epochs():
            loss = network.fit_labels(task.corpus, task.training_labels)
            if self.weighted:
                network.fit_head_weights(task.corpus, task.training_labels)
            training.record(_believe(task, network, loss))
        training.finish(lambda epoch: _believe(task, network, epoch.loss))

    def network(self, task: Task) -> AnnotatorHeadsClassifier:
        """Build a new network with one head per annotator, each initialised to the network's output layer.

        Annotators without training labels have no weight.
        """
        from crowdlogic.extensions.networks.crowd_layer import add_annotator_heads  # needs torch

        plain = build_network(self.name, self.classifier, task, seed=self.limits.seed)
        return add_annotator_heads(plain, task.training_labels)


@dataclass(frozen=True)
class WeightedDoctorNets(DoctorNets):
    """Weighted doctor nets ([GUAN18]): the weights of the heads are learnt (DL-WDN)."""

    weighted: bool = True


def _believe(task: Task, network: CrowdLayerClassifier | AnnotatorHeadsClassifier, loss: float) -> Epoch:
    """Return an epoch with the network's beliefs.

    The annotators' confusion matrices are those of the crowd layer; for doctor nets, they are estimated from the
    beliefs.
    """
    p = network.predict_proba(task.corpus)
    own = getattr(network, "confusion", None)
    annotators = (
        ANNOTATORS.m_step(ANNOTATORS.observe(task.training_labels), p)
        if own is None
        else Confusion(own().transpose(0, 2, 1))
    )
    return Epoch(loss=loss, k=0.0, p=p, q_a=p, q_b=p, q_f=p, annotators=annotators)
