"""Arithmetic rules: from nodes of the parse tree to linear forms, coefficients times atoms and a constant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from crowdlogic.rules.parse_tree import Node, children, factors, kind, signed_terms
from crowdlogic.rules.places import rule_error
from crowdlogic.rules.syntax import Summand
from crowdlogic.rules.terms import MAX_DEPTH, TermBuilder

Linear: TypeAlias = tuple[list[Summand], float]
"""A linear form: coefficients times atoms, and a constant."""

LOGIC = ("implication", "disjunction", "conjunction", "negation")


@dataclass(frozen=True)
class LinearBuilder:
    """What turns arithmetic into linear forms.

    Attributes:
        terms: What makes atoms, and knows places.
    """

    terms: TermBuilder

    def difference(self, left: Node, right: Node) -> Linear:
        """Left minus right, as summands on the left and a constant on the right."""
        ours, constant = self._linear(left, 0)
        theirs, other = self._linear(right, 0)
        return ours + [replace(term, coefficient=-term.coefficient) for term in theirs], other - constant

    def _linear(self, node: Node, depth: int) -> Linear:
        if depth > MAX_DEPTH:
            raise self.terms.too_deep(node)
        what = kind(node)
        if what == "sum":
            return self._total(node, depth)
        if what == "product":
            return self._product(node, depth)
        if what in ("inside", "minus"):
            return scale(self._linear(children(node)[1], depth + 1), -1.0 if what == "minus" else 1.0)
        if what == "scaled":
            number, rest = children(node)
            return scale(self._linear(rest, depth + 1), float(str(number)))
        if what == "number":
            return [], float(str(children(node)[0]))
        self._refuse_in_arithmetic(node)
        return [Summand(1.0, self.terms.atom(node))], 0.0

    def _total(self, node: Node, depth: int) -> Linear:
        summands, constant = [], 0.0
        for sign, part in signed_terms(node):
            more, number = scale(self._linear(part, depth + 1), sign)
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
                    raise rule_error(
                        self.terms.at(part), "a rule can be divided by a number other than 0, nothing else."
                    )
                result = scale(result, 1 / other[1])
            elif result[0] and other[0]:
                raise rule_error(self.terms.at(part), "a product of two atoms is not linear.")
            else:
                result = scale(result, other[1]) if result[0] else scale(other, result[1])
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
            raise rule_error(self.terms.at(node), refused[what])
        if what in (*LOGIC, "relation"):
            raise rule_error(self.terms.at(node), "logic cannot stand inside an arithmetic rule; write a logical rule.")


def scale(form: Linear, factor: float) -> Linear:
    """A linear form times a number."""
    summands, constant = form
    return [replace(term, coefficient=term.coefficient * factor) for term in summands], constant * factor
