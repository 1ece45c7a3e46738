"""Rules: the audit in words, and the answers that the rules changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.learning.saved_run import Run
from crowdlogic.report.evidence import AnswerEvidence, EvidenceSource, EvidenceTerm
from crowdlogic.report.pages.rules.computation import explain_verdict, gold_verdict, strongest_rule
from crowdlogic.report.report import Report
from crowdlogic.rules.audit import RuleAudit, Verdict


def test_rules_that_contradict_come_first_and_flips_are_changes_of_the_answer(run: Run, run_report: Report) -> None:
    before, after = run.record.views["q_a"].argmax(axis=1), run.record.estimate.answer
    gold = run.record.corpus.gold
    flipped = np.flatnonzero(before != after)

    found = run_report.pages["rules"]

    assert found.n_flips == len(flipped) > 0
    assert found.flips_right == int((after[flipped] == gold[flipped]).sum())
    assert found.flips_wrong == int((before[flipped] == gold[flipped]).sum())
    assert {flip.item for flip in found.flips} <= {run.record.corpus.items[int(i)] for i in flipped}
    order = [Verdict.contradicts, Verdict.helps, Verdict.neutral]
    places = [order.index(Verdict(row.verdict)) for row in found.rows]
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
    assert found.n_resisted == resisted.sum() > 0


def audited(**changes: object) -> RuleAudit:
    base = RuleAudit(
        rule="r",
        place="f:1",
        groundings=10,
        units=10,
        coverage=0.1,
        applications=10.0,
        satisfaction=0.9,
        low=0.7,
        high=0.99,
        chance=0.5,
        moved=3.0,
        flipped=4,
        flipped_right=None,
        flipped_wrong=None,
        verdict=Verdict.helps,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def test_verdicts_in_words() -> None:
    assert explain_verdict(audited()) == (
        "Keep it: it holds in 90% of the cases where it applies (50% by chance), and on its own it would "
        "change 4 answers."
    )
    assert explain_verdict(
        audited(verdict=Verdict.contradicts, satisfaction=0.2, flipped_right=1, flipped_wrong=3)
    ) == (
        "Drop it, or correct it: it holds in 20% of the cases where it applies (50% by chance), and on its own it "
        "would change 4 answers: by gold 1 from wrong to right and 3 from right to wrong."
    )
    assert explain_verdict(audited(verdict=Verdict.neutral, flipped=0)) == (
        "It makes no difference here: it holds in 90% of the cases where it applies (50% by chance), and on its own it would change no "
        "answer."
    )
    assert explain_verdict(audited(groundings=0)).startswith("It says nothing here")
    assert explain_verdict(audited(satisfaction=float("nan"))).startswith("It never applies here")


def test_gold_is_heard_against_a_rule_that_the_crowd_agrees_with() -> None:
    alone = explain_verdict(audited(flipped=20, flipped_right=2, flipped_wrong=18))
    among = explain_verdict(audited(flipped=20), (4, 7))

    assert alone == (
        "Gold speaks against it, though the crowd agrees: it holds in 90% of the cases where it applies (50% by chance), "
        "and on its own it would change 20 answers: by gold 2 from wrong to right and 18 from right to wrong. Look at what it changes before you keep it."
    )
    assert among == (
        "Gold rather speaks against it, though the crowd agrees: it holds in 90% of the cases where it applies (50% by "
        "chance), and on its own it would change 20 answers. Among the answers that changed, those that it pushed most "
        "are right by gold in 4 cases and were right before in 7. Look at what it changes before you keep it."
    )
    assert [gold_verdict(one) for one in ((2, 18), (4, 7), (5, 5), (None, None))] == [
        "against",
        "rather against",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("wrong", "verdict"), [(30, None), (31, "rather against"), (47, "rather against"), (48, "against")]
)
def test_gold_is_against_a_rule_beyond_two_standard_errors(wrong: int, verdict: str | None) -> None:
    # Against 30 right ones: 47 - 30 = 17 is less than 2 sqrt(77) = 17.55, 48 - 30 = 18 is more than 2 sqrt(78) = 17.66.
    assert gold_verdict((30, wrong)) == verdict


def evidence(*bits: tuple[str, float]) -> AnswerEvidence:
    terms = tuple(EvidenceTerm(source=EvidenceSource.rule, name=name, bits=one) for name, one in bits)
    return AnswerEvidence(
        token=None,
        answer="x",
        rival="y",
        crowd=(),
        crowd_bits=0.0,
        rules=terms,
        from_classifier=False,
        rules_bits=0.0,
        k=0.5,
        bits=0.0,
        is_exact=True,
    )


def test_the_strongest_rule_is_the_one_that_pushed_most_towards_the_new_answer() -> None:
    two = [audited(rule="a"), audited(rule="b")]
    found = evidence(("a", 0.5), ("b", -2.0))

    assert strongest_rule(found, "y", "x", two) == ("a", 0.5)
    assert strongest_rule(found, "x", "y", two) == ("b", 2.0)
    assert strongest_rule(found, "x", "z", two) == (None, None)
    assert strongest_rule(None, "x", "y", two) == (None, None)
    assert strongest_rule(None, "x", "y", two[:1]) == ("a", None)
