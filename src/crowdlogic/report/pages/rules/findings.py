"""Which rules to keep."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.report.findings import Quantity, ReportFinding


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
        groundings: How many groundings it has.
        n_units: How many units it touches.
        coverage: The share of all units that it touches.
        applications: The expected number of groundings whose body holds.
        satisfaction: The share of these in which it holds, under the crowd's beliefs, with its interval.
        chance: What the satisfaction would be at random; None when undefined.
        moved: How far it moves beliefs, in nats over all units.
        flipped: How many answers it changes, alone.
        flipped_right: Of these, made right; None without gold.
        flipped_wrong: Of these, made wrong; None without gold.
        pushed: Of the answers that all rules together changed, those that it pushed most, among the first so many.
        pushed_right: Of these, made right by gold; None without gold.
        pushed_wrong: Of these, made wrong; None without gold.
        gold_says: against, where gold calls clearly more of its changes wrong than right; rather against, where it
            calls more of them wrong; None otherwise.
        verdict: helps, neutral or contradicts the crowd.
        reason: The verdict in words: whether to keep it, and why.
        examples: Some of the answers that all rules together changed and that it pushed most.
    """

    rule: str
    place: str
    groundings: int
    n_units: int
    coverage: float
    applications: float
    satisfaction: Quantity
    chance: float | None
    moved: float
    flipped: int
    flipped_right: int | None
    flipped_wrong: int | None
    pushed: int
    pushed_right: int | None
    pushed_wrong: int | None
    gold_says: str | None
    verdict: str
    reason: str
    examples: tuple[Flip, ...]


@dataclass(frozen=True, kw_only=True)
class RuleFindings:
    """Which rules to keep.

    Attributes:
        rows: The rules that contradict the crowd first, then by how many answers they change.
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
