"""Learnt rule weights: those with the highest log-likelihood of held-out labels.

A rule that is right makes q_b predict held-out labels better, one that is wrong makes it worse. Each rule's weight
is tried at a few multiples of what the user wrote, one rule after the other; no gold is needed.

Axes: l rule, i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.protocol import Classifier
from crowdlogic.data.chain_beliefs import unit_beliefs
from crowdlogic.learning.epoch import Epoch
from crowdlogic.learning.stopping.held_out import held_out_log_likelihood
from crowdlogic.learning.task import Task
from crowdlogic.learning.teacher import Teacher
from crowdlogic.numerics.arrays import Floats

MULTIPLES = (0.0, 0.25, 0.5, 1.0, 2.0)
"""The multiples of the user's weight that are tried. Zero switches a rule off."""


def is_due(epoch: int) -> bool:
    """At epochs 2, 4, 8, ...: in the first the classifier knows nothing, and later weights change little."""
    return epoch >= 2 and epoch & (epoch - 1) == 0


def learn_factors(
    task: Task, teacher: Teacher, classifier: Classifier, epoch: Epoch, factors: Floats, *, model: AnnotatorModel
) -> Floats:
    """factors[l] after one sweep over the rules; a tie keeps what was.

    Args:
        task: The training items, with held-out labels.
        teacher: The rules.
        classifier: The current classifier.
        epoch: Its beliefs, and the annotators.
        factors: The factors so far.
        model: The annotator model.
    """
    held = task.held_labels
    if held is None:
        return factors
    shards = model.observe(held)

    def likelihood(tried: Floats) -> float:
        q_b = teacher.reweight(tried).project(task.corpus, epoch.q_a, epoch.p, classifier)
        return held_out_log_likelihood(held, shards, epoch.annotators, unit_beliefs(q_b))

    best = np.array(factors, dtype=np.float64)
    reached = likelihood(best)
    for rule in range(len(best)):
        for multiple in MULTIPLES:
            tried = best.copy()
            tried[rule] = multiple
            found = likelihood(tried)
            if found > reached + 1e-12:
                best, reached = tried, found
    return best
