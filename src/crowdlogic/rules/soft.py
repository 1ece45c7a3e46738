"""Łukasiewicz logic: every rule as a hinge of a linear form.

A clause l1 or ... or ln has the truth min(1, sum of the literals' truths) ([LNCL] eq. 4), so its distance to
satisfaction, 1 - truth, is max(0, constant + sum of coefficient * atom). Linear inequalities are of that form by
themselves, and an equation is two of them. One form serves every rule.

[LNCL] "Learning from Noisy Crowd Labels with Logics".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.numerics.arrays import Floats
from crowdlogic.rules.syntax import ArithmeticRule, Atom, Literal, LogicalRule, Rule


def conjunction(*truths: Floats) -> Floats:
    """The truth of "all of these": max(0, sum - (n - 1))."""
    return np.asarray(np.maximum(0.0, np.sum(truths, axis=0) - (len(truths) - 1)))


def disjunction(*truths: Floats) -> Floats:
    """The truth of "one of these": min(1, sum)."""
    return np.asarray(np.minimum(1.0, np.sum(truths, axis=0)))


def negation(truth: Floats) -> Floats:
    """The truth of "not this"."""
    return 1.0 - truth


@dataclass(frozen=True)
class Hinge:
    """A distance max(0, constant + sum of coefficient * atom), which `squared` squares."""

    constant: float
    terms: tuple[tuple[float, Atom], ...]
    squared: bool = False


def violation(rule: Rule) -> tuple[Hinge, ...]:
    """The distance to satisfaction of a rule: one hinge, or two for an equation."""
    if isinstance(rule, LogicalRule):
        return (_clause(rule.literals, rule.squared),)
    over = Hinge(-rule.constant, tuple((part.coefficient, part.atom) for part in rule.summands), rule.squared)
    under = Hinge(rule.constant, tuple((-factor, atom) for factor, atom in over.terms), rule.squared)
    return {"<=": (over,), ">=": (under,), "=": (over, under)}[rule.relation]


def applicability(rule: Rule) -> Hinge:
    """How far the body of a rule holds: 1 for a rule without a body."""
    if isinstance(rule, ArithmeticRule):
        return Hinge(1.0, ())
    return _clause([Literal(literal.atom, not literal.negated) for literal in rule.body], squared=False)


def _clause(literals: Iterable[Literal], squared: bool) -> Hinge:
    """1 - sum of positive atoms - sum of (1 - negated atom). Comparisons choose groundings; they have no truth here."""
    parts: Sequence[Literal] = [literal for literal in literals if not literal.atom.is_comparison]
    negated = sum(literal.negated for literal in parts)
    return Hinge(1.0 - negated, tuple((1.0 if part.negated else -1.0, part.atom) for part in parts), squared)
