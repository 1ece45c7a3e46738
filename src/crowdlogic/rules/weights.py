"""Weights from beliefs: how often a rule holds where it applies ("lightweight sample statistics").

confidence = 1 - (expected distance to satisfaction) / (expected truth of the body), units taken as independent. For a
rule without a body, every grounding counts as one where it applies.

Axes: l rule, g grounding, i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import OptionError, require_kind
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.rules.blocks import Block, DistanceTable, Predictions, distances, tabulate
from crowdlogic.rules.grounding import GroundRule, GroundRules
from crowdlogic.rules.syntax import RuleSet


@dataclass(frozen=True, eq=False)
class RuleExpectation:
    """Expected violation and application of each row of a rule under beliefs.

    Attributes:
        unit: unit[g], the first unit of the row.
        violated: violated[g], the expected distance to satisfaction.
        applies: applies[g], the expected truth of the body.
    """

    unit: Ints
    violated: Floats
    applies: Floats

    @property
    def confidence(self) -> float:
        """How far the rule holds where it applies; NaN where it never does."""
        applies = float(self.applies.sum())
        return 1.0 - float(self.violated.sum()) / applies if applies > 0 else float("nan")


def rule_expectation(rule: GroundRule, beliefs: Beliefs, predictions: Predictions | None = None) -> RuleExpectation:
    """The expected violation and application of every row of a rule under beliefs."""
    answers = predictions or Predictions()
    parts = [
        (
            block.first,
            _expectation(block, distances(block, answers), beliefs),
            _expectation(block, tabulate(block.applies, answers), beliefs),
        )
        for block in rule.blocks
    ]
    if not parts:
        return RuleExpectation(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
    unit, violated, applies = (np.concatenate(column) for column in zip(*parts, strict=True))
    return RuleExpectation(unit, violated, applies)


def _expectation(block: Block, found: DistanceTable, beliefs: Beliefs) -> Floats:
    """The expectation of a table under the beliefs of each row's units."""
    size = beliefs.shape[1]
    ours = beliefs[block.first]
    if block.second is None:
        return _row_expectation(found, ours)
    theirs = beliefs[block.second]
    if found.which is None:  # one table for all rows: q' T q as a matrix product
        return np.asarray(((ours @ found.table.reshape(size, size)) * theirs).sum(axis=1))
    joint = (ours[:, :, None] * theirs[:, None, :]).reshape(len(ours), -1)
    return _row_expectation(found, joint)


def _row_expectation(found: DistanceTable, weight: Floats) -> Floats:
    if found.which is None:
        return np.asarray(weight @ found.table[0])
    return np.asarray((weight * found.table[found.which]).sum(axis=1))


def estimate_weights(
    ground: GroundRules, beliefs: Beliefs, *, predictions: Predictions | None = None, smoothing: float = 1.0
) -> RuleSet:
    """The same rules with weights in [0, 1] from beliefs; hard rules stay hard.

    Args:
        ground: The rules, grounded over the units of the beliefs.
        beliefs: q[i, k]: a majority vote, or a posterior.
        predictions: What the classifier says, where rules ask.
        smoothing: Applications that are added half held, half violated, so that a rule that was seen twice is not
            trusted fully.
    """
    require_kind(ground, GroundRules, "estimate_weights", "Ground the rules first: Projector(rules=...).ground(...).")
    if beliefs.shape != (ground.corpus.n_units, len(ground.classes)):
        raise OptionError(
            f"beliefs have the shape {beliefs.shape}; the grounded rules need "
            f"{(ground.corpus.n_units, len(ground.classes))}."
        )
    found = []
    for rule in ground.rules:
        if rule.rule.weight is None:
            found.append(rule.rule)
            continue
        seen = rule_expectation(rule, beliefs, predictions)
        applies, violated = float(seen.applies.sum()), float(seen.violated.sum())
        total = applies + smoothing
        weight = 1.0 - (violated + smoothing / 2) / total if total > 0 else rule.rule.weight
        found.append(replace(rule.rule, weight=round(max(0.0, min(1.0, weight)), 6)))
    return RuleSet(tuple(found))
