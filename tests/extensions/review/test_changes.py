"""What a re-fit changed, in a sentence."""

from __future__ import annotations

from crowdlogic.extensions.review.snapshot import (
    AnnotatorStanding,
    ContradictedRule,
    NewFlag,
    RefitChanges,
    contradicted_rules,
    new_flags,
)

BUT = "1: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"


def standing(name: str, flag: str, n_labels: int = 10) -> AnnotatorStanding:
    return AnnotatorStanding(name=name, n_labels=n_labels, reliability=0.5, low=0.4, high=0.6, flag=flag)


def test_the_sentence_says_it_all() -> None:
    changes = RefitChanges(
        decisions=12,
        changed=87,
        mistakes_before=410.2,
        mistakes_after=329.9,
        flags=(NewFlag(annotator="ann", before="ok", after="careless"),),
        rules=(ContradictedRule(rule=BUT, against=3, decisions=4),),
    )

    assert changes.sentence == (
        "12 decisions changed 87 other answers; expected mistakes among the answers left 410 → 330; ann is now 'careless'; "
        "the rule about 'but' contradicts 3 of 4 decisions."
    )


def test_a_sentence_names_a_few_and_counts_the_rest() -> None:
    flags = tuple(NewFlag(annotator=f"w{n}", before="spammer", after="ok") for n in range(5))

    sentence = RefitChanges(decisions=1, changed=1, mistakes_before=2, mistakes_after=1, flags=flags).sentence

    assert sentence == (
        "1 decision changed 1 other answer; expected mistakes among the answers left 2 → 1; w0 is no longer 'spammer'; "
        "w1 is no longer 'spammer'; w2 is no longer 'spammer'; 2 more annotators have new flags."
    )


def test_a_rise_of_the_expected_mistakes_is_explained() -> None:
    sentence = RefitChanges(decisions=10, changed=0, mistakes_before=30.1, mistakes_after=31.2).sentence

    assert sentence == (
        "10 decisions changed 0 other answers; expected mistakes among the answers left 30 → 31 (more, because "
        "your decisions lowered the estimated reliability of the annotators)."
    )


def test_a_rise_that_is_not_shown_is_not_explained() -> None:
    sentence = RefitChanges(decisions=10, changed=0, mistakes_before=30.1, mistakes_after=30.4).sentence

    assert sentence.endswith("expected mistakes among the answers left 30 → 30.")


def test_annotators_who_stand_otherwise_are_found() -> None:
    before = [standing("a", "ok"), standing("b", "ok", 99), standing("c", "biased")]
    after = [standing("a", "careless"), standing("b", "spammer", 99), standing("c", "biased")]

    assert new_flags(before, after) == (
        NewFlag(annotator="b", before="ok", after="spammer"),
        NewFlag(annotator="a", before="ok", after="careless"),
    )


def test_a_rule_is_named_when_it_contradicts_more_than_half_of_enough_decisions() -> None:
    found = contradicted_rules(["a", "b", "c", "d"], [(2, 2), (2, 4), (3, 4), (4, 4)])

    assert [one.rule for one in found] == ["d", "c"]
