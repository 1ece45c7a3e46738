"""What further labels of a unit are expected to gain: the rise of the expected accuracy of its answer.

With q[i, k] the present beliefs, the answer after further labels is the class that is then most probable, so

    expected accuracy after them = sum over what they may be of max_k q[i, k] p(they | k).

Labels of a typical annotator are exchangeable: only how many say what counts, and that is enumerated. One label alone
often cannot turn an answer although two can, so a unit is judged by the best mean gain per label over one to several
labels (the concave hull), which is also what makes labels after the first worth less.

[FRAZIER10] Frazier and Powell, "Paradoxes in learning and the marginal value of information", 2010: the same remedy.
Axes: i unit, k class, d number of further labels, c what they are (how often each class).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.numerics.tempering import temper
from crowdlogic.planning.skills import Skills, added_sharpness

MOST_OUTCOMES = 300
"""As many labels are looked ahead as have at most so many outcomes."""
DEEPEST = 9
"""Largest number of labels that are looked ahead."""
CHUNK = 20_000
"""Units that are computed at once."""


def marginal_gains(q: Floats, n: Ints, skills: Skills) -> Floats:
    """gain[i, d], what the d-th further label by typical annotators is expected to add to the accuracy of unit i.

    The gains of a unit never rise with d.

    Args:
        q: q[i, k], the present beliefs.
        n: n[i], how many labels each unit has.
        skills: How annotators answer.
    """
    accuracy = expected_accuracy_after(q, n, skills)
    return concave_gains(accuracy)


def expected_accuracy_after(q: Floats, n: Ints, skills: Skills) -> Floats:
    """accuracy[i, d], the expected probability of the answer of unit i after d = 0, 1, ... further labels."""
    depth = look_ahead(q.shape[1])
    accuracy = np.empty((len(q), depth + 1))
    accuracy[:, 0] = q.max(axis=1, initial=0.0)
    for labels in np.unique(n):
        units = np.flatnonzero(n == labels)
        for d in range(1, depth + 1):
            outcome = outcome_probabilities(skills, int(labels), d)  # [c, k]
            for chunk in np.array_split(units, max(len(units) // CHUNK, 1)):
                accuracy[chunk, d] = _expected_maximum(q[chunk], outcome)
    # More labels never make an answer worse, but a correlation makes their sharpness differ from d to d
    return np.maximum.accumulate(accuracy, axis=1)


def _expected_maximum(q: Floats, outcome: Floats) -> Floats:
    """The sum over c of max_k q[i, k] outcome[c, k]."""
    best = q[:, None, 0] * outcome[None, :, 0]
    for k in range(1, q.shape[1]):
        np.maximum(best, q[:, None, k] * outcome[None, :, k], out=best)
    return np.asarray(best.sum(axis=1))


def outcome_probabilities(skills: Skills, n: int, d: int) -> Floats:
    """outcome[c, k], how probable it is that d labels beyond n are c if the class is k."""
    table = temper(skills.typical, float(added_sharpness(n, skills, d)))
    counts, ways = label_counts(len(table), d)
    return np.asarray(ways[:, None] * np.exp(counts @ safe_log(table).T))


@cache
def label_counts(n_classes: int, d: int) -> tuple[Floats, Floats]:
    """counts[c, n], every way in which d labels can be shared among the classes, and in how many orders each comes."""
    from scipy.special import gammaln

    drawn = np.array(list(combinations_with_replacement(range(n_classes), d)), dtype=np.int64)
    counts = np.stack([(drawn == k).sum(axis=1) for k in range(n_classes)], axis=1).astype(np.float64)
    return counts, np.exp(gammaln(d + 1.0) - gammaln(counts + 1.0).sum(axis=1))


def look_ahead(n_classes: int) -> int:
    """How many labels are looked ahead."""
    from math import comb

    return max(d for d in range(1, DEEPEST + 1) if d == 1 or comb(d + n_classes - 1, d) <= MOST_OUTCOMES)


def concave_gains(accuracy: Floats) -> Floats:
    """gain[i, d], the steps of the least concave curve above accuracy[i, 0], accuracy[i, 1], ..."""
    depth = accuracy.shape[1] - 1
    gains, start = np.zeros((len(accuracy), depth)), np.zeros(len(accuracy), dtype=np.int64)
    for step in range(depth):
        # The steepest line from where the curve of each unit stands to any later point
        slope = np.full(len(accuracy), -np.inf)
        target = start.copy()
        for d in range(1, depth + 1):
            here = np.take_along_axis(accuracy, start[:, None], axis=1)[:, 0]
            mean = np.where(start < d, (accuracy[:, d] - here) / np.maximum(d - start, 1), -np.inf)
            target, slope = np.where(mean > slope, d, target), np.maximum(slope, mean)
        gains[:, step] = np.maximum(slope, 0.0)
        start = np.where(target <= step + 1, target, start)
    return gains
