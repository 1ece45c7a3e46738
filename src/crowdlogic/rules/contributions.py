"""What each rule contributed to a projection: its share of log q_b - log q_a, so that an answer can be explained.

Where the projection starts from the classifier, it is the share of log q_b - log p.

For units that stand alone the shares are exact and add up: -C w (1 - v), rule by rule. Where units hang together
(chains, graphs) a rule's share is what is lost when that rule alone is left out; what these shares do not account for
is kept beside them as the residual. So it is with a table of transitions.

Axes: l rule, i unit, k class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import LOG_ZERO, safe_log
from crowdlogic.rules.blocks import Predictions
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.potentials import PerUnit, potentials
from crowdlogic.rules.projection.projector import PRESETS, Predict, Preset, Projection, Settling, Start, project
from crowdlogic.rules.transitions import TransitionTable


@dataclass(frozen=True, eq=False)
class Shares:
    """The rules' part in a projection, in nats, centred so that each unit's shares over classes have mean 0.

    Attributes:
        share: share[l, i, k], what rule l added to the log belief in class k. LOG_ZERO where a hard rule forbids it.
        residual: residual[i, k], what the shares do not account for; 0 where they are exact.
        projection: The projection that they explain.
        transitions: transitions[i, k], what the table of transitions added; None without one.
        start: start[i, k], the beliefs that the projection started from, and that the shares were added to.
        from_classifier: Whether these are the classifier's, and not q_a.
    """

    share: Floats
    residual: Floats
    projection: Projection
    transitions: Floats | None
    start: Beliefs
    from_classifier: bool

    @property
    def is_exact(self) -> bool:
        """Whether the shares add up by themselves: every rule is about single units."""
        return self.projection.method == "single"


def rule_shares(
    q_a: Beliefs,
    ground: GroundRules,
    *,
    predict: Predict | None = None,
    classifier: Beliefs | None = None,
    strength: float = 5.0,
    preset: Preset | str = "paper",
    transitions: TransitionTable | None = None,
    per_unit: PerUnit | str = PerUnit.sum,
    settling: Settling | None = None,
) -> Shares:
    """Explain a projection rule by rule: what each added to the beliefs that it started from.

    Args:
        q_a: q_a[i, k].
        ground: The rules, grounded. One row of shares is made for each, so choose the rules and items of interest.
        predict: The classifier on derived texts, where rules ask.
        classifier: The classifier on the units, where rules ask or the preset starts from it.
        strength: C of the projection.
        preset: The projection's preset.
        transitions: The table of transitions beside the rules; its share is what is lost without it.
        per_unit: Whether groundings of a rule add up at a unit, or are averaged.
        settling: When belief propagation has settled.
    """
    texts = None if predict is None or not ground.texts else predict(ground.texts)

    def solve(rules: GroundRules, table: TransitionTable | None) -> Projection:
        return project(
            q_a,
            rules,
            predict=None if texts is None else lambda _: texts,
            classifier=classifier,
            strength=strength,
            preset=preset,
            transitions=table,
            per_unit=per_unit,
            settling=settling,
        )

    whole = solve(ground, transitions)
    log_whole = safe_log(whole.q_b)
    share = np.zeros((len(ground.rules), *q_a.shape))
    for place in range(len(ground.rules)):
        if whole.method == "single":
            said = Predictions(units=classifier, texts=texts)
            share[place] = _alone(ground.only([place]), said, strength, per_unit)
        else:
            rest = ground.only([other for other in range(len(ground.rules)) if other != place])
            share[place] = _lost(log_whole, solve(rest, transitions))
    table = None if transitions is None else _lost(log_whole, solve(ground, None))
    reading = preset if isinstance(preset, Preset) else PRESETS[preset]
    start = q_a if classifier is None or reading.start is Start.crowd else classifier
    moved = _centred(_difference(log_whole, safe_log(start)))
    residual = _residual(moved, share if table is None else [*share, table])
    return Shares(share, residual, whole, table, start, from_classifier=start is classifier)


def _alone(ground: GroundRules, said: Predictions, strength: float, per_unit: PerUnit | str) -> Floats:
    """The log potential of one rule over single units."""
    found = potentials(ground, said, per_unit=per_unit)
    return _centred(np.where(found.forbidden, LOG_ZERO, -strength * found.penalty))


def _lost(log_whole: Floats, without: Projection) -> Floats:
    """What the log beliefs lose when something is left out."""
    return _centred(_difference(log_whole, safe_log(without.q_b)))


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


def _residual(moved: Floats, shares: Sequence[Floats] | Floats) -> Floats:
    """What the shares leave unexplained, over the classes that stayed possible."""
    explained = _centred(np.sum(shares, axis=0)) if len(shares) else np.zeros_like(moved)
    open_to = (moved != LOG_ZERO) & (explained != LOG_ZERO)
    gap = np.where(open_to, moved, 0.0) - np.where(open_to, explained, 0.0)
    mean = gap.sum(axis=1, keepdims=True) / np.maximum(open_to.sum(axis=1, keepdims=True), 1)
    return np.where(open_to, gap - mean, 0.0)
