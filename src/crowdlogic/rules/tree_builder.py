"""From lark's parse tree to our syntax tree: clauses, linear forms, and refusals by name.

The grammar accepts one wide kind of expression; here it becomes a clause (body -> head) or a linear inequality.
The walk keeps its own depth and refuses nesting that no person writes, so that no text can exhaust the stack.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from lark import Token, Tree

from crowdlogic.rules.linear_forms import LinearBuilder
from crowdlogic.rules.parse_tree import Node, children, flatten_chain, kind
from crowdlogic.rules.places import Place, rule_error
from crowdlogic.rules.syntax import (
    EQUAL,
    OPPOSITE,
    UNEQUAL,
    ArithmeticRule,
    Atom,
    Constant,
    IncludedSet,
    Literal,
    LogicalRule,
    Rule,
    Term,
)
from crowdlogic.rules.terms import MAX_DEPTH, TermBuilder

MAX_WEIGHT = 1e6
"""A larger weight is meant as a hard rule."""

MAX_NUMBER = 1e100
"""No coefficient is larger; and none is infinite or no number."""

ARITHMETIC = ("sum", "product", "minus", "scaled", "number", "cardinality", "function")


@dataclass(frozen=True)
class IncludedFile:
    """Include 'file'."""

    path: str
    place: Place


@dataclass(frozen=True)
class GroupDefinition:
    """$NAME = {'a', 'b'}."""

    name: str
    members: tuple[Constant, ...]
    place: Place


Statement: TypeAlias = Rule | IncludedSet | IncludedFile | GroupDefinition


@dataclass(frozen=True)
class TreeBuilder:
    """What turns parse trees of one source into syntax.

    Attributes:
        terms: What makes atoms and terms, and knows places.
    """

    terms: TermBuilder

    def statements(self, tree: Tree[Token]) -> list[Statement]:
        """The statements of a whole text."""
        return [self._statement(child) for child in tree.children if isinstance(child, Tree)]

    def _statement(self, tree: Tree[Token]) -> Statement:
        if tree.data == "group":
            return self._group(tree)
        if tree.data == "include":
            return self._include(tree)
        return self._rule(tree)

    def _group(self, tree: Tree[Token]) -> Statement:
        name, *members = [child for child in tree.children if isinstance(child, Token)]
        if not members:
            raise rule_error(self.terms.at(name), f"the group {name} has no members.")
        constants = tuple(self.terms.constant(member) for member in members)
        return GroupDefinition(str(name)[1:], constants, self.terms.at(name))

    def _include(self, tree: Tree[Token]) -> Statement:
        weight_node, keyword, name, *rest = tree.children
        arguments = [child for child in rest if isinstance(child, Token) and child.type == "STRING"]
        hard = any(isinstance(child, Token) and child.type == "PERIOD" for child in rest)
        place = self.terms.at(keyword)
        if weight_node is not None and hard:
            raise rule_error(place, "a weight in front and a full stop at the end: a rule is either weighted or hard.")
        if isinstance(name, Token) and name.type == "STRING":
            if weight_node is not None or hard:
                raise rule_error(place, "a file's rules have their own weights; write include 'file' alone.")
            return IncludedFile(self.terms.constant(name).value, place)
        weight = None if hard else 1.0 if weight_node is None else self._weight(weight_node)
        return IncludedSet(
            str(name), tuple(self.terms.constant(child).value for child in arguments), weight, self.terms.at(name)
        )

    def _rule(self, tree: Tree[Token]) -> Rule:
        weight_node, expression, exponent, period, *filters = tree.children
        place = self.terms.at(tree)
        if filters:
            raise rule_error(
                self.terms.at(filters[0]), "filter clauses {X: ...} are PSL's; here, name the constants with a $group."
            )
        if weight_node is not None and period is not None:
            raise rule_error(
                self.terms.at(period),
                "a weight in front and a full stop at the end: a rule is either weighted or hard.",
            )
        if weight_node is None and period is None:
            raise rule_error(place, "a rule needs a weight in front (1.0: ...), or a full stop at its end to be hard.")
        if exponent is not None and period is not None:
            raise rule_error(
                self.terms.at(exponent), "a hard rule is never violated, so its distance cannot be squared."
            )
        weight = None if weight_node is None else self._weight(weight_node)
        return self._expression(expression, weight, self._is_squared(exponent), place)

    def _weight(self, tree: Node) -> float:
        tokens = [child for child in tree.children if isinstance(child, Token)] if isinstance(tree, Tree) else []
        weight = float(tokens[-1])
        if len(tokens) > 1 and weight > 0:
            raise rule_error(self.terms.at(tokens[0]), "a weight cannot be negative. Negate the rule instead.")
        if weight > MAX_WEIGHT:
            raise rule_error(
                self.terms.at(tokens[-1]), f"a weight of {tokens[-1]} is no weight; end a hard rule with a full stop."
            )
        return weight

    def _is_squared(self, exponent: Node | None) -> bool:
        if exponent is None:
            return False
        power = str(exponent)[1:].strip()
        if power not in ("1", "2"):
            raise rule_error(self.terms.at(exponent), f"a distance can be plain (^1) or squared (^2), not ^{power}.")
        return power == "2"

    def _expression(self, node: Node, weight: float | None, squared: bool, place: Place) -> Rule:
        if kind(node) == "relation":
            left, relation, right = children(node)
            if str(relation) in ("<", ">"):
                raise rule_error(
                    self.terms.at(relation), f"truth values are never strictly compared; write {relation}=."
                )
            summands, constant = LinearBuilder(self.terms).difference(left, right)
            if not summands:
                raise rule_error(self.terms.at(relation), "an arithmetic rule needs an atom.")
            if not all(abs(number) <= MAX_NUMBER for number in (constant, *(one.coefficient for one in summands))):
                raise rule_error(self.terms.at(relation), f"a number of this rule is beyond {MAX_NUMBER:g}.")
            return ArithmeticRule(
                weight=weight,
                summands=tuple(summands),
                relation=str(relation),
                constant=constant,
                squared=squared,
                place=place,
            )
        if kind(node) in ARITHMETIC:
            raise rule_error(self.terms.at(node), "an arithmetic rule needs a relation: <=, >= or =.")
        body, head = self._sides(node)
        return _move_comparisons(
            LogicalRule(weight=weight, body=tuple(body), head=tuple(head), squared=squared, place=place)
        )

    def _sides(self, node: Node) -> tuple[list[Literal], list[Literal]]:
        if kind(node) != "implication":
            return [], self._side_literals(node, "disjunction", "a rule without an arrow", 0)
        left, arrow, right = children(node)
        body, head = (left, right) if str(arrow) in ("->", ">>") else (right, left)
        return self._side_literals(body, "conjunction", "a body", 0), self._side_literals(
            head, "disjunction", "a head", 0
        )

    def _side_literals(self, node: Node, joint: str, where: str, depth: int) -> list[Literal]:
        """The literals of a side: joined by one connective, in parentheses or not."""
        found: list[Literal] = []
        for part in flatten_chain(node, joint):
            if kind(part) == "inside" and depth < MAX_DEPTH:
                found += self._side_literals(children(part)[1], joint, where, depth + 1)
            else:
                found.append(self._literal(part, where, depth))
        return found

    def _literal(self, node: Node, where: str, depth: int) -> Literal:
        negated = False
        while kind(node) in ("negation", "inside"):
            depth += 1
            if depth > MAX_DEPTH:
                raise self.terms.too_deep(node)
            negated ^= kind(node) == "negation"
            node = children(node)[-1]
        self._refuse_in_clause(node, where, negated)
        atom = self._comparison(node) if kind(node) == "comparison" else self.terms.atom(node)
        if any(term.summed for term in atom.variables()):
            raise rule_error(atom.place, "a sum such as +C belongs to arithmetic rules.")
        if negated and atom.is_comparison:
            return Literal(replace(atom, predicate=OPPOSITE[atom.predicate]))
        return Literal(atom, negated)

    def _refuse_in_clause(self, node: Node, where: str, negated: bool) -> None:
        what = kind(node)
        if what in ("conjunction", "disjunction") and negated:
            raise rule_error(
                self.terms.at(node), "only atoms can be negated. Move the '!' inside: !(A & B) is !A | !B."
            )
        if what == "conjunction":
            raise rule_error(self.terms.at(node), f"{where} cannot hold '&'. Write one rule for each part.")
        if what == "disjunction":
            raise rule_error(self.terms.at(node), f"{where} cannot hold '|'. Write one rule for each part.")
        if what in ("implication", "relation"):
            raise rule_error(
                self.terms.at(node), f"{where} is made of atoms; an arrow or a relation stands once in a rule."
            )
        if what in ("sum", "product") and all(kind(child) == "bare" for child in children(node)[::2]):
            raise rule_error(self.terms.at(node), "X - Y as a comparison is PSL's; write X != Y.")
        if what in ARITHMETIC:
            raise rule_error(
                self.terms.at(node), f"{where} is made of atoms; arithmetic stands in rules with <=, >= or =."
            )
        if what == "bare":
            raise rule_error(
                self.terms.at(node), f"{children(node)[0]} is no atom; an atom reads like Label(S, 'pos') or X != Y."
            )

    def _comparison(self, node: Node) -> Atom:
        left, operator, right = children(node)
        if str(operator) in ("%", "^"):
            raise rule_error(
                self.terms.at(operator), f"the comparison {operator} is PSL's; only == and != are known here."
            )
        terms = tuple(self._comparison_term(side, operator) for side in (left, right))
        return Atom(EQUAL if str(operator) == "==" else UNEQUAL, terms, self.terms.at(left))

    def _comparison_term(self, node: Node, operator: Node) -> Term:
        if kind(node) != "bare":
            raise rule_error(self.terms.at(operator), f"{operator} compares two terms, such as X {operator} 'pos'.")
        return self.terms.term([children(node)[0]])


def _move_comparisons(rule: LogicalRule) -> LogicalRule:
    """A comparison in the head moves to the body as its opposite: the clause is the same."""
    moved = tuple(
        Literal(replace(literal.atom, predicate=OPPOSITE[literal.atom.predicate]))
        for literal in rule.head
        if literal.atom.is_comparison
    )
    head = tuple(literal for literal in rule.head if not literal.atom.is_comparison)
    return replace(rule, body=rule.body + moved, head=head) if moved else rule
