"""Two stages: first decide what is true, then teach a classifier that. And the upper bound: teach it the gold.

Rules, when given, correct the classifier's predictions only (the rows "MV-t" of the paper's Table 5).

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import CorpusError
from crowdlogic.learning.course import Course, Epoch, Keeper, Progress, Step
from crowdlogic.learning.learned import Learned, learned_from
from crowdlogic.learning.passes import Trained, trained
from crowdlogic.learning.scoring import is_scorable
from crowdlogic.learning.steps import m_step
from crowdlogic.learning.stopping import HeldOut, Limits
from crowdlogic.learning.task import Task, task_of
from crowdlogic.learning.teacher import Teacher
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.presets import Preset
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import TransitionTable
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod

SMOOTHING, TRUST = 0.01, 1.0
"""Labels added to every cell of a confusion matrix, and to its diagonal."""


@dataclass(frozen=True)
class TwoStage:
    """A truth method, then a classifier.

    Attributes:
        truth: What decides the targets: MajorityVote(), DawidSkene(), GLAD(), ...
        classifier: What learns them.
        hard: Whether it learns the answers, or the beliefs.
        strength: C of the teacher.
        preset: The teacher's projection.
        transitions: The teacher's table of transitions, for tags.
        epochs: The most epochs.
        patience: Epochs without a better stopping score before stopping.
        held_out: The labels to stop by when there is no dev gold; None runs all epochs and keeps the last.
        seed: Where all chance comes from.
    """

    truth: TruthMethod = MajorityVote()
    classifier: Architecture = Linear()
    hard: bool = False
    strength: float = 5.0
    preset: Preset | str = "paper"
    transitions: TransitionTable | str | None = None
    epochs: int = 30
    patience: int = 5
    held_out: HeldOut | None = HeldOut()
    seed: int = 0

    def __post_init__(self) -> None:
        Limits(self.epochs, self.patience)

    @property
    def name(self) -> str:
        """As tables call it."""
        return f"{self.truth.name} + {self.classifier.name}"

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
        """Infer the truth, then learn it; see LogicLNCL.fit."""
        task = task_of(corpus, labels, dev=dev, watched=watched, held_out=self.held_out, seed=self.seed)

        def begin(task: Task, _: Floats | None) -> tuple[Course, Step]:
            targets = self.targets(task)
            return _taught(self, task, _teacher(self, task, targets, rules, vocabulary), targets, task.counted)

        limits = task.limits(self.epochs, self.patience)
        done = trained(task, begin, limits, keeper=keeper, progress=progress)
        task = done.course.task
        believed = done.best.q_f if task.held is None else self.truth.infer(task.labels, task.corpus).beliefs
        heard = task.labels.labels_per_unit() > 0
        return _learned(self.name, done, believed, heard, task.labels)

    def targets(self, task: Task) -> Beliefs:
        """What the truth method believes of the labels to learn from; its answers alone when hard."""
        estimate = self.truth.infer(task.learnt, task.corpus)
        if not self.hard:
            return estimate.beliefs
        hard = np.eye(task.labels.n_classes)[estimate.answer]
        return np.where(estimate.answered[:, None], hard, estimate.beliefs)


@dataclass(frozen=True)
class Gold:
    """The upper bound: a classifier that learns the gold. The labels are only looked at to judge annotators.

    Attributes:
        classifier: What learns.
        strength: C of the teacher.
        preset: The teacher's projection.
        transitions: The teacher's table of transitions, for tags.
        epochs: The most epochs.
        patience: Epochs without a better stopping score before stopping.
        seed: Where all chance comes from.
    """

    classifier: Architecture = Linear()
    strength: float = 5.0
    preset: Preset | str = "paper"
    transitions: TransitionTable | str | None = None
    epochs: int = 30
    patience: int = 5
    seed: int = 0

    name = "gold"

    def __post_init__(self) -> None:
        Limits(self.epochs, self.patience)

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
        """Learn the gold; without a dev set, for all epochs. See LogicLNCL.fit."""
        task = task_of(corpus, labels, dev=dev, watched=watched, held_out=None, seed=self.seed)
        if not is_scorable(task.corpus):
            raise CorpusError("The items have no gold to learn. Give gold, or choose another method.")
        gold = np.asarray(task.corpus.gold)
        known = gold != UNKNOWN
        size = task.labels.n_classes
        targets = np.where(known[:, None], np.eye(size)[gold], 1.0 / size)
        teacher = _teacher(self, task, targets, rules, vocabulary)
        done = trained(
            task,
            lambda task, _: _taught(self, task, teacher, targets, known.astype(np.float64)),
            task.limits(self.epochs, self.patience),
            keeper=keeper,
            progress=progress,
        )
        return _learned(self.name, done, targets, known, task.labels.take(known[task.labels.unit]))


def _teacher(
    method: TwoStage | Gold, task: Task, targets: Beliefs, rules: RuleSet | None, vocabulary: Vocabulary | None
) -> Teacher:
    projector = Projector(
        rules=rules,
        vocabulary=vocabulary,
        transitions=method.transitions,
        strength=method.strength,
        preset=method.preset,
    )
    classes = task.labels.classes
    return Teacher(classes, projector.with_transitions(targets, task.corpus.offsets, classes))


def _taught(
    method: TwoStage | Gold, task: Task, teacher: Teacher, targets: Beliefs, weights: Floats
) -> tuple[Course, Step]:
    """A course that teaches a classifier the same targets, epoch after epoch."""
    classifier = method.classifier.build(task.corpus, task.labels.classes, seed=method.seed)
    confusion = m_step(task.learnt, targets, smoothing=SMOOTHING, trust=TRUST)

    def step(_: int, q_f: Beliefs, __: Floats | None) -> Epoch:
        loss = classifier.fit_epoch(task.corpus, q_f, weights)
        return Epoch(loss, 0.0, classifier.predict_proba(task.corpus), q_f, q_f, q_f, confusion)

    def look(epoch: Epoch) -> Epoch:
        return replace(epoch, p=classifier.predict_proba(task.corpus))

    return Course(task, teacher, classifier, targets, look=look), step


def _learned(method: str, done: Trained, believed: Beliefs, known: Bools, judged: CrowdLabels) -> Learned:
    """The answers: what is believed of known units, and the classifier's view of the others.

    Args:
        method: The method's name.
        done: How the classifier learnt.
        believed: What the first stage believes, all labels in.
        known: Which units it has something to say of.
        judged: The labels that annotators are judged by.
    """
    q = np.where(known[:, None], believed, done.best.p)
    confusion = m_step(judged, q, smoothing=SMOOTHING, trust=TRUST)
    return learned_from(method, done, replace(done.best, q_a=q, q_b=q, q_f=q, confusion=confusion))
