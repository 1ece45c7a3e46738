"""Contributions of single rules to a projection, used to explain answers.

Together, the rules change the log beliefs by log q_b - log q_a (or by log q_b - log p if the projection starts from
the classifier). For rules about single units the contribution of a rule is exactly -C w (1 - v), and the contributions
add up. In chains and graphs it is the change when that rule alone is left out, so the contributions need not add up.
A table of transitions is treated like a rule there.

Axes: l rule, i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.data.chain_beliefs import AnyBeliefs, unit_beliefs
from crowdlogic.data.estimate import Beliefs
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import LOG_ZERO, safe_log
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.potentials import Predictions
from crowdlogic.rules.projection.projector import Predict, Projection, Projector


@dataclass(frozen=True, eq=False, kw_only=True)
class Contributions:
    """Contributions of rules to a projection, in nats. The mean over the classes of a unit is 0.

    Attributes:
        per_rule: per_rule[l, i, k], the contribution of rule l to the log belief in class k; LOG_ZERO if a hard rule
            forbids the class.
        transitions: transitions[i, k], the contribution of the table of transitions; None without one.
        projection: The projection that is explained.
        start: start[i, k], the beliefs that the projection started from.
        from_classifier: Whether the projection started from the classifier's beliefs instead of q_a.
    """

    per_rule: Floats
    transitions: Floats | None
    projection: Projection
    start: Beliefs
    from_classifier: bool

    @property
    def is_exact(self) -> bool:
        """Whether the contributions add up, because every rule is about single units."""
        return self.projection.method == "single"


def rule_contributions(
    projector: Projector,
    q_a: AnyBeliefs,
    ground: GroundRules,
    *,
    predict: Predict | None = None,
    classifier: AnyBeliefs | None = None,
) -> Contributions:
    """Return the contribution of each rule to a projection.

    Args:
        projector: The projector.
        q_a: q_a[i, k], or a chain.
        ground: The grounded rules. The projection is repeated for each rule, so choose those of interest.
        predict: The classifier on derived texts, for rules that use them.
        classifier: Beliefs of the classifier for the units, for rules that use them or to start from.
    """
    texts = None if predict is None or not ground.texts else predict(ground.texts)

    def solve(by: Projector, rules: GroundRules) -> Projection:
        return by.project(q_a, rules, predict=None if texts is None else lambda _: texts, classifier=classifier)

    whole = solve(projector, ground)
    log_whole = safe_log(whole.q_b)
    per_rule = np.zeros((len(ground.rules), *log_whole.shape))
    units = None if classifier is None else unit_beliefs(classifier)
    for place in range(len(ground.rules)):
        if whole.method == "single":
            # The log potential of the rule alone: -C w (1 - v)
            found = projector.potentials(ground.only([place]), Predictions(units=units, texts=texts))
            per_rule[place] = _centre(np.where(found.forbidden, LOG_ZERO, -projector.strength * found.penalty))
        else:
            rest = ground.only([other for other in range(len(ground.rules)) if other != place])
            per_rule[place] = _lost_without(log_whole, solve(projector, rest))
    without_table = replace(projector, transitions=None)
    table = None if projector.transitions is None else _lost_without(log_whole, solve(without_table, ground))
    start = unit_beliefs(projector.start(q_a, classifier, ground))
    return Contributions(
        per_rule=per_rule,
        transitions=table,
        projection=whole,
        start=start,
        from_classifier=projector.starts_from_classifier,
    )


def _lost_without(log_whole: Floats, without: Projection) -> Floats:
    """Return the change in log beliefs compared with a projection without a rule or the transitions."""
    log_without = safe_log(without.q_b)
    gone, never = log_whole == LOG_ZERO, log_without == LOG_ZERO
    change = np.where(gone | never, 0.0, log_whole) - np.where(gone | never, 0.0, log_without)
    return _centre(np.where(gone & ~never, LOG_ZERO, change))


def _centre(log_part: Floats) -> Floats:
    """Subtract the mean over possible classes, since only differences between classes matter."""
    possible = log_part != LOG_ZERO
    total = np.where(possible, log_part, 0.0).sum(axis=1, keepdims=True)
    mean = total / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    return np.where(possible, log_part - mean, LOG_ZERO)
