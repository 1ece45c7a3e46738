"""Check rules before they are used: names, arities, classes, contradictions, duplicates, rules that cannot matter.

`check` collects everything it finds; `require` raises the first error. With a corpus, rules that never ground are
found too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.errors import RuleError
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.findings import Finding, Severity, error, find_problems, warning
from crowdlogic.rules.parser import as_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import Kind, Role
from crowdlogic.rules.syntax import (
    UNEQUAL,
    ArithmeticRule,
    Atom,
    Constant,
    Literal,
    LogicalRule,
    Rule,
    RuleSet,
    Term,
    Variable,
)
from crowdlogic.rules.variables import find_predicate, variable_kinds


def check(
    rules: RuleSet | str,
    *,
    classes: Classes | None = None,
    vocabulary: Vocabulary | None = None,
    corpus: Corpus | None = None,
) -> list[Finding]:
    """Everything wrong or odd about the rules, in the order of the file.

    Args:
        rules: What was read, or the text of rules.
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
        if corpus is not None and classes is not None:
            found += _find_ungrounded(plain, words, corpus, classes)
    return sorted(found, key=lambda finding: (finding.place.line, finding.place.column))


def require_valid(rules: RuleSet, *, classes: Classes, vocabulary: Vocabulary, corpus: Corpus) -> None:
    """Raise the first error, and say how many more there are."""
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
    """Predicates of tokens over documents, and the reverse; texts that are not there."""
    ours, theirs = ("tokens", "documents") if corpus.is_sequential else ("documents", "tokens")
    kinds = variable_kinds(rule, vocabulary)
    for atom in rule.atoms:
        predicate = vocabulary.find(atom.predicate)
        if atom.is_comparison or predicate is None:
            continue
        if predicate.units == theirs:
            yield error(atom.place, f"{predicate.name} is about {theirs}; the items here are {ours}.")
        elif predicate.role in (Role.text, Role.function) and corpus.texts is None and corpus.tokens is None:
            yield error(atom.place, f"{predicate.name} reads the text, and these items have none.")
        elif predicate.role is Role.predicted and corpus.is_sequential and _is_text(atom.terms[0], kinds):
            yield error(atom.place, "Predicted on a derived text needs documents; the items here are tokens.")


def _is_text(term: Term, kinds: dict[str, Kind]) -> bool:
    return isinstance(term, Variable) and kinds.get(term.name) is Kind.text


def _find_tautologies(rule: Rule, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Rules that can never be violated."""
    if isinstance(rule, ArithmeticRule):
        if all(any(v.summed for v in atom.variables()) for atom in rule.atoms) and _holds_always(rule):
            yield warning(rule.place, "this always holds, since a unit has exactly one class.")
        return
    needed: dict[Term, Atom] = {}
    for literal in rule.literals:
        if literal.negated and Literal(literal.atom) in rule.literals:
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


def _holds_always(rule: ArithmeticRule) -> bool:
    total = sum(summand.coefficient for summand in rule.summands)
    return {"=": total == rule.constant, "<=": total <= rule.constant, ">=": total >= rule.constant}[rule.relation]


def _find_duplicates(rules: Sequence[Rule]) -> Iterator[Finding]:
    """Duplicates and contradictions: pairs of rules that are the same up to the names of variables and the order."""
    by_form: dict[object, Rule] = {}
    by_opposite: dict[object, Rule] = {}
    for rule in rules:
        form = _canonical_form(rule)
        same = by_form.setdefault((form, rule.squared), rule)
        if same is not rule:
            yield warning(rule.place, f"this says the same as the rule at {same.place}, so it counts twice.")
        if not isinstance(rule, LogicalRule) or len(rule.head) != 1:
            continue
        other = by_opposite.get(form)
        if other is not None:
            yield warning(rule.place, f"this contradicts the rule at {other.place}: the same body, the opposite head.")
        by_opposite.setdefault(_canonical_form(_negate_head(rule)), rule)


def _negate_head(rule: LogicalRule) -> LogicalRule:
    (head,) = rule.head
    return replace(rule, head=(Literal(head.atom, not head.negated),))


def _canonical_form(rule: Rule) -> object:
    """Equal for rules that say the same: variables numbered, literals sorted; weight and exponent left out."""
    if isinstance(rule, ArithmeticRule):
        parts = [(f"{part.coefficient}", part.atom) for part in rule.summands]
        return rule.relation, rule.constant, _number_variables(sorted(parts, key=_sort_key))
    return _number_variables(sorted(((str(lit.negated), lit.atom) for lit in rule.literals), key=_sort_key))


def _sort_key(part: tuple[str, Atom]) -> tuple[str, str, str]:
    sign, atom = part
    terms = ["?" if isinstance(term, Variable) else str(term) for term in atom.terms]
    return atom.predicate.casefold(), ",".join(terms), sign


def _number_variables(parts: Iterable[tuple[str, Atom]]) -> tuple[tuple[str, ...], ...]:
    numbers: dict[str, int] = {}
    form = []
    for sign, atom in parts:
        terms = [
            f"?{numbers.setdefault(term.name, len(numbers))}" if isinstance(term, Variable) else str(term)
            for term in atom.terms
        ]
        form.append((sign, atom.predicate.casefold(), *(sorted(terms) if atom.predicate == UNEQUAL else terms)))
    return tuple(form)


def _find_ungrounded(rules: RuleSet, vocabulary: Vocabulary, corpus: Corpus, classes: Classes) -> Iterator[Finding]:
    from crowdlogic.rules.grounding import ground_rules

    ground = ground_rules(rules, corpus, classes, vocabulary=vocabulary)
    yield from ground.notices
    for part in ground.rules:
        if not part.count:
            yield warning(part.rule.place, "this rule never grounds: nothing in the items makes its body true.")
