"""From lark's parse tree to our syntax tree: clauses, linear forms, and refusals by name.

The grammar accepts one wide kind of expression; here it becomes a clause (body -> head) or a linear inequality.
The walk keeps its own depth and refuses nesting that no person writes, so that no text can exhaust the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from lark import Token, Tree

from crowdlogic.errors import RuleError
from crowdlogic.rules.places import Place, refusal
from crowdlogic.rules.syntax import (
    EQUAL,
    UNEQUAL,
    ArithmeticRule,
    Atom,
    Constant,
    GroupName,
    Literal,
    LogicalRule,
    Ready,
    Rule,
    Summand,
    Term,
    Variable,
)

DEEPEST = 100
"""The deepest nesting of parentheses and negations."""

Node: TypeAlias = "Tree[Token] | Token"
Linear: TypeAlias = tuple[list[Summand], float]
"""A linear form: coefficients times atoms, and a constant."""

ESCAPED = {"\\": "\\", "'": "'", '"': '"', "t": "\t", "n": "\n", "r": "\r"}
OPPOSITE = {EQUAL: UNEQUAL, UNEQUAL: EQUAL}
ARITHMETIC = ("sum", "product", "minus", "scaled", "number", "cardinality", "function")
LOGIC = ("implication", "disjunction", "conjunction", "negation")


@dataclass(frozen=True)
class Inclusion:
    """Include 'file'."""

    path: str
    place: Place


Statement: TypeAlias = Rule | Ready | Inclusion | tuple[str, tuple[Constant, ...], Place]


@dataclass(frozen=True)
class Builder:
    """What turns parse trees of one source into syntax.

    Attributes:
        source: What to call the text in messages.
        lines: Its lines.
        folder: Where its own files lie, if anywhere.
    """

    source: str
    lines: list[str]
    folder: Path | None = None

    def statements(self, tree: Tree[Token]) -> list[Statement]:
        """The statements of a whole text."""
        return [self._statement(child) for child in tree.children if isinstance(child, Tree)]

    def place(self, line: int, column: int) -> Place:
        """A place by line and column."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return Place(self.source, line, column, text, self.folder)

    def end(self) -> Place:
        """The end of the last line that says something."""
        last = max((n for n, line in enumerate(self.lines, start=1) if line.strip()), default=1)
        return self.place(last, len(self.lines[last - 1].rstrip()) + 1)

    def at(self, node: Node) -> Place:
        """Where a node begins."""
        token = node if isinstance(node, Token) else first_token(node)
        return self.place(token.line or 1, token.column or 1)

    def _statement(self, tree: Tree[Token]) -> Statement:
        if tree.data == "group":
            return self._group(tree)
        if tree.data == "include":
            return self._include(tree)
        return self._rule(tree)

    def _group(self, tree: Tree[Token]) -> Statement:
        name, *members = [child for child in tree.children if isinstance(child, Token)]
        if not members:
            raise refusal(self.at(name), f"the group {name} has no members.")
        constants = tuple(self._constant(member) for member in members)
        return str(name)[1:], constants, self.at(name)

    def _include(self, tree: Tree[Token]) -> Statement:
        weight_node, keyword, name, *rest = tree.children
        arguments = [child for child in rest if isinstance(child, Token) and child.type == "STRING"]
        hard = any(isinstance(child, Token) and child.type == "PERIOD" for child in rest)
        place = self.at(keyword)
        if weight_node is not None and hard:
            raise refusal(place, "a weight in front and a full stop at the end: a rule is either weighted or hard.")
        if isinstance(name, Token) and name.type == "STRING":
            if weight_node is not None or hard:
                raise refusal(place, "a file's rules have their own weights; write include 'file' alone.")
            return Inclusion(self._constant(name).value, place)
        weight = None if hard else 1.0 if weight_node is None else self._weight(weight_node)
        return Ready(str(name), tuple(self._constant(child).value for child in arguments), weight, self.at(name))

    def _rule(self, tree: Tree[Token]) -> Rule:
        weight_node, expression, exponent, period, *filters = tree.children
        place = self.at(tree)
        if filters:
            raise refusal(
                self.at(filters[0]), "filter clauses {X: ...} are PSL's; here, name the constants with a $group."
            )
        if weight_node is not None and period is not None:
            raise refusal(
                self.at(period), "a weight in front and a full stop at the end: a rule is either weighted or hard."
            )
        if weight_node is None and period is None:
            raise refusal(place, "a rule needs a weight in front (1.0: ...), or a full stop at its end to be hard.")
        if exponent is not None and period is not None:
            raise refusal(self.at(exponent), "a hard rule is never violated, so its distance cannot be squared.")
        weight = None if weight_node is None else self._weight(weight_node)
        return self._expression(expression, weight, self._squared(exponent), place)

    def _weight(self, tree: Node) -> float:
        tokens = [child for child in tree.children if isinstance(child, Token)] if isinstance(tree, Tree) else []
        weight = float(tokens[-1])
        if len(tokens) > 1 and weight > 0:
            raise refusal(self.at(tokens[0]), "a weight cannot be negative. Negate the rule instead.")
        if weight > MOST:
            raise refusal(
                self.at(tokens[-1]), f"a weight of {tokens[-1]} is no weight; end a hard rule with a full stop."
            )
        return weight

    def _squared(self, exponent: Node | None) -> bool:
        if exponent is None:
            return False
        power = str(exponent)[1:].strip()
        if power not in ("1", "2"):
            raise refusal(self.at(exponent), f"a distance can be plain (^1) or squared (^2), not ^{power}.")
        return power == "2"

    def _expression(self, node: Node, weight: float | None, squared: bool, place: Place) -> Rule:
        if kind(node) == "relation":
            left, relation, right = children(node)
            if str(relation) in ("<", ">"):
                raise refusal(self.at(relation), f"truth values are never strictly compared; write {relation}=.")
            summands, constant = self._difference(left, right)
            if not summands:
                raise refusal(self.at(relation), "an arithmetic rule needs an atom.")
            return ArithmeticRule(weight, tuple(summands), str(relation), constant, squared, place)
        if kind(node) in ARITHMETIC:
            raise refusal(self.at(node), "an arithmetic rule needs a relation: <=, >= or =.")
        body, head = self._sides(node)
        return _tidy(LogicalRule(weight, tuple(body), tuple(head), squared, place))

    def _sides(self, node: Node) -> tuple[list[Literal], list[Literal]]:
        if kind(node) != "implication":
            return [], self._joined(node, "disjunction", "a rule without an arrow", 0)
        left, arrow, right = children(node)
        body, head = (left, right) if str(arrow) in ("->", ">>") else (right, left)
        return self._joined(body, "conjunction", "a body", 0), self._joined(head, "disjunction", "a head", 0)

    def _joined(self, node: Node, joint: str, where: str, depth: int) -> list[Literal]:
        """The literals of a side: joined by one connective, in parentheses or not."""
        found: list[Literal] = []
        for part in flat(node, joint):
            if kind(part) == "inside" and depth < DEEPEST:
                found += self._joined(children(part)[1], joint, where, depth + 1)
            else:
                found.append(self._literal(part, where, depth))
        return found

    def _literal(self, node: Node, where: str, depth: int) -> Literal:
        negated = False
        while kind(node) in ("negation", "inside"):
            depth += 1
            if depth > DEEPEST:
                raise refusal(self.at(node), f"parentheses and negations are nested more than {DEEPEST} deep.")
            negated ^= kind(node) == "negation"
            node = children(node)[-1]
        self._refuse_in_clause(node, where, negated)
        atom = self._comparison(node) if kind(node) == "comparison" else self._atom(node)
        if any(term.summed for term in atom.variables()):
            raise refusal(atom.place, "a sum such as +C belongs to arithmetic rules.")
        if negated and atom.is_comparison:
            return Literal(replace(atom, predicate=OPPOSITE[atom.predicate]))
        return Literal(atom, negated)

    def _refuse_in_clause(self, node: Node, where: str, negated: bool) -> None:
        what = kind(node)
        if what in ("conjunction", "disjunction") and negated:
            raise refusal(self.at(node), "only atoms can be negated. Move the '!' inside: !(A & B) is !A | !B.")
        if what == "conjunction":
            raise refusal(self.at(node), f"{where} cannot hold '&'. Write one rule for each part.")
        if what == "disjunction":
            raise refusal(self.at(node), f"{where} cannot hold '|'. Write one rule for each part.")
        if what in ("implication", "relation"):
            raise refusal(self.at(node), f"{where} is made of atoms; an arrow or a relation stands once in a rule.")
        if what in ("sum", "product") and all(kind(child) == "bare" for child in children(node)[::2]):
            raise refusal(self.at(node), "X - Y as a comparison is PSL's; write X != Y.")
        if what in ARITHMETIC:
            raise refusal(self.at(node), f"{where} is made of atoms; arithmetic stands in rules with <=, >= or =.")
        if what == "bare":
            raise refusal(
                self.at(node), f"{children(node)[0]} is no atom; an atom reads like Label(S, 'pos') or X != Y."
            )

    def _comparison(self, node: Node) -> Atom:
        left, operator, right = children(node)
        if str(operator) in ("%", "^"):
            raise refusal(self.at(operator), f"the comparison {operator} is PSL's; only == and != are known here.")
        terms = tuple(self._compared(side, operator) for side in (left, right))
        return Atom(EQUAL if str(operator) == "==" else UNEQUAL, terms, self.at(left))

    def _compared(self, node: Node, operator: Node) -> Term:
        if kind(node) != "bare":
            raise refusal(self.at(operator), f"{operator} compares two terms, such as X {operator} 'pos'.")
        return self._term_of([children(node)[0]])

    def _atom(self, node: Node) -> Atom:
        name, _, *terms = children(node)
        return Atom(str(name), tuple(self._term_of(children(term)) for term in terms), self.at(name))

    def _term_of(self, parts: list[Node]) -> Term:
        token = parts[-1]
        plus = len(parts) > 1 and parts[0] is not None
        if not isinstance(token, Token):
            raise RuleError(f"{self.source}: a term is missing.")
        place = self.at(token)
        if token.type == "NUMBER":
            raise refusal(place, f"constants are quoted: write '{token}'.")
        if plus and token.type != "NAME":
            raise refusal(place, f"+{token}: only a variable can be summed over.")
        if token.type == "STRING":
            return self._constant(token)
        return GroupName(str(token)[1:], place) if token.type == "GROUP" else Variable(str(token), place, summed=plus)

    def _constant(self, token: Token) -> Constant:
        place, text, value = self.at(token), str(token)[1:-1], []
        characters: Iterator[tuple[int, str]] = iter(enumerate(text))
        for at, character in characters:
            if character != "\\":
                value.append(character)
                continue
            escaped = next(characters)[1]
            if escaped not in ESCAPED:
                where = replace(place, column=place.column + at + 1)
                raise refusal(where, f"unknown escape \\{escaped}; known are \\\\, \\', \\\", \\t, \\n and \\r.")
            value.append(ESCAPED[escaped])
        return Constant("".join(value), place)

    def _difference(self, left: Node, right: Node) -> Linear:
        """Left minus right, as summands on the left and a constant on the right."""
        ours, constant = self._linear(left, 0)
        theirs, other = self._linear(right, 0)
        return ours + [replace(term, coefficient=-term.coefficient) for term in theirs], other - constant

    def _linear(self, node: Node, depth: int) -> Linear:
        if depth > DEEPEST:
            raise refusal(self.at(node), f"parentheses and negations are nested more than {DEEPEST} deep.")
        what = kind(node)
        if what == "sum":
            return self._total(node, depth)
        if what == "product":
            return self._product(node, depth)
        if what in ("inside", "minus"):
            return scaled(self._linear(children(node)[1], depth + 1), -1.0 if what == "minus" else 1.0)
        if what == "scaled":
            number, rest = children(node)
            return scaled(self._linear(rest, depth + 1), float(str(number)))
        if what == "number":
            return [], float(str(children(node)[0]))
        self._refuse_in_arithmetic(node)
        return [Summand(1.0, self._atom(node))], 0.0

    def _total(self, node: Node, depth: int) -> Linear:
        summands, constant = [], 0.0
        for sign, part in signed(node):
            more, number = scaled(self._linear(part, depth + 1), sign)
            summands += more
            constant += number
        return summands, constant

    def _product(self, node: Node, depth: int) -> Linear:
        first, *rest = factors(node)
        result = self._linear(first[1], depth + 1)
        for operator, part in rest:
            other = self._linear(part, depth + 1)
            if operator == "/":
                if other[0] or other[1] == 0:
                    raise refusal(self.at(part), "a rule can be divided by a number other than 0, nothing else.")
                result = scaled(result, 1 / other[1])
            elif result[0] and other[0]:
                raise refusal(self.at(part), "a product of two atoms is not linear.")
            else:
                result = scaled(result, other[1]) if result[0] else scaled(other, result[1])
        return result

    def _refuse_in_arithmetic(self, node: Node) -> None:
        what = kind(node)
        refused = {
            "cardinality": "the cardinality |X| is PSL's; here, write the number.",
            "function": "@Max and @Min are PSL's; here, write the number.",
            "comparison": "a comparison cannot stand in an arithmetic rule.",
            "bare": "an arithmetic rule is made of atoms and numbers.",
        }
        if what in refused:
            raise refusal(self.at(node), refused[what])
        if what in (*LOGIC, "relation"):
            raise refusal(self.at(node), "logic cannot stand inside an arithmetic rule; write a logical rule.")


MOST = 1e6
"""A larger weight is meant as a hard rule."""


def _tidy(rule: LogicalRule) -> LogicalRule:
    """A comparison in the head moves to the body as its opposite: the clause is the same."""
    moved = tuple(
        Literal(replace(literal.atom, predicate=OPPOSITE[literal.atom.predicate]))
        for literal in rule.head
        if literal.atom.is_comparison
    )
    head = tuple(literal for literal in rule.head if not literal.atom.is_comparison)
    return replace(rule, body=rule.body + moved, head=head) if moved else rule


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


def flat(node: Node, joint: str) -> list[Node]:
    """The parts of a chain a & b & c, which the grammar nests to the left."""
    parts = []
    while kind(node) == joint:
        node, _, last = children(node)
        parts.append(last)
    return [node, *reversed(parts)]


def signed(node: Node) -> list[tuple[float, Node]]:
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


def scaled(form: Linear, factor: float) -> Linear:
    """A linear form times a number."""
    summands, constant = form
    return [replace(term, coefficient=term.coefficient * factor) for term in summands], constant * factor
