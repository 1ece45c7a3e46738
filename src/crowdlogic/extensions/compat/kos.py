"""KOS: message passing between items (how likely positive) and annotators (how reliable).

[KOS14] Karger, Oh and Shah, "Budget-optimal task allocation for reliable crowdsourcing systems", 2014, Algorithm 1.
With A_ij = 1 or -1 the label of annotator j on item i:

    x_{i->j} = sum over the other annotators j' of i: A_ij' y_{j'->i}
    y_{j->i} = sum over the other items i' of j: A_i'j x_{i'->j}

and the answer is the sign of the sum of A_ij y_{j->i}. The paper covers two classes; with more, each class is compared
with the rest. The start is deterministic: every y is initialised to 1, the mean of the paper's normal distribution.
Messages are rescaled in every round, which preserves the signs. If the messages vanish (for an annotator who shares no
item with anybody), majority voting decides. Messages to an item exclude its own labels, so the method needs more than
a handful of items.

The beliefs are normalised message weights, not calibrated probabilities.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.numerics.arrays import Floats, Ints, check_amounts, sum_by
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, empty_estimate, refuse_anchors
from crowdlogic.truth.methods import takes_frames


@dataclass(frozen=True)
class KOS:
    """Truth inference by message passing ([KOS14]).

    Attributes:
        iterations: Number of rounds of messages.
    """

    iterations: int = 20

    name = "kos"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("iterations",))

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Pass messages for each class against the rest, and normalise their weights."""
        refuse_anchors(self.name, fitting)
        require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        # share[i, k], the part of the messages' weight in favour of class k; for two classes, one problem is enough
        problems = 1 if labels.n_classes == 2 else labels.n_classes
        found = [_weigh_class(labels, k, self.iterations) for k in range(problems)]
        share = np.stack([positive for positive, _ in found], axis=1)
        reliability = np.mean([trust for _, trust in found], axis=0)
        if labels.n_classes == 2:
            share = np.concatenate([share, 1.0 - share], axis=1)
        # The normalised shares of all classes; the vote shares where all messages vanish
        silent = (np.abs(share - 0.5) < 1e-12).all(axis=1) | (share.sum(axis=1) <= 0)
        beliefs = np.where(silent[:, None], vote_shares(labels.votes()), vote_shares(share))
        return make_estimate(labels, self.name, beliefs, reliability=reliability, answer_all=fitting.answer_all)


def _weigh_class(labels: CrowdLabels, k: int, iterations: int) -> tuple[Floats, Floats]:
    """Return share[i] of the message weight for class k (0.5 without messages), and annotators' mean messages."""
    sign = np.where(labels.label == k, 1.0, -1.0)
    weights = labels.weights / (labels.weights.max() or 1.0)  # only ratios matter, and squares of 1e300 are infinite
    message = pass_messages(
        labels.unit, labels.annotator, sign * weights, np.ones(labels.n_labels), iterations=iterations
    )
    message = -message if message.sum() < 0 else message  # most annotators help; the rounds can flip all signs
    weight = message * weights
    score = sum_by(labels.unit, labels.n_units, sign * weight)
    total = sum_by(labels.unit, labels.n_units, np.abs(weight))
    given = np.maximum(np.bincount(labels.annotator, minlength=len(labels.annotators)), 1)
    trust = sum_by(labels.annotator, len(labels.annotators), message) / given
    share = np.clip(0.5 + 0.5 * score / np.where(total > 0, total, 1.0), 0.0, 1.0)  # rounding may leave the range
    return np.asarray(share), np.asarray(trust)


def pass_messages(unit: Ints, annotator: Ints, signed: Floats, first: Floats, *, iterations: int) -> Floats:
    """Return y[row], the message of each label's annotator to its unit, scaled to a maximum of 1.

    Args:
        unit: unit[row].
        annotator: annotator[row].
        signed: signed[row], 1 for a positive label and -1 for a negative label, times its weight.
        first: first[row], the initial messages.
        iterations: Number of rounds.
    """
    n_units, n_annotators = int(unit.max(initial=-1)) + 1, int(annotator.max(initial=-1)) + 1
    message = first
    for _ in range(iterations):
        toward = signed * message
        task = sum_by(unit, n_units, toward)[unit] - toward  # x[row], the sum over the unit's other labels
        back = signed * task
        following = sum_by(annotator, n_annotators, back)[annotator] - back
        largest = np.abs(following).max(initial=0.0)
        if largest <= np.finfo(float).tiny:
            return np.zeros_like(message)
        message = following / largest
    return message
