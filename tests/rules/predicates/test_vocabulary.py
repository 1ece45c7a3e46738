"""Predicates from tables and from Python."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from crowdlogic import registry
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import OptionError, RuleError
from crowdlogic.registry import PREDICATES
from crowdlogic.rules.grounding import GroundRules, ground_rules
from crowdlogic.rules.parser import parse_rules, read_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import truth_predicate
from crowdlogic.rules.projection.projector import Projector

CLASSES = ("neg", "pos")
TEXTS = documents(["a", "b", "c"], ["GOOD but bad", "fine", "so so"])


def ground(text: str, vocabulary: Vocabulary | None = None) -> GroundRules:
    return ground_rules(parse_rules(text), TEXTS, CLASSES, vocabulary=vocabulary)


def units(found: GroundRules) -> list[int]:
    return [int(i) for i in found.rules[0].units]


def test_a_function_registered_by_decorator_is_a_predicate() -> None:
    vocabulary = Vocabulary()

    @vocabulary.predicate("Shouting")
    def shouting(texts: list[str]) -> list[float]:
        return [sum(c.isupper() for c in text) / len(text) for text in texts]

    found = ground("1: shouting(S) -> Label(S, 'pos')", vocabulary)

    q_b = Projector(strength=3.0).project(np.full((3, 2), 0.5), found).q_b
    share = 4 / len("GOOD but bad")
    np.testing.assert_allclose(q_b[0, 0] / q_b[0, 1], np.exp(-3 * share), rtol=1e-12)
    np.testing.assert_allclose(q_b[1:], 0.5)


def test_constants_are_handed_to_the_function() -> None:
    vocabulary = Vocabulary()
    vocabulary.predicate("LongerThan", constants=1)(lambda texts, limit: [len(t) > int(limit) for t in texts])

    assert units(ground("1: LongerThan(S, '4') -> Label(S, 'pos')", vocabulary)) == [0, 2]


def test_a_function_can_derive_a_text() -> None:
    vocabulary = Vocabulary()
    vocabulary.derived("LastWord")(lambda texts: [t.split()[-1] if " " in t else None for t in texts])

    found = ground("1: Label(S, C) & LastWord(S, B) -> Predicted(B, C)", vocabulary)

    assert found.texts == ("bad", "so")


def test_functions_of_derived_texts_see_the_derived_text() -> None:
    found = ground("1: Label(S, C) & After(S, 'but', B) & Contains(B, 'bad') -> Predicted(B, C)")
    none = ground("1: Label(S, C) & After(S, 'but', B) & Contains(B, 'good') -> Predicted(B, C)")
    without = ground("1: Label(S, C) & After(S, 'but', B) & !Contains(B, 'bad') -> Predicted(B, C)")

    assert (found.count, none.count, without.count) == (2, 0, 0)


def test_only_the_texts_that_are_asked_about_are_predicted() -> None:
    corpus = documents(["a", "b", "c"], ["x but plain", "x but bad", "x but so bad"])
    rule = "1: Label(S, C) & After(S, 'but', B) & Contains(B, 'bad') -> Predicted(B, C)"

    found = ground_rules(parse_rules(rule), corpus, CLASSES)
    q_b = Projector().project(np.full((3, 2), 0.5), found, predict=lambda texts: np.array([[0.9, 0.1], [0.2, 0.8]])).q_b

    assert found.texts == ("bad", "so bad")
    assert q_b.argmax(axis=1).tolist() == [0, 0, 1]
    np.testing.assert_allclose(q_b[0], 0.5)


def test_a_clause_of_a_clause() -> None:
    corpus = documents(["a"], ["bad but good however dull"])

    found = ground_rules(
        parse_rules("1: Label(S, C) & After(S, 'but', B) & Before(B, 'however', D) -> Predicted(D, C)"), corpus, CLASSES
    )

    assert found.texts == ("good",)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([0.5], "Odd gave 1 answer for 3 texts. Return one answer for each text."),
        ([0.5, 2.0, 0.1], "Odd returned a truth value outside [0, 1]. Scale the values."),
        ([0.5, None, 0.1], "Odd returned a truth value outside [0, 1]. Scale the values."),
    ],
)
def test_a_function_that_answers_wrongly_is_refused(answer: list[float], message: str) -> None:
    vocabulary = Vocabulary()
    vocabulary.predicate("Odd")(lambda texts: answer)

    with pytest.raises(RuleError) as caught:
        ground("1: Odd(S) -> Label(S, 'pos')", vocabulary)

    assert str(caught.value) == f"the rules:1:4: {message}\n    1: Odd(S) -> Label(S, 'pos')\n       ^"


def test_names_must_be_new_and_readable() -> None:
    vocabulary = Vocabulary().table("Similar", pl.DataFrame({"a": ["a"], "b": ["b"]}))

    with pytest.raises(OptionError, match="There is a predicate similar already"):
        vocabulary.table("similar", pl.DataFrame({"a": ["a"]}))
    with pytest.raises(OptionError, match="There is a predicate Label already"):
        vocabulary.predicate("Label")(lambda texts: [])
    with pytest.raises(OptionError, match="'two words' cannot name a predicate"):
        vocabulary.table("two words", pl.DataFrame({"a": ["a"]}))


def test_a_pandas_table_works_and_its_items_are_found_by_name() -> None:
    vocabulary = Vocabulary().table("Liked", pd.DataFrame({"item": ["c", "a"], "truth": [1.0, 0.5]}))

    assert units(ground("1: Liked(S) -> Label(S, 'pos')", vocabulary)) == [0, 2]


@pytest.mark.parametrize("column", ["truth", "value", "Truth", "VALUE"])
def test_the_column_of_truth_values_has_two_names_in_any_case(column: str) -> None:
    vocabulary = Vocabulary().table("Liked", pl.DataFrame({"item": ["c", "a"], column: [1.0, 0.5]}))

    found = ground("1: Liked(S) -> Label(S, 'pos')", vocabulary)

    q_b = Projector(strength=2.0).project(np.full((3, 2), 0.5), found).q_b
    np.testing.assert_allclose(q_b[:, 0] / q_b[:, 1], np.exp([-1.0, 0.0, -2.0]), rtol=1e-12)


def test_facts_about_items_that_are_not_here_are_left_out_and_counted() -> None:
    vocabulary = Vocabulary().table("Liked", pl.DataFrame({"item": ["c", "zz", "yy"]}))

    found = ground("1: Liked(S) -> Label(S, 'pos')", vocabulary)

    assert units(found) == [2]
    assert [one.what for one in found.notices] == [
        "the table of Liked: 2 of 3 facts are about items that are not here, such as 'zz', and were left out (here are a, b, c, ...)."
    ]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pl.DataFrame({"a": ["a", "b"], "truth": [1.0, 1.5]}),
            "the table of P, row 1: truth is 1.5. Truth values must lie between 0 and 1.",
        ),
        (
            pl.DataFrame({"a": ["a", "b"], "truth": ["1", "x"]}),
            "the table of P, row 1: truth is 'x'. Truth values must lie between 0 and 1.",
        ),
        (pl.DataFrame({"a": ["a", None]}), "the table of P, row 1: no a. Supply every argument of each fact."),
        (
            pl.DataFrame({"truth": [1.0]}),
            "the table of P: P needs one column for each argument of the predicate, found none.",
        ),
    ],
)
def test_a_wrong_table_names_the_row(frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        Vocabulary().table("P", frame)

    assert str(caught.value) == message


def test_a_fact_that_stands_twice_is_refused() -> None:
    vocabulary = Vocabulary().table("Liked", pl.DataFrame({"item": ["a", "b", "a"], "truth": [1.0, 0.5, 0.2]}))

    with pytest.raises(RuleError, match=r"^the table of Liked, row 2: this fact is repeated\. List each fact once\.$"):
        ground("1: Liked(S) -> Label(S, 'pos')", vocabulary)


def test_a_class_that_a_table_misspells_is_refused() -> None:
    vocabulary = Vocabulary().table("Means", pl.DataFrame({"word": ["fine"], "class": ["poss"]}))

    with pytest.raises(
        RuleError, match=r"row 0: 'poss' is not a class\. The classes are neg, pos\. Did you mean 'pos'\?"
    ):
        ground("1: Means(W, C) & Label(S, C) -> Label(S, 'pos')", vocabulary)


def test_tokens_are_named_by_item_and_number() -> None:
    corpus = sentences(["s1", "s2"], [["EU", "rejects"], ["Paris"]])
    vocabulary = Vocabulary().table("Seen", pl.DataFrame({"token": ["s1:2", "s2:1"]}))

    found = ground_rules(
        parse_rules("1: Seen(T) -> Label(T, 'pos')\n1: !Label('s1:1', 'pos')"), corpus, CLASSES, vocabulary=vocabulary
    )

    assert units(found) == [1, 2]
    assert found.rules[1].units.tolist() == [0]


def test_an_item_that_is_not_there_is_refused_with_its_place() -> None:
    with pytest.raises(RuleError) as caught:
        ground("1: !Label('bb', 'pos')")

    assert str(caught.value).splitlines()[0] == "the rules:1:11: there is no item or token 'bb'. Did you mean 'b'?"


def test_words_and_shapes_of_tokens_join_with_tables(tmp_path: Path) -> None:
    (tmp_path / "cities.txt").write_text("Paris\nRome\n")
    (tmp_path / "r.rules").write_text(
        "1: InList(T, 'cities.txt') -> Label(T, 'pos')\n1: Token(T, 'in') -> Label(T, 'neg')\n"
        "1: Token(T, W) & Means(W, C) -> Label(T, C)\n1: Shape(T, 'Xx') & Matches(T, 'e$') -> Label(T, 'pos')\n"
    )
    corpus = sentences(["s"], [["Paris", "in", "Rome", "June"]])
    vocabulary = Vocabulary().table("Means", pl.DataFrame({"word": ["June", "in"], "class": ["neg", "pos"]}))

    found = ground_rules(read_rules(tmp_path / "r.rules"), corpus, CLASSES, vocabulary=vocabulary)

    assert [rule.units.tolist() for rule in found.rules] == [[0, 2], [1], [1, 3], [2, 3]]


def test_a_word_list_needs_a_rule_file(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="a rule that was not read from a file cannot load a word list"):
        ground("1: InList(S, 'cities.txt') -> Label(S, 'pos')")


def test_a_bad_pattern_is_pointed_at() -> None:
    with pytest.raises(RuleError) as caught:
        ground("1: Matches(S, '(a') -> Label(S, 'pos')")

    assert str(caught.value) == (
        "the rules:1:4: the pattern '(a' cannot be used: unclosed group.\n"
        "    1: Matches(S, '(a') -> Label(S, 'pos')\n       ^"
    )


def test_a_copy_is_added_to_alone() -> None:
    first = Vocabulary().table("Near", pl.DataFrame({"a": ["x"]}))

    other = first.copy().table("Far", pl.DataFrame({"a": ["y"]}))

    assert first.find("Far") is None
    assert other.find("Near") == first.find("Near")
    assert set(other.tables) == {"near", "far"}


def test_every_predicate_of_the_registry_is_found_by_its_name_in_any_case() -> None:
    for name in PREDICATES:
        found = Vocabulary().find(name.upper())

        assert found is not None
        assert found.name == name
        assert found.example.startswith(f"{name}(")
        assert found.meaning


def shouting(texts: list[str]) -> list[float]:
    return [float(text.isupper()) for text in texts]


SHOUTING = truth_predicate("Shouting", shouting)


def test_another_package_adds_a_predicate(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("Shouting", f"{__name__}:SHOUTING", "crowdlogic.predicates")
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == point.group else [])
    monkeypatch.delitem(PREDICATES.__dict__, "_places", raising=False)
    corpus = documents(["a", "b"], ["NO", "no"])
    try:
        found = ground_rules(parse_rules("1: shouting(S) -> Label(S, 'pos')"), corpus, CLASSES)
        hint = Vocabulary().hint("Shoutin")
    finally:
        PREDICATES.__dict__.pop("_places")

    assert units(found) == [0]
    assert hint == " Did you mean 'Shouting'?"


def test_an_entry_that_is_no_predicate_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PREDICATES._places, "Odd", "statistics:mean")

    with pytest.raises(OptionError, match=r"^The entry 'Odd' of crowdlogic\.predicates is not a Predicate\.$"):
        Vocabulary().find("odd")
