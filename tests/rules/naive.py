"""An oracle: rules evaluated one grounding at a time, straight from the definitions, over every joint labelling.

It shares the parser with the library and nothing else: no joins, no tables, no hinges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from crowdlogic.rules.syntax import Atom, Constant, LogicalRule, Rule, RuleSet, Variable

Labelling = Mapping[str, str]


@dataclass
class NaiveWorld:
    """Facts in plain dictionaries: facts[predicate][arguments] = truth; predicted[thing][class] = probability."""

    units: list[str]
    classes: list[str]
    facts: dict[str, dict[tuple[str, ...], float]] = field(default_factory=dict)
    predicted: dict[str, dict[str, float]] = field(default_factory=dict)

    def things(self) -> list[str]:
        """Everything that a variable may stand for."""
        mentioned = {argument for table in self.facts.values() for row in table for argument in row}
        return sorted(mentioned | set(self.units) | set(self.classes) | set(self.predicted))


def truth(atom: Atom, names: tuple[str, ...], world: NaiveWorld, labels: Labelling) -> float:
    if atom.predicate == "==":
        return float(names[0] == names[1])
    if atom.predicate == "!=":
        return float(names[0] != names[1])
    if atom.predicate == "Label":
        return float(labels.get(names[0]) == names[1])
    if atom.predicate == "Predicted":
        return world.predicted.get(names[0], {}).get(names[1], 0.0)
    return world.facts[atom.predicate].get(names, 0.0)


def filled(atom: Atom, bound: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(term.value if isinstance(term, Constant) else bound[term.name] for term in atom.terms)


def is_about(atom: Atom, names: tuple[str, ...], world: NaiveWorld) -> bool:
    """Whether the arguments are of the right kind: a label is of a unit and a class."""
    if atom.predicate == "Label":
        return names[0] in world.units and names[1] in world.classes
    if atom.predicate == "Predicted":
        return names[0] in world.predicted and names[1] in world.classes
    return True


def domain(variable: str, rule: Rule, world: NaiveWorld) -> list[str]:
    """What a variable may stand for, going by the places where it stands."""
    places = {
        (atom.predicate, n)
        for atom in rule.atoms
        for n, term in enumerate(atom.terms)
        if isinstance(term, Variable) and term.name == variable
    }
    if ("Label", 0) in places:
        return world.units
    if places & {("Label", 1), ("Predicted", 1)}:
        return world.classes
    return world.things()


def assignments(rule: Rule, world: NaiveWorld) -> Iterator[dict[str, str]]:
    variables = sorted({v.name for atom in rule.atoms for v in atom.variables() if not v.summed})
    atoms = [atom for atom in rule.atoms if not any(v.summed for v in atom.variables())]
    for values in product(*(domain(name, rule, world) for name in variables)):
        bound = dict(zip(variables, values, strict=True))
        if all(is_about(atom, filled(atom, bound), world) for atom in atoms) and is_grounding(rule, bound, world):
            yield bound


def distance(rule: Rule, bound: Mapping[str, str], world: NaiveWorld, labels: Labelling) -> float:
    if isinstance(rule, LogicalRule):
        body, head = 1.0, 0.0
        for literal in rule.body:
            value = truth(literal.atom, filled(literal.atom, bound), world, labels)
            body = max(0.0, body + (1 - value if literal.negated else value) - 1)
        for literal in rule.head:
            value = truth(literal.atom, filled(literal.atom, bound), world, labels)
            head = min(1.0, head + (1 - value if literal.negated else value))
        gap = 1 - min(1.0, 1 - body + head)
    else:
        total = sum(part.coefficient * summed(part.atom, bound, world, labels) for part in rule.summands)
        over, under = max(0.0, total - rule.constant), max(0.0, rule.constant - total)
        gap = {"<=": over, ">=": under, "=": over + under}[rule.relation]
    return gap**2 if rule.squared else gap


def summed(atom: Atom, bound: Mapping[str, str], world: NaiveWorld, labels: Labelling) -> float:
    over = [v.name for v in atom.variables() if v.summed]
    if not over:
        return truth(atom, filled(atom, bound), world, labels)
    return sum(truth(atom, filled(atom, {**bound, over[0]: k}), world, labels) for k in world.classes)


def is_grounding(rule: Rule, bound: Mapping[str, str], world: NaiveWorld) -> bool:
    """An arithmetic rule grounds only where its observed atoms are listed; a logical one is simply satisfied there."""
    if isinstance(rule, LogicalRule):
        return True
    observed = [atom for atom in rule.atoms if atom.predicate in world.facts]
    return all(filled(atom, bound) in world.facts[atom.predicate] for atom in observed)


def posterior(rules: RuleSet, world: NaiveWorld, beliefs: np.ndarray, strength: float) -> np.ndarray:
    """Marginals of eq. 15 from the whole table of joint labellings."""
    n, size = beliefs.shape
    joint = np.ones((size,) * n)
    for i in range(n):
        joint = joint * beliefs[i].reshape([-1 if j == i else 1 for j in range(n)])
    for rule in rules.rules:
        for bound in assignments(rule, world):
            joint = joint * factor(rule, bound, world, strength)
    return np.stack([np.moveaxis(joint, i, 0).reshape(size, -1).sum(axis=1) / joint.sum() for i in range(n)])


def factor(rule: Rule, bound: Mapping[str, str], world: NaiveWorld, strength: float) -> np.ndarray:
    """What one grounding multiplies the joint table with: it varies along the axes of the units it speaks of."""
    units = sorted({filled(atom, {**bound, **ANY})[0] for atom in rule.atoms if atom.predicate == "Label"})
    table = np.ones([len(world.classes) if unit in units else 1 for unit in world.units])
    axes = [world.units.index(unit) for unit in units]
    for codes in product(range(len(world.classes)), repeat=len(units)):
        gap = distance(rule, bound, world, {u: world.classes[k] for u, k in zip(units, codes, strict=True)})
        at = tuple(codes[axes.index(i)] if i in axes else 0 for i in range(len(world.units)))
        table[at] = float(gap <= 1e-12) if rule.weight is None else np.exp(-strength * rule.weight * gap)
    return table


ANY = {"C": "x"}
"""A stand-in for a summed class when only the unit of an atom is asked for."""
