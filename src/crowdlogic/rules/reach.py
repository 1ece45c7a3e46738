"""How far rules reach: whether what they say of an item depends on that item alone, or on others too.

Where it depends on the item alone, the item can be projected by itself.
"""

from __future__ import annotations

from crowdlogic.data.names import Classes
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import Kind, Role
from crowdlogic.rules.syntax import Atom, Constant, Rule, RuleSet
from crowdlogic.rules.variables import binding_atoms, find_predicate, variable_kinds

UNIT_PLACES = (Kind.unit, Kind.readable)
"""Places that stand for units of the corpus; a constant there names one."""


def stay_within_items(rules: RuleSet, classes: Classes, vocabulary: Vocabulary | None = None) -> bool:
    """Whether no rule joins two items, going by the rules alone: one that might is taken to do so."""
    words = vocabulary or Vocabulary()
    return all(_stays_within(rule, words) for rule in expand(rules, classes).rules)


def _stays_within(rule: Rule, vocabulary: Vocabulary) -> bool:
    """Whether all units of a rule are one, or are bound together by the structure of a sequence."""
    kinds = variable_kinds(rule, vocabulary)
    if any(_names_a_unit(atom, kinds, vocabulary) for atom in rule.atoms):
        return False
    groups = {name: name for name, kind in kinds.items() if kind is Kind.unit}
    for atom in binding_atoms(rule):
        if not atom.is_comparison and find_predicate(atom, vocabulary).role is Role.structure:
            names = [variable.name for variable in atom.variables()]
            joined = {groups[name] for name in names}
            groups = {name: groups[names[0]] if group in joined else group for name, group in groups.items()}
    return len(set(groups.values())) <= 1


def _names_a_unit(atom: Atom, kinds: dict[str, Kind], vocabulary: Vocabulary) -> bool:
    """Whether an atom speaks of a certain unit by its name."""
    constants = [isinstance(term, Constant) for term in atom.terms]
    if atom.is_comparison:
        return any(constants) and any(kinds.get(variable.name) is Kind.unit for variable in atom.variables())
    places = find_predicate(atom, vocabulary).kinds
    return any(is_constant and kind in UNIT_PLACES for is_constant, kind in zip(constants, places, strict=True))
