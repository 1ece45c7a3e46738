"""The syntax tree: rules compare by what they say, and print as they would be written."""

from __future__ import annotations

import pytest

from crowdlogic.rules.expansion import expand
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.syntax import Atom, Constant, IncludedSet, LogicalRule, Place, Variable

HERE = Place("r", 1, 1, "")


@pytest.mark.parametrize("value", ["plain", "it's", "a\\b", "tab\there", "line\nbreak", "return\r", 'say "hi"', "ü"])
def test_a_constant_prints_as_it_is_read(value: str) -> None:
    (rule,) = parse_rules(f"1: Contains(S, {Constant(value, HERE)}) -> Label(S, 'x')").rules

    assert rule.atoms[0].terms[1] == Constant(value, HERE)


def test_the_literals_of_a_rule_are_those_of_its_clause() -> None:
    (rule,) = parse_rules("1: A(X) & !B(X) -> C(X) | !D(X)").rules

    assert isinstance(rule, LogicalRule)
    assert [str(literal) for literal in rule.literals] == ["!A(X)", "B(X)", "C(X)", "!D(X)"]
    assert [str(atom) for atom in rule.atoms] == ["A(X)", "B(X)", "C(X)", "D(X)"]


def test_places_do_not_count_when_rules_are_compared() -> None:
    assert parse_rules("1: A(X)\n1: B(X)").rules[1] == parse_rules("1: B(X)", source="elsewhere").rules[0]
    assert Variable("C", HERE) != Variable("C", HERE, summed=True)


def test_a_comparison_is_an_atom_of_two_terms() -> None:
    atom = Atom("!=", (Variable("X", HERE), Constant("a", HERE)), HERE)

    assert atom.is_comparison
    assert str(atom) == "X != 'a'"
    assert [variable.name for variable in atom.variables()] == ["X"]


def test_an_exclamation_mark_after_a_weight_insists_on_it() -> None:
    rules = parse_rules("2!: A(X) -> B(X)\n1: A(X) -> B(X)\n0.5!: A(X) <= B(X)\n1 !: include bio('PER')")

    assert [rule.insisted for rule in rules.rules] == [True, False, True]
    assert str(rules).splitlines()[::3] == ["2.0!: A(X) -> B(X)", "1.0!: include bio('PER')"]
    assert str(parse_rules(str(rules))) == str(rules)
    assert all(rule.insisted for rule in expand(parse_rules("1!: include bio('PER')")).rules)


def test_included_sets_are_statements_and_no_rules_yet() -> None:
    rules = parse_rules("0.5: include bio('PER')\n1: A(X)")

    assert [type(one) for one in rules.statements] == [IncludedSet, LogicalRule]
    assert len(rules) == 2
    assert [str(rule) for rule in rules.rules] == ["1.0: A(X)"]
