"""Expand rules: convert ready-made sets to rules, and replace each $group by its constants.

A group means "one of these constants". In the head of a rule it becomes several literals of the same rule. In the body
it makes one rule per constant, since (a or b) -> c is equivalent to (a -> c) and (b -> c). Under a negation it is the
other way round. C == $G means that C is one of the constants, C != $G that it is none of them.

Each of these rules has the weight of the original one. An item has only one class, so at most one of the rules applies
if the group stands in Label; with other atoms, such as Contains(S, $WORDS), the penalties of several rules may add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from math import prod

from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import BEGIN, END, INSIDE, SINGLE, is_span_tag_set, parse_tags
from crowdlogic.errors import did_you_mean, name_list
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import Kind, Predicate, Role
from crowdlogic.rules.syntax import (
    UNEQUAL,
    ArithmeticRule,
    Atom,
    Constant,
    GroupName,
    IncludedSet,
    Literal,
    Rule,
    RuleSet,
    Summand,
    Term,
    Variable,
    quote,
    rule_error,
    with_weight,
)

# Ready-made rule sets, as the text of ordinary rules.
#
# - bio: an I- tag follows a B- or I- tag of its type, and never begins a sequence.
# - bioes: the same for B-, I-, E- and S- tags (or B-, I-, L- and U-), in both directions.
# - contrast('but'): in "A but B", the clause B decides.


def write_rule_set(ready: IncludedSet, classes: Classes | None) -> str:
    """Return the rules of a ready-made set as text, one rule per line.

    Args:
        ready: The set, with its arguments and weight.
        classes: The classes of the task; bio and bioes read the entity types from them if none are named.
    """
    if ready.name not in MAKERS:
        known = ", ".join(MAKERS)
        raise rule_error(
            ready.place,
            f"there is no ready-made rule set {ready.name!r}.{did_you_mean(ready.name, [*MAKERS])} Known: {known}.",
        )
    return "".join(f"{with_weight(ready, rule)}\n" for rule in MAKERS[ready.name](ready, classes))


def _bio(ready: IncludedSet, classes: Classes | None) -> Iterable[str]:
    for tags in _types(ready, classes, ("B-", "I-")):
        if INSIDE in tags:
            yield _follows(tags, INSIDE)
            yield f"First(T) -> !{_label('T', tags[INSIDE])}"


def _bioes(ready: IncludedSet, classes: Classes | None) -> Iterable[str]:
    for tags in _types(ready, classes, ("B-", "I-", "E-", "S-")):
        for inner in (INSIDE, END):
            if inner in tags:
                yield _follows(tags, inner)
                yield f"First(T) -> !{_label('T', tags[inner])}"
        for opened in (BEGIN, INSIDE):
            if opened in tags and END in tags:
                onward = _any_label("T", [tags[prefix] for prefix in (INSIDE, END) if prefix in tags])
                yield f"{_label('P', tags[opened])} & Previous(T, P) -> {onward}"
                yield f"Last(T) -> !{_label('T', tags[opened])}"


def _contrast(ready: IncludedSet, _: Classes | None) -> Iterable[str]:
    if len(ready.arguments) != 1:
        raise rule_error(ready.place, "contrast needs one word, such as contrast('but').")
    yield f"Label(S, C) & After(S, {Constant(ready.arguments[0], ready.place)}, B) -> Predicted(B, C)"


MAKERS: dict[str, Callable[[IncludedSet, Classes | None], Iterable[str]]] = {
    "bio": _bio,
    "bioes": _bioes,
    "contrast": _contrast,
}


def _types(ready: IncludedSet, classes: Classes | None, prefixes: Sequence[str]) -> Iterable[dict[int, str]]:
    """Yield the tags of each entity type, by their prefix."""
    if ready.arguments:
        classes = ("O", *(f"{prefix}{kind}" for kind in ready.arguments for prefix in prefixes))
    if classes is None:
        raise rule_error(
            ready.place, f"{ready.name} needs the entity types: write {ready.name}('PER', 'ORG'), or give the labels."
        )
    if not is_span_tag_set(classes):
        raise rule_error(
            ready.place, f"{ready.name} needs span tags such as B-PER and O; the classes are {name_list(classes)}."
        )
    tags = parse_tags(classes)
    wanted = (BEGIN, INSIDE) if len(prefixes) == 2 else (BEGIN, INSIDE, END, SINGLE)
    for kind in range(len(tags.types)):
        yield {
            int(prefix): str(name)
            for name, prefix, its_kind in zip(tags.classes, tags.prefix, tags.kind, strict=True)
            if its_kind == kind and prefix in wanted
        }


def _follows(tags: dict[int, str], inner: int) -> str:
    before = _any_label("P", [tags[prefix] for prefix in (BEGIN, INSIDE) if prefix in tags])
    return f"{_label('T', tags[inner])} & Previous(T, P) -> {before}"


def _any_label(variable: str, tags: Sequence[str]) -> str:
    return " | ".join(_label(variable, tag) for tag in tags)


def _label(variable: str, tag: str) -> str:
    return f"Label({variable}, {quote(tag)})"


Groups = Mapping[str, tuple[Constant, ...]]

MAX_ATOMS = 100_000
"""Maximum number of atoms after the groups of a rule set are expanded. Several groups in one rule multiply."""


def expand(rules: RuleSet, classes: Classes | None = None) -> RuleSet:
    """Return rules without ready-made sets and groups.

    Args:
        rules: The rules.
        classes: The classes of the task, which `bio` and `bioes` need unless they name the entity types.
    """
    found: list[Rule] = []
    written = 0
    for statement in rules.statements:
        plain: tuple[Rule, ...]
        if isinstance(statement, IncludedSet):
            place = statement.place
            source = f"{place.source}:{place.line} (include {statement.name})"
            plain = parse_rules(write_rule_set(statement, classes), source=source).rules
        else:
            plain = (statement,)
        for rule in plain:
            written += _count_atoms(rule, rules.groups)
            if written > MAX_ATOMS:
                # Python refuses to print numbers as large as a rule file can produce.
                count = f"{written:,}" if written < 10**15 else "over 10^15"
                raise rule_error(
                    rule.place,
                    f"with this rule, the groups come to {count} atoms written out, and the limit is {MAX_ATOMS:,}. "
                    f"Use fewer or smaller groups in one rule, or a table of facts.",
                )
            found.extend(_replace_groups(rule, rules.groups))
    return RuleSet(tuple(found), {}, rules.source)


def _count_atoms(rule: Rule, groups: Groups) -> int:
    """Return the number of atoms that a rule with groups expands to, without expanding it; 0 without groups."""
    sizes = [
        prod(len(_group_members(term, groups)) for term in atom.terms if isinstance(term, GroupName))
        for atom in rule.atoms
    ]
    if not any(isinstance(term, GroupName) for atom in rule.atoms for term in atom.terms):
        return 0
    if isinstance(rule, ArithmeticRule):
        return sum(sizes)
    widens = [*map(_is_negative, rule.body), *(not literal.negated for literal in rule.head)]
    copies = prod(size for size, wide in zip(sizes, widens, strict=True) if not wide)
    return copies * sum(size if wide else 1 for size, wide in zip(sizes, widens, strict=True))


def _replace_groups(rule: Rule, groups: Groups) -> Iterator[Rule]:
    if isinstance(rule, ArithmeticRule):
        summands = (Summand(part.coefficient, atom) for part in rule.summands for atom in _atoms(part.atom, groups))
        yield replace(rule, summands=tuple(summands))
        return
    bodies = [_choices(literal, groups, widens=_is_negative(literal)) for literal in rule.body]
    heads = [_choices(literal, groups, widens=not literal.negated) for literal in rule.head]
    for choice in product(*bodies, *heads):
        body, head = choice[: len(bodies)], choice[len(bodies) :]
        yield replace(rule, body=tuple(chain.from_iterable(body)), head=tuple(chain.from_iterable(head)))


def _is_negative(literal: Literal) -> bool:
    """Return whether a literal of a body is negated; comparisons use != instead."""
    return literal.negated or literal.atom.predicate == UNEQUAL


def _choices(literal: Literal, groups: Groups, *, widens: bool) -> list[list[Literal]]:
    """Return the alternatives for a literal: one set with all constants if they are joined by or, else one set each."""
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


# The kind of each variable of a rule (a unit, which is an item or a token; a class; a derived text; or a name), and the
# atoms that bind it. These functions look at one rule alone, without data.


def find_predicate(atom: Atom, vocabulary: Vocabulary) -> Predicate:
    """Return the predicate of an atom that was checked before."""
    found = vocabulary.find(atom.predicate)
    return (
        found
        if found is not None
        else Predicate(name=atom.predicate, kinds=(Kind.name,) * len(atom.terms), role=Role.table)
    )


def variable_kinds(rule: Rule, vocabulary: Vocabulary) -> dict[str, Kind]:
    """Return the kind of each variable. If an argument accepts several kinds, the variable's other uses decide."""
    seen: dict[str, set[Kind]] = {}
    for atom in rule.atoms:
        if atom.is_comparison:
            continue
        for term, kind in zip(atom.terms, find_predicate(atom, vocabulary).kinds, strict=False):
            if isinstance(term, Variable):
                seen.setdefault(term.name, set()).add(kind)
    order = (Kind.label, Kind.text, Kind.unit)
    found = {
        name: next((kind for kind in order if kind in kinds), Kind.unit if Kind.readable in kinds else Kind.name)
        for name, kinds in seen.items()
    }
    # A term that is compared with a unit or a class is one as well
    compared = [
        (left.name, right.name)
        for left, right in (atom.terms for atom in rule.atoms if atom.is_comparison)
        if isinstance(left, Variable) and isinstance(right, Variable)
    ]
    for _ in compared:  # as many rounds as the longest possible chain of comparisons
        for one, other in (*compared, *((right, left) for left, right in compared)):
            if found.get(one) is Kind.name and found.get(other) in (Kind.unit, Kind.label):
                found[one] = found[other]
    return found


def asked_word(atom: Atom, vocabulary: Vocabulary) -> Variable | None:
    """Return the variable in the place of a quoted word, such as W in Contains(S, W), if there is one."""
    if atom.is_comparison:
        return None
    places = zip(atom.terms, find_predicate(atom, vocabulary).kinds, strict=False)
    return next((term for term, kind in places if kind is Kind.word and isinstance(term, Variable)), None)


def generates(atom: Atom, vocabulary: Vocabulary) -> bool:
    """Return whether the facts of an atom can be listed, so that it can bind variables by itself."""
    return not atom.is_comparison and find_predicate(atom, vocabulary).role not in (Role.latent, Role.predicted)


def binding_atoms(rule: Rule) -> tuple[Atom, ...]:
    """Return the atoms that must be true for the rule to be violated; they bind the variables."""
    if isinstance(rule, ArithmeticRule):
        return rule.atoms
    return tuple(literal.atom for literal in rule.literals if literal.negated)


def has_role(atom: Atom, role: Role, vocabulary: Vocabulary) -> bool:
    """Return whether an atom is of a predicate with that role."""
    return not atom.is_comparison and find_predicate(atom, vocabulary).role is role


def label_units(rule: Rule, vocabulary: Vocabulary) -> tuple[Term, ...]:
    """Return the terms for the units whose labels appear in the rule, each once."""
    terms = (atom.terms[0] for atom in rule.atoms if has_role(atom, Role.latent, vocabulary))
    return tuple(dict.fromkeys(terms))


def stay_within_items(rules: RuleSet, classes: Classes, vocabulary: Vocabulary | None = None) -> bool:
    """Return whether every rule is about a single item, so that each item can be projected by itself.

    Only the rules are examined, not the data: a rule that could join two items counts as one that does.
    """
    words = vocabulary or Vocabulary()
    return all(_stays_within(rule, words) for rule in expand(rules, classes).rules)


def _stays_within(rule: Rule, vocabulary: Vocabulary) -> bool:
    """Return whether all units of a rule are the same, or belong to one sequence."""
    kinds = variable_kinds(rule, vocabulary)
    # A quoted constant in the place of a unit names another item
    for atom in rule.atoms:
        constants = [isinstance(term, Constant) for term in atom.terms]
        if atom.is_comparison:
            is_unit = [any(kinds.get(variable.name) is Kind.unit for variable in atom.variables())] * 2
        else:
            is_unit = [kind in (Kind.unit, Kind.readable) for kind in find_predicate(atom, vocabulary).kinds]
        if any(constant and unit for constant, unit in zip(constants, is_unit, strict=True)):
            return False
    # Variables that the structure of sequences joins form a group
    groups = {name: name for name, kind in kinds.items() if kind is Kind.unit}
    for atom in binding_atoms(rule):
        if not atom.is_comparison and find_predicate(atom, vocabulary).role is Role.structure:
            names = [variable.name for variable in atom.variables()]
            joined = {groups[name] for name in names}
            groups = {name: groups[names[0]] if group in joined else group for name, group in groups.items()}
    return len(set(groups.values())) <= 1
