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


@dataclass(frozen=True, kw_only=True)
class Flip:
    """An answer that the rules changed.

    Attributes:
        item: Name of the item.
        text: Text of the document, shortened, or the token; None if unknown.
        token: Number of the token, starting at 0; None for documents.
        before: Answer without the rules.
        after: Final answer, with the rules.
        gold: The gold class; None without gold.
        rule: The rule with the largest contribution to the change; None if unknown.
        bits: Contribution of that rule, in bits for `after` compared with `before`; None if unknown.
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
    """One rule, judged alone. Its changed answers are those to which it made the largest contribution of all rules.

    Attributes:
        rule: The rule as text.
        place: File and line of the rule.
        groundings: Number of groundings.
        n_units: Number of units to which it applies.
        coverage: Share of all units to which it applies.
        cases: Number of these units (or pairs of units) with labels.
        satisfaction: Estimated share of the cases in which it holds, with its interval.
        chance: Share of the cases in which it would hold by chance; None if undefined.
        weight: The given weight; None for a hard rule.
        new_weight: The weight that the labels support; None for a hard rule.
        pushed: Number of changed answers.
        pushed_right: Number of changed answers that are right by gold; None without gold.
        pushed_wrong: Number of changed answers that were right before; None without gold.
        verdict: helps, no effect, contradicts the labels, or cannot tell.
        reason: The verdict as a sentence.
        examples: Some of the changed answers.
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
    """Content of the page of rules: which rules to keep.

    Attributes:
        rows: The rules, by verdict (those that contradict the labels first) and number of units.
        n_rules: Number of rules, which may exceed the number of rows.
        n_units: Number of units.
        flips: Answers that all rules together changed, largest change first.
        n_flips: Number of changed answers.
        flips_right: Number of changed answers that are right by gold; None without gold.
        flips_wrong: Number of changed answers that were right before; None without gold.
        n_resisted: Number of answers that the rules alone would have changed, but that did not change.
        findings: Sentences of this page.
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


# Computation of the content, from the verdicts of the training and the answers that the rules changed.
#
# Axes: i unit, k class, l rule.

MOST_EXPLAINED = 200
"""Maximum number of changed answers for which the rule with the largest contribution is determined."""
MOST_FLIPS = 60
"""Maximum number of changed answers that are shown."""
MOST_EXAMPLES = 5
"""Maximum number of changed answers that are shown for a rule."""
VERDICT_ORDER = (Outcome.contradicts, Outcome.helps, Outcome.cannot_tell, Outcome.no_effect)
STANDARD_ERRORS = 2.0
"""Number of standard errors by which wrong changes must outnumber right ones to report that the rules do harm."""

GoldCounts = tuple[int | None, int | None]
"""Number of changes that are right by gold, and of changes that are wrong; None without gold."""


def compute_rules(context: Context) -> RuleFindings | None:
    """Compute the content of the page of rules; None without rules."""
    inputs, record = context.inputs, context.inputs.record
    if record is None or not record.audit:
        return None
    changed, audited = context.once(changed_units), [decode_record(RuleVerdict, row, RULES) for row in record.audit]
    audits = sorted(audited, key=lambda one: (VERDICT_ORDER.index(one.outcome), -one.units))
    flips = tuple(_flip(context, int(i), audited) for i in changed[:MOST_EXPLAINED])

    # The number of changes that are right by gold, and of those that are wrong
    without, wanted = (inputs.views[view].argmax(axis=1) for view in ("q_a", "q_b"))
    answer = inputs.estimate.answer
    by_gold: GoldCounts = None, None
    if inputs.gold is not None:
        gold = inputs.gold[changed]
        is_right, was_right = (((one[changed] == gold) & (gold != UNKNOWN)).sum() for one in (answer, without))
        by_gold = int(is_right), int(was_right)
    # Units whose answer by the rules alone would be different, but whose final answer is that without the rules
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
    """Return the units with changed answers that are shown."""
    return context.once(changed_units)[:MOST_EXPLAINED]


def changed_units(context: Context) -> Ints:
    """Return the units whose final answer the rules changed, largest change of beliefs first.

    The final beliefs are a mixture of those without the rules (q_a) and with them (q_b), so the rules do not always
    change the answer.
    """
    inputs = context.inputs
    if inputs.record is None or not inputs.record.audit or not inputs.labels.n_classes:
        return np.zeros(0, dtype=np.int64)
    q_a, q_b = inputs.views["q_a"], inputs.views["q_b"]
    units = np.flatnonzero(q_a.argmax(axis=1) != inputs.estimate.answer)
    return units[np.argsort(-kl(q_b[units], q_a[units]), kind="stable")]


def _flip(context: Context, i: int, audits: Sequence[RuleVerdict]) -> Flip:
    """Return the details of the changed answer of unit i."""
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
    """Return the rule with the largest contribution to a changed answer, and its contribution in bits, if known."""
    if evidence is None or {evidence.answer, evidence.rival} != {before, after}:
        return (audits[0].rule if len(audits) == 1 else None), None
    sign = 1.0 if evidence.answer == after else -1.0
    terms = [
        (sign * term.bits, term.name) for term in evidence.terms if term.source is EvidenceSource.rule and term.bits
    ]
    bits, rule = max(terms, default=(0.0, ""))
    # Evidence shows the rule with the weight that it had in training, verdicts with the given weight
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
    if n_flips and len(audits) > 1:  # together, rules may do harm by gold even if each of them seems to help
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


MOST_ROWS = 30
"""Maximum number of rules in the plot; the table shows the others."""


def draw_rules(found: RuleFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """Plot how often each rule holds where it applies, compared with chance, if there are several rules."""
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
