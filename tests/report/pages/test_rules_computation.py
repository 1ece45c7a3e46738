"""Rules: the audit in words, and the answers that the rules changed."""

from __future__ import annotations

import numpy as np

from crowdlogic.data.evidence import EvidenceSource, EvidenceTerm, UnitEvidence
from crowdlogic.learning.saved_run import Run
from crowdlogic.reporting.pages.rules import VERDICT_ORDER, strongest_rule
from crowdlogic.reporting.report import Report
from crowdlogic.rules.audit import Outcome, RuleVerdict


def test_rules_that_contradict_come_first_and_flips_are_changes_of_the_answer(run: Run, run_report: Report) -> None:
    before, after = run.record.views["q_a"].argmax(axis=1), run.record.estimate.answer
    gold = run.record.corpus.gold
    flipped = np.flatnonzero(before != after)

    found = run_report.pages["rules"]

    assert found.n_flips == len(flipped) > 0
    assert found.flips_right == int((after[flipped] == gold[flipped]).sum())
    assert found.flips_wrong == int((before[flipped] == gold[flipped]).sum())
    assert {flip.item for flip in found.flips} <= {run.record.corpus.items[int(i)] for i in flipped}
    places = [VERDICT_ORDER.index(Outcome(row.verdict)) for row in found.rows]
    assert places == sorted(places)
    assert {row.rule for row in found.rows} == {one.rule for one in run.audit}
    for row in found.rows:
        assert all(flip.rule == row.rule and flip.bits > 0 for flip in row.examples)
    assert sum(len(row.examples) for row in found.rows) > 0


def test_the_page_of_rules_and_the_page_of_labels_have_the_same_answer(run: Run, run_report: Report) -> None:
    answer = dict(zip(run.estimate.items.to_list(), run.estimate.answer_names(), strict=True))
    without, wanted = (run.record.views[view].argmax(axis=1) for view in ("q_a", "q_b"))
    resisted = (without != wanted) & (without == run.estimate.answer)

    found = run_report.pages["rules"]

    assert found.flips
    assert all(flip.after == answer[flip.item] != flip.before for flip in found.flips)
    assert found.n_resisted == resisted.sum()


def verdict_on(rule: str) -> RuleVerdict:
    return RuleVerdict(
        rule=rule, place="r:1:1", weight=1.0, new_weight=1.0, groundings=9, units=9, coverage=0.1, informed=9,
        holds=0.9, low=0.8, high=0.95, chance=0.5, lift=2.0, lift_error=0.5, best_gain=3.0, gain=2.0, gain_error=1.0,
        gold_cases=0, gold_holds=float("nan"), by_gold=False, outcome=Outcome.helps,
    )  # fmt: skip


def evidence(*bits: tuple[str, float]) -> UnitEvidence:
    terms = tuple(EvidenceTerm(source=EvidenceSource.rule, name=name, bits=one) for name, one in bits)
    return UnitEvidence(token=None, answer="x", rival="y", terms=terms, bits=0.0)


def test_the_strongest_rule_is_the_one_that_pushed_most_towards_the_new_answer() -> None:
    two = [verdict_on("1.0: a"), verdict_on("1.0: b")]
    found = evidence(("1.0: a", 0.5), ("0.2: b", -2.0))

    assert strongest_rule(found, "y", "x", two) == ("1.0: a", 0.5)
    assert strongest_rule(found, "x", "y", two) == ("1.0: b", 2.0)
    assert strongest_rule(found, "x", "z", two) == (None, None)
    assert strongest_rule(None, "x", "y", two) == (None, None)
    assert strongest_rule(None, "x", "y", two[:1]) == ("1.0: a", None)
