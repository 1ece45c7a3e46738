"""What each variable of a rule stands for: a unit, a class, a derived text or a name; and which atoms bind it.

Everything here looks at one rule alone, without data.
"""

from __future__ import annotations

from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import Kind, Predicate, Role
from crowdlogic.rules.syntax import ArithmeticRule, Atom, Rule, Term, Variable


def find_predicate(atom: Atom, vocabulary: Vocabulary) -> Predicate:
    """The predicate of an atom that was checked before."""
    found = vocabulary.find(atom.predicate)
    return (
        found
        if found is not None
        else Predicate(name=atom.predicate, kinds=(Kind.name,) * len(atom.terms), role=Role.table)
    )


def variable_kinds(rule: Rule, vocabulary: Vocabulary) -> dict[str, Kind]:
    """What each variable stands for. A place that takes several kinds leaves it to the variable's other places."""
    seen: dict[str, set[Kind]] = {}
    for atom in rule.atoms:
        if atom.is_comparison:
            continue
        for term, kind in zip(atom.terms, find_predicate(atom, vocabulary).kinds, strict=False):
            if isinstance(term, Variable):
                seen.setdefault(term.name, set()).add(kind)
    return _unify_compared({name: _most_specific(kinds) for name, kinds in seen.items()}, rule)


def _unify_compared(kinds: dict[str, Kind], rule: Rule) -> dict[str, Kind]:
    """What is compared with a unit or a class is one, too, unless something else is known of it."""
    compared = [
        (left.name, right.name)
        for left, right in (atom.terms for atom in rule.atoms if atom.is_comparison)
        if isinstance(left, Variable) and isinstance(right, Variable)
    ]
    for _ in compared:  # as many rounds as the longest possible chain of comparisons
        for one, other in (*compared, *((right, left) for left, right in compared)):
            if kinds.get(one) is Kind.name and kinds.get(other) in (Kind.unit, Kind.label):
                kinds[one] = kinds[other]
    return kinds


def _most_specific(kinds: set[Kind]) -> Kind:
    for kind in (Kind.label, Kind.text, Kind.unit):
        if kind in kinds:
            return kind
    return Kind.unit if Kind.readable in kinds else Kind.name


def asked_word(atom: Atom, vocabulary: Vocabulary) -> Variable | None:
    """The variable in the place of a quoted word, as in Contains(S, W) where a table gives W; None without one."""
    if atom.is_comparison:
        return None
    places = zip(atom.terms, find_predicate(atom, vocabulary).kinds, strict=False)
    return next((term for term, kind in places if kind is Kind.word and isinstance(term, Variable)), None)


def takes_words(predicate: Predicate) -> bool:
    """Whether the quoted word of a predicate may be a variable that a table gives: a truth of one text and one word."""
    return predicate.kinds == (Kind.readable, Kind.word)


def is_given(name: str, rule: Rule, vocabulary: Vocabulary) -> bool:
    """Whether a table of facts in the body gives a variable."""
    return any(
        isinstance(term, Variable) and term.name == name
        for atom in binding_atoms(rule)
        if has_role(atom, Role.table, vocabulary)
        for term in atom.terms
    )


def generates(atom: Atom, vocabulary: Vocabulary) -> bool:
    """Whether an atom lists what makes it true, so that it can bind variables by itself."""
    return not atom.is_comparison and find_predicate(atom, vocabulary).role not in (Role.latent, Role.predicted)


def binding_atoms(rule: Rule) -> tuple[Atom, ...]:
    """The atoms whose truth is needed for the rule to be violated; they decide what a variable may stand for."""
    if isinstance(rule, ArithmeticRule):
        return rule.atoms
    return tuple(literal.atom for literal in rule.literals if literal.negated)


def has_role(atom: Atom, role: Role, vocabulary: Vocabulary) -> bool:
    """Whether an atom is of a predicate with that role."""
    return not atom.is_comparison and find_predicate(atom, vocabulary).role is role


def label_units(rule: Rule, vocabulary: Vocabulary) -> tuple[Term, ...]:
    """The terms that stand for the units whose labels the rule speaks of, each once."""
    terms = (atom.terms[0] for atom in rule.atoms if has_role(atom, Role.latent, vocabulary))
    return tuple(dict.fromkeys(terms))
