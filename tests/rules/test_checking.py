"""Rules among each other and over items: oddities, duplicates, contradictions, misfits, with their whole messages."""

from __future__ import annotations

import polars as pl
import pytest

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.errors import RuleError
from crowdlogic.rules import checking
from crowdlogic.rules.checking import check
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary

CLASSES = ("neg", "pos")


TEXTS = documents(["a", "b"], ["good but bad", "fine"])


TOKENS = sentences(["s"], [["EU", "rejects"]])


def vocabulary() -> Vocabulary:
    return Vocabulary().table("Similar", pl.DataFrame({"a": ["a"], "b": ["b"], "truth": [0.5]}))


def said(text: str, corpus: Corpus | None = None, classes: tuple[str, ...] | None = CLASSES) -> list[str]:
    return [
        str(f) for f in check(parse_rules(text, source="r"), classes=classes, vocabulary=vocabulary(), corpus=corpus)
    ]


WARNINGS = [
    ("0: Label(S, C) -> Predicted(S, C)", "r:1:1", "a rule with weight 0 has no effect."),
    ("1: Label(S, 'pos') & Label(S, 'neg') -> Predicted(S, 'pos')", "r:1:22", "this rule is never violated: S cannot be 'pos' and 'neg' at once."),
    ("1: Label(S, C) & Similar(S, T) -> Label(S, C)", "r:1:1", "this always holds: Label(S, C) stands on both sides."),
    ("Label(S, +C) = 1 .", "r:1:1", "this always holds, because every unit has exactly one class."),
    ("1: Label(S, C) & Similar(S, T) -> Label(T, C)\n2: similar(A, B) & Label(A, K) -> Label(B, K)", "r:2:1", "this is equivalent to the rule at r:1:1, so it counts twice."),
    ("1: Contains(S, 'bad') -> Label(S, 'pos')\n1: Contains(T, 'bad') -> !Label(T, 'pos')", "r:2:1", "this contradicts the rule at r:1:1: the same body, the opposite head."),
    ("1: Contains(S, 'zebra') -> Label(S, 'pos')", "r:1:1", "this rule never applies: no items make its body true."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "message"), WARNINGS, ids=[message[:50] for _, _, message in WARNINGS])
def test_an_oddity_is_found_and_pointed_at(text: str, place: str, message: str) -> None:
    line, column = (int(part) for part in place.split(":")[1:])

    assert said(text, TEXTS) == [
        f"{place}: warning: {message}\n    {text.splitlines()[line - 1]}\n    {' ' * (column - 1)}^"
    ]


MISFITS = [
    ("1: Label(T, C) & Previous(T, P) -> Label(P, C)", TEXTS, 18, "Previous is about tokens; the items here are documents."),
    ("1: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)", TOKENS, 18, "After is about documents; the items here are tokens."),
    ("1: Contains(S, 'x') -> Label(S, 'pos')", documents(["a"], features=None), 4, "Contains reads the text, and these items have none."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "corpus", "column", "message"), MISFITS, ids=[m[3] for m in MISFITS])
def test_a_rule_that_does_not_fit_the_items_is_found(text: str, corpus: Corpus, column: int, message: str) -> None:
    assert said(text, corpus)[0] == f"r:1:{column}: {message}\n    {text}\n    {' ' * (column - 1)}^"


def test_predicted_on_a_derived_text_needs_documents() -> None:
    words = vocabulary()
    words.derived("Stem")(lambda texts: [text[:3] for text in texts])

    found = check(
        parse_rules("1: Label(T, C) & Stem(T, B) -> Predicted(B, C)"), classes=CLASSES, vocabulary=words, corpus=TOKENS
    )

    assert found[0].what == "Predicted on a derived text needs documents; the items here are tokens."


def test_good_rules_have_no_findings() -> None:
    text = "include contrast('but')\n0.5: Similar(A, B) & Label(A, C) -> Label(B, C)\n0.1: !Label(S, 'neg')"

    assert said(text, TEXTS) == []
    assert said(text, classes=None) == []


def test_rules_that_differ_are_no_duplicates() -> None:
    text = (
        "1: Similar(A, B) & Label(A, C) -> Label(B, C)\n1: Similar(A, B) & Label(B, C) -> Label(A, C)\n"
        "1: Contains(S, 'a') -> Label(S, 'pos')\n1: Contains(S, 'b') -> !Label(S, 'pos')"
    )

    assert said(text) == []


def test_a_squared_distance_is_another_rule_but_contradicts_all_the_same() -> None:
    plain = "1: Contains(S, 'a') -> Label(S, 'pos')\n"

    assert said(plain + "1: Contains(S, 'a') -> Label(S, 'pos') ^2") == []
    assert said("1: Label(S, 'pos') <= 0.5\n1: Label(S, 'pos') <= 0.5 ^2") == []
    assert said(plain + "1: Contains(S, 'a') -> !Label(S, 'pos') ^2")[0].startswith(
        "r:2:1: warning: this contradicts the rule at r:1:1"
    )


def test_many_rules_are_compared_by_their_form_and_not_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    formed = []
    form = checking._canonical_form
    monkeypatch.setattr(checking, "_canonical_form", lambda rule: formed.append(1) or form(rule))
    rules = parse_rules("".join(f"1: Contains(S, 'w{n}') -> Label(S, 'pos')\n" for n in range(60)))

    assert check(rules, classes=CLASSES) == []
    assert len(formed) == 120


def test_grounding_refuses_rules_with_errors_and_counts_them() -> None:
    text = "1: Label(S, 'poss') -> Label(S, 'pos')\n1: Lable(S, 'pos')"

    with pytest.raises(RuleError) as caught:
        ground_rules(parse_rules(text, source="r"), TEXTS, CLASSES)

    assert str(caught.value) == (
        "r:1:13: 'poss' is not a class. Did you mean 'pos'? The classes are neg, pos.\n"
        "    1: Label(S, 'poss') -> Label(S, 'pos')\n"
        "                ^\n"
        "(1 more errors; `crowdlogic rules check` lists them.)"
    )


def test_errors_of_every_rule_are_collected_in_the_order_of_the_file() -> None:
    found = said("1: Lable(S, 'pos')\n1: !Label(S, 'poss')")

    assert [message.splitlines()[0] for message in found] == [
        "r:1:4: unknown predicate 'Lable'. Did you mean 'Label'? Or supply its facts: --table Lable=FILE.",
        "r:2:14: 'poss' is not a class. Did you mean 'pos'? The classes are neg, pos.",
    ]


def test_facts_about_items_that_are_not_here_are_a_warning_with_an_example() -> None:
    pairs = pl.DataFrame({"a": ["d1", "d1"], "b": ["d2", "d9"]})
    corpus = documents(["d1", "d2"], ["one", "two"])

    found = check(
        parse_rules("1: Similar(A, B) & Label(A, C) -> Label(B, C)", source="my.rules"),
        classes=("x", "y"),
        vocabulary=Vocabulary().table("Similar", pairs),
        corpus=corpus,
    )

    assert [str(one).split("\n")[0] for one in found] == [
        "my.rules:1:4: warning: the table of Similar: 1 of 2 facts are about items that are not here, such as 'd9', and "
        "were left out (here are d1, d2, ...)."
    ]
