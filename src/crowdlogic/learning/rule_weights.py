"""Rule weights that the crowd confirms: those under which labels that were kept apart are likeliest.

A rule that is right makes q_b foretell what unseen annotators say; one that is wrong makes it miss. Each rule's weight
is tried at a few multiples of what the user wrote, one rule after the other; no gold is needed.

Axes: l rule, i unit, j annotator, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.classifiers.protocol import Classifier
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.stopping import held_out_likelihood
from crowdlogic.learning.task import Task
from crowdlogic.learning.teacher import Teacher
from crowdlogic.numerics.arrays import Floats

MULTIPLES = (0.0, 0.25, 0.5, 1.0, 2.0)
"""What a weight is tried at, times what the user wrote. Zero switches a rule off."""


def is_time(epoch: int) -> bool:
    """At epochs 2, 4, 8, ...: in the first the classifier knows nothing, and later weights change little."""
    return epoch >= 2 and epoch & (epoch - 1) == 0


def learnt_factors(
    task: Task,
    teacher: Teacher,
    classifier: Classifier,
    q_a: Beliefs,
    p: Beliefs,
    confusion: Floats,
    held: CrowdLabels,
    factors: Floats,
) -> Floats:
    """factors[l] after one sweep over the rules; a tie keeps what was.

    Args:
        task: The training items.
        teacher: The rules.
        classifier: The current classifier.
        q_a: q_a[i, k], from the labels that are learnt from.
        p: p[i, k], the classifier's view of the training items.
        confusion: confusion[j, m, n].
        held: The labels kept apart.
        factors: The factors so far.
    """

    def likelihood(tried: Floats) -> float:
        q_b = teacher.weighted(tried).corrected(task.corpus, q_a, p, classifier)
        return held_out_likelihood(held, confusion, q_b)

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
