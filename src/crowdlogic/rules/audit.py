"""Verdicts on rules, which `learning.rule_verdicts` computes, and the share of cases in which rules hold.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class, l rule, g grounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import polars as pl

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.wording import percent, pluralise
from crowdlogic.errors import OptionError, require_kind
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.rules.grounding import GroundRule, GroundRules
from crowdlogic.rules.potentials import Block, DistanceTable, Predictions, distances, tabulate
from crowdlogic.rules.syntax import RuleSet


class Outcome(StrEnum):
    """Whether a rule should be trusted."""

    helps = "helps"
    no_effect = "no effect"
    contradicts = "contradicts the labels"
    cannot_tell = "cannot tell"


@dataclass(frozen=True, kw_only=True)
class RuleVerdict:
    """The verdict on one rule, and the figures that it rests on.

    Attributes:
        rule: The rule as text.
        place: Its position in the file.
        weight: The weight that the user gave; None for a hard rule.
        new_weight: The weight that the held-out labels support; None for a hard rule.
        groundings: Number of groundings.
        units: Number of units (items or tokens) that it applies to.
        coverage: Share of all units that it applies to.
        informed: Number of these units (or pairs of units) with labels or gold.
        holds: Estimated share of applicable cases in which it holds.
        low: Lower end of the 95 % interval of `holds`.
        high: Upper end of the 95 % interval of `holds`.
        chance: Share of applicable cases in which it would hold by chance.
        lift: The log odds by which it holds more often than by chance.
        lift_error: Standard error of the lift.
        best_gain: Held-out log-likelihood of the labels at the best strength, minus that by chance, in nats.
        gain: Held-out log-likelihood of the labels with the rule at its given weight, minus that without, in nats.
        gain_error: Standard error of the gain, from the differences of single items; NaN for fewer than two items.
        gold_cases: Number of cases with gold.
        gold_holds: Share of the cases with gold in which it holds; NaN without gold.
        by_gold: Whether gold alone decided the verdict.
        outcome: The verdict.
    """

    rule: str
    place: str
    weight: float | None
    new_weight: float | None
    groundings: int
    units: int
    coverage: float
    informed: int
    holds: float
    low: float
    high: float
    chance: float
    lift: float
    lift_error: float
    best_gain: float
    gain: float
    gain_error: float
    gold_cases: int
    gold_holds: float
    by_gold: bool
    outcome: Outcome

    @property
    def factor(self) -> float:
        """The new weight divided by the given weight; 1 for hard rules."""
        return (
            1.0 if self.weight is None or self.new_weight is None or not self.weight else self.new_weight / self.weight
        )

    @property
    def reason(self) -> str:
        """The verdict in one sentence."""
        return explain_verdict(self)


def explain_verdict(one: RuleVerdict) -> str:
    """Return whether to keep the rule, and why, in a sentence."""
    if not one.groundings:
        return "It never applies: no item meets its conditions. Check the words in it, or remove it."
    if not one.informed:
        return "Cannot tell: no item that it applies to has a label."
    by_chance = f"{percent(one.chance)} by chance"
    interval = f"{percent(one.low)} to {percent(one.high)}"
    holds = f"it holds in about {percent(one.holds)} of {pluralise(one.informed, 'case')} ({interval}; {by_chance})"
    if one.by_gold:
        holds = f"by gold it holds in {percent(one.gold_holds)} of {pluralise(one.gold_cases, 'case')} ({by_chance})"
    if one.outcome is Outcome.helps:
        lowered = one.new_weight is not None and one.weight is not None and one.new_weight < one.weight
        return f"Keep it{f', with a weight of {one.new_weight:.2g}' if lowered else ''}: {holds}."
    if one.outcome is Outcome.contradicts:
        return f"Drop it, or correct it: {holds}."
    if one.outcome is Outcome.no_effect:
        return f"Drop it: it has no effect, since {holds}."
    return f"Cannot tell: {holds}. Give some of its items gold, or more labels."


def verdict_table(verdicts: Sequence[RuleVerdict]) -> pl.DataFrame:
    """Return one row per rule: the verdict, its reason, and the figures that it rests on.

    Columns: rule; verdict; touched, the number of units; holds, with its interval from low to high; chance; weight, as
    given, and new_weight; gold_cases and gold_holds; reason.
    """
    figures = ("holds", "low", "high", "chance", "weight", "new_weight", "gold_cases", "gold_holds")
    numbers = {"touched": "units"} | {name: name for name in figures}
    columns = {
        "rule": pl.Series([one.rule for one in verdicts], dtype=pl.String),
        "verdict": pl.Series([str(one.outcome) for one in verdicts], dtype=pl.String),
    }
    for name, attribute in numbers.items():
        kind = pl.Int64 if name in ("touched", "gold_cases") else pl.Float64
        columns[name] = pl.Series([getattr(one, attribute) for one in verdicts], dtype=kind)
    return pl.DataFrame(columns | {"reason": pl.Series([one.reason for one in verdicts], dtype=pl.String)})


# Weights from beliefs: how often a rule holds where it applies ("lightweight sample statistics").
#
# confidence = 1 - (expected distance to satisfaction) / (expected truth of the body), if units are independent. A rule
# without a body applies to every grounding.
#
# Axes: l rule, g grounding, i unit, k class.


@dataclass(frozen=True, eq=False)
class RuleExpectation:
    """How far each grounding (row) of a rule is expected to be violated and to apply, given beliefs.

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
        """Share of applications in which the rule holds; NaN if it never applies."""
        applies = float(self.applies.sum())
        return 1.0 - float(self.violated.sum()) / applies if applies > 0 else float("nan")


def rule_expectation(rule: GroundRule, beliefs: Beliefs, predictions: Predictions | None = None) -> RuleExpectation:
    """Return for each grounding of a rule how far it is expected to be violated and to apply, given beliefs."""
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
    """Return the expectation of a table under the beliefs of each row's units."""
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
    """Return rules with new weights in [0, 1], estimated from beliefs; hard rules remain hard.

    Args:
        ground: The rules, grounded over the units of the beliefs.
        beliefs: q[i, k]: a majority vote, or a posterior.
        predictions: Predictions of the classifier, for rules that use them.
        smoothing: Pseudo-count of applications, half of them violated, so that a rule with few applications does not
            get full weight.
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


def kl(q_b: Beliefs, q_a: Beliefs) -> Floats:
    """Return KL(q_b || q_a) of each unit, in nats. q_b is 0 wherever q_a is."""
    ratio = np.where(q_b > 0, safe_log(q_b) - safe_log(np.where(q_b > 0, q_a, 1.0)), 0.0)
    return np.asarray((q_b * ratio).sum(axis=1))
