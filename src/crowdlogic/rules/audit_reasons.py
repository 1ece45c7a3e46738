"""The verdict on a rule in a sentence, the same in the report, in `rules audit` and in Python: what to do, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from crowdlogic.data.wording import percent, pluralise
from crowdlogic.rules.audit import EVEN, RuleAudit, Verdict

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
