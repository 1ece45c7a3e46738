"""Grounding: from rules over variables to blocks of rows over units.

Done once for a corpus; what depends on the classifier is left open, so that projecting each epoch joins nothing again.

Axes: i unit, k class, l rule, g grounding (row), c assignment of the class variables, t labels of the one or two units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.errors import RuleError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.rules.binding import Bound, bind, code_of, column_of, truth_of
from crowdlogic.rules.blocks import Block, Form, LabelTerm, PredictedTerm
from crowdlogic.rules.checking import require
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.facts import World
from crowdlogic.rules.places import refusal
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import Kind, Role
from crowdlogic.rules.relations import MOST_ROWS
from crowdlogic.rules.soft import Hinge, applicability, violation
from crowdlogic.rules.syntax import EQUAL, Atom, LogicalRule, Rule, RuleSet, Term, Variable
from crowdlogic.rules.variables import find_predicate, label_units

MOST_CELLS = 20_000_000
"""The most cells of a table of labellings and class assignments; more means too many classes for the rule's shape."""

CRISP = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class GroundRule:
    """A rule and its groundings."""

    rule: Rule
    blocks: tuple[Block, ...]

    @property
    def count(self) -> int:
        """How many groundings there are; those that no labelling can violate are left out."""
        return sum(block.count for block in self.blocks)

    @property
    def is_static(self) -> bool:
        """Whether the classifier has no say in it."""
        return all(block.is_static for block in self.blocks)

    @property
    def units(self) -> Ints:
        """The units that the rule touches, each once."""
        columns = [column for block in self.blocks for column in (block.first, block.second) if column is not None]
        return np.unique(np.concatenate(columns)) if columns else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class GroundRules:
    """Rules grounded over a corpus.

    Attributes:
        rules: Each rule with its groundings.
        corpus: The items.
        classes: The classes.
        texts: The derived texts that Predicted asks about, each once: predict on these, in one batch an epoch.
        asks_units: Whether Predicted asks about the items themselves.
        notices: What was left out, and why.
        kept: What was computed from the groundings alone, for the next projection.
    """

    rules: tuple[GroundRule, ...]
    corpus: Corpus
    classes: Classes
    texts: tuple[str, ...] = ()
    asks_units: bool = False
    notices: tuple[str, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        """How many groundings there are in all."""
        return sum(rule.count for rule in self.rules)

    @property
    def is_static(self) -> bool:
        """Whether the classifier has no say in any rule."""
        return all(rule.is_static for rule in self.rules)

    def only(self, chosen: Sequence[int]) -> GroundRules:
        """Some of the rules, by position."""
        rules = tuple(self.rules[place] for place in chosen)
        terms = list(_predicted_terms(rules))
        return replace(
            self,
            rules=rules,
            texts=self.texts if any(term.on_text for term in terms) else (),
            asks_units=any(not term.on_text for term in terms),
            kept={},
        )

    def reweighted(self, factors: Sequence[float] | Floats) -> GroundRules:
        """The same groundings with the weight of rule l times factors[l]; hard rules stay hard."""
        rules = tuple(
            rule if rule.rule.weight is None else replace(rule, rule=replace(rule.rule, weight=rule.rule.weight * f))
            for rule, f in zip(self.rules, map(float, factors), strict=True)
        )
        return replace(self, rules=rules, kept={})


def ground_rules(
    rules: RuleSet,
    corpus: Corpus,
    classes: Classes,
    *,
    vocabulary: Vocabulary | None = None,
    max_rows: int = MOST_ROWS,
) -> GroundRules:
    """Check rules and ground them over a corpus.

    Args:
        rules: What was read.
        corpus: The items.
        classes: The classes, in the order of the beliefs' columns.
        vocabulary: The predicates; the built-in ones when not given.
        max_rows: The most rows of one rule, while it is joined and after. Each costs about 8 bytes a variable.
    """
    words = vocabulary or Vocabulary()
    plain = expand(rules, classes)
    require(plain, classes=classes, vocabulary=words, corpus=corpus)
    world = World(corpus, classes, words, max_rows)
    grounded = tuple(GroundRule(rule, tuple(_blocks(bind(rule, world), world))) for rule in plain.rules)
    return _with_texts(GroundRules(grounded, corpus, classes, notices=tuple(world.notices)), world)


def _predicted_terms(rules: Sequence[GroundRule]) -> Iterator[PredictedTerm]:
    for rule in rules:
        for block in rule.blocks:
            for form in (*block.violations, block.applies):
                yield from form.predicted


def _with_texts(ground: GroundRules, world: World) -> GroundRules:
    """Number the derived texts that are asked about, and say whether the items themselves are."""
    terms = list(_predicted_terms(ground.rules))
    asked = [term.index for term in terms if term.on_text]
    used = np.unique(np.concatenate(asked)) if asked else np.zeros(0, dtype=np.int64)
    if len(used) == 0:
        return replace(ground, asks_units=any(not term.on_text for term in terms))
    rules = tuple(
        replace(rule, blocks=tuple(_renumbered(block, used) for block in rule.blocks)) for rule in ground.rules
    )
    return replace(
        ground,
        rules=rules,
        texts=tuple(world.derived.texts.gather(used).to_list()),
        asks_units=any(not term.on_text for term in terms),
    )


def _renumbered(block: Block, used: Ints) -> Block:
    def form_of(form: Form) -> Form:
        predicted = tuple(
            replace(term, index=np.searchsorted(used, term.index)) if term.on_text else term for term in form.predicted
        )
        return replace(form, predicted=predicted)

    return replace(block, violations=tuple(map(form_of, block.violations)), applies=form_of(block.applies))


def _blocks(bound: Bound, world: World) -> Iterator[Block]:
    """The rows of a rule, parted by which units coincide, in which order they stand, and the classes in the rows."""
    size = len(world.classes)
    _refuse_large(bound, size, size ** len(bound.axes) * max(len(bound.axes), 1))
    axes = _assignments(bound.axes, size)
    evidence = _evidence(bound, world, axes)
    live = _live(bound, evidence)
    for rows, slots in _patterns(bound, live, world):
        for chosen, fixed in _class_groups(bound, rows, world):
            if len(chosen):
                yield _block(bound, world, chosen, slots, {**axes, **fixed}, evidence)


def _refuse_large(bound: Bound, size: int, cells: int) -> None:
    """Refuse a table before it is made."""
    if cells > MOST_CELLS:
        raise refusal(
            bound.rule.place,
            f"{size} classes make a table of {_count(cells)} cells for this rule, and the limit is {MOST_CELLS:,}. "
            f"Use fewer class variables.",
        )


def _count(cells: int) -> str:
    return f"{cells:,}" if cells < 10**15 else "over 10^15"  # Python refuses to print the largest numbers


def _assignments(names: Sequence[str], size: int) -> dict[str, Ints]:
    """The class of each open variable in each assignment: axes[name][c]."""
    # Digits of the assignment's number: np.indices would stop at 64 variables, even of a single class.
    number = np.arange(size ** len(names))
    return {name: number // size ** (len(names) - 1 - place) % size for place, name in enumerate(names)}


def _evidence(bound: Bound, world: World, axes: dict[str, Ints]) -> dict[int, Floats | float]:
    """The truth of every observed atom on every row."""
    found: dict[int, Floats | float] = {}
    for a, atom in enumerate(bound.rule.atoms):
        if atom.is_comparison or find_predicate(atom, world.vocabulary).role in (Role.latent, Role.predicted):
            continue
        found[a] = truth_of(a, bound, world, axes)
        if bound.rule.weight is None and not np.isin(found[a], CRISP).all():
            raise refusal(
                atom.place,
                f"a hard rule needs evidence that is true or false, and {atom.predicate} holds truth values in "
                f"between. Give the rule a weight.",
            )
    return found


def _live(bound: Bound, evidence: dict[int, Floats | float]) -> Ints:
    """The rows that some labelling could violate, going by the observed atoms."""
    if not isinstance(bound.rule, LogicalRule):
        return np.arange(bound.rows.size)
    slack: Floats | float = 1.0
    order = [*bound.rule.body, *bound.rule.head]
    for a, truth in evidence.items():
        in_body = a < len(bound.rule.body)
        # The clause holds the negation of a body's literal, so a true atom there leaves the rule open to violation.
        counts_against = order[a].negated != in_body
        part = 1.0 - truth if counts_against else truth
        slack = slack - (part if np.ndim(part) < 2 else np.min(part, axis=1))
    if np.ndim(slack) == 0:
        return np.arange(bound.rows.size if slack > 0 else 0)
    return np.flatnonzero(np.asarray(slack) > 1e-12)


def _patterns(bound: Bound, live: Ints, world: World) -> Iterator[tuple[Ints, dict[str, int] | None]]:
    """Rows by which of their Label units coincide, and whether the earlier of two comes first: slots[column]."""
    names = [column_of(term) for term in label_units(bound.rule, world.vocabulary)]
    columns = [bound.rows.columns[name][live] for name in names]
    first = columns[0] if columns else np.zeros(0, dtype=np.int64)
    second = np.full(len(first), -1)
    pattern = np.zeros(len(first), dtype=np.int64)
    for place, column in enumerate(columns[1:], start=1):
        other = column != first
        second = np.where(other & (second < 0), column, second)
        if (other & (column != second)).any():
            raise _three_units(bound, names, live[np.flatnonzero(other & (column != second))[0]], world)
        pattern += other.astype(np.int64) << place
    pattern += (second >= 0) & (second < first)  # bit 0: the first name's unit stands later
    for code in np.unique(pattern):
        turned = int(code) & 1
        slots = {name: ((int(code) >> place) & 1 if place else 0) ^ turned for place, name in enumerate(names)}
        yield live[pattern == code] if len(live) and (pattern != code).any() else live, slots


def _three_units(bound: Bound, names: Sequence[str], row: int, world: World) -> RuleError:
    units = [world.unit_names[int(bound.rows.columns[name][row])] for name in names]
    return refusal(
        bound.rule.place,
        f"one grounding of this rule is about the labels of {', '.join(dict.fromkeys(units))}: three units or more. "
        f"Only rules over the labels of one or two units can be projected; write it as rules over pairs.",
    )


def _class_groups(bound: Bound, rows: Ints, world: World) -> Iterator[tuple[Ints, dict[str, Ints]]]:
    """Rows by the classes that stand in their columns and that Label or an open comparison speaks of."""
    names = sorted(_row_classes(bound, world))
    if not names:
        yield rows, {}
        return
    codes = np.stack([bound.rows.columns[name][rows] for name in names], axis=1)
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    for group, classes in enumerate(distinct):
        yield rows[which.reshape(-1) == group], {name: classes[[n]] for n, name in enumerate(names)}


def _row_classes(bound: Bound, world: World) -> set[str]:
    spoken = set()
    for atom in bound.rule.atoms:
        open_comparison = atom.is_comparison and any(v.name in bound.axes for v in atom.variables())
        if open_comparison or (not atom.is_comparison and find_predicate(atom, world.vocabulary).role is Role.latent):
            spoken |= {v.name for v in atom.variables() if bound.kinds.get(v.name) is Kind.label}
    return {name for name in spoken if name in bound.rows.columns}


def _block(
    bound: Bound,
    world: World,
    rows: Ints,
    slots: dict[str, int] | None,
    classes: dict[str, Ints],
    evidence: dict[int, Floats | float],
) -> Block:
    units = _units(bound, rows, slots or {})
    valid = _valid(bound, world, classes)
    make = _FormMaker(bound, world, rows, slots or {}, classes, evidence, valid, len(units))
    hinges = tuple(make.form(hinge) for hinge in violation(bound.rule))
    second = units[1] if len(units) > 1 else None
    return Block(units[0], second, hinges, make.form(applicability(bound.rule)), valid)


def _units(bound: Bound, rows: Ints, slots: dict[str, int]) -> list[Ints]:
    found = {slot: bound.rows.columns[name] for name, slot in slots.items()}
    whole = len(rows) == bound.rows.size
    return [found[slot] if whole else found[slot][rows] for slot in sorted(found)]


def _valid(bound: Bound, world: World, classes: dict[str, Ints]) -> Bools:
    """valid[c], the assignments of open class variables that the comparisons allow."""
    count = max((len(column) for name, column in classes.items() if name in bound.axes), default=1)
    valid = np.ones(count, dtype=bool)
    for atom in bound.rule.atoms:
        if atom.is_comparison and any(v.name in bound.axes for v in atom.variables()):
            left, right = (
                classes[term.name] if isinstance(term, Variable) else code_of(term, Kind.label, world)
                for term in atom.terms
            )
            valid &= (left == right) == (atom.predicate == EQUAL)
    return valid


@dataclass(frozen=True, eq=False)
class _FormMaker:
    """What the forms of a block have in common."""

    bound: Bound
    world: World
    rows: Ints
    slots: dict[str, int]
    classes: dict[str, Ints]
    evidence: dict[int, Floats | float]
    valid: Bools
    n_units: int

    def form(self, hinge: Hinge) -> Form:
        """A hinge over the block's rows."""
        base: Floats = np.asarray(hinge.constant)
        labels: list[LabelTerm] = []
        predicted: list[PredictedTerm] = []
        for coefficient, atom in hinge.terms:
            role = find_predicate(atom, self.world.vocabulary).role
            if role in (Role.latent, Role.predicted) and self._is_sum(atom.terms[1]):
                base = base + coefficient  # one class holds, and predictions sum to one
            elif role is Role.latent:
                labels.append(
                    LabelTerm(coefficient, self.slots[column_of(atom.terms[0])], self._classes(atom.terms[1]))
                )
            elif role is Role.predicted:
                predicted.append(self._predicted(coefficient, atom))
            else:
                base = _added(base, coefficient, self._truth(atom))
        table, counted = self._table(labels)
        return Form(table, counted, base, tuple(predicted), tuple(labels), hinge.squared)

    def _is_sum(self, term: Term) -> bool:
        return isinstance(term, Variable) and term.summed

    def _classes(self, term: Term) -> Ints:
        """classes[c] of a term at a class place."""
        if isinstance(term, Variable):
            return np.broadcast_to(self.classes[term.name], len(self.valid))
        return np.full(len(self.valid), code_of(term, Kind.label, self.world))

    def _predicted(self, coefficient: float, atom: Atom) -> PredictedTerm:
        name = column_of(atom.terms[0])
        on_text = self.bound.kinds.get(name) is Kind.text
        term = atom.terms[1]
        in_row = isinstance(term, Variable) and term.name in self.bound.rows.columns
        classes = self.bound.rows.columns[column_of(term)][self.rows][:, None] if in_row else self._classes(term)
        return PredictedTerm(coefficient, on_text, self.bound.rows.columns[name][self.rows], classes)

    def _truth(self, atom: Atom) -> Floats | float:
        truth = self.evidence[self.bound.rule.atoms.index(atom)]
        return truth if np.ndim(truth) == 0 else np.asarray(truth)[self.rows]

    def _table(self, labels: Sequence[LabelTerm]) -> tuple[Floats, Bools]:
        """table[t, c], and whether an assignment can be violated at labels t."""
        size = len(self.world.classes)
        held = np.indices((size,) * self.n_units).reshape(self.n_units, -1)
        _refuse_large(self.bound, size, held.shape[1] * len(self.valid))
        table = np.zeros((held.shape[1], len(self.valid)))
        counted = np.broadcast_to(self.valid, table.shape).copy()
        for term in labels:
            is_held = held[term.slot][:, None] == term.classes[None, :]
            table += term.coefficient * is_held
            if isinstance(self.bound.rule, LogicalRule) and term.coefficient > 0:
                counted &= is_held  # the clause holds unless this label does
        return table, counted


def _added(base: Floats, coefficient: float, truth: Floats | float) -> Floats:
    """Base + coefficient * truth, where either may be one for all rows, by row, or by row and assignment."""
    part = np.asarray(coefficient * np.asarray(truth))
    if base.ndim == 1 and part.ndim == 2:
        base = base[:, None]
    elif base.ndim == 2 and part.ndim == 1:
        part = part[:, None]
    return base + part
