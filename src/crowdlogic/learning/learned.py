"""Learned: what a fit leaves: answers for the training items, a classifier, its teacher, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.classifiers.protocol import Classifier
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate, make_estimate
from crowdlogic.learning.course import Epoch, Row
from crowdlogic.learning.passes import Trained
from crowdlogic.learning.task import Task
from crowdlogic.learning.teacher import Teacher


@dataclass(frozen=True, eq=False)
class Learned:
    """The outcome of a fit.

    Attributes:
        estimate: The answers for the training items (q_f) and the annotators' confusion matrices.
        epoch: What is believed at last: p, q_a, q_b, q_f of the chosen epoch, or with the mean of the weights `since`.
        chosen: The epoch that was chosen, counted from 1; by labels kept apart, the latest that is as good as the best.
        history: All epochs of the pass that chose.
        again: Those of the second pass, with all labels; the scores of the last one are those of the answers. Empty
            without one.
        classifier: The student.
        teacher: The rules, for predictions.
        task: What it was given.
        since: From which epoch of the second pass on the classifier is the mean of its weights; None where it is not.
    """

    estimate: Estimate
    epoch: Epoch
    chosen: int
    history: tuple[Row, ...]
    classifier: Classifier
    teacher: Teacher
    task: Task
    again: tuple[Row, ...] = ()
    since: int | None = None

    @property
    def final(self) -> Row:
        """The line of the epoch that answers."""
        return self.again[-1] if self.again else self.history[self.chosen - 1]

    def predict(self, corpus: Corpus, *, student: bool = False) -> Beliefs:
        """Beliefs on new items: the teacher's (eq. 15 with p in place of q_a), or the student's alone."""
        p = self.classifier.predict_proba(corpus)
        return p if student else self.teacher.predict(corpus, self.classifier, p)


def learned_from(method: str, done: Trained, epoch: Epoch) -> Learned:
    """Put together what a fit left."""
    course, task = done.course, done.course.task
    estimate = make_estimate(
        task.labels,
        method,
        epoch.q_f,
        confusion=epoch.confusion,
        answer_all=True,
        trace=np.array([row.stopping for row in done.history]),
    )
    return Learned(
        estimate,
        epoch,
        done.chosen,
        done.history,
        course.classifier,
        course.teacher.weighted(epoch.factors),
        task,
        done.again,
        course.since,
    )
