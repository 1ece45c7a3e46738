"""Lark's parse tree: which production made a node, its children, and chains that the grammar nests to the left."""

from __future__ import annotations

from typing import TypeAlias

from lark import Token, Tree

Node: TypeAlias = "Tree[Token] | Token"


def kind(node: Node) -> str:
    """Which production made a node."""
    return str(node.data) if isinstance(node, Tree) else node.type


def children(node: Node) -> list[Node]:
    """The children of a node; a token has none."""
    return list(node.children) if isinstance(node, Tree) else []


def first_token(tree: Tree[Token]) -> Token:
    """The leftmost token of a tree."""
    stack: list[Node | None] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Token):
            return node
        if node is not None:
            stack.extend(reversed(node.children))
    return Token("$END", "", line=1, column=1)


def flatten_chain(node: Node, joint: str) -> list[Node]:
    """The parts of a chain a & b & c, which the grammar nests to the left."""
    parts = []
    while kind(node) == joint:
        node, _, last = children(node)
        parts.append(last)
    return [node, *reversed(parts)]


def signed_terms(node: Node) -> list[tuple[float, Node]]:
    """The parts of a chain a + b - c with their signs."""
    parts = []
    while kind(node) == "sum":
        node, operator, last = children(node)
        parts.append((-1.0 if str(operator) == "-" else 1.0, last))
    return [(1.0, node), *reversed(parts)]


def factors(node: Node) -> list[tuple[str, Node]]:
    """The parts of a chain a * b / c with their operators."""
    parts = []
    while kind(node) == "product":
        node, operator, last = children(node)
        parts.append((str(operator), last))
    return [("*", node), *reversed(parts)]
