"""Rules: which to keep, and the answers that they changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.evidence import EvidenceSource, UnitEvidence
from crowdlogic.data.wording import pluralise, shorten_name
from crowdlogic.numerics.arrays import Ints
from crowdlogic.reporting.charts import DotRow, Plot, dot_plot
from crowdlogic.reporting.findings import (
    Quantity,
    ReportFinding,
    TaskKind,
    Urgency,
    round_figure,
    round_quantity,
    sort_by_importance,
)
from crowdlogic.reporting.inputs import Context
from crowdlogic.reporting.page import Page
from crowdlogic.rules.audit import Outcome, RuleVerdict, kl
from crowdlogic.store.estimates import decode_record
from crowdlogic.store.files import RULES

# Which rules to keep.


@dataclass(frozen=True, kw_only=True)
class Flip:
    """An answer that the rules changed.

    Attributes:
        item: The item's name.
        text: Its text or the token, cut; None when it is not known.
        token: Which token, from 0; None for documents.
        before: The answer without the rules.
        after: The answer with them, which is the final one.
        gold: The gold; None when it is not known.
        rule: The rule that pushed most; None when that is not known.
        bits: How far it pushed, in bits for `after` against `before`; None when that is not known.
    """

    item: str
    text: str | None
    token: int | None
    before: str
    after: str
    gold: str | None
    rule: str | None
    bits: float | None


@dataclass(frozen=True, kw_only=True)
class RuleRow:
    """One rule, judged alone.

    Attributes:
        rule: The rule as text.
        place: Its file and line.
        groundings: Number of groundings.
        n_units: Number of units that it touches.
        coverage: The share of all units that it touches.
        cases: Number of touched units (or pairs of units) with labels.
        satisfaction: The estimated share of the cases in which it holds, with its interval.
        chance: What the satisfaction would be by chance; None when undefined.
        weight: The weight that was given; None for a hard rule.
        new_weight: The weight that the labels allow; None for a hard rule.
        pushed: Of the answers that all rules together changed, the number of those that it pushed most.
        pushed_right: Of these, made right by gold; None without gold.
        pushed_wrong: Of these, made wrong; None without gold.
        verdict: helps, no effect, contradicts the labels, or cannot tell.
        reason: The verdict in a sentence.
        examples: Some of the answers that all rules together changed and that it pushed most.
    """

    rule: str
    place: str
    groundings: int
    n_units: int
    coverage: float
    cases: int
    satisfaction: Quantity
    chance: float | None
    weight: float | None
    new_weight: float | None
    pushed: int
    pushed_right: int | None
    pushed_wrong: int | None
    verdict: str
    reason: str
    examples: tuple[Flip, ...]


@dataclass(frozen=True, kw_only=True)
class RuleFindings:
    """Which rules to keep.

    Attributes:
        rows: The rules that contradict the labels first, then by the number of units that they touch.
        n_rules: How many there are; rows may be fewer.
        n_units: Units in all.
        flips: Answers that all rules together changed, those moved furthest first.
        n_flips: How many there are.
        flips_right: Of these, made right by gold; None without gold.
        flips_wrong: Of these, made wrong; None without gold.
        n_resisted: Answers that the rules alone would have changed, and that stayed as they were.
        findings: The sentences of this page.
    """

    rows: tuple[RuleRow, ...]
    n_rules: int
    n_units: int
    flips: tuple[Flip, ...]
    n_flips: int
    flips_right: int | None
    flips_wrong: int | None
    n_resisted: int
    findings: tuple[ReportFinding, ...]


# Which rules to keep: the verdicts that the training stored, and the answers that the rules changed.
#
# Axes: i unit, k class, l rule.

MOST_EXPLAINED = 200
"""Changed answers whose evidence says which rule pushed most."""
MOST_FLIPS = 60
"""Changed answers that are shown."""
MOST_EXAMPLES = 5
"""Changed answers that are shown with a rule."""
VERDICT_ORDER = (Outcome.contradicts, Outcome.helps, Outcome.cannot_tell, Outcome.no_effect)
STANDARD_ERRORS = 2.0
"""Gold is against rules whose wrong changes outnumber the right ones by more than this many standard errors."""

GoldCounts = tuple[int | None, int | None]
"""Number of changes that are right by gold, and of those that are wrong; None without gold."""


def compute_rules(context: Context) -> RuleFindings | None:
    """Return the findings of the page of rules; None where there are none."""
    inputs, record = context.inputs, context.inputs.record
    if record is None or not record.audit:
        return None
    changed, audited = context.once(changed_units), [decode_record(RuleVerdict, row, RULES) for row in record.audit]
    audits = sorted(audited, key=lambda one: (VERDICT_ORDER.index(one.outcome), -one.units))
    flips = tuple(_flip(context, int(i), audited) for i in changed[:MOST_EXPLAINED])

    # Changes that gold calls right, and those it calls wrong; None without gold.
    without, wanted = (inputs.views[view].argmax(axis=1) for view in ("q_a", "q_b"))
    answer = inputs.estimate.answer
    by_gold: GoldCounts = None, None
    if inputs.gold is not None:
        gold = inputs.gold[changed]
        is_right, was_right = (((one[changed] == gold) & (gold != UNKNOWN)).sum() for one in (answer, without))
        by_gold = int(is_right), int(was_right)
    # Units that the rules alone would answer otherwise, and whose answer is nevertheless that without the rules.
    n_resisted = int(((without != wanted) & (without == answer)).sum())
    return RuleFindings(
        rows=tuple(
            _row(one, [flip for flip in flips if flip.rule == one.rule], has_gold=inputs.gold is not None)
            for one in audits[: context.limits.rules]
        ),
        n_rules=len(audits),
        n_units=inputs.labels.n_units,
        flips=flips[:MOST_FLIPS],
        n_flips=len(changed),
        flips_right=by_gold[0],
        flips_wrong=by_gold[1],
        n_resisted=n_resisted,
        findings=sort_by_importance(_findings(audits, len(changed), by_gold, n_resisted)),
    )


def evidence_units(context: Context) -> Ints:
    """Return the changed answers that are shown."""
    return context.once(changed_units)[:MOST_EXPLAINED]


def changed_units(context: Context) -> Ints:
    """Return the units whose answer the rules changed, those with the largest change of beliefs first.

    The answer is the final one, as the page of labels has it: it mixes what holds without the rules (q_a) and with them
    (q_b), so a pull of the rules does not always change it.
    """
    inputs = context.inputs
    if inputs.record is None or not inputs.record.audit or not inputs.labels.n_classes:
        return np.zeros(0, dtype=np.int64)
    q_a, q_b = inputs.views["q_a"], inputs.views["q_b"]
    units = np.flatnonzero(q_a.argmax(axis=1) != inputs.estimate.answer)
    return units[np.argsort(-kl(q_b[units], q_a[units]), kind="stable")]


def _flip(context: Context, i: int, audits: Sequence[RuleVerdict]) -> Flip:
    """Return the changed answer of unit i in detail."""
    inputs, corpus, offsets = context.inputs, context.inputs.corpus, context.inputs.labels.offsets
    s = int(inputs.labels.item_of_unit[i])
    before = inputs.class_names[int(inputs.views["q_a"][i].argmax())]
    after = inputs.class_names[int(inputs.estimate.answer[i])]
    rule, bits = strongest_rule(context.evidence.get(i), before, after, audits)
    text = inputs.text(s) if corpus is None or corpus.tokens is None else corpus.tokens[i]
    return Flip(
        item=str(inputs.labels.items[s]),
        text=None if text is None else text[: context.limits.text],
        token=None if offsets is None else i - int(offsets[s]),
        before=before,
        after=after,
        gold=inputs.gold_name(i),
        rule=rule,
        bits=bits,
    )


def strongest_rule(
    evidence: UnitEvidence | None, before: str, after: str, audits: Sequence[RuleVerdict]
) -> tuple[str | None, float | None]:
    """Return the rule that pushed most from one class to another, and by how many bits, as far as that is known."""
    if evidence is None or {evidence.answer, evidence.rival} != {before, after}:
        return (audits[0].rule if len(audits) == 1 else None), None
    sign = 1.0 if evidence.answer == after else -1.0
    terms = [
        (sign * term.bits, term.name) for term in evidence.terms if term.source is EvidenceSource.rule and term.bits
    ]
    bits, rule = max(terms, default=(0.0, ""))
    # a term names the rule with the weight that it had in training, a verdict with the given one
    given = {_without_weight(one.rule): one.rule for one in audits}
    return (given.get(_without_weight(rule), rule), round(bits, 6)) if bits > 0 else (None, None)


def _without_weight(rule: str) -> str:
    weight, colon, rest = rule.partition(": ")
    return rest if colon and weight.replace(".", "").replace("e-", "").isdigit() else rule


def _row(one: RuleVerdict, pushed: list[Flip], *, has_gold: bool) -> RuleRow:
    return RuleRow(
        rule=one.rule,
        place=one.place,
        groundings=one.groundings,
        n_units=one.units,
        coverage=round(one.coverage, 6),
        cases=one.informed,
        satisfaction=round_quantity(one.holds, one.low, one.high),
        chance=round_figure(one.chance),
        weight=one.weight,
        new_weight=one.new_weight,
        pushed=len(pushed),
        pushed_right=sum(flip.gold == flip.after for flip in pushed) if has_gold else None,
        pushed_wrong=sum(flip.gold == flip.before for flip in pushed) if has_gold else None,
        verdict=str(one.outcome),
        reason=one.reason,
        examples=tuple(pushed[:MOST_EXAMPLES]),
    )


def _findings(
    audits: Sequence[RuleVerdict], n_flips: int, by_gold: GoldCounts, n_resisted: int
) -> Iterator[ReportFinding]:
    by_outcome = {outcome: [one for one in audits if one.outcome is outcome] for outcome in Outcome}
    for one in by_outcome[Outcome.contradicts]:
        text = f"The rule {shorten_name(one.rule)} contradicts the labels. {one.reason}"
        yield ReportFinding(text, Urgency.act, importance=85, about=one.rule)
    helpful = by_outcome[Outcome.helps]
    if len(helpful) == 1:
        text = f"The rule {shorten_name(helpful[0].rule)} helps. {helpful[0].reason}"
        yield ReportFinding(text, Urgency.know, importance=55, about=helpful[0].rule)
    elif helpful:
        yield ReportFinding(f"{len(helpful):,} rules of {len(audits):,} help: keep them.", Urgency.know, importance=55)
    if unknown := len(by_outcome[Outcome.cannot_tell]):
        text = f"The labels cannot tell whether {unknown:,} of {pluralise(len(audits), 'rule')} help."
        yield ReportFinding(text, Urgency.know, importance=24)
    if idle := len(by_outcome[Outcome.no_effect]):
        text = f"{idle:,} of {pluralise(len(audits), 'rule')} hold no more often than by chance."
        yield ReportFinding(text, Urgency.know, importance=22)
    if n_flips and len(audits) > 1:  # together they may do harm by gold though each looked well alone
        right, wrong = by_gold
        text, does_harm = f"Together the rules changed {pluralise(n_flips, 'answer')}", False
        if right is not None and wrong is not None:
            text += f": by gold {right:,} from wrong to right and {wrong:,} from right to wrong"
            does_harm = wrong - right > STANDARD_ERRORS * (wrong + right) ** 0.5
        if does_harm:
            yield ReportFinding(f"{text}. Here they do more harm than good.", Urgency.act, importance=86)
        else:
            yield ReportFinding(f"{text}.", Urgency.know, importance=28)
    if n_resisted:
        answers = pluralise(n_resisted, "more answer")
        text = f"The rules also pulled at {answers}, but the labels and the classifier outweighed them."
        yield ReportFinding(text, Urgency.know, importance=12)


# The plot of the rules: how often each holds where it applies, against chance.

MOST_ROWS = 30
"""Beyond this, a plot says less than the table."""


def draw_rules(found: RuleFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """Return the plots of the page of rules; none for a single rule, of which the sentence says it all."""
    if len(found.rows) < 2:
        return {"main": []}
    rows = [
        DotRow(
            f"rule {number}",
            [row.satisfaction, Quantity(row.chance)],
        )
        for number, row in enumerate(found.rows[:MOST_ROWS], 1)
    ]
    heading, kinds = "How often each rule holds", ["holds where it applies", "by chance"]
    return {"main": [dot_plot("rules", heading, rows, kinds, x="share of applications", from_zero=True)]}


PAGE = Page(title="Rules", module=__name__, compute=compute_rules, draw=draw_rules, evidence_units=evidence_units)
