"""Atoms and terms of rules, where they stand, and what is refused; whole messages are in test_tree_builder.py."""

from __future__ import annotations

import pytest
from lark import Token, Tree

from crowdlogic.errors import RuleError
from crowdlogic.rules.parser import MAX_DEPTH, TOO_DEEP, TreeBuilder
from crowdlogic.rules.syntax import Constant, GroupName, Variable

BUILDER = TreeBuilder("my.rules", ["1.0: A(X, 'y')", "", "2.0: B(X)   ", ""])


def token(kind: str, text: str, column: int = 8) -> Token:
    return Token(kind, text, line=1, column=column)


def test_a_term_is_a_variable_a_constant_or_a_group() -> None:
    variable, summed = BUILDER.term([token("NAME", "X")]), BUILDER.term([token("PLUS", "+"), token("NAME", "C")])

    assert isinstance(variable, Variable)
    assert isinstance(summed, Variable)
    assert (variable.name, variable.summed, summed.name, summed.summed) == ("X", False, "C", True)
    assert isinstance(BUILDER.term([token("STRING", "'y'")]), Constant)
    assert isinstance(BUILDER.term([token("GROUP", "$BEGIN")]), GroupName)


@pytest.mark.parametrize(
    ("written", "value"),
    [("'y'", "y"), ('"it\'s"', "it's"), (r"'it\'s'", "it's"), (r"'a\tb\nc\\d'", "a\tb\nc\\d"), ("''", "")],
)
def test_escapes_of_a_constant_are_resolved(written: str, value: str) -> None:
    assert BUILDER.constant(token("STRING", written)).value == value


def test_an_unknown_escape_is_refused_where_it_stands() -> None:
    with pytest.raises(RuleError, match=r"^my\.rules:1:10: unknown escape \\q"):
        BUILDER.constant(token("STRING", r"'a\q'", column=8))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([token("NUMBER", "3")], "my.rules:1:8: constants are quoted: write '3'."),
        ([token("PLUS", "+"), token("STRING", "'c'")], "my.rules:1:8: +'c': only a variable can be summed over."),
        ([Tree("atom", [])], "my.rules: a term is missing."),
    ],
)
def test_what_is_no_term_is_refused(parts: list[Token], message: str) -> None:
    with pytest.raises(RuleError) as refused:
        BUILDER.term(parts)

    assert str(refused.value).splitlines()[0] == message


def test_an_atom_has_its_name_terms_and_place() -> None:
    node = Tree("atom", [token("NAME", "A", column=6), Token("LPAR", "("), Tree("term", [token("NAME", "X")])])

    atom = BUILDER.atom(node)

    assert (atom.predicate, [str(term) for term in atom.terms]) == ("A", ["X"])
    assert (atom.place.line, atom.place.column) == (1, 6)


def test_the_end_is_behind_the_last_line_that_says_something() -> None:
    place = BUILDER.end()

    assert (place.line, place.column, place.text) == (3, 10, "2.0: B(X)   ")


def test_the_deepest_nesting_is_named() -> None:
    message = str(BUILDER.error(token("NAME", "A"), TOO_DEEP))

    assert MAX_DEPTH == 100
    assert message.startswith("my.rules:1:8: parentheses and negations are nested more than 100 deep.")
