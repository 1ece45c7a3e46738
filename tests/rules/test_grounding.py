"""Grounding: what is joined, counted, refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import RuleError
from crowdlogic.rules.grounding import GroundRules, ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.relations import NOTHING_JOINED, Relation, join, look_up, row_keys, row_limit
from crowdlogic.rules.soft import conjunction, disjunction, negation

CLASSES = ("x", "y", "z")


def linked(pairs: list[tuple[str, str]], text: str, n: int = 4, **options: int) -> GroundRules:
    frame = pl.DataFrame(pairs, schema={"a": pl.String, "b": pl.String}, orient="row")
    corpus = documents([f"u{i}" for i in range(n)], ["t"] * n)
    vocabulary = Vocabulary().table("Similar", frame)
    return ground_rules(parse_rules(text, source="r"), corpus, CLASSES, vocabulary=vocabulary, **options)


def pairs_of(found: GroundRules) -> list[tuple[int, int]]:
    blocks = [block for rule in found.rules for block in rule.blocks if block.second is not None]
    return sorted((int(a), int(b)) for block in blocks for a, b in zip(block.first, block.second, strict=True))


def test_a_path_of_two_links_is_a_pair_of_its_ends() -> None:
    found = linked(
        [("u0", "u1"), ("u1", "u2"), ("u1", "u3")], "1: Similar(A, B) & Similar(B, D) & Label(A, C) -> Label(D, C)"
    )

    assert pairs_of(found) == [(0, 2), (0, 3)]


def test_the_earlier_unit_comes_first_and_the_table_turns_with_it() -> None:
    found = linked([("u2", "u1"), ("u0", "u3")], "1: Similar(A, B) & Label(A, 'x') -> Label(B, 'y')")

    blocks = {int(block.first[0]): block.violations[0] for block in found.rules[0].blocks}
    forward, turned = (np.maximum(0, blocks[i].table[:, 0] + blocks[i].base).reshape(3, 3) for i in (0, 1))
    np.testing.assert_array_equal(forward, [[1, 0, 1], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(turned, forward.T)


def test_a_grounding_that_meets_a_unit_twice_is_about_one_unit() -> None:
    found = linked([("u0", "u0"), ("u0", "u1")], "1: Similar(A, B) & Label(A, 'x') -> Label(B, 'y')")

    assert pairs_of(found) == [(0, 1)]
    assert [block.first.tolist() for block in found.rules[0].blocks if block.second is None] == [[0]]


def test_three_units_are_refused_and_named() -> None:
    text = "1: Similar(A, B) & Similar(B, D) & Label(A, C) & Label(B, C) -> Label(D, C)"

    with pytest.raises(RuleError) as caught:
        linked([("u0", "u1"), ("u1", "u2")], text)

    assert str(caught.value) == (
        "r:1:1: one grounding of this rule is about the labels of u0, u1, u2: three units or more. Only rules over the "
        f"labels of one or two units can be projected; write it as rules over pairs.\n    {text}\n    ^"
    )


def test_three_variables_over_two_units_are_fine() -> None:
    found = linked(
        [("u0", "u1"), ("u1", "u0")], "1: Similar(A, B) & Similar(B, D) & Label(A, C) & Label(B, C) -> Label(D, C)"
    )

    assert pairs_of(found) == [(0, 1), (0, 1)]


def test_the_size_is_counted_before_rows_are_made() -> None:
    with pytest.raises(RuleError) as caught:
        linked([], "1: Label(A, C) -> Label(B, 'x') | !Label(B, C)", n=2000, max_rows=1_000_000)

    assert str(caught.value) == (
        "1.0: Label(A, C) -> Label(B, 'x') | !Label(B, C) would ground to 4,000,000 rows, and the limit is 1,000,000. "
        "Add an atom that binds its variables more tightly, or raise the limit (max_rows)."
    )


def test_a_join_that_explodes_is_refused_before_it_does() -> None:
    hub = [("u0", f"u{n}") for n in range(1, 2001)]

    with pytest.raises(RuleError, match=r"would ground to 4,000,000 rows"):
        linked(hub, "1: Similar(H, A) & Similar(H, B) & Label(A, C) -> Label(B, C)", n=2001, max_rows=100_000)


def test_pairs_of_a_long_sequence_are_counted_first() -> None:
    corpus = sentences(["s"], [["a"] * 5000])

    with pytest.raises(RuleError, match=r"SameSequence has 24,995,000 pairs here, and the limit is 1,000,000"):
        ground_rules(
            parse_rules("1: SameSequence(A, B) & Label(A, C) -> Label(B, C)"), corpus, CLASSES, max_rows=1_000_000
        )


def test_same_sequence_is_every_pair_of_different_tokens() -> None:
    corpus = sentences(["s", "t", "u"], [["a", "b", "c"], ["d"], ["e", "f"]])

    found = ground_rules(parse_rules("1: SameSequence(A, B) & Label(A, 'x') -> Label(B, 'x')"), corpus, CLASSES)

    assert pairs_of(found) == sorted([(0, 1), (0, 2), (1, 2), (4, 5)] * 2)


def test_many_class_variables_over_many_classes_are_refused() -> None:
    names = tuple(f"c{n}" for n in range(100))
    corpus = documents(["u0", "u1"], ["t", "t"])

    with pytest.raises(RuleError, match=r"100 classes make a table of 100,000,000 cells for this rule"):
        ground_rules(parse_rules("1: Label(A, C) & Label(B, D) & A != B -> Predicted(A, D)"), corpus, names)


@pytest.mark.parametrize(("variables", "cells"), [(20, f"{3**20 * 20:,}"), (9000, "over 10^15")])
def test_class_variables_are_counted_before_their_assignments_are_made(variables: int, cells: str) -> None:
    body = " & ".join(f"Label(S, C{n})" for n in range(variables))
    text = f"1: {body} -> Label(S, 'x')"

    with pytest.raises(RuleError) as caught:
        ground_rules(parse_rules(text, source="r"), documents(["u"], ["t"]), CLASSES)

    assert str(caught.value).splitlines()[0] == (
        f"r:1:1: 3 classes make a table of {cells} cells for this rule, and the limit is 20,000,000. "
        f"Use fewer class variables."
    )


def test_a_single_class_has_one_assignment_of_any_number_of_variables() -> None:
    text = f"1: {' & '.join(f'Label(S, C{n})' for n in range(70))} & Similar(S, T) -> Label(T, 'x')"
    vocabulary = Vocabulary().table("Similar", pl.DataFrame({"a": ["u"], "b": ["v"]}))

    found = ground_rules(parse_rules(text), documents(["u", "v"], ["t"] * 2), ("x",), vocabulary=vocabulary)

    assert found.count == 1


def test_groundings_that_no_labelling_can_violate_are_left_out() -> None:
    frame = pl.DataFrame({"a": ["u0", "u1", "u2"], "truth": [0.0, 1.0, 0.5]})
    vocabulary = Vocabulary().table("Tagged", frame)
    corpus = documents(["u0", "u1", "u2"], ["t"] * 3)

    found = ground_rules(
        parse_rules("1: Tagged(S) -> Label(S, 'x')\n1: Label(S, 'x') -> Tagged(S)"),
        corpus,
        CLASSES,
        vocabulary=vocabulary,
    )

    assert [rule.units.tolist() for rule in found.rules] == [[1, 2], [0, 2]]


def test_a_hard_rule_over_soft_facts_is_refused() -> None:
    frame = pl.DataFrame({"a": ["u0"], "truth": [0.5]})

    with pytest.raises(RuleError) as caught:
        ground_rules(
            parse_rules("Tagged(S) -> Label(S, 'x') ."),
            documents(["u0"], ["t"]),
            CLASSES,
            vocabulary=Vocabulary().table("Tagged", frame),
        )

    assert str(caught.value) == (
        "the rules:1:1: a hard rule needs evidence that is true or false, and Tagged holds truth values in between. "
        "Give the rule a weight.\n    Tagged(S) -> Label(S, 'x') .\n    ^"
    )


def test_groundings_are_counted_over_class_variables() -> None:
    found = linked([("u0", "u1")], "1: Similar(A, B) & Label(A, C) & Label(B, D) & C != D -> Predicted(A, D)")

    assert found.count == 6
    assert found.asks_units


def test_an_empty_corpus_grounds_to_nothing() -> None:
    found = ground_rules(parse_rules("include bio('X')"), sentences([], []), ("B-X", "I-X", "O"))

    assert found.count == 0


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_join_equals_the_nested_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns_left, columns_right = [str(n) for n in rng.permutation(4)[:2]], [str(n) for n in rng.permutation(4)[:2]]
    left = Relation({n: rng.integers(0, 3, size=6) for n in columns_left}, 6, {0: rng.random(6)})
    right = Relation({n: rng.integers(0, 3, size=5) for n in columns_right}, 5, {1: rng.random(5)})
    shared = [name for name in columns_left if name in columns_right]

    found = join(left, right, row_limit("rule", 100))

    expected = sorted(
        (left.truths[0][a], right.truths[1][b])
        for a in range(6)
        for b in range(5)
        if all(left.columns[n][a] == right.columns[n][b] for n in shared)
    )
    assert sorted(zip(found.truths[0], found.truths[1], strict=True)) == expected
    assert found.size == len(expected)
    assert set(found.columns) == {*columns_left, *columns_right}


def test_a_join_begins_with_nothing() -> None:
    relation = Relation({"a": np.arange(3)}, 3)

    assert join(NOTHING_JOINED, relation, row_limit("rule", 10)) is relation


def test_keys_of_wide_columns_do_not_overflow() -> None:
    big = np.array([2**40, 2**40, 7])
    left, right = row_keys([big, big, np.array([1, 2, 1])], [big, big, np.array([1, 2, 2])])

    assert (left == right).tolist() == [True, True, False]


def test_what_is_not_listed_is_false() -> None:
    found = look_up(
        [np.array([3, 1]), np.array([0, 5])], np.array([0.5, 0.25]), [np.array([1, 3, 3]), np.array([5, 5, 0])]
    )

    assert found.tolist() == [0.25, 0.0, 0.5]


def test_the_connectives_are_lukasiewicz() -> None:
    a, b = np.array([1.0, 0.9, 0.4]), np.array([0.9, 0.5, 0.3])

    np.testing.assert_allclose(conjunction(a, b), [0.9, 0.4, 0.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(disjunction(a, b), [1.0, 1.0, 0.7], rtol=0, atol=1e-12)
    np.testing.assert_allclose(negation(a), [0.0, 0.1, 0.6], rtol=0, atol=1e-12)
