"""Logic-LNCL: classifier, annotators and truth learnt together, with rules to guide them (Algorithm 1).

[LNCL] "Learning from Noisy Crowd Labels with Logics". An epoch:

    confusion = m_step(labels, q_f)                                 # eq. 12
    classifier.fit_epoch(corpus, q_f, weights)                      # eq. 8 or 10
    q_a = e_step(labels, confusion, classifier.predict_proba())     # eq. 13
    q_b = project(q_a, rules)                                       # eq. 15
    q_f = (1 - k) q_a + k q_b                                       # eq. 9

Without rules this is AggNet; with the linear classifier, Raykar's; with the class prior for one, Dawid-Skene.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture, Classifier
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.learning.course import Course, Epoch, Keeper, Progress, Step
from crowdlogic.learning.learned import Learned, learned_from
from crowdlogic.learning.passes import trained
from crowdlogic.learning.rule_weights import is_time, learnt_factors
from crowdlogic.learning.schedules import Growing, Imitation, imitation_at
from crowdlogic.learning.steps import abstention_m_step, e_step, m_step
from crowdlogic.learning.stopping import HeldOut, Limits
from crowdlogic.learning.task import Task, annotator_weights, task_of
from crowdlogic.learning.teacher import Teacher
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.checks import check_amounts
from crowdlogic.rules.potentials import PerUnit
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.presets import Preset
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import TransitionTable
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.ties import Ties

SINGLE_DOUBT = 0.3
"""Votes added to every class when units have one label each."""

FEW = 1.5
"""Labels per unit below which most units have only one."""


class Loss(StrEnum):
    """How much a unit counts in the classifier's loss."""

    plain = "plain"
    """All alike (eq. 8)."""
    annotators = "annotators"
    """By how many annotators its item had (eq. 10)."""


@dataclass(frozen=True)
class LogicLNCL:
    """Algorithm 1.

    Attributes:
        classifier: What learns: Linear, KimCNN, CNNGRU, MLP, ...
        imitation: k(t): Growing, Constant, or any function of the epoch, counted from 1.
        strength: C, how strongly the rules pull.
        preset: The projection: paper (from q_a), released or transitions (both from the classifier).
        transitions: A table of transitions beside the rules, for tags; `estimated` counts them in the first targets.
        per_unit: Whether groundings of a rule add up at a unit, or are averaged.
        loss: plain (eq. 8) or annotators (eq. 10).
        start: The first targets, a majority vote; its `ties` are `soft` for the shares of the votes.
        doubt: Votes added to every class in the first targets when they are shares. None adds SINGLE_DOUBT where most
            units have one label: else a label would be its own proof, and every annotator would seem perfect.
        smoothing: Labels added to every cell of a confusion matrix.
        trust: Labels added to each diagonal cell beyond that.
        silence: Whether annotators look at everything and mostly say nothing, as labelling functions do: their matrices
            then say how often they speak of each class.
        epochs: The most epochs.
        patience: Epochs without a better dev score before stopping; labels kept apart have their own (`held_out`).
        held_out: The labels to stop by when there is no dev gold; None runs all epochs and keeps the last.
        learn_weights: Whether the rules' weights are learnt, too, by the likelihood of labels that are kept apart.
        seed: Where all chance comes from.
    """

    classifier: Architecture = Linear()
    imitation: Imitation = Growing()
    strength: float = 5.0
    preset: Preset | str = "paper"
    transitions: TransitionTable | str | None = None
    per_unit: PerUnit | str = PerUnit.sum
    loss: Loss | str = Loss.plain
    start: MajorityVote = MajorityVote(ties=Ties.soft)
    doubt: float | None = None
    smoothing: float = 0.01
    trust: float = 1.0
    silence: bool = False
    epochs: int = 30
    patience: int = 5
    held_out: HeldOut | None = HeldOut()
    learn_weights: bool = False
    seed: int = 0

    name = "logic-lncl"

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust", "strength", "seed"))
        if self.doubt is not None:
            check_amounts(self, not_negative=("doubt",))
        Limits(self.epochs, self.patience)
        if self.learn_weights and self.held_out is None:
            raise OptionError("learn_weights needs labels that are kept apart: give held_out, or leave the weights.")
        if self.loss not in list(Loss):
            raise OptionError(f"loss: {self.loss!r} is none of {', '.join(Loss)}.")

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
        """Learn from crowd labels and rules.

        Args:
            corpus: The items.
            labels: Their labels.
            rules: What is known of them.
            vocabulary: The predicates that the rules use beyond the built-in ones.
            dev: Items with gold to stop by. Without any, labels are kept apart for it (`held_out`).
            watched: Items with gold that are scored after every epoch and never learnt from.
            keeper: Where to keep a checkpoint after every epoch, and to go on from.
            progress: Hears of every epoch.
        """
        task = task_of(
            corpus, labels, dev=dev, watched=watched, held_out=self.held_out, seed=self.seed, keep=self.learn_weights
        )
        done = trained(
            task,
            lambda task, factors: self.begin(task, rules, vocabulary, factors),
            task.limits(self.epochs, self.patience),
            keeper=keeper,
            progress=progress,
        )
        return learned_from(self.name, done, self.finished(done.course, done.best))

    def begin(
        self, task: Task, rules: RuleSet | None, vocabulary: Vocabulary | None, factors: Floats | None = None
    ) -> tuple[Course, Step]:
        """A course and its epochs; the weights of the rules are learnt unless their factors are given."""
        teacher = self.teacher(task, rules, vocabulary)
        classifier = self.classifier.build(task.corpus, task.labels.classes, seed=self.seed)
        weights = annotator_weights(task) if self.loss == Loss.annotators else task.counted
        if factors is None and self.learn_weights:
            factors = np.ones(teacher.n_rules)
        course = Course(
            task,
            teacher,
            classifier,
            first_targets(task.learnt, self.start, doubt=self.doubt),
            factors,
            look=lambda epoch: self.look(task, task.learnt, teacher, classifier, epoch),
        )
        return course, lambda t, q_f, factors: self.epoch(task, teacher, classifier, weights, q_f, t, factors)

    def epoch(
        self,
        task: Task,
        teacher: Teacher,
        classifier: Classifier,
        weights: Floats,
        q_f: Beliefs,
        t: int,
        factors: Floats | None = None,
    ) -> Epoch:
        """One round of Algorithm 1."""
        confusion = self.m_step(task.learnt, q_f)
        loss = classifier.fit_epoch(task.corpus, q_f, weights)
        k = imitation_at(self.imitation, t)
        done = self.e_step(task.learnt, task, teacher.weighted(factors), classifier, confusion, k=k, loss=loss)
        if factors is None or task.held is None or not is_time(t):
            return replace(done, factors=factors)
        found = learnt_factors(task, teacher, classifier, done.q_a, done.p, confusion, task.held, factors)
        return replace(done, factors=found)

    def m_step(self, labels: CrowdLabels, q_f: Beliefs) -> Floats:
        """confusion[j, m, n] (eq. 12)."""
        return (abstention_m_step if self.silence else m_step)(labels, q_f, smoothing=self.smoothing, trust=self.trust)

    def e_step(
        self,
        labels: CrowdLabels,
        task: Task,
        teacher: Teacher,
        classifier: Classifier,
        confusion: Floats,
        *,
        k: float,
        loss: float,
    ) -> Epoch:
        """Eq. 13, 15 and 9."""
        p = classifier.predict_proba(task.corpus)
        q_a, log_evidence = e_step(labels, confusion, p)
        q_b = teacher.corrected(task.corpus, q_a, p, classifier)
        q_f = q_a if teacher.is_idle else (1.0 - k) * q_a + k * q_b
        return Epoch(loss, k, p, q_a, q_b, q_f, confusion, log_evidence / labels.n_labels)

    def look(self, task: Task, labels: CrowdLabels, teacher: Teacher, classifier: Classifier, epoch: Epoch) -> Epoch:
        """The M and E step after an epoch, with the classifier as it is now and with these labels."""
        confusion, told = self.m_step(labels, epoch.q_f), teacher.weighted(epoch.factors)
        seen = self.e_step(labels, task, told, classifier, confusion, k=epoch.k, loss=epoch.loss)
        return replace(seen, factors=epoch.factors)

    def finished(self, course: Course, best: Epoch) -> Epoch:
        """The best epoch; with labels that are still kept apart back in, for the answers that users get."""
        task = course.task
        if task.held is None:
            return best
        return self.look(task, task.labels, course.teacher, course.classifier, best)

    def teacher(self, task: Task, rules: RuleSet | None, vocabulary: Vocabulary | None) -> Teacher:
        """The rules as this method obeys them."""
        projector = Projector(
            rules=rules,
            vocabulary=vocabulary,
            transitions=self.transitions,
            strength=self.strength,
            preset=self.preset,
            per_unit=self.per_unit,
        )
        first = first_targets(task.learnt, self.start)
        classes = task.labels.classes
        return Teacher(classes, projector.with_transitions(first, task.corpus.offsets, classes))


def first_targets(labels: CrowdLabels, start: MajorityVote, *, doubt: float | None = 0.0) -> Beliefs:
    """The first q_f: the shares of the votes, or the winner alone. Uniform where nobody said anything."""
    votes = labels.votes(weighted=start.weighted)
    if Ties.named(start.ties) is Ties.soft:
        return vote_shares(votes + (_usual_doubt(labels) if doubt is None else doubt))
    votes = vote_shares(votes)
    order = None if start.order is None else [*start.order, *(set(labels.classes) - set(start.order))]
    winner = replace(start, order=order).infer(labels).answer  # a class beyond the order has no votes
    hard = np.eye(labels.n_classes)[winner]
    return np.where((winner >= 0)[:, None], hard, votes)


def _usual_doubt(labels: CrowdLabels) -> float:
    """None where units have several labels to compare."""
    heard = labels.labels_per_unit()
    return SINGLE_DOUBT if heard[heard > 0].mean() < FEW else 0.0
