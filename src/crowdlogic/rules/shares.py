"""What each rule contributed to a projection: its share of log q_b - log q_a, so that an answer can be explained.

For units that stand alone the shares are exact and add up: -C w (1 - v), rule by rule. Where units hang together
(chains, graphs) a rule's share is what is lost when that rule alone is left out; what these shares do not account for
is kept beside them as the residual.

Axes: l rule, i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import LOG_ZERO, safe_log
from crowdlogic.rules.blocks import Predictions
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.potentials import potentials
from crowdlogic.rules.project import Predict, Projection, Settling, project


@dataclass(frozen=True, eq=False)
class Shares:
    """The rules' part in a projection, in nats, centred so that each unit's shares over classes have mean 0.

    Attributes:
        share: share[l, i, k], what rule l added to the log belief in class k. LOG_ZERO where a hard rule forbids it.
        residual: residual[i, k], what the shares do not account for; 0 where they are exact.
        projection: The projection that they explain.
    """

    share: Floats
    residual: Floats
    projection: Projection


def rule_shares(
    q_a: Beliefs,
    ground: GroundRules,
    *,
    predict: Predict | None = None,
    classifier: Beliefs | None = None,
    strength: float = 5.0,
    settling: Settling | None = None,
) -> Shares:
    """Explain the projection of q_a (preset `paper`) rule by rule.

    Args:
        q_a: q_a[i, k].
        ground: The rules, grounded. One row of shares is made for each, so choose the rules and items of interest.
        predict: The classifier on derived texts, where rules ask.
        classifier: The classifier on the units, where rules ask.
        strength: C of the projection.
        settling: When belief propagation has settled.
    """
    texts = None if predict is None or not ground.texts else predict(ground.texts)
    told = None if texts is None else (lambda _: texts)
    whole = project(q_a, ground, predict=told, classifier=classifier, strength=strength, settling=settling)
    said = Predictions(units=classifier, texts=texts)
    share = np.zeros((len(ground.rules), *q_a.shape))
    for place in range(len(ground.rules)):
        share[place] = (
            _alone(ground.only([place]), said, strength)
            if whole.method == "single"
            else _left_out(ground, place, whole, q_a, told, classifier, strength, settling)
        )
    moved = _centred(_difference(safe_log(whole.q_b), safe_log(q_a)))
    return Shares(share, _residual(moved, share), whole)


def _alone(ground: GroundRules, said: Predictions, strength: float) -> Floats:
    """The log potential of one rule over single units."""
    found = potentials(ground, said)
    return _centred(np.where(found.forbidden, LOG_ZERO, -strength * found.penalty))


def _left_out(
    ground: GroundRules, place: int, whole: Projection, q_a: Beliefs, told: Predict | None, classifier: Beliefs | None,
    strength: float, settling: Settling | None,
) -> Floats:  # fmt: skip
    """What the beliefs lose when one rule is left out."""
    rest = ground.only([other for other in range(len(ground.rules)) if other != place])
    without = project(q_a, rest, predict=told, classifier=classifier, strength=strength, settling=settling)
    return _centred(_difference(safe_log(whole.q_b), safe_log(without.q_b)))


def _difference(after: Floats, before: Floats) -> Floats:
    """After - before in logs: LOG_ZERO where only the former is impossible, 0 where both are."""
    gone, never = after == LOG_ZERO, before == LOG_ZERO
    change = np.where(gone | never, 0.0, after) - np.where(gone | never, 0.0, before)
    return np.where(gone & ~never, LOG_ZERO, change)


def _centred(log_share: Floats) -> Floats:
    """Minus the mean over classes that are possible: only differences between classes mean anything."""
    possible = log_share != LOG_ZERO
    total = np.where(possible, log_share, 0.0).sum(axis=1, keepdims=True)
    mean = total / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    return np.where(possible, log_share - mean, LOG_ZERO)


def _residual(moved: Floats, share: Floats) -> Floats:
    """What the shares leave unexplained, over the classes that stayed possible."""
    explained = _centred(share.sum(axis=0)) if len(share) else np.zeros_like(moved)
    open_to = (moved != LOG_ZERO) & (explained != LOG_ZERO)
    gap = np.where(open_to, moved, 0.0) - np.where(open_to, explained, 0.0)
    mean = gap.sum(axis=1, keepdims=True) / np.maximum(open_to.sum(axis=1, keepdims=True), 1)
    return np.where(open_to, gap - mean, 0.0)
