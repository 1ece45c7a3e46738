"""Doctor nets: every annotator has a head of his own, learnt from his labels alone; the answer is their average.

[GUAN18] Guan, Gulshan, Dai and Hinton, "Who said what: modeling individual labelers improves classification", 2018.
Its doctor net (DL-DN in the paper's tables) averages the heads, all alike; its weighted doctor net (DL-WDN) then
learns how much each is to count, with the heads as they are (extensions/networks/crowd_layer.py).

One body, many heads: a network of his own for each annotator would learn from his few labels alone, and there would be
as many networks as annotators (47 and 203 on the paper's data). [GUAN18] shares the body, too: the labels of all shape
what is seen of an item, and those of one annotator how he answers to it. The heads are one tensor; in training only
those of a unit's own annotators are computed.

The weights are learnt at the end of every epoch, so that stopping judges what will be used. Heads start as the
network's own output layer. The answers for the training items are the average there.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.estimate import vote_shares
from crowdlogic.extensions.networks.crowd_layer_method import build_network
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
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import Task, prepare_task
from crowdlogic.learning.training import TrainingPass, passes

if TYPE_CHECKING:
    from crowdlogic.extensions.networks.crowd_layer import AnnotatorHeadsClassifier


ANNOTATORS = ConfusionMatrices()
"""The model by which annotators are judged."""


@dataclass(frozen=True)
class DoctorNets(FitMixin):
    """[GUAN18].

    Attributes:
        classifier: The network whose body is shared: KimCNN, CNNGRU, MLP, ...
        weighted: Whether it is learnt how much each head counts (DL-WDN), or all count the same (DL-DN).
        limits: How long a fit goes on, what stops it, and its random seed.
    """

    classifier: Architecture
    weighted: bool = False
    limits: TrainingLimits = TrainingLimits()

    @property
    def name(self) -> str:
        """As tables call it."""
        return "dl-wdn" if self.weighted else "dl-dn"

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
        epoch = training.outcome
        judged = ANNOTATORS.m_step(ANNOTATORS.observe(task.labels), epoch.p)
        return make_learned(self.name, training, replace(epoch, annotators=judged))

    def _run(self, training: TrainingPass) -> None:
        """Epochs over the labels, and the heads' weights after each."""
        task, network = training.task, self.network(training.task)
        targets = vote_shares(task.training_labels.votes())
        training.begin(classifier=network, teacher=idle_teacher(task), model=ANNOTATORS, targets=targets)
        for _ in training.epochs():
            loss = network.fit_labels(task.corpus, task.training_labels)
            if self.weighted:
                network.fit_head_weights(task.corpus, task.training_labels)
            training.record(believe(task, network, loss))
        training.finish(lambda epoch: believe(task, network, epoch.loss))

    def network(self, task: Task) -> AnnotatorHeadsClassifier:
        """A new network with a head for each annotator who has labels to learn from."""
        plain = build_network(self.name, self.classifier, task, seed=self.limits.seed)
        heads = import_module("crowdlogic.extensions.networks.crowd_layer")  # by its name, since it needs torch
        made: AnnotatorHeadsClassifier = heads.add_annotator_heads(plain, task.training_labels)
        return made


@dataclass(frozen=True)
class WeightedDoctorNets(DoctorNets):
    """[GUAN18] with weights: how much each head counts is learnt (DL-WDN)."""

    weighted: bool = True


def believe(task: Task, network: AnnotatorHeadsClassifier, loss: float) -> Epoch:
    """What a network believes of the items, and how annotators answer in its eyes."""
    p = network.predict_proba(task.corpus)
    annotators = ANNOTATORS.m_step(ANNOTATORS.observe(task.training_labels), p)
    return Epoch(loss=loss, k=0.0, p=p, q_a=p, q_b=p, q_f=p, annotators=annotators)
