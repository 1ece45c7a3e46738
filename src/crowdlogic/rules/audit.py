"""The audit: what each rule does to the crowd's beliefs, and whether it should be trusted.

Every rule is audited alone: how far the crowd's posterior agrees with it where it applies, how far the projection onto
it alone moves the beliefs, and which answers it flips. One bad rule can ruin a task (Table 5 of [LNCL]), so a rule
that the crowd contradicts is named.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class, l rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.rules.blocks import Predictions
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.projection.projector import Predict, Projector
from crowdlogic.rules.weights import RuleExpectation, rule_expectation

EVEN = 0.5
"""A rule that holds less often than not where it applies is contradicted."""

LIFT = 10.0
"""A rule that holds at ten times the odds of chance is supported, even where a divided crowd satisfies it less often
than not: beliefs that are taken as independent understate how well the tags of one annotator fit together."""

MOVED = 1e-3
"""Below this many nats per touched unit, a rule that flips nothing changes nothing."""

LEVEL = 0.05
"""The level of the sign test on flips that gold judges, and of the intervals."""

Z = 1.959963984540054
"""The normal quantile of a 95 % interval."""


class Verdict(StrEnum):
    """Whether a rule should be trusted."""

    helps = "helps"
    neutral = "neutral"
    contradicts = "contradicts the crowd"


@dataclass(frozen=True, kw_only=True)
class RuleAudit:
    """What one rule does, alone.

    Attributes:
        rule: The rule as text.
        place: Its place in the file.
        groundings: How many groundings it has.
        units: How many units it touches.
        coverage: The share of all units that it touches.
        applications: The expected number of groundings whose body holds.
        satisfaction: The share of these in which the rule holds, under the crowd's posterior; NaN when there are none.
        low: The lower end of a 95 % interval of the satisfaction; items are the independent units.
        high: The upper end.
        chance: What the satisfaction would be if every unit were labelled at random, with the classes' overall shares.
        moved: KL(q_b || q_a) in nats, summed over units.
        flipped: How many answers it changes.
        flipped_right: Of these, wrong answers made right; None without gold.
        flipped_wrong: Of these, right answers made wrong; None without gold.
        verdict: helps, neutral, or contradicts the crowd.
    """

    rule: str
    place: str
    groundings: int
    units: int
    coverage: float
    applications: float
    satisfaction: float
    low: float
    high: float
    chance: float
    moved: float
    flipped: int
    flipped_right: int | None
    flipped_wrong: int | None
    verdict: Verdict


def audit(
    projector: Projector,
    q_a: Beliefs,
    ground: GroundRules,
    *,
    predict: Predict | None = None,
    classifier: Beliefs | None = None,
    gold: Ints | None = None,
) -> tuple[RuleAudit, ...]:
    """Audit every rule, alone, by the crowd's posterior and by gold where there is some.

    Each rule is projected alone, from q_a to marginals (preset "paper", no transitions) whatever the projector's own
    preset, since the audit says what a rule does to the crowd's beliefs. Strength, per_unit and propagation are the
    projector's.

    Args:
        projector: How rules are obeyed.
        q_a: q_a[i, k], the crowd's posterior.
        ground: The rules, grounded.
        predict: The classifier on derived texts, where rules ask.
        classifier: The classifier on the units, where rules ask.
        gold: gold[i], the true classes; UNKNOWN (-1) where not known.
    """
    if gold is not None and len(gold) != len(q_a):
        raise OptionError(f"gold has {pluralise(len(gold), 'entry', 'entries')} for {pluralise(len(q_a), 'unit')}.")
    texts = None if predict is None or not ground.texts else predict(ground.texts)
    auditor = _Auditor(
        projector=replace(projector, preset="paper", transitions=None),
        q_a=q_a,
        ground=ground,
        predictions=Predictions(units=classifier, texts=texts),
        gold=gold,
    )
    return tuple(auditor.audit(place) for place in range(len(ground.rules)))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Auditor:
    """What the audits of all rules have in common."""

    projector: Projector
    q_a: Beliefs
    ground: GroundRules
    predictions: Predictions
    gold: Ints | None

    def audit(self, place: int) -> RuleAudit:
        """One rule, alone."""
        rule, q_a = self.ground.rules[place], self.q_a
        seen = rule_expectation(rule, q_a, self.predictions)
        low, high = interval(seen, _item_codes(seen.unit, self.ground))
        chance = rule_expectation(rule, np.tile(q_a.mean(axis=0), (len(q_a), 1)), self.predictions).confidence
        q_b = self.project(place)
        moved = float(kl(q_b, q_a).sum())
        before, after = q_a.argmax(axis=1), q_b.argmax(axis=1)
        flips = np.flatnonzero(before != after)
        right, wrong = (None, None) if self.gold is None else _count_flips(before, after, flips, self.gold)
        touched = len(rule.units)
        return RuleAudit(
            rule=str(rule.rule),
            place=str(rule.rule.place),
            groundings=rule.count,
            units=touched,
            coverage=touched / max(len(q_a), 1),
            applications=float(seen.applies.sum()),
            satisfaction=seen.confidence,
            low=low,
            high=high,
            chance=chance,
            moved=moved,
            flipped=len(flips),
            flipped_right=right,
            flipped_wrong=wrong,
            verdict=verdict(
                seen.confidence,
                low=low,
                high=high,
                chance=chance,
                changes=len(flips) > 0 or moved / max(touched, 1) > MOVED,
                right=right,
                wrong=wrong,
            ),
        )

    def project(self, place: int) -> Beliefs:
        """q_b of one rule alone."""
        texts = self.predictions.texts
        return self.projector.project(
            self.q_a,
            self.ground.only([place]),
            predict=None if texts is None else lambda _: texts,
            classifier=self.predictions.units,
        ).q_b


def kl(q_b: Beliefs, q_a: Beliefs) -> Floats:
    """KL(q_b || q_a) of each unit, in nats. q_b is 0 wherever q_a is."""
    ratio = np.where(q_b > 0, safe_log(q_b) - safe_log(np.where(q_b > 0, q_a, 1.0)), 0.0)
    return np.asarray((q_b * ratio).sum(axis=1))


def _count_flips(before: Ints, after: Ints, flips: Ints, gold: Ints) -> tuple[int, int]:
    """Flips to the truth, and flips from it, where gold is known."""
    known = flips[gold[flips] != UNKNOWN]
    return int((after[known] == gold[known]).sum()), int((before[known] == gold[known]).sum())


def _item_codes(unit: Ints, ground: GroundRules) -> Ints:
    """The item of each unit: tokens of one sequence are not independent of each other."""
    if ground.corpus.offsets is None:
        return unit
    return np.searchsorted(ground.corpus.offsets, unit, side="right") - 1


def interval(seen: RuleExpectation, item: Ints) -> tuple[float, float]:
    """A 95 % interval of the satisfaction: Wilson's, with an effective number of observations.

    The ratio of sums over items has the variance sum of (violated - rate * applies)^2 / (sum of applies)^2; the number
    of independent observations with that variance goes into Wilson's interval, which stays in [0, 1].
    """
    applies = float(seen.applies.sum())
    if applies <= 0:
        return float("nan"), float("nan")
    rate = float(seen.violated.sum()) / applies
    _, code = np.unique(item, return_inverse=True)
    residual = np.bincount(code, weights=seen.violated - rate * seen.applies)
    variance = float((residual**2).sum()) / applies**2
    count = applies if variance <= 0 else min(applies, rate * (1 - rate) / variance)
    return _wilson(1.0 - rate, max(count, 1.0))


def _wilson(share: float, count: float) -> tuple[float, float]:
    share = min(max(share, 0.0), 1.0)
    centre = (share + Z**2 / (2 * count)) / (1 + Z**2 / count)
    half = Z / (1 + Z**2 / count) * np.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def verdict(
    satisfaction: float,
    *,
    low: float,
    high: float,
    chance: float,
    changes: bool,
    right: int | None = None,
    wrong: int | None = None,
) -> Verdict:
    """Gold decides where its flips are more one-sided than chance; else the crowd does.

    Args:
        satisfaction: How far the rule holds where it applies; NaN where it never does.
        low: The lower end of its interval.
        high: The upper end.
        chance: What it would be at random.
        changes: Whether the rule moves beliefs or flips answers at all.
        right: Flips to the truth, with gold.
        wrong: Flips from the truth, with gold.
    """
    if right is not None and wrong is not None and right + wrong and _is_one_sided(right, wrong):
        return Verdict.helps if right > wrong else Verdict.contradicts
    if np.isnan(satisfaction):
        return Verdict.neutral
    if high < EVEN:
        return Verdict.neutral if _odds(satisfaction) > LIFT * _odds(chance) else Verdict.contradicts
    return Verdict.helps if low > EVEN and changes else Verdict.neutral


def _odds(share: float) -> float:
    return share / (1 - share) if share < 1 else float("inf")


def _is_one_sided(right: int, wrong: int) -> bool:
    from scipy.stats import binomtest  # takes half a second to import, and is seldom needed

    return bool(binomtest(right, right + wrong).pvalue < LEVEL)
