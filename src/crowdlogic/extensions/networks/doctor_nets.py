"""Doctor nets: each annotator has a head, trained on their labels only; the answer is the average of the heads.

[GUAN18] Guan, Gulshan, Dai and Hinton, "Who said what: modeling individual labelers improves classification", 2018. Its
doctor net (DL-DN in the paper's tables) averages the heads with equal weights. Its weighted doctor net (DL-WDN) then
learns the weights, with fixed heads (extensions/networks/crowd_layer.py).

The heads share one body, as in [GUAN18]: the labels of all annotators train the representation of an item, those of one
annotator train their head. Separate networks would each learn from few labels, and there would be as many networks as
annotators (47 and 203 on the paper's data). The heads are one tensor; in training, only those of a unit's own
annotators are computed.

The weights are learnt at the end of every epoch, so that stopping criteria evaluate the final predictor. Heads are
initialised to the network's output layer. The answers for the training items are the average of the heads.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.estimate import vote_shares
from crowdlogic.extensions.networks.crowd_layer_method import build_network
from crowdlogic.learning.learned import Learned, make_learned
from crowdlogic.learning.method import FitMixin, TrainingData, idle_teacher, prepare_plain_task
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import Task
from crowdlogic.learning.training import Epoch, EpochCallback, FitCheckpoint, TrainingPass, passes

if TYPE_CHECKING:
    from crowdlogic.extensions.networks.crowd_layer import AnnotatorHeadsClassifier


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
            training.record(believe(task, network, loss))
        training.finish(lambda epoch: believe(task, network, epoch.loss))

    def network(self, task: Task) -> AnnotatorHeadsClassifier:
        """Build a new network with one head per annotator; annotators without training labels have no weight."""
        from crowdlogic.extensions.networks.crowd_layer import add_annotator_heads  # needs torch

        plain = build_network(self.name, self.classifier, task, seed=self.limits.seed)
        return add_annotator_heads(plain, task.training_labels)


@dataclass(frozen=True)
class WeightedDoctorNets(DoctorNets):
    """Weighted doctor nets ([GUAN18]): the weights of the heads are learnt (DL-WDN)."""

    weighted: bool = True


def believe(task: Task, network: AnnotatorHeadsClassifier, loss: float) -> Epoch:
    """Return an epoch with the network's beliefs and the annotators' estimated reliability."""
    p = network.predict_proba(task.corpus)
    annotators = ANNOTATORS.m_step(ANNOTATORS.observe(task.training_labels), p)
    return Epoch(loss=loss, k=0.0, p=p, q_a=p, q_b=p, q_f=p, annotators=annotators)
