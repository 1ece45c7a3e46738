"""What each variable of a rule stands for: a unit, a class, a derived text or a name; and what is wrong with a rule.

Everything here looks at one rule alone, without data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from crowdlogic.data.names import Classes
from crowdlogic.errors import did_you_mean, name_list
from crowdlogic.rules.places import Place
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import FIXED, Kind, Predicate, Role
from crowdlogic.rules.syntax import ArithmeticRule, Atom, Constant, Rule, Term, Variable


class Severity(StrEnum):
    """How bad a finding is: an error stops the rules from being used."""

    error = "error"
    warning = "warning"


@dataclass(frozen=True)
class Finding:
    """Something wrong, or odd, about a rule."""

    severity: Severity
    place: Place
    what: str

    def __str__(self) -> str:
        return self.place.message(self.what if self.severity is Severity.error else f"{self.severity}: {self.what}")


def error(place: Place, what: str) -> Finding:
    """A finding that stops."""
    return Finding(Severity.error, place, what)


def warning(place: Place, what: str) -> Finding:
    """A finding that does not."""
    return Finding(Severity.warning, place, what)


def find_predicate(atom: Atom, vocabulary: Vocabulary) -> Predicate:
    """The predicate of an atom that was checked before."""
    found = vocabulary.find(atom.predicate)
    return (
        found
        if found is not None
        else Predicate(name=atom.predicate, kinds=(Kind.name,) * len(atom.terms), role=Role.table)
    )


def kinds_of(rule: Rule, vocabulary: Vocabulary) -> dict[str, Kind]:
    """What each variable stands for. A place that takes several kinds leaves it to the variable's other places."""
    seen: dict[str, set[Kind]] = {}
    for atom in rule.atoms:
        if atom.is_comparison:
            continue
        for term, kind in zip(atom.terms, find_predicate(atom, vocabulary).kinds, strict=False):
            if isinstance(term, Variable):
                seen.setdefault(term.name, set()).add(kind)
    return _alike({name: _settled(kinds) for name, kinds in seen.items()}, rule)


def _alike(kinds: dict[str, Kind], rule: Rule) -> dict[str, Kind]:
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


def _settled(kinds: set[Kind]) -> Kind:
    for kind in (Kind.label, Kind.text, Kind.unit):
        if kind in kinds:
            return kind
    return Kind.unit if Kind.readable in kinds else Kind.name


def generates(atom: Atom, vocabulary: Vocabulary) -> bool:
    """Whether an atom lists what makes it true, so that it can bind variables by itself."""
    return not atom.is_comparison and find_predicate(atom, vocabulary).role not in (Role.latent, Role.predicted)


def binding_atoms(rule: Rule) -> tuple[Atom, ...]:
    """The atoms whose truth is needed for the rule to be violated; they decide what a variable may stand for."""
    if isinstance(rule, ArithmeticRule):
        return rule.atoms
    return tuple(literal.atom for literal in rule.literals if literal.negated)


def problems(rule: Rule, vocabulary: Vocabulary, classes: Classes | None) -> list[Finding]:
    """What is wrong with one rule, whatever the data."""
    shapes = list(_shapes(rule, vocabulary))
    if shapes:
        return shapes
    kinds = kinds_of(rule, vocabulary)
    found = [
        *_conflicts(rule, vocabulary, kinds),
        *_constants(rule, vocabulary, classes),
        *_unbound(rule, vocabulary, kinds),
        *_sums(rule, vocabulary),
        *_hard(rule, vocabulary),
    ]
    if not any(_is(atom, Role.latent, vocabulary) for atom in rule.atoms):
        found.append(error(rule.place, "this rule says nothing about a Label, so it can decide nothing."))
    if rule.weight == 0:
        found.append(warning(rule.place, "a rule of weight 0 changes nothing."))
    return found


def _is(atom: Atom, role: Role, vocabulary: Vocabulary) -> bool:
    return not atom.is_comparison and find_predicate(atom, vocabulary).role is role


def _shapes(rule: Rule, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Unknown predicates and wrong numbers of terms."""
    for atom in rule.atoms:
        if atom.is_comparison:
            continue
        predicate = vocabulary.find(atom.predicate)
        if predicate is None:
            yield error(atom.place, f"unknown predicate {atom.predicate!r}.{vocabulary.hint(atom.predicate)}")
        elif len(atom.terms) != len(predicate.kinds):
            expected = ", ".join(predicate.kinds)
            yield error(
                atom.place,
                f"{predicate.name} takes {len(predicate.kinds)} terms ({expected}), not {len(atom.terms)}.",
            )


def _placed(rule: Rule, vocabulary: Vocabulary) -> Iterator[tuple[Atom, Term, Kind]]:
    for atom in rule.atoms:
        if not atom.is_comparison:
            for term, kind in zip(atom.terms, find_predicate(atom, vocabulary).kinds, strict=True):
                yield atom, term, kind


def _conflicts(rule: Rule, vocabulary: Vocabulary, kinds: dict[str, Kind]) -> Iterator[Finding]:
    fits = {
        Kind.unit: (Kind.unit, Kind.readable, Kind.name),
        Kind.label: (Kind.label, Kind.name),
        Kind.text: (Kind.text, Kind.readable),
        Kind.name: (Kind.name,),
    }
    for atom, term, kind in _placed(rule, vocabulary):
        if isinstance(term, Variable) and kind not in fits[kinds[term.name]]:
            if kind in FIXED:
                yield error(term.place, f"{atom.predicate} takes {kind} here, not a variable.")
            else:
                other = kinds[term.name]
                yield error(term.place, f"{term.name} is {kind} here, and {other} elsewhere in this rule.")
    for atom in rule.atoms:
        if atom.is_comparison:
            yield from _compared(atom, kinds)


def _compared(atom: Atom, kinds: dict[str, Kind]) -> Iterator[Finding]:
    left, right = (kinds.get(term.name) if isinstance(term, Variable) else None for term in atom.terms)
    if left is not None and right is not None and left is not right:
        yield error(atom.place, f"{atom} compares {left} with {right}.")


def _constants(rule: Rule, vocabulary: Vocabulary, classes: Classes | None) -> Iterator[Finding]:
    kinds = kinds_of(rule, vocabulary)
    for atom, term, kind in _placed(rule, vocabulary):
        if not isinstance(term, Constant):
            continue
        if kind is Kind.text:
            yield error(term.place, f"{atom.predicate} gives a text here: write a variable, not a constant.")
        if kind is Kind.label:
            yield from _class_constant(term, classes)
    for atom in rule.atoms:
        if atom.is_comparison and any(isinstance(t, Variable) and kinds.get(t.name) is Kind.label for t in atom.terms):
            for term in atom.terms:
                if isinstance(term, Constant):
                    yield from _class_constant(term, classes)


def _class_constant(term: Constant, classes: Classes | None) -> Iterator[Finding]:
    names = [str(name) for name in classes or ()]
    if classes is not None and term.value not in names:
        yield error(
            term.place,
            f"{term} is no class.{did_you_mean(term.value, names)} The classes are {name_list(names, most=12)}.",
        )


def _unbound(rule: Rule, vocabulary: Vocabulary, kinds: dict[str, Kind]) -> Iterator[Finding]:
    """Variables that nothing binds."""
    bound = {variable.name for atom in binding_atoms(rule) if not atom.is_comparison for variable in atom.variables()}
    reported = set()
    for atom in rule.atoms:
        for variable in atom.variables():
            if variable.name in bound or variable.name in reported:
                continue
            reported.add(variable.name)
            if kinds.get(variable.name) is Kind.label:
                yield error(
                    variable.place,
                    f"the class {variable.name} stands in the head alone, so the rule would be violated for every "
                    f"class but one. Bind it in the body, for example with Label(S, {variable.name}).",
                )
            else:
                yield error(
                    variable.place,
                    f"nothing says what {variable.name} is: it must stand in an atom of the body that is not negated.",
                )
    yield from _underived(rule, vocabulary, kinds)


def _underived(rule: Rule, vocabulary: Vocabulary, kinds: dict[str, Kind]) -> Iterator[Finding]:
    """Derived texts whose deriving atom is not among the binding ones, so that they are only read."""
    derived = {
        term.name
        for atom in binding_atoms(rule)
        if not atom.is_comparison
        for term, kind in zip(atom.terms, find_predicate(atom, vocabulary).kinds, strict=True)
        if isinstance(term, Variable) and kind is Kind.text
    }
    for name, kind in kinds.items():
        if kind is Kind.text and name not in derived:
            place = next(v.place for atom in rule.atoms for v in atom.variables() if v.name == name)
            yield error(place, f"the text {name} is derived only under a negation; derive it in the body.")


def _sums(rule: Rule, vocabulary: Vocabulary) -> Iterator[Finding]:
    for _, term, kind in _placed(rule, vocabulary):
        if isinstance(term, Variable) and term.summed:
            if kind is not Kind.label:
                yield error(term.place, f"a sum such as {term} runs over classes only, as in Label(S, +C) = 1.")
            elif sum(v.name == term.name for atom in rule.atoms for v in atom.variables() if not v.summed):
                yield error(term.place, f"{term.name} is both summed over and bound in this rule.")


def _hard(rule: Rule, vocabulary: Vocabulary) -> Iterator[Finding]:
    if rule.weight is None:
        for atom in rule.atoms:
            if _is(atom, Role.predicted, vocabulary):
                yield error(
                    atom.place,
                    "a hard rule needs evidence that is true or false; Predicted is in between. Give a weight.",
                )


def label_units(rule: Rule, vocabulary: Vocabulary) -> tuple[Term, ...]:
    """The terms that stand for the units whose labels the rule speaks of, each once."""
    terms = (atom.terms[0] for atom in rule.atoms if _is(atom, Role.latent, vocabulary))
    return tuple(dict.fromkeys(terms))
