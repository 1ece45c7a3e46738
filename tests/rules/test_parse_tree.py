"""Chains that the grammar nests to the left come out flat, in reading order."""

from __future__ import annotations

from lark import Token, Tree

from crowdlogic.rules.parser import Node, children, factors, first_token, flatten_chain, kind, signed_terms


def name(text: str) -> Token:
    return Token("NAME", text)


def nested(joint: str, first: str, *rest: tuple[str, str]) -> Node:
    """((first op a) op b) ..., as the grammar nests it."""
    node: Node = name(first)
    for operator, last in rest:
        node = Tree(joint, [node, Token("OPERATOR", operator), name(last)])
    return node


def test_a_node_knows_its_production_and_its_children() -> None:
    tree = nested("and", "a", ("&", "b"))

    assert (kind(tree), kind(name("a"))) == ("and", "NAME")
    assert [str(child) for child in children(tree)] == ["a", "&", "b"]
    assert children(name("a")) == []


def test_a_chain_is_flattened_in_reading_order() -> None:
    assert flatten_chain(nested("and", "a", ("&", "b"), ("&", "c")), "and") == ["a", "b", "c"]
    assert flatten_chain(name("a"), "and") == ["a"]


def test_only_the_chain_of_that_joint_is_flattened() -> None:
    inner = nested("or", "a", ("|", "b"))

    assert flatten_chain(Tree("and", [inner, Token("OPERATOR", "&"), name("c")]), "and") == [inner, "c"]


def test_terms_of_a_sum_have_their_signs() -> None:
    assert signed_terms(nested("sum", "a", ("-", "b"), ("+", "c"))) == [(1.0, "a"), (-1.0, "b"), (1.0, "c")]


def test_factors_of_a_product_have_their_operators() -> None:
    assert factors(nested("product", "a", ("/", "b"), ("*", "c"))) == [("*", "a"), ("/", "b"), ("*", "c")]


def test_the_leftmost_token_is_found_past_what_is_left_out() -> None:
    assert first_token(Tree("rule", [None, Tree("body", []), Tree("atom", [name("A"), name("B")])])) == "A"
    assert first_token(Tree("rule", [])) == Token("$END", "")
