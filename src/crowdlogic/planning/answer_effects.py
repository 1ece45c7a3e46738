"""What decisions say of answers alike: of the same class, or with the same annotators for and against them.

Mistakes come in kinds. If four answers "jazz" out of five were wrong, the others are suspect, too; if ann was right
against the answer three times, so may she be elsewhere. A re-fit learns this slowly, since a known truth is one count
among the hundreds by which annotators are judged. So the log odds that an answer is right are those that were believed,
plus an effect of its class, plus the effects of its annotators: plus of those who gave it, minus of those who gave
another label, over the root of their number. That is a logistic regression with an offset, whose effects have a normal
prior ([GELMAN08] section 2), or a Gaussian process over who voted how. That the queue chose what was decided does not
bias it: it chose by what was believed, which is the offset.

[GELMAN08] Gelman, Jakulin, Pittau and Su, "A weakly informative default prior distribution for logistic and other
regression models", 2008.
Axes: i unit, j annotator, k class, n label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shard import UNKNOWN
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.sums import sum_by

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SPREAD = 0.5
"""Standard deviation of the effect of a class or an annotator, in log odds."""
LEAST = 0.01
"""In the fit nothing is taken to be surer than this, so that one surprise does not decide."""
TINY = 1e-9
"""What keeps log odds finite."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerEffects:
    """What is added to the log odds that an answer is right.

    Attributes:
        of_class: effect[k], for an answer k.
        of_annotator: effect[j], for an answer with annotator j's label, the only one; minus it, against theirs.
    """

    of_class: Floats
    of_annotator: Floats

    def add_to(self, right: Floats, labels: CrowdLabels, answer: Ints) -> Floats:
        """right[i], how probable it is that the answer is right, with the effects."""
        votes = sum_by(labels.unit, labels.n_units, self.of_annotator[labels.annotator] * support(labels, answer))
        return np.asarray(1.0 / (1.0 + np.exp(-log_odds(right) - self.of_class[answer] - votes)))


def answer_effects(labels: CrowdLabels, right: Floats, answer: Ints, decided: Ints) -> AnswerEffects:
    """The most probable effects of classes and annotators, given the decisions so far.

    Args:
        labels: The labels.
        right: right[i], how probable it was before the first decision that the answer is right.
        answer: answer[i], the answers before the first decision.
        decided: decided[i], the class that was decided; UNKNOWN for the others.
    """
    known = (decided != UNKNOWN) & (answer >= 0)
    offset = log_odds(right[known], LEAST)
    effect = fit_effects(_design(labels, answer, known), offset, (decided == answer)[known])
    return AnswerEffects(of_class=effect[: labels.n_classes], of_annotator=effect[labels.n_classes :])


def support(labels: CrowdLabels, answer: Ints) -> Floats:
    """support[n]: 1 for a label that agrees with the answer of its unit, else -1, over the root of their number."""
    agrees = labels.label == answer[labels.unit]
    if labels.negated is not None:
        agrees ^= labels.negated
    scale = 1.0 / np.sqrt(np.maximum(labels.labels_per_unit(), 1))
    return np.asarray(np.where(agrees, 1.0, -1.0) * scale[labels.unit])


def _design(labels: CrowdLabels, answer: Ints, known: Bools) -> csr_matrix:
    """x[i, effect] of the known units: the class of the answer, then the annotators' support of it."""
    from scipy.sparse import csr_matrix, hstack

    units = np.flatnonzero(known)
    place = np.cumsum(known) - 1
    of_class = csr_matrix(
        (np.ones(len(units)), (np.arange(len(units)), answer[units])), shape=(len(units), labels.n_classes)
    )
    rows = np.flatnonzero(known[labels.unit])
    of_annotator = csr_matrix(
        (support(labels, answer)[rows], (place[labels.unit[rows]], labels.annotator[rows])),
        shape=(len(units), len(labels.annotators)),
    )
    return csr_matrix(hstack([of_class, of_annotator], format="csr"))


def fit_effects(x: csr_matrix, offset: Floats, is_right: Bools) -> Floats:
    """The effects of largest posterior probability; zeros without decisions."""
    if not x.shape[0]:
        return np.zeros(x.shape[1])
    from scipy.optimize import minimize

    found = minimize(log_loss(x, offset, is_right), np.zeros(x.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x)


def log_loss(x: csr_matrix, offset: Floats, is_right: Bools) -> Callable[[Floats], tuple[float, Floats]]:
    """Minus the log posterior of effects, but for a constant, and its gradient."""
    sign = np.where(is_right, 1.0, -1.0)

    def loss(effect: Floats) -> tuple[float, Floats]:
        margin = sign * (offset + x @ effect)
        value = np.logaddexp(0.0, -margin).sum() + 0.5 * (effect @ effect) / SPREAD**2
        slope = effect / SPREAD**2 - x.T @ (sign / (1.0 + np.exp(margin)))
        return float(value), slope

    return loss


def log_odds(right: Floats, least: float = TINY) -> Floats:
    """The log odds of probabilities that are kept so far from 0 and 1."""
    p = np.clip(right, least, 1.0 - least)
    return np.asarray(np.log(p) - np.log1p(-p))
