"""Which rules to keep: the audit of a run in words, and the answers that the rules changed.

Axes: i unit, k class, l rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.numerics.arrays import Ints
from crowdlogic.report.findings import Evidence, Figure, Finding, Flip, Page, RuleFindings, RuleRow, Severity, Source
from crowdlogic.report.material import Material
from crowdlogic.report.shown import Showing
from crowdlogic.report.wording import by_importance, counted, number, percent, short
from crowdlogic.rules.audit import RuleAudit, Verdict, kl
from crowdlogic.store.layout import RULES
from crowdlogic.store.records import decode_record

MOST_LOOKED_AT = 200
"""Changed answers whose evidence says which rule pushed most."""
MOST_FLIPS = 60
"""Changed answers that are shown."""
ERRORS = 2.0
"""Gold denies a rule whose wrong changes outnumber the right ones by this many standard errors."""
MOST_EXAMPLES = 5
"""Of these, examples for each rule."""
AGAINST, RATHER = "against", "rather against"
CAUTION = "Look at what it changes before you"
Judged = tuple[int | None, int | None]
"""How many changes gold calls right, and how many wrong; None without gold."""
ORDER = (Verdict.contradicts, Verdict.helps, Verdict.neutral)


def rules_of(made: Material, showing: Showing, *, most: int) -> RuleFindings | None:
    """The rules of a run; None where there are none.

    Args:
        made: The material.
        showing: How items are shown.
        most: The most rows.
    """
    kept = made.kept
    if kept is None or not kept.audit:
        return None
    changed, audited = changed_units(made), tuple(decode_record(RuleAudit, row, RULES) for row in kept.audit)
    flips = flips_of(made, showing, changed[:MOST_LOOKED_AT], audited)
    audits = sorted(audited, key=lambda one: (ORDER.index(one.verdict), -one.flipped, -one.units))
    right, wrong = _judged(made, changed)
    has_gold = right is not None
    rows = tuple(_row(one, [flip for flip in flips if flip.rule == one.rule], has_gold) for one in audits)
    return RuleFindings(
        rows[:most],
        len(audits),
        made.labels.n_units,
        flips[:MOST_FLIPS],
        len(changed),
        right,
        wrong,
        by_importance(_findings(audits, rows, len(changed), right, wrong)),
    )


def changed_units(made: Material) -> Ints:
    """The units whose most probable class the rules changed, those moved furthest first."""
    q_a, q_b = made.views["q_a"], made.views["q_b"]
    if not q_a.shape[1]:
        return np.zeros(0, dtype=np.int64)
    units = np.flatnonzero(q_a.argmax(axis=1) != q_b.argmax(axis=1))
    return units[np.argsort(-kl(q_b[units], q_a[units]), kind="stable")]


def _judged(made: Material, changed: Ints) -> Judged:
    """Of the changed answers, how many gold calls made right, and made wrong."""
    if made.gold is None:
        return None, None
    gold = made.gold[changed]
    before, after = (made.views[view][changed].argmax(axis=1) for view in ("q_a", "q_b"))
    known = gold != UNKNOWN
    return int((known & (after == gold)).sum()), int((known & (before == gold)).sum())


def flips_of(made: Material, showing: Showing, units: Ints, audits: Sequence[RuleAudit]) -> tuple[Flip, ...]:
    """Changed answers in detail."""
    names, offsets = made.class_names, made.labels.offsets
    item_of_unit = made.labels.item_of_unit
    found = []
    for i, evidence in zip(units.tolist(), showing.explain(units), strict=True):
        s = int(item_of_unit[i])
        before, after = (int(made.views[view][i].argmax()) for view in ("q_a", "q_b"))
        answer = int(made.estimate.answer[i])
        rule, bits = pushed(evidence, names[before], names[after], audits)
        gold = None if made.gold is None or made.gold[i] == UNKNOWN else names[made.gold[i]]
        found.append(
            Flip(
                str(made.labels.items[s]),
                _text(made, showing, i, s),
                None if offsets is None else i - int(offsets[s]),
                names[before],
                names[after],
                names[answer] if answer >= 0 else None,
                gold,
                rule,
                bits,
            )
        )
    return tuple(found)


def _text(made: Material, showing: Showing, i: int, s: int) -> str | None:
    if made.corpus is not None and made.corpus.tokens is not None:
        return made.corpus.tokens[i]
    return showing.text(s)[0]


def pushed(
    evidence: Evidence | None, before: str, after: str, audits: Sequence[RuleAudit]
) -> tuple[str | None, float | None]:
    """The rule that pushed most from one class to another, and by how many bits, as far as that is known."""
    if len(audits) == 1 and evidence is None:
        return audits[0].rule, None
    if evidence is None or {evidence.answer, evidence.rival} != {before, after}:
        return (audits[0].rule if len(audits) == 1 else None), None
    sign = 1.0 if evidence.answer == after else -1.0
    terms = [(sign * term.bits, term.name) for term in evidence.rules if term.source is Source.rule and term.bits]
    bits, rule = max(terms, default=(0.0, ""))
    return (rule, round(bits, 6)) if bits > 0 else (None, None)


def _row(one: RuleAudit, pushed: list[Flip], has_gold: bool) -> RuleRow:
    right = sum(flip.gold == flip.after for flip in pushed) if has_gold else None
    wrong = sum(flip.gold == flip.before for flip in pushed) if has_gold else None
    return RuleRow(
        one.rule,
        one.place,
        one.groundings,
        one.units,
        round(one.coverage, 6),
        round(one.applications, 6),
        Figure(number(one.satisfaction), number(one.low), number(one.high)),
        number(one.chance),
        round(one.moved, 6),
        one.flipped,
        one.flipped_right,
        one.flipped_wrong,
        len(pushed),
        right,
        wrong,
        gold_says(_judged_of(one, (right, wrong))),
        str(one.verdict),
        verdict_in_words(one, (right, wrong)),
        tuple(pushed[:MOST_EXAMPLES]),
    )


def _judged_of(one: RuleAudit, pushed: Judged) -> Judged:
    """By the audit of the rule alone where that knew gold, else by what it pushed among all rules' changes."""
    return pushed if one.flipped_right is None else (one.flipped_right, one.flipped_wrong)


def gold_says(judged: Judged) -> str | None:
    """Against, where more changes are wrong than right and that is hardly chance; else rather against, or None."""
    right, wrong = judged
    if right is None or wrong is None or wrong <= right:
        return None
    return AGAINST if wrong - right > ERRORS * math.sqrt(wrong + right) else RATHER


def verdict_in_words(one: RuleAudit, pushed: Judged = (None, None)) -> str:
    """Whether to keep the rule, and why.

    Args:
        one: The audit.
        pushed: Of the changes by all rules together that it pushed most, how many gold calls right, and wrong.
    """
    if not one.groundings:
        return "It says nothing here: no item meets its conditions. Check its words, or leave it out."
    if np.isnan(one.satisfaction):
        return "It never applies here: the crowd nowhere believes its conditions. Nothing speaks for or against it."
    chance = "" if np.isnan(one.chance) else f" ({percent(one.chance)} by chance)"
    holds = f"it holds in {percent(one.satisfaction)} of the cases where it applies{chance}"
    advice, caution = _advice(one, gold_says(_judged_of(one, pushed)))
    return f"{advice}: {holds}, and {_flips(one, pushed)}.{caution}"


def _advice(one: RuleAudit, gold: str | None) -> tuple[str, str]:
    """What to do about a rule, and what to look at first."""
    helps = one.verdict is Verdict.helps
    if one.verdict is Verdict.contradicts:
        return "Drop it, or mend it", ""
    if gold == AGAINST or (gold and helps):
        who = "Gold speaks" if gold == AGAINST else "Gold rather speaks"
        return f"{who} against it{', though the crowd agrees' if helps else ''}", f" {CAUTION} keep it."
    if helps:
        return "Keep it", ""
    if not one.flipped:
        return "It makes no difference here", ""
    return "Neither supported nor contradicted", f" {CAUTION} rely on it."


def _flips(one: RuleAudit, pushed: Judged) -> str:
    if not one.flipped:
        return "changes no answer"
    text = f"changes {counted(one.flipped, 'answer')}"
    right, wrong = _judged_of(one, pushed)
    if right is None or wrong is None or not right + wrong:
        return text
    if one.flipped_right is None:
        return (
            f"{text}; of the answers that all rules together change and it pushes most, gold calls {right:,} right and "
            f"{wrong:,} wrong"
        )
    return f"{text}, by gold {right:,} to the truth and {wrong:,} away from it"


def _findings(
    audits: Sequence[RuleAudit], rows: Sequence[RuleRow], n_flips: int, right: int | None, wrong: int | None
) -> Iterator[Finding]:
    for one, row in zip(audits, rows, strict=True):
        if one.verdict is Verdict.contradicts:
            text = f"The rule {short(one.rule)} contradicts the crowd. {row.reason}"
            yield Finding(text, Severity.act, Page.rules, one.rule, 85)
        elif row.gold_says == AGAINST:
            yield Finding(f"The rule {short(one.rule)}: {row.reason}", Severity.act, Page.rules, one.rule, 84)
    yield from _helpful(audits, rows)
    idle = [one for one in audits if one.verdict is Verdict.neutral and not one.flipped]
    if idle:
        verb = "makes" if len(idle) == 1 else "make"
        text = f"{counted(len(idle), 'rule')} of {len(audits):,} {verb} no difference here."
        yield Finding(text, Severity.know, Page.rules, importance=22)
    if n_flips and len(audits) > 1:
        yield _together(n_flips, right, wrong)


def _helpful(audits: Sequence[RuleAudit], rows: Sequence[RuleRow]) -> Iterator[Finding]:
    helpful = [row for one, row in zip(audits, rows, strict=True) if one.verdict is Verdict.helps and not row.gold_says]
    if len(helpful) == 1:
        text = f"The rule {short(helpful[0].rule)} helps. {helpful[0].reason}"
        yield Finding(text, Severity.know, Page.rules, helpful[0].rule, 55)
    elif helpful:
        text = f"{len(helpful):,} rules of {len(audits):,} help: keep them."
        yield Finding(text, Severity.know, Page.rules, importance=55)


def _together(n_flips: int, right: int | None, wrong: int | None) -> Finding:
    """What all rules together do: by gold they may do harm though each looked well alone."""
    judged = "" if right is None else f": by gold {right:,} to the truth and {wrong:,} away from it"
    text = f"Together the rules change {counted(n_flips, 'answer')}{judged}."
    if gold_says((right, wrong)) != AGAINST:
        return Finding(text, Severity.know, Page.rules, importance=28)
    return Finding(f"{text} Here they do more harm than good.", Severity.act, Page.rules, importance=86)
