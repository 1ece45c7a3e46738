"""What is wrong, or odd, about one rule, whatever the data: names, numbers of terms, kinds, classes, variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from crowdlogic.data.names import Classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import did_you_mean, name_list
from crowdlogic.rules.places import Place
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import FIXED, Kind, Role
from crowdlogic.rules.syntax import Atom, Constant, Rule, Term, Variable
from crowdlogic.rules.variables import (
    binding_atoms,
    find_predicate,
    has_role,
    is_given,
    takes_words,
    variable_kinds,
)


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

    @property
    def line(self) -> str:
        """Where and what, on one line."""
        return f"{self.place}: {self.what}"

    def __str__(self) -> str:
        return self.place.message(self.what if self.severity is Severity.error else f"{self.severity}: {self.what}")


def own_facts(name: str) -> str:
    """How to say what a predicate of one's own means."""
    in_python = "in Python Vocabulary().table, or @vocabulary.predicate for a function"
    return f" To bring its facts: --table {name}=FILE ({in_python})."


def _what_to_do(name: str, vocabulary: Vocabulary) -> str:
    """The predicate that is meant, if one is near; and how to bring facts of one's own."""
    hint = vocabulary.hint(name)
    return f"{hint} Or bring its facts: --table {name}=FILE." if hint else own_facts(name)


def error(place: Place, what: str) -> Finding:
    """A finding that stops."""
    return Finding(Severity.error, place, what)


def warning(place: Place, what: str) -> Finding:
    """A finding that does not."""
    return Finding(Severity.warning, place, what)


def find_problems(rule: Rule, vocabulary: Vocabulary, classes: Classes | None) -> list[Finding]:
    """What is wrong with one rule, whatever the data."""
    shapes = list(_check_shapes(rule, vocabulary))
    if shapes:
        return shapes
    kinds = variable_kinds(rule, vocabulary)
    found = [
        *_check_kinds(rule, vocabulary, kinds),
        *_check_constants(rule, vocabulary, classes),
        *_check_bound(rule, vocabulary, kinds),
        *_check_sums(rule, vocabulary),
        *_check_hard(rule, vocabulary),
    ]
    if not any(has_role(atom, Role.latent, vocabulary) for atom in rule.atoms):
        found.append(error(rule.place, "this rule says nothing about a Label, so it can decide nothing."))
    if rule.weight == 0:
        found.append(warning(rule.place, "a rule of weight 0 changes nothing."))
    return found


def _check_shapes(rule: Rule, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Unknown predicates and wrong numbers of terms."""
    for atom in rule.atoms:
        if atom.is_comparison:
            continue
        predicate = vocabulary.find(atom.predicate)
        if predicate is None:
            yield error(
                atom.place,
                f"unknown predicate {atom.predicate!r}.{_what_to_do(atom.predicate, vocabulary)}",
            )
        elif len(atom.terms) != len(predicate.kinds):
            expected = ", ".join(predicate.kinds)
            yield error(
                atom.place,
                f"{predicate.name} takes {pluralise(len(predicate.kinds), 'term')} ({expected}), not "
                f"{len(atom.terms)}.",
            )


def _terms_with_kinds(rule: Rule, vocabulary: Vocabulary) -> Iterator[tuple[Atom, Term, Kind]]:
    for atom in rule.atoms:
        if not atom.is_comparison:
            for term, kind in zip(atom.terms, find_predicate(atom, vocabulary).kinds, strict=True):
                yield atom, term, kind


def _check_kinds(rule: Rule, vocabulary: Vocabulary, kinds: dict[str, Kind]) -> Iterator[Finding]:
    fits = {
        Kind.unit: (Kind.unit, Kind.readable, Kind.name),
        Kind.label: (Kind.label, Kind.name),
        Kind.text: (Kind.text, Kind.readable),
        Kind.name: (Kind.name,),
    }
    for atom, term, kind in _terms_with_kinds(rule, vocabulary):
        if isinstance(term, Variable) and kind not in fits[kinds[term.name]]:
            if kind in FIXED:
                yield from _check_fixed(rule, atom, term, vocabulary)
            else:
                other = kinds[term.name]
                yield error(term.place, f"{term.name} is {kind} here, and {other} elsewhere in this rule.")
    for atom in rule.atoms:
        if atom.is_comparison:
            yield from _check_comparison(atom, kinds)


def _check_fixed(rule: Rule, atom: Atom, term: Variable, vocabulary: Vocabulary) -> Iterator[Finding]:
    """A variable in the place of a quoted constant: a word that a table gives, or a mistake."""
    predicate = find_predicate(atom, vocabulary)
    kind = predicate.kinds[atom.terms.index(term)]
    if not takes_words(predicate):
        yield error(term.place, f"{atom.predicate} takes {kind} here, not a variable.")
    elif not is_given(term.name, rule, vocabulary):
        other = atom.terms[0] if isinstance(atom.terms[0], Variable) else "S"
        yield error(
            term.place,
            f"{atom.predicate} takes {kind} here, or a variable that a table of words gives. Write one rule per word, "
            f"{atom.predicate}({other}, 'word'); or a table with the columns word and label, given with --table "
            f"Tone=words.csv: 1.0: {atom.predicate}({other}, {term.name}) & Tone({term.name}, C) -> Label({other}, C).",
        )


def _check_comparison(atom: Atom, kinds: dict[str, Kind]) -> Iterator[Finding]:
    left, right = (kinds.get(term.name) if isinstance(term, Variable) else None for term in atom.terms)
    if left is not None and right is not None and left is not right:
        yield error(atom.place, f"{atom} compares {left} with {right}.")


def _check_constants(rule: Rule, vocabulary: Vocabulary, classes: Classes | None) -> Iterator[Finding]:
    kinds = variable_kinds(rule, vocabulary)
    for atom, term, kind in _terms_with_kinds(rule, vocabulary):
        if not isinstance(term, Constant):
            continue
        if kind is Kind.text:
            yield error(term.place, f"{atom.predicate} gives a text here: write a variable, not a constant.")
        if kind is Kind.label:
            yield from _check_class(term, classes)
    for atom in rule.atoms:
        if atom.is_comparison and any(isinstance(t, Variable) and kinds.get(t.name) is Kind.label for t in atom.terms):
            for term in atom.terms:
                if isinstance(term, Constant):
                    yield from _check_class(term, classes)


def _check_class(term: Constant, classes: Classes | None) -> Iterator[Finding]:
    names = [str(name) for name in classes or ()]
    if classes is not None and term.value not in names:
        yield error(
            term.place,
            f"{term} is no class.{did_you_mean(term.value, names)} The classes are {name_list(names, most=12)}.",
        )


def _check_bound(rule: Rule, vocabulary: Vocabulary, kinds: dict[str, Kind]) -> Iterator[Finding]:
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
                    f"class but one. Bind it in the body, for example with Label(S, {variable.name}); or quote it, if "
                    f"it is itself a class: '{variable.name}'.",
                )
            else:
                yield error(
                    variable.place,
                    f"nothing says what {variable.name} is: it must stand in an atom of the body that is not negated.",
                )
    yield from _check_derived(rule, vocabulary, kinds)


def _check_derived(rule: Rule, vocabulary: Vocabulary, kinds: dict[str, Kind]) -> Iterator[Finding]:
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


def _check_sums(rule: Rule, vocabulary: Vocabulary) -> Iterator[Finding]:
    for _, term, kind in _terms_with_kinds(rule, vocabulary):
        if isinstance(term, Variable) and term.summed:
            if kind is not Kind.label:
                yield error(term.place, f"a sum such as {term} runs over classes only, as in Label(S, +C) = 1.")
            elif sum(v.name == term.name for atom in rule.atoms for v in atom.variables() if not v.summed):
                yield error(term.place, f"{term.name} is both summed over and bound in this rule.")


def _check_hard(rule: Rule, vocabulary: Vocabulary) -> Iterator[Finding]:
    if rule.weight is None:
        for atom in rule.atoms:
            if has_role(atom, Role.predicted, vocabulary):
                yield error(
                    atom.place,
                    "a hard rule needs evidence that is true or false; Predicted is in between. Give a weight.",
                )
