"""Plain rules: ready-made sets written out, and $groups replaced by their constants.

In a clause, a group under an even number of negations is "one of these" and becomes several literals of the same
rule; under an odd number (a body's atom) it makes one rule per constant: (a or b) -> c is (a -> c) and (b -> c).
C == $G is one of these and C != $G none of these, in body and head.

A rule per constant has the weight of the group's rule each. Of Label they never add up, since a unit has one class;
of other atoms (Contains(S, $WORDS)) they do where several constants hold at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod

from crowdlogic.data.names import Classes
from crowdlogic.errors import did_you_mean
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.places import rule_error
from crowdlogic.rules.rule_sets import write_rule_set
from crowdlogic.rules.syntax import (
    UNEQUAL,
    ArithmeticRule,
    Atom,
    Constant,
    GroupName,
    IncludedSet,
    Literal,
    LogicalRule,
    Rule,
    RuleSet,
    Summand,
)

Groups = Mapping[str, tuple[Constant, ...]]

MAX_ATOMS = 100_000
"""Maximum number of atoms that the groups of a rule set may be written out to; a few groups in one rule multiply."""


def expand(rules: RuleSet, classes: Classes | None = None) -> RuleSet:
    """The same rules without ready-made sets and groups.

    Args:
        rules: What was read.
        classes: The classes of the task, which `bio` and `bioes` need unless they name the types.
    """
    found: list[Rule] = []
    written = 0
    for statement in rules.statements:
        plain = _write_out(statement, classes) if isinstance(statement, IncludedSet) else (statement,)
        for rule in plain:
            written += _count_atoms(rule, rules.groups)
            if written > MAX_ATOMS:
                raise rule_error(rule.place, _too_many_atoms(written))
            found.extend(_replace_groups(rule, rules.groups))
    return RuleSet(tuple(found), {}, rules.source)


def _write_out(ready: IncludedSet, classes: Classes | None) -> tuple[Rule, ...]:
    source = f"{ready.place.source}:{ready.place.line} (include {ready.name})"
    return parse_rules(write_rule_set(ready, classes), source=source).rules


def _too_many_atoms(atoms: int) -> str:
    # Python refuses to print the largest numbers that a rule file can come to.
    count = f"{atoms:,}" if atoms < 10**15 else "over 10^15"
    return (
        f"with this rule, the groups come to {count} atoms written out, and the limit is {MAX_ATOMS:,}. "
        f"Use fewer or smaller groups in one rule, or a table of facts."
    )


def _count_atoms(rule: Rule, groups: Groups) -> int:
    """How many atoms a rule with groups comes to, counted before any is made; 0 for a rule without groups."""
    sizes = [_size(atom, groups) for atom in rule.atoms]
    if not any(isinstance(term, GroupName) for atom in rule.atoms for term in atom.terms):
        return 0
    if isinstance(rule, ArithmeticRule):
        return sum(sizes)
    widens = [*map(_is_negative, rule.body), *(not literal.negated for literal in rule.head)]
    copies = prod(size for size, wide in zip(sizes, widens, strict=True) if not wide)
    return copies * sum(size if wide else 1 for size, wide in zip(sizes, widens, strict=True))


def _size(atom: Atom, groups: Groups) -> int:
    return prod(len(_group_members(term, groups)) for term in atom.terms if isinstance(term, GroupName))


def _replace_groups(rule: Rule, groups: Groups) -> Iterator[Rule]:
    if isinstance(rule, ArithmeticRule):
        summands = (Summand(part.coefficient, atom) for part in rule.summands for atom in _atoms(part.atom, groups))
        yield replace(rule, summands=tuple(summands))
        return
    bodies = [_choices(literal, groups, widens=_is_negative(literal)) for literal in rule.body]
    heads = [_choices(literal, groups, widens=not literal.negated) for literal in rule.head]
    for choice in product(*bodies, *heads):
        body, head = choice[: len(bodies)], choice[len(bodies) :]
        yield _with_literals(rule, body, head)


def _is_negative(literal: Literal) -> bool:
    """Whether a body's literal says that something is not so; a comparison says it with !=, never with a negation."""
    return literal.negated or literal.atom.predicate == UNEQUAL


def _with_literals(rule: LogicalRule, body: Iterable[list[Literal]], head: Iterable[list[Literal]]) -> LogicalRule:
    return replace(
        rule, body=tuple(lit for part in body for lit in part), head=tuple(lit for part in head for lit in part)
    )


def _choices(literal: Literal, groups: Groups, *, widens: bool) -> list[list[Literal]]:
    """Sets of literals to choose among: one set with all constants where the group widens, else one set each."""
    literals = [Literal(atom, literal.negated) for atom in _atoms(literal.atom, groups)]
    return [literals] if widens else [[one] for one in literals]


def _atoms(atom: Atom, groups: Groups) -> list[Atom]:
    options = [_group_members(term, groups) if isinstance(term, GroupName) else (term,) for term in atom.terms]
    return [replace(atom, terms=terms) for terms in product(*options)]


def _group_members(name: GroupName, groups: Groups) -> tuple[Constant, ...]:
    if name.name not in groups:
        raise rule_error(
            name.place, f"there is no group {name}.{did_you_mean(str(name), [f'${known}' for known in groups])}"
        )
    return tuple(replace(member, place=name.place) for member in groups[name.name])
