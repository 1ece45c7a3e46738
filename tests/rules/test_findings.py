"""Everything that can be wrong with one rule, with its whole message."""

from __future__ import annotations

import time

import polars as pl
import pytest

from crowdlogic.rules.checking import Severity, check, find_problems
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary

CLASSES = ("neg", "pos")


def vocabulary() -> Vocabulary:
    return Vocabulary().table("Similar", pl.DataFrame({"a": ["a"], "b": ["b"], "truth": [0.5]}))


ERRORS = [
    (
        "1: Label(S, C) & Aftr(S, 'but', B) -> Predicted(B, C)",
        18,
        "unknown predicate 'Aftr'. Did you mean 'After'? Or supply its facts: --table Aftr=FILE.",
    ),
    (
        "1: Contains(S, W) -> Label(S, 'neg')",
        16,
        "Contains takes a quoted word here, or a variable that a table of words gives. Write one rule per word, "
        "Contains(S, 'word'); or a table with the columns word and label, given with --table Tone=words.csv: 1.0: "
        "Contains(S, W) & Tone(W, C) -> Label(S, C).",
    ),
    ("1: Label(S, C) & Qwxz(S) -> Label(S, C)", 18, "unknown predicate 'Qwxz'. To bring its facts: --table Qwxz=FILE (in Python Vocabulary().table, or @vocabulary.predicate for a function)."),
    ("1: Label(S) -> Label(S, 'pos')", 4, "Label takes 2 terms (an item or token, a class), not 1."),
    ("1: !Label(S, 'poss')", 14, "'poss' is not a class. Did you mean 'pos'? The classes are neg, pos."),
    ("1: Label(S, C) & C != 'nag' -> Predicted(S, C)", 23, "'nag' is not a class. Did you mean 'neg'? The classes are neg, pos."),
    ("1: Label(S, C) & Label(C, S) -> Predicted(S, C)", 10, "S is an item or token here, and a class elsewhere in this rule."),
    ("1: Label(S, C) & After(S, W, B) -> Predicted(B, C)", 27, "After takes a quoted word here, not a variable."),
    ("1: Label(S, C) & After(S, 'but', 'x') -> Predicted(S, C)", 34, "After gives a text here: write a variable, not a constant."),
    ("1: Label(S, C) & S == C -> Predicted(S, C)", 18, "S == C compares an item or token with a class."),
    ("1: Contains(S, 'x') -> Label(S, C)", 33, "the class C stands in the head alone, so the rule would be violated for every class but one. Bind it in the body, for example with Label(S, C); or quote it, if it is itself a class: 'C'."),
    ("1: Label(S, 'pos')", 10, "S is not bound: it must appear in an atom of the body that is not negated. For a rule about every item, add Matches(S, '.'); about every token, Token(S, W)."),
    ("1: Label(S, C) & !Similar(S, T) -> Predicted(S, C)", 30, "T is not bound: it must appear in an atom of the body that is not negated."),
    ("1: Label(S, C) & Predicted(B, C) -> After(S, 'but', B)", 28, "the text B is derived only under a negation; derive it in the body."),
    ("1: Label(S, 'pos') + Similar(S, +T) <= 1", 34, "a sum such as +T runs over classes only, as in Label(S, +C) = 1."),
    ("1: Label(S, +C) + Predicted(S, C) <= 1", 14, "C is both summed over and bound in this rule."),
    ("Label(S, C) -> Predicted(S, C) .", 16, "a hard rule needs evidence that is true or false; Predicted is in between. Give a weight."),
    ("1: Similar(A, B) -> Similar(B, A)", 1, "this rule does not contain Label, so it has no effect."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message"), ERRORS, ids=[message[:50] for _, _, message in ERRORS])
def test_an_error_is_found_and_pointed_at(text: str, column: int, message: str) -> None:
    (rule,) = parse_rules(text, source="r").rules

    found = [one for one in find_problems(rule, vocabulary(), CLASSES) if one.severity is Severity.error]

    assert str(found[0]) == f"r:1:{column}: {message}\n    {text}\n    {' ' * (column - 1)}^"


def test_hard_rules_of_one_body_and_different_classes_contradict_each_other() -> None:
    rules = (
        "Contains(S, 'a') & Matches(S, 'q') -> Label(S, 'x') .\n"
        "Matches(T, 'q') & Contains(T, 'a') -> Label(T, 'y') .\n"
        "1.0: Contains(S, 'a') & Matches(S, 'q') -> Label(S, 'y')\n"
        "Contains(S, 'b') & Matches(S, 'q') -> Label(S, 'y') .\n"
    )

    (found,) = (one for one in check(rules, classes=("x", "y")) if "contradicts" in one.what)

    assert found.place.line == 2
    assert "this contradicts the rule at the rules:1:1: both are hard" in found.what


def test_a_rule_of_negated_atoms_alone_gets_a_remedy_that_works() -> None:
    (found,) = check("1: !Contains(S, 'a') -> Label(S, 'x')", classes=("x", "y"))

    assert found.what.endswith("add Matches(S, '.'); about every token, Token(S, W).")
    assert check("1: Matches(S, '.') & !Contains(S, 'a') -> Label(S, 'x')", classes=("x", "y")) == []


def test_a_body_of_ten_thousand_atoms_is_checked_in_seconds() -> None:
    body = " & ".join(f"Contains(S, 'w{i}')" for i in range(10_000))
    begin = time.process_time()

    assert check(f"1: {body} -> Label(S, 'x')", classes=("x", "y")) == []

    assert time.process_time() - begin < 15  # 2 s; it was over 45 s when the time was quadratic


def test_a_name_of_any_length_is_shortened_in_messages() -> None:
    (found,) = check(f"1: Contains(S, 'a') -> Label(S, '{'x' * 200_000}')", classes=("x", "y"))

    assert len(str(found)) < 2000
    assert "xxx... is not a class. The classes are x, y" in str(found)
