"""Doctor nets: every annotator has a head of his own, learnt from his labels alone; the answer is their average.

[GUAN18] Guan, Gulshan, Dai and Hinton, "Who said what: modeling individual labelers improves classification", 2018.
Its doctor net (DL-DN in the paper's tables) averages the heads, all alike; its weighted doctor net (DL-WDN) then
learns how much each is to count, with the heads as they are (classifiers/crowd_head_weights.py).

One body, many heads: a network of his own for each annotator would learn from his few labels alone, and there would be
as many networks as annotators (47 and 203 on the paper's data). [GUAN18] shares the body, too: the labels of all shape
what is seen of an item, and those of one annotator how he answers to it. The heads are one tensor; in training only
those of a unit's own annotators are computed.

The weights are learnt at the end of every epoch, so that stopping judges what will be used. Heads start as the
network's own output layer. The answers for the training items are the average there.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.course import Course, Epoch, Keeper, Progress, Step
from crowdlogic.learning.learned import Learned, learned_from
from crowdlogic.learning.networks import idle_teacher, network_for
from crowdlogic.learning.passes import trained
from crowdlogic.learning.steps import m_step
from crowdlogic.learning.stopping import HeldOut, Limits
from crowdlogic.learning.task import Task, task_of
from crowdlogic.learning.two_stage import SMOOTHING, TRUST
from crowdlogic.numerics.arrays import Floats
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.syntax import RuleSet

if TYPE_CHECKING:
    from crowdlogic.classifiers.crowd_heads import AnnotatorHeadsClassifier


@dataclass(frozen=True)
class DoctorNets:
    """[GUAN18].

    Attributes:
        classifier: The network whose body is shared: KimCNN, CNNGRU, MLP, ...
        weighted: Whether it is learnt how much each head counts (DL-WDN), or all count the same (DL-DN).
        epochs: The most epochs.
        patience: Epochs without a better stopping score before stopping.
        held_out: The labels to stop by when there is no dev gold; None runs all epochs and keeps the last.
        seed: Where all chance comes from.
    """

    classifier: Architecture
    weighted: bool = False
    epochs: int = 30
    patience: int = 5
    held_out: HeldOut | None = HeldOut()
    seed: int = 0

    def __post_init__(self) -> None:
        Limits(self.epochs, self.patience)

    @property
    def name(self) -> str:
        """As tables call it."""
        return "dl-wdn" if self.weighted else "dl-dn"

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
            network = self.network(task)
            first = vote_shares(task.learnt.votes())
            course = Course(task, teacher, network, first, look=lambda epoch: seen(task, network, epoch.loss))
            return course, lambda *_: self.epoch(task, network)

        limits = task.limits(self.epochs, self.patience)
        done = trained(task, begin, limits, keeper=keeper, progress=progress)
        judged = m_step(task.labels, done.best.p, smoothing=SMOOTHING, trust=TRUST)
        return learned_from(self.name, done, replace(done.best, confusion=judged))

    def network(self, task: Task) -> AnnotatorHeadsClassifier:
        """A new network with a head for each annotator who has labels to learn from."""
        plain = network_for(self.name, self.classifier, task, seed=self.seed)
        heads = import_module("crowdlogic.classifiers.crowd_heads")  # by its name, since it needs torch
        made: AnnotatorHeadsClassifier = heads.add_annotator_heads(plain, task.learnt)
        return made

    def epoch(self, task: Task, network: AnnotatorHeadsClassifier) -> Epoch:
        """A pass over the labels, and the heads' weights after it."""
        loss = network.fit_labels(task.corpus, task.learnt)
        if self.weighted:
            network.fit_head_weights(task.corpus, task.learnt)
        return seen(task, network, loss)


def seen(task: Task, network: AnnotatorHeadsClassifier, loss: float) -> Epoch:
    """What a network believes of the items, and how annotators answer in its eyes."""
    p = network.predict_proba(task.corpus)
    confusion = m_step(task.learnt, p, smoothing=SMOOTHING, trust=TRUST)
    return Epoch(loss, 0.0, p, p, p, p, confusion)
