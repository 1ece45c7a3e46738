"""The audit: what each rule does to the crowd's beliefs, and whether it should be trusted.

Every rule is audited alone: how far the crowd's posterior agrees with it where it applies, how far the projection onto
it alone moves the beliefs, and which answers it flips. One bad rule can ruin a task (Table 5 of [LNCL]), so a rule
that the crowd contradicts is named.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class, l rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.wording import percent, pluralise
from crowdlogic.errors import OptionError, require_kind
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.rules.blocks import Block, DistanceTable, Predictions, distances, tabulate
from crowdlogic.rules.grounding import GroundRule, GroundRules
from crowdlogic.rules.projection.projector import Predict, Projector
from crowdlogic.rules.syntax import RuleSet

# Weights from beliefs: how often a rule holds where it applies ("lightweight sample statistics").
#
# confidence = 1 - (expected distance to satisfaction) / (expected truth of the body), units taken as independent. For
# a
# rule without a body, every grounding counts as one where it applies.
#
# Axes: l rule, g grounding, i unit, k class.


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


# The verdict on a rule in a sentence, the same in the report, in `rules audit` and in Python: what to do, and why.

STANDARD_ERRORS = 2.0
"""Gold is against a rule whose wrong changes outnumber the right ones by more than this many standard errors."""
AGAINST, RATHER_AGAINST = "against", "rather against"
TRAINING = "classifier and crowd"
"""Whose answers the audit of a training is about."""
CAUTION = "Look at what it changes before you"

GoldCounts = tuple[int | None, int | None]
"""How many changes are right by gold, and how many wrong; None without gold."""


def gold_counts(one: RuleAudit, pushed: GoldCounts) -> GoldCounts:
    """By the audit of the rule alone where that knew gold, else by what it pushed most among all rules' changes."""
    return pushed if one.flipped_right is None else (one.flipped_right, one.flipped_wrong)


def gold_verdict(counts: GoldCounts) -> str | None:
    """Against, where significantly more changes are wrong than right; rather against, where more are; else None."""
    right, wrong = counts
    if right is None or wrong is None or wrong <= right:
        return None
    return AGAINST if wrong - right > STANDARD_ERRORS * math.sqrt(wrong + right) else RATHER_AGAINST


def explain_verdict(one: RuleAudit, pushed: GoldCounts = (None, None), *, answers_of: str = TRAINING) -> str:
    """Whether to keep the rule, and why.

    Args:
        one: The audit.
        pushed: Of the changes by all rules together that it pushed most, how many are right by gold, and wrong.
        answers_of: Whose answers without rules were audited, since the same rule changes others of another method.
    """
    if not one.groundings:
        return "It says nothing here: no item meets its conditions. Check its words, or leave it out."
    if np.isnan(one.satisfaction):
        return "It never applies here: the crowd nowhere believes its conditions. Nothing speaks for or against it."
    chance = "" if np.isnan(one.chance) else f" ({percent(one.chance)} by chance)"
    holds = f"it holds in {percent(one.satisfaction)} of the cases where it applies{chance}"
    advice, caution = _advice(one, gold_verdict(gold_counts(one, pushed)))
    return f"{advice}: {holds}, and {_describe_changes(one, pushed, answers_of)}.{caution}"


def _advice(one: RuleAudit, gold: str | None) -> tuple[str, str]:
    """What to do about a rule, and what to look at first."""
    helps = one.verdict is Verdict.helps
    if one.verdict is Verdict.contradicts:
        return "Drop it, or correct it", ""
    if gold == AGAINST or (gold and helps):
        who = "Gold speaks" if gold == AGAINST else "Gold rather speaks"
        return f"{who} against it{', though the crowd agrees' if helps else ''}", f" {CAUTION} keep it."
    if helps:
        return "Keep it", ""
    return _why_neutral(one), f" {CAUTION} rely on it." * bool(one.flipped)


def _why_neutral(one: RuleAudit) -> str:
    """Why a rule is neither helpful nor contradicted: it has no weight, changes nothing, or has too few cases."""
    if weight_of(one) == 0.0:
        return (
            f"Its weight is 0, so it changes nothing{', though the crowd agrees with it' if one.low > EVEN else ''} "
            f"(a learnt weight is 0 where a rule does not help to foretell labels that were held out)"
        )
    if one.low > EVEN:
        return "The crowd agrees with it, and is so sure already that it makes no difference here"
    if one.high < EVEN:
        return "It holds less often than not, but far more often than by chance"
    cases = pluralise(max(round(one.applications), 1), "case")
    return f"Its {cases} cannot tell whether the crowd agrees (with {percent(one.low)} to {percent(one.high)} of such)"


def weight_of(one: RuleAudit) -> float | None:
    """The weight of an audited rule; None for a hard rule."""
    head, colon, _ = one.rule.partition(":")
    try:
        return float(head) if colon else None
    except ValueError:  # a colon inside of a hard rule
        return None


def rule_table(audits: Sequence[RuleAudit]) -> pl.DataFrame:
    """A row for each rule: the verdict, why in a sentence, and the figures that it rests on.

    Columns: rule; verdict: helps, neutral, or contradicts the crowd; touched, how many units it speaks of; holds, the
    share of the cases where it applies in which it holds by the crowd's beliefs, with its interval from low to high;
    changes, how many answers it changes on its own; made_right and made_wrong of these, by gold; reason.
    """
    columns = {
        "rule": pl.Series([one.rule for one in audits], dtype=pl.String),
        "verdict": pl.Series([str(one.verdict) for one in audits], dtype=pl.String),
        "touched": pl.Series([one.units for one in audits], dtype=pl.Int64),
        "holds": pl.Series([one.satisfaction for one in audits], dtype=pl.Float64),
        "low": pl.Series([one.low for one in audits], dtype=pl.Float64),
        "high": pl.Series([one.high for one in audits], dtype=pl.Float64),
        "changes": pl.Series([one.flipped for one in audits], dtype=pl.Int64),
        "made_right": pl.Series([one.flipped_right for one in audits], dtype=pl.Int64),
        "made_wrong": pl.Series([one.flipped_wrong for one in audits], dtype=pl.Int64),
        "reason": pl.Series([explain_verdict(one) for one in audits], dtype=pl.String),
    }
    return pl.DataFrame(columns)


def _describe_changes(one: RuleAudit, pushed: GoldCounts, answers_of: str) -> str:
    if not one.flipped:
        return f"by itself it would change no answer of {answers_of}"
    text = f"by itself it would change {pluralise(one.flipped, 'answer')} of {answers_of}"
    right, wrong = gold_counts(one, pushed)
    if right is None or wrong is None or not right + wrong:
        return text
    if one.flipped_right is None:
        text = f"{text}. Among the answers that changed, those that it pushed most"
        return f"{text} are right by gold in {pluralise(right, 'case')} and were right before in {wrong:,}"
    return f"{text}: by gold {right:,} from wrong to right and {wrong:,} from right to wrong"
