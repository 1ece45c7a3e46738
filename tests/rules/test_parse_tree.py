"""Chains that the grammar nests to the left come out flat, in reading order."""

from __future__ import annotations

from lark import Token, Tree

from crowdlogic.rules.parser import Node, children, flatten_chain, kind


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


def test_a_chain_is_flattened_in_reading_order_with_its_operators() -> None:
    chain = nested("sum", "a", ("-", "b"), ("+", "c"))

    assert flatten_chain(chain, "sum") == [("", "a"), ("-", "b"), ("+", "c")]
    assert flatten_chain(name("a"), "sum") == [("", "a")]


def test_only_the_chain_of_that_joint_is_flattened() -> None:
    inner = nested("or", "a", ("|", "b"))

    assert flatten_chain(Tree("and", [inner, Token("OPERATOR", "&"), name("c")]), "and") == [("", inner), ("&", "c")]
