"""What variables stand for, and which atoms bind them."""

from __future__ import annotations

import polars as pl
import pytest

from crowdlogic.rules.expansion import binding_atoms, generates, label_units, variable_kinds
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import Kind

WORDS = Vocabulary().table("Near", pl.DataFrame({"a": ["x"], "b": ["y"]}))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Label(S, C) & After(S, 'but', B) -> Predicted(B, C)", {"S": Kind.unit, "C": Kind.label, "B": Kind.text}),
        ("Near(A, B) & Label(A, C) -> Label(B, C)", {"A": Kind.unit, "B": Kind.unit, "C": Kind.label}),
        ("Near(W, C) & Label(S, C) -> Label(S, 'x')", {"W": Kind.name, "C": Kind.label, "S": Kind.unit}),
        ("Contains(S, 'a') -> Label(S, 'x')", {"S": Kind.unit}),
        ("Near(D, E) & Label(S, C) & D == C -> Label(S, 'x')", {"D": Kind.label, "E": Kind.name, "C": Kind.label}),
    ],
)
def test_a_variable_is_of_the_most_specific_kind_of_its_places(text: str, kinds: dict[str, Kind]) -> None:
    (rule,) = parse_rules(f"1: {text}").rules

    found = variable_kinds(rule, WORDS)

    assert kinds.items() <= found.items()


def test_atoms_bind_where_their_truth_is_needed_for_a_violation() -> None:
    (rule,) = parse_rules("1: Near(A, B) & !Near(B, A) -> Label(A, 'x') | !Label(B, 'y')").rules

    assert [str(atom) for atom in binding_atoms(rule)] == ["Near(A, B)", "Label(B, 'y')"]
    assert [generates(atom, WORDS) for atom in binding_atoms(rule)] == [True, False]
    assert [str(term) for term in label_units(rule, WORDS)] == ["A", "B"]
