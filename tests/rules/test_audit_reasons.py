"""The verdict on a rule in a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crowdlogic.rules.audit import RuleAudit, Verdict, explain_verdict, gold_verdict, rule_table, weight_of


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
        "Keep it: it holds in 90% of the cases where it applies (50% by chance), and by itself it would "
        "change 4 answers of classifier and crowd."
    )
    assert explain_verdict(
        audited(verdict=Verdict.contradicts, satisfaction=0.2, flipped_right=1, flipped_wrong=3)
    ) == (
        "Drop it, or correct it: it holds in 20% of the cases where it applies (50% by chance), and by itself it "
        "would change 4 answers of classifier and crowd: by gold 1 from wrong to right and 3 from right to wrong."
    )
    assert explain_verdict(audited(verdict=Verdict.neutral, flipped=0)) == (
        "The crowd agrees with it, and is so sure already that it makes no difference here: it holds in 90% of the cases "
        "where it applies (50% by chance), and by itself it would change no answer of classifier and crowd."
    )
    assert explain_verdict(audited(groundings=0)).startswith("It says nothing here")
    assert explain_verdict(audited(satisfaction=float("nan"))).startswith("It never applies here")


def test_gold_is_heard_against_a_rule_that_the_crowd_agrees_with() -> None:
    alone = explain_verdict(audited(flipped=20, flipped_right=2, flipped_wrong=18))
    among = explain_verdict(audited(flipped=20), (4, 7))

    assert alone == (
        "Gold speaks against it, though the crowd agrees: it holds in 90% of the cases where it applies (50% by chance), "
        "and by itself it would change 20 answers of classifier and crowd: by gold 2 from wrong to right and 18 from right to wrong. Look at what it changes before you keep it."
    )
    assert among == (
        "Gold rather speaks against it, though the crowd agrees: it holds in 90% of the cases where it applies (50% by "
        "chance), and by itself it would change 20 answers of classifier and crowd. Among the answers that changed, those that it pushed most "
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


def test_a_neutral_rule_says_why_it_is_neutral() -> None:
    sure = explain_verdict(audited(verdict=Verdict.neutral, flipped=0))
    few = explain_verdict(audited(verdict=Verdict.neutral, low=0.42, high=0.9, satisfaction=0.7, flipped=1))
    lifted = explain_verdict(audited(verdict=Verdict.neutral, low=0.2, high=0.4, satisfaction=0.3, chance=0.01))

    assert sure.startswith(
        "The crowd agrees with it, and is so sure already that it makes no difference here: it holds"
    )
    assert few == (
        "Its 10 cases cannot tell whether the crowd agrees (with 42% to 90% of such): it holds in 70% of the cases where "
        "it applies (50% by chance), and by itself it would change 1 answer of classifier and crowd. Look at what it changes before you rely on "
        "it."
    )
    assert lifted.startswith("It holds less often than not, but far more often than by chance: it holds in 30%")


def test_a_good_rule_whose_weight_was_learnt_as_zero_is_told_from_one_that_does_nothing() -> None:
    off = audited(rule="0.0: Contains(S, 'x') -> Label(S, 'y')", verdict=Verdict.neutral, flipped=0)

    assert explain_verdict(off).startswith(
        "Its weight is 0, so it changes nothing, though the crowd agrees with it (a learnt weight is 0 where a rule does "
        "not help to foretell labels that were held out): it holds in 90%"
    )


def test_the_weight_of_a_rule_is_read_from_its_text() -> None:
    texts = ("0.5: A(S) -> B(S)", "A(S) -> Label(S, 'x') .", "A(S, 'a:b') -> Label(S, 'x') .")

    assert [weight_of(audited(rule=text)) for text in texts] == [0.5, None, None]


def test_the_table_has_a_row_for_each_rule_and_the_verdict_in_words() -> None:
    table = rule_table([audited(), audited(rule="s", verdict=Verdict.contradicts, flipped_right=1, flipped_wrong=3)])

    assert table["verdict"].to_list() == ["helps", "contradicts the crowd"]
    assert table["made_wrong"].to_list() == [None, 3]
    assert table["reason"][0] == explain_verdict(audited())
    assert rule_table([]).columns == table.columns
