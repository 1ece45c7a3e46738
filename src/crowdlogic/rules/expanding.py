"""Plain rules: ready-made sets written out, and $groups replaced by their constants.

In a clause, a group under an even number of negations is "one of these" and becomes several literals of the same
rule; under an odd number (a body's atom) it makes one rule per constant: (a or b) -> c is (a -> c) and (b -> c).
C == $G is one of these and C != $G none of these, wherever it stands.

A rule per constant has the weight of the group's rule each. Of Label they never add up, since a unit has one class;
of other atoms (Contains(S, $WORDS)) they do where several constants hold at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from crowdlogic.data.names import Classes, nearest
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.places import refusal
from crowdlogic.rules.ready import ready_rules
from crowdlogic.rules.syntax import (
    UNEQUAL,
    ArithmeticRule,
    Atom,
    Constant,
    GroupName,
    Literal,
    LogicalRule,
    Ready,
    Rule,
    RuleSet,
    Summand,
)

Groups = Mapping[str, tuple[Constant, ...]]


def expand(rules: RuleSet, classes: Classes | None = None) -> RuleSet:
    """The same rules without ready-made sets and groups.

    Args:
        rules: What was read.
        classes: The classes of the task, which `bio` and `bioes` need unless they name the types.
    """
    found: list[Rule] = []
    for statement in rules.statements:
        plain = _written_out(statement, classes) if isinstance(statement, Ready) else (statement,)
        for rule in plain:
            found.extend(_ungrouped(rule, rules.groups))
    return RuleSet(tuple(found), {}, rules.source)


def _written_out(ready: Ready, classes: Classes | None) -> tuple[Rule, ...]:
    source = f"{ready.place.source}:{ready.place.line} (include {ready.name})"
    return parse_rules(ready_rules(ready, classes), source=source).rules


def _ungrouped(rule: Rule, groups: Groups) -> Iterator[Rule]:
    if isinstance(rule, ArithmeticRule):
        summands = (Summand(part.coefficient, atom) for part in rule.summands for atom in _atoms(part.atom, groups))
        yield replace(rule, summands=tuple(summands))
        return
    bodies = [_choices(literal, groups, widens=_is_denied(literal)) for literal in rule.body]
    heads = [_choices(literal, groups, widens=not literal.negated) for literal in rule.head]
    for choice in product(*bodies, *heads):
        body, head = choice[: len(bodies)], choice[len(bodies) :]
        yield _rule_of(rule, body, head)


def _is_denied(literal: Literal) -> bool:
    """Whether a body's literal says that something is not so; a comparison says it with !=, never with a negation."""
    return literal.negated or literal.atom.predicate == UNEQUAL


def _rule_of(rule: LogicalRule, body: Iterable[list[Literal]], head: Iterable[list[Literal]]) -> LogicalRule:
    return replace(
        rule, body=tuple(lit for part in body for lit in part), head=tuple(lit for part in head for lit in part)
    )


def _choices(literal: Literal, groups: Groups, *, widens: bool) -> list[list[Literal]]:
    """Sets of literals to choose among: one set with all constants where the group widens, else one set each."""
    literals = [Literal(atom, literal.negated) for atom in _atoms(literal.atom, groups)]
    return [literals] if widens else [[one] for one in literals]


def _atoms(atom: Atom, groups: Groups) -> list[Atom]:
    options = [_members(term, groups) if isinstance(term, GroupName) else (term,) for term in atom.terms]
    return [replace(atom, terms=terms) for terms in product(*options)]


def _members(name: GroupName, groups: Groups) -> tuple[Constant, ...]:
    if name.name not in groups:
        raise refusal(name.place, f"there is no group {name}.{nearest(str(name), [f'${known}' for known in groups])}")
    return tuple(replace(member, place=name.place) for member in groups[name.name])
