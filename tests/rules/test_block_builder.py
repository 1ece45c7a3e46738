"""From rows to blocks: units in order, tables, limits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.errors import RuleError
from crowdlogic.rules.grounding import GroundRules, ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary

CLASSES = ("x", "y", "z")


def linked(pairs: list[tuple[str, str]], text: str, n: int = 4, **options: int) -> GroundRules:
    frame = pl.DataFrame(pairs, schema={"a": pl.String, "b": pl.String}, orient="row")
    corpus = documents([f"u{i}" for i in range(n)], ["t"] * n)
    vocabulary = Vocabulary().table("Similar", frame)
    return ground_rules(parse_rules(text, source="r"), corpus, CLASSES, vocabulary=vocabulary, **options)


def pairs_of(found: GroundRules) -> list[tuple[int, int]]:
    blocks = [block for rule in found.rules for block in rule.blocks if block.second is not None]
    return sorted((int(a), int(b)) for block in blocks for a, b in zip(block.first, block.second, strict=True))


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


def test_many_class_variables_over_many_classes_are_refused() -> None:
    names = tuple(f"c{n}" for n in range(100))
    corpus = documents(["u0", "u1"], ["t", "t"])

    with pytest.raises(RuleError, match=r"100 classes make a table of 100,000,000 cells for this rule"):
        ground_rules(parse_rules("1: Label(A, C) & Label(B, D) & A != B -> Predicted(A, D)"), corpus, names)


@pytest.mark.parametrize(("variables", "cells"), [(20, f"{3**20 * 20:,}"), (1000, "over 10^15")])
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
        "the rules:1:1: a hard rule needs evidence that is true or false, but some truth values of Tagged are in "
        "between. Give the rule a weight.\n    Tagged(S) -> Label(S, 'x') .\n    ^"
    )
