"""Check rules before they are used: names, arities, classes, contradictions, duplicates, rules without effect.

`check` returns all findings; `require_valid` raises the first error. If a corpus is given, rules that never apply to
its items are also found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import RuleError, did_you_mean, name_list
from crowdlogic.rules.expansion import (
    binding_atoms,
    expand,
    find_predicate,
    has_role,
    variable_kinds,
)
from crowdlogic.rules.parser import as_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import FIXED, Kind, Role
from crowdlogic.rules.syntax import (
    UNEQUAL,
    ArithmeticRule,
    Atom,
    Constant,
    Literal,
    LogicalRule,
    Place,
    Rule,
    RuleSet,
    Term,
    Variable,
    shorten_message,
)

# Checks of a single rule without data: names, numbers of terms, kinds, classes, variables.


class Severity(StrEnum):
    """Severity of a finding: an error prevents the rules from being used."""

    error = "error"
    warning = "warning"


@dataclass(frozen=True)
class Finding:
    """Problem with a rule."""

    severity: Severity
    place: Place
    what: str

    @property
    def line(self) -> str:
        """Position and message on one line."""
        return f"{self.place}: {shorten_message(self.what)}"

    def __str__(self) -> str:
        return self.place.message(self.what if self.severity is Severity.error else f"{self.severity}: {self.what}")


def own_facts(name: str) -> str:
    """Return advice on how to define a predicate."""
    in_python = "in Python Vocabulary().table, or @vocabulary.predicate for a function"
    return f" To bring its facts: --table {name}=FILE ({in_python})."


def error(place: Place, what: str) -> Finding:
    """Return a finding of severity error."""
    return Finding(Severity.error, place, what)


def warning(place: Place, what: str) -> Finding:
    """Return a finding of severity warning."""
    return Finding(Severity.warning, place, what)


def find_problems(rule: Rule, vocabulary: Vocabulary, classes: Classes | None) -> list[Finding]:
    """Return the problems of one rule that do not depend on data."""
    shapes = list(_check_shapes(rule, vocabulary))
    if shapes:
        return shapes
    kinds = variable_kinds(rule, vocabulary)
    found = [
        *_check_kinds(rule, vocabulary, kinds),
        *_check_constants(rule, vocabulary, kinds, classes),
        *_check_bound(rule, vocabulary, kinds),
        *_check_sums(rule, vocabulary),
        *_check_hard(rule, vocabulary),
    ]
    if not any(has_role(atom, Role.latent, vocabulary) for atom in rule.atoms):
        found.append(error(rule.place, "this rule does not contain Label, so it has no effect."))
    if rule.weight == 0:
        found.append(warning(rule.place, "a rule with weight 0 has no effect."))
    return found


def _check_shapes(rule: Rule, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield unknown predicates and wrong numbers of terms."""
    for atom in rule.atoms:
        if atom.is_comparison:
            continue
        predicate = vocabulary.find(atom.predicate)
        if predicate is None:
            name, hint = atom.predicate, vocabulary.hint(atom.predicate)
            remedy = f"{hint} Or supply its facts: --table {name}=FILE." if hint else own_facts(name)
            yield error(atom.place, f"unknown predicate {name!r}.{remedy}")
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
            left, right = (kinds.get(term.name) if isinstance(term, Variable) else None for term in atom.terms)
            if left is not None and right is not None and left is not right:
                yield error(atom.place, f"{atom} compares {left} with {right}.")


def _check_fixed(rule: Rule, atom: Atom, term: Variable, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield an error for a variable in the place of a quoted constant, unless it is a word from a table of facts."""
    predicate = find_predicate(atom, vocabulary)
    kind = predicate.kinds[atom.terms.index(term)]
    tables = [one for one in binding_atoms(rule) if has_role(one, Role.table, vocabulary)]
    if predicate.kinds != (Kind.readable, Kind.word):
        yield error(term.place, f"{atom.predicate} takes {kind} here, not a variable.")
    elif not any(variable.name == term.name for table in tables for variable in table.variables()):
        other = atom.terms[0] if isinstance(atom.terms[0], Variable) else "S"
        yield error(
            term.place,
            f"{atom.predicate} takes {kind} here, or a variable that a table of words gives. Write one rule per word, "
            f"{atom.predicate}({other}, 'word'); or a table with the columns word and label, given with --table "
            f"Tone=words.csv: 1.0: {atom.predicate}({other}, {term.name}) & Tone({term.name}, C) -> Label({other}, C).",
        )


def _check_constants(
    rule: Rule, vocabulary: Vocabulary, kinds: dict[str, Kind], classes: Classes | None
) -> Iterator[Finding]:
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
            f"{term} is not a class.{did_you_mean(term.value, names)} The classes are {name_list(names, most=12)}.",
        )


def _check_bound(rule: Rule, vocabulary: Vocabulary, kinds: dict[str, Kind]) -> Iterator[Finding]:
    """Yield variables that nothing binds."""
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
                remedy = ""
                if kinds.get(variable.name) in (Kind.unit, Kind.readable):
                    remedy = (
                        f" For a rule about every item, add Matches({variable.name}, '.'); about every token, "
                        f"Token({variable.name}, W)."
                    )
                yield error(
                    variable.place,
                    f"{variable.name} is not bound: it must appear in an atom of the body that is not negated.{remedy}",
                )
    # Texts that a rule reads, but that no binding atom derives
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


def check(
    rules: RuleSet | str,
    *,
    classes: Classes | None = None,
    vocabulary: Vocabulary | None = None,
    corpus: Corpus | None = None,
) -> list[Finding]:
    """Return all problems of the rules, in the order of the file.

    Args:
        rules: The rules, or their text.
        classes: The classes of the task; without them, class constants go unchecked.
        vocabulary: The predicates; the built-in ones when not given.
        corpus: The items; with them, rules that do not fit the items or never ground are found.
    """
    words = vocabulary or Vocabulary()
    plain = expand(as_rules(rules) or RuleSet(()), classes)
    found = [finding for rule in plain.rules for finding in find_problems(rule, words, classes)]
    if corpus is not None:
        found += [finding for rule in plain.rules for finding in _find_misfits(rule, words, corpus)]
    if not any(finding.severity is Severity.error for finding in found):
        found += [finding for rule in plain.rules for finding in _find_tautologies(rule, words)]
        found += _find_duplicates(plain.rules)
        found += _find_hard_conflicts(plain.rules, words)
        if corpus is not None and classes is not None:
            from crowdlogic.rules.grounding import ground_rules

            ground = ground_rules(plain, corpus, classes, vocabulary=words)
            found += ground.notices
            found += [
                warning(part.rule.place, "this rule never applies: no items make its body true.")
                for part in ground.rules
                if not part.count
            ]
    return sorted(found, key=lambda finding: (finding.place.line, finding.place.column))


def require_valid(rules: RuleSet, *, classes: Classes, vocabulary: Vocabulary, corpus: Corpus) -> None:
    """Raise the first error in the rules, and mention the number of further errors."""
    found = [
        finding
        for rule in rules.rules
        for finding in (*find_problems(rule, vocabulary, classes), *_find_misfits(rule, vocabulary, corpus))
        if finding.severity is Severity.error
    ]
    if found:
        more = f"\n({len(found) - 1} more errors; `crowdlogic rules check` lists them.)" if len(found) > 1 else ""
        raise RuleError(f"{found[0]}{more}")


def _find_misfits(rule: Rule, vocabulary: Vocabulary, corpus: Corpus) -> Iterator[Finding]:
    """Yield predicates that do not fit the items: of tokens for documents, or of texts for items without texts."""
    ours, theirs = ("tokens", "documents") if corpus.is_sequential else ("documents", "tokens")
    texts = {name for name, kind in variable_kinds(rule, vocabulary).items() if kind is Kind.text}
    for atom in rule.atoms:
        predicate, term = vocabulary.find(atom.predicate), atom.terms[0]
        if atom.is_comparison or predicate is None:
            continue
        if predicate.units == theirs:
            yield error(atom.place, f"{predicate.name} is about {theirs}; the items here are {ours}.")
        elif predicate.role in (Role.text, Role.function) and corpus.texts is None and corpus.tokens is None:
            yield error(atom.place, f"{predicate.name} reads the text, and these items have none.")
        elif predicate.role is Role.features and corpus.features is None:
            yield error(atom.place, f"{predicate.name} reads numeric features, and these items have none (--features).")
        elif (
            predicate.role is Role.predicted
            and corpus.is_sequential
            and isinstance(term, Variable)
            and term.name in texts
        ):
            yield error(atom.place, "Predicted on a derived text needs documents; the items here are tokens.")


def _find_tautologies(rule: Rule, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield rules that can never be violated."""
    if isinstance(rule, ArithmeticRule):
        total = sum(summand.coefficient for summand in rule.summands)
        holds = {"=": total == rule.constant, "<=": total <= rule.constant, ">=": total >= rule.constant}
        if all(any(v.summed for v in atom.variables()) for atom in rule.atoms) and holds[rule.relation]:
            yield warning(rule.place, "this always holds, because every unit has exactly one class.")
        return
    needed: dict[Term, Atom] = {}
    literals = rule.literals
    stated = {literal.atom for literal in literals if not literal.negated}
    for literal in literals:
        if literal.negated and literal.atom in stated:
            yield warning(rule.place, f"this always holds: {literal.atom} stands on both sides.")
            return
        atom = literal.atom
        if not literal.negated or atom.is_comparison or find_predicate(atom, vocabulary).role is not Role.latent:
            continue
        other = needed.setdefault(atom.terms[0], atom)
        if isinstance(atom.terms[1], Constant) and isinstance(other.terms[1], Constant) and atom != other:
            yield warning(
                atom.place,
                f"this rule is never violated: {atom.terms[0]} cannot be {other.terms[1]} and {atom.terms[1]} at once.",
            )


def _find_duplicates(rules: Sequence[Rule]) -> Iterator[Finding]:
    """Yield pairs of rules that are equal up to the names of variables and the order, or contradict each other."""
    by_form: dict[object, Rule] = {}
    by_opposite: dict[object, Rule] = {}
    for rule in rules:
        form = _canonical_form(rule)
        same = by_form.setdefault((form, rule.squared), rule)
        if same is not rule:
            yield warning(rule.place, f"this is equivalent to the rule at {same.place}, so it counts twice.")
        if not isinstance(rule, LogicalRule) or len(rule.head) != 1:
            continue
        other = by_opposite.get(form)
        if other is not None:
            yield warning(rule.place, f"this contradicts the rule at {other.place}: the same body, the opposite head.")
        (head,) = rule.head
        negated = replace(rule, head=(Literal(head.atom, not head.negated),))
        by_opposite.setdefault(_canonical_form(negated), rule)


def _find_hard_conflicts(rules: Sequence[Rule], vocabulary: Vocabulary) -> Iterator[Finding]:
    """Yield hard rules with the same body that demand different classes: no class is left where the body holds."""
    demanded: dict[object, tuple[Constant, Rule]] = {}
    for rule in rules:
        if rule.weight is not None or not isinstance(rule, LogicalRule) or len(rule.head) != 1:
            continue
        (head,) = rule.head
        if head.negated or not has_role(head.atom, Role.latent, vocabulary):
            continue
        unit, name = head.atom.terms
        if not isinstance(name, Constant):
            continue
        any_class = Literal(replace(head.atom, terms=(unit, replace(name, value=""))))
        key = _canonical_form(replace(rule, head=(any_class,)))
        other, first = demanded.setdefault(key, (name, rule))
        if other.value != name.value:
            yield warning(
                rule.place,
                f"this contradicts the rule at {first.place}: both are hard and have the same body, and the classes "
                f"{other} and {name} exclude each other. Give one of them a weight, or remove it.",
            )


def _canonical_form(rule: Rule) -> object:
    """Return a key that is equal for equivalent rules, whatever their variable names, order and weight."""
    if isinstance(rule, ArithmeticRule):
        shape: tuple[Any, ...] = (rule.relation, rule.constant)
        parts = [(f"{part.coefficient}", part.atom) for part in rule.summands]
    else:
        shape, parts = (), [(str(literal.negated), literal.atom) for literal in rule.literals]

    def without_names(part: tuple[str, Atom]) -> tuple[str, str, str]:
        sign, atom = part
        terms = ["?" if isinstance(term, Variable) else str(term) for term in atom.terms]
        return atom.predicate.casefold(), ",".join(terms), sign

    # Sort the atoms without the names of their variables, and number the variables in that order
    numbers: dict[str, int] = {}
    form = []
    for sign, atom in sorted(parts, key=without_names):
        terms = [
            f"?{numbers.setdefault(term.name, len(numbers))}" if isinstance(term, Variable) else str(term)
            for term in atom.terms
        ]
        form.append((sign, atom.predicate.casefold(), *(sorted(terms) if atom.predicate == UNEQUAL else terms)))
    return (*shape, tuple(form))
