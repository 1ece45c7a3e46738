"""Contributions of single rules to a projection: their parts of log q_b - log q_a, used to explain answers.

If the projection starts from the classifier, they are parts of log q_b - log p.

For single units the contributions are exact and add up: -C w (1 - v), rule by rule. In chains and graphs a rule's
contribution is what is lost when that rule alone is left out, so these need not add up. The same holds for a table of
transitions.

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
    """The rules' part in a projection, in nats, centred: over the classes of a unit, each has mean 0.

    Attributes:
        per_rule: per_rule[l, i, k], what rule l added to the log belief in class k. LOG_ZERO where a hard rule
            forbids it.
        transitions: transitions[i, k], what the table of transitions added; None without one.
        projection: The projection that they explain.
        start: start[i, k], the beliefs that the projection started from, and that the contributions were added to.
        from_classifier: Whether these are the classifier's, and not q_a.
    """

    per_rule: Floats
    transitions: Floats | None
    projection: Projection
    start: Beliefs
    from_classifier: bool

    @property
    def is_exact(self) -> bool:
        """Whether the contributions add up by themselves: every rule is about single units."""
        return self.projection.method == "single"


def rule_contributions(
    projector: Projector,
    q_a: AnyBeliefs,
    ground: GroundRules,
    *,
    predict: Predict | None = None,
    classifier: AnyBeliefs | None = None,
) -> Contributions:
    """Explain a projection rule by rule: what each added to the beliefs that it started from.

    Args:
        projector: The projector.
        q_a: q_a[i, k], or a chain.
        ground: The rules, grounded. One row is made for each, so choose the rules and items of interest.
        predict: The classifier on derived texts, where rules ask.
        classifier: The classifier on the units, where rules ask or the projection starts from it.
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
    """Return the change in log beliefs when something is left out."""
    return _centre(_difference(log_whole, safe_log(without.q_b)))


def _difference(after: Floats, before: Floats) -> Floats:
    """Return after - before in logs: LOG_ZERO where only `after` is impossible, 0 where both are."""
    gone, never = after == LOG_ZERO, before == LOG_ZERO
    change = np.where(gone | never, 0.0, after) - np.where(gone | never, 0.0, before)
    return np.where(gone & ~never, LOG_ZERO, change)


def _centre(log_part: Floats) -> Floats:
    """Subtract the mean over possible classes, since only differences between classes matter."""
    possible = log_part != LOG_ZERO
    total = np.where(possible, log_part, 0.0).sum(axis=1, keepdims=True)
    mean = total / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    return np.where(possible, log_part - mean, LOG_ZERO)
