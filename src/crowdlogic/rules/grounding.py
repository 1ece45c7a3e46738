"""Grounding: replace the variables of rules by all units that fit, such as every review that contains "but".

A unit is an item, or a token of a sentence. Rules are grounded once per corpus into blocks of rows; the parts that
depend on the classifier are filled in later, so that the projection in each epoch needs no joins.

Axes: i unit, k class, l rule, g grounding (row), c assignment of the class variables, t labels of the one or two units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.rules.checking import Finding, require_valid
from crowdlogic.rules.expansion import (
    asked_word,
    binding_atoms,
    expand,
    find_predicate,
    generates,
    label_units,
    variable_kinds,
)
from crowdlogic.rules.facts import MAX_ROWS, NOTHING_JOINED, Relation, World, join, look_up, row_limit
from crowdlogic.rules.potentials import Block, Form, LabelTerm, PredictedTerm
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import FIXED, Kind, Role
from crowdlogic.rules.syntax import (
    EQUAL,
    ArithmeticRule,
    Atom,
    Constant,
    Literal,
    LogicalRule,
    Rule,
    RuleSet,
    Term,
    Variable,
    rule_error,
)

# Bindings of the variables of a rule: the join of its binding atoms, smallest first.
#
# Class variables that no table binds remain open: they are an axis of the tables below, not a column.


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundRule:
    """A rule with one row for each way to bind its variables.

    Attributes:
        rule: The rule.
        kinds: The kind of each variable.
        rows: Rows with a column for each bound variable and each unit that is named by a constant.
        axes: The class variables that remain open.
        joined: The position among `rule.atoms` of each atom that was joined.
    """

    rule: Rule
    kinds: dict[str, Kind]
    rows: Relation
    axes: tuple[str, ...]
    joined: frozenset[int]


def bind(rule: Rule, world: World) -> BoundRule:
    """Join the binding atoms of a rule."""
    kinds = variable_kinds(rule, world.vocabulary)
    binding = set(binding_atoms(rule))
    listed = [a for a, atom in enumerate(rule.atoms) if atom in binding and generates(atom, world.vocabulary)]
    rows = _join_units(rule, kinds, _join_atoms(rule, listed, kinds, world), world)
    summed = {variable.name for atom in rule.atoms for variable in atom.variables() if variable.summed}
    axes = [
        name for name, kind in kinds.items() if kind is Kind.label and name not in rows.columns | dict.fromkeys(summed)
    ]

    # Keep the rows that every comparison between columns and constants allows
    keep: list[Bools] = []
    for atom in rule.atoms:
        if not atom.is_comparison:
            continue
        kind = next((kinds[t.name] for t in atom.terms if isinstance(t, Variable)), Kind.name)
        # A side is a column, a code, or None for a class variable that remains open
        left, right = (
            rows.columns.get(term.name) if isinstance(term, Variable) else constant_code(term, kind, world)
            for term in atom.terms
        )
        if left is not None and right is not None:
            keep.append(np.broadcast_to(np.asarray(left == right) == (atom.predicate == EQUAL), rows.size))
    rows = rows.take(np.logical_and.reduce(keep)) if keep else rows
    return BoundRule(rule=rule, kinds=kinds, rows=rows, axes=tuple(axes), joined=frozenset(listed))


def column_name(term: Term) -> str:
    """Return the name of the column of a term: the variable's name, or the constant as it is written."""
    return term.name if isinstance(term, Variable) else str(term)


def _join_atoms(rule: Rule, listed: Sequence[int], kinds: dict[str, Kind], world: World) -> Relation:
    limit = row_limit(rule, world.max_rows)
    rows, pending = NOTHING_JOINED, dict.fromkeys(listed)
    ready: dict[int, Relation] = {}
    while pending:
        for a in pending:
            if a not in ready and _is_ready(rule.atoms[a], kinds, rows, world):
                ready[a] = _atom_relation(a, rule, kinds, rows=rows, world=world)
        # Next is the smallest relation that shares a variable with what is joined so far.
        apart = {a for a in ready if rows.columns and not ready[a].columns.keys() & rows.columns.keys()}
        chosen = min(ready, key=lambda a: (a in apart, ready[a].size))
        rows = join(rows, ready.pop(chosen), limit)
        pending.pop(chosen)
    return rows


def _is_ready(atom: Atom, kinds: dict[str, Kind], rows: Relation, world: World) -> bool:
    """Return whether the derived text and the word that an atom needs are among the columns joined so far."""
    source, word = atom.terms[0], asked_word(atom, world.vocabulary)
    needed = [column_name(source)] if _reads_text(source, kinds) else []
    needed += [] if word is None else [word.name]
    return all(name in rows.columns for name in needed)


def _reads_text(term: Term, kinds: dict[str, Kind]) -> bool:
    return isinstance(term, Variable) and kinds[term.name] is Kind.text


def _atom_relation(a: int, rule: Rule, kinds: dict[str, Kind], *, rows: Relation, world: World) -> Relation:
    """Return an atom's facts as a relation over its variables, with its constants and repeated variables applied."""
    atom = rule.atoms[a]
    terms, columns, truth = atom_facts(atom, kinds, rows, world)
    keep: list[Bools] = [truth > 0] if truth is not None and isinstance(rule, LogicalRule) else []
    named: dict[str, Ints] = {}
    for (term, kind), column in zip(terms, columns, strict=True):
        if isinstance(term, Variable):
            if term.name in named:
                keep.append(named[term.name] == column)
            named.setdefault(term.name, column)
        else:
            keep.append(column == constant_code(term, kind, world))
    relation = Relation(named, len(columns[0]), {} if truth is None else {a: truth})
    return relation.take(np.logical_and.reduce(keep)) if keep else relation


def atom_facts(
    atom: Atom, kinds: dict[str, Kind], rows: Relation, world: World
) -> tuple[list[tuple[Term, Kind]], tuple[Ints, ...], Floats | None]:
    """Return the arguments of an atom that are not fixed constants, a column of codes for each, and the truth."""
    predicate = find_predicate(atom, world.vocabulary)
    here = [
        kinds[term.name] if isinstance(term, Variable) else Kind.unit if kind is Kind.readable else kind
        for term, kind in zip(atom.terms, predicate.kinds, strict=True)
    ]
    inputs = rows.columns[column_name(atom.terms[0])] if _reads_text(atom.terms[0], kinds) else None
    word = asked_word(atom, world.vocabulary)
    if word is None:
        facts = world.facts(atom, predicate, here, inputs)
    else:
        facts = world.word_facts(atom, predicate, rows.columns[word.name], inputs)
    places = [(term, kind) for term, kind in zip(atom.terms, here, strict=True) if kind not in FIXED]
    return places, facts.columns, facts.truth


def constant_code(term: Term, kind: Kind, world: World) -> int:
    """Return the code of a constant in the place of a unit, a class or a name."""
    if not isinstance(term, Constant):
        raise rule_error(term.place, f"{term} is not a constant.")
    if kind is Kind.unit:
        return world.unit(term)
    if kind is Kind.label:
        return world.class_codes.get(term.value, -1)
    return int(world.names.codes(pl.Series([term.value]))[0])


def _join_units(rule: Rule, kinds: dict[str, Kind], rows: Relation, world: World) -> Relation:
    """Join a column for each unit that no listed fact binds: all units for a variable, one unit for a constant."""
    limit = row_limit(rule, world.max_rows)
    for atom in rule.atoms:
        if atom.is_comparison or find_predicate(atom, world.vocabulary).role not in (Role.latent, Role.predicted):
            continue
        term = atom.terms[0]
        if column_name(term) in rows.columns:
            continue
        if isinstance(term, Constant):
            rows = rows.with_column(column_name(term), np.full(rows.size, world.unit(term), dtype=np.int64))
        elif kinds[column_name(term)] is Kind.unit:
            everything = np.arange(world.corpus.n_units)
            rows = join(rows, Relation({column_name(term): everything}, len(everything)), limit)
    return rows


def atom_truth(a: int, bound: BoundRule, world: World, axes: dict[str, Ints]) -> Floats | float:
    """Return the truth of an observed atom on every row: truth[g], or truth[g, c] if it contains an open class.

    Args:
        a: The atom's position among the rule's.
        bound: The rule and its rows.
        world: The facts.
        axes: axes[name][c], the class of each open variable in assignment c.
    """
    atom, rows = bound.rule.atoms[a], bound.rows
    if a in bound.joined:
        return rows.truths.get(a, 1.0)
    places, columns, truth = atom_facts(atom, bound.kinds, rows, world)
    wide = any(isinstance(term, Variable) and term.name in axes for term, _ in places)
    count = len(next(iter(axes.values()))) if wide else 1
    # Look up the codes [g, c] of every argument, flattened
    wanted = []
    for term, kind in places:
        if isinstance(term, Variable):
            codes = axes[term.name][None, :] if term.name in axes else rows.columns[term.name][:, None]
        else:
            codes = np.full((1, 1), constant_code(term, kind, world), dtype=np.int64)
        wanted.append(np.broadcast_to(codes, (rows.size, count)).ravel())
    found = look_up(columns, truth, wanted)
    return found.reshape(rows.size, count) if wide else found


# Łukasiewicz logic: every rule as a hinge of a linear form.
#
# A clause l1 or ... or ln has the truth min(1, sum of the literals' truths) ([LNCL] eq. 4), so its distance to
# satisfaction, 1 - truth, is max(0, constant + sum of coefficient * atom). Linear inequalities are of that form by
# themselves, and an equation is two of them. One form serves every rule.
#
# [LNCL] "Learning from Noisy Crowd Labels with Logics".


@dataclass(frozen=True)
class Hinge:
    """A distance max(0, constant + sum of coefficient * atom), or its square."""

    constant: float
    terms: tuple[tuple[float, Atom], ...]
    squared: bool = False


def violation(rule: Rule) -> tuple[Hinge, ...]:
    """Return the distance to satisfaction of a rule: one hinge, or two for an equation."""
    if isinstance(rule, LogicalRule):
        return (_clause(rule.literals, rule.squared),)
    over = Hinge(-rule.constant, tuple((part.coefficient, part.atom) for part in rule.summands), rule.squared)
    under = Hinge(rule.constant, tuple((-factor, atom) for factor, atom in over.terms), rule.squared)
    return {"<=": (over,), ">=": (under,), "=": (over, under)}[rule.relation]


def applicability(rule: Rule) -> Hinge:
    """Return how far the body of a rule holds: 1 for a rule without a body."""
    if isinstance(rule, ArithmeticRule):
        return Hinge(1.0, ())
    return _clause([Literal(literal.atom, not literal.negated) for literal in rule.body], squared=False)


def _clause(literals: Iterable[Literal], squared: bool) -> Hinge:
    """1 - sum of positive atoms - sum of (1 - negated atom). Comparisons choose groundings; they have no truth here."""
    parts: Sequence[Literal] = [literal for literal in literals if not literal.atom.is_comparison]
    negated = sum(literal.negated for literal in parts)
    return Hinge(1.0 - negated, tuple((1.0 if part.negated else -1.0, part.atom) for part in parts), squared)


# Blocks of a rule's rows: rows with the same pattern of units and classes share the table of their hinges.
#
# Axes: i unit, k class, g grounding (row), c assignment of the class variables, t labels of the one or two units.

MAX_CELLS = 20_000_000
"""Maximum number of cells of a table of labellings and class assignments."""

CRISP = (0.0, 1.0)


def build_blocks(bound: BoundRule, world: World) -> Iterator[Block]:
    """Yield blocks of a rule's rows, grouped by which units are equal, their order, and the classes in the rows."""
    size = len(world.classes)
    _refuse_large_table(bound, size, size ** len(bound.axes) * max(len(bound.axes), 1))
    # axes[name][c], the class of each open variable in each assignment, as digits of the assignment's number:
    # np.indices would stop at 64 variables, even of a single class.
    number, places = np.arange(size ** len(bound.axes)), reversed(range(len(bound.axes)))
    axes = {name: number // size**place % size for name, place in zip(bound.axes, places, strict=True)}
    evidence = _evidence(bound, world, axes)
    live = _violable_rows(bound, evidence)
    for rows, slots in _group_by_units(bound, live, world):
        for chosen, fixed in _group_by_classes(bound, rows, world):
            if len(chosen):
                classes = {**axes, **fixed}
                yield _FormBuilder(
                    bound=bound,
                    world=world,
                    rows=chosen,
                    slots=slots,
                    classes=classes,
                    evidence=evidence,
                    valid=_valid_assignments(bound, world, classes),
                ).block()


def _refuse_large_table(bound: BoundRule, size: int, cells: int) -> None:
    """Raise an error if a table would be too large."""
    if cells > MAX_CELLS:
        count = f"{cells:,}" if cells < 10**15 else "over 10^15"  # Python refuses to print the largest numbers
        raise rule_error(
            bound.rule.place,
            f"{size} classes make a table of {count} cells for this rule, and the limit is {MAX_CELLS:,}. "
            f"Use fewer class variables.",
        )


def _evidence(bound: BoundRule, world: World, axes: dict[str, Ints]) -> dict[int, Floats | float]:
    """Return the truth of every observed atom on every row."""
    found: dict[int, Floats | float] = {}
    for a, atom in enumerate(bound.rule.atoms):
        if atom.is_comparison or find_predicate(atom, world.vocabulary).role in (Role.latent, Role.predicted):
            continue
        found[a] = atom_truth(a, bound, world, axes)
        if bound.rule.weight is None and not np.isin(found[a], CRISP).all():
            raise rule_error(
                atom.place,
                f"a hard rule needs evidence that is true or false, but some truth values of {atom.predicate} are in "
                f"between. Give the rule a weight.",
            )
    return found


def _violable_rows(bound: BoundRule, evidence: dict[int, Floats | float]) -> Ints:
    """Return the rows that some labels could violate, given the observed atoms."""
    if not isinstance(bound.rule, LogicalRule):
        return np.arange(bound.rows.size)
    slack: Floats | float = 1.0
    order = [*bound.rule.body, *bound.rule.head]
    for a, truth in evidence.items():
        in_body = a < len(bound.rule.body)
        # The clause contains the negated literals of the body, so a true atom there makes a violation possible.
        counts_against = order[a].negated != in_body
        part = 1.0 - truth if counts_against else truth
        slack = slack - (part if np.ndim(part) < 2 else np.min(part, axis=1))
    if np.ndim(slack) == 0:
        return np.arange(bound.rows.size if slack > 0 else 0)
    return np.flatnonzero(np.asarray(slack) > 1e-12)


def _group_by_units(bound: BoundRule, live: Ints, world: World) -> Iterator[tuple[Ints, dict[str, int]]]:
    """Yield groups of rows with the same pattern of units, and the slot (0 or 1) of each column in that pattern.

    Two rows have the same pattern if the same columns contain equal units, and the two units are in the same order.
    """
    names = [column_name(term) for term in label_units(bound.rule, world.vocabulary)]
    columns = [bound.rows.columns[name][live] for name in names]
    first = columns[0] if columns else np.zeros(0, dtype=np.int64)
    second = np.full(len(first), -1)
    pattern = np.zeros(len(first), dtype=np.int64)
    for place, column in enumerate(columns[1:], start=1):
        other = column != first  # bit `place`: this name's unit is not the first name's
        second = np.where(other & (second < 0), column, second)
        if (other & (column != second)).any():
            row = live[np.flatnonzero(other & (column != second))[0]]
            units = dict.fromkeys(world.unit_names[int(bound.rows.columns[name][row])] for name in names)
            raise rule_error(
                bound.rule.place,
                f"one grounding of this rule is about the labels of {', '.join(units)}: three units or more. Only "
                f"rules over the labels of one or two units can be projected; write it as rules over pairs.",
            )
        pattern += other.astype(np.int64) << place
    pattern += (second >= 0) & (second < first)  # bit 0: the first name's unit is the later one
    for code in np.unique(pattern):
        turned = int(code) & 1
        slots = {name: ((int(code) >> place) & 1 if place else 0) ^ turned for place, name in enumerate(names)}
        yield live[pattern == code] if len(live) and (pattern != code).any() else live, slots


def _group_by_classes(bound: BoundRule, rows: Ints, world: World) -> Iterator[tuple[Ints, dict[str, Ints]]]:
    """Group rows by the classes in the columns that Label or an open comparison refers to."""
    spoken: set[str] = set()
    for atom in bound.rule.atoms:
        is_open = any(v.name in bound.axes for v in atom.variables())
        if is_open if atom.is_comparison else find_predicate(atom, world.vocabulary).role is Role.latent:
            spoken |= {v.name for v in atom.variables() if bound.kinds.get(v.name) is Kind.label}
    names = sorted(name for name in spoken if name in bound.rows.columns)
    if not names:
        yield rows, {}
        return
    codes = np.stack([bound.rows.columns[name][rows] for name in names], axis=1)
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    for group, classes in enumerate(distinct):
        yield rows[which.reshape(-1) == group], {name: classes[[n]] for n, name in enumerate(names)}


def _valid_assignments(bound: BoundRule, world: World, classes: dict[str, Ints]) -> Bools:
    """Return valid[c], the assignments of open class variables that the comparisons allow."""
    count = max((len(column) for name, column in classes.items() if name in bound.axes), default=1)
    valid = np.ones(count, dtype=bool)
    for atom in bound.rule.atoms:
        if atom.is_comparison and any(v.name in bound.axes for v in atom.variables()):
            left, right = (
                classes[term.name] if isinstance(term, Variable) else constant_code(term, Kind.label, world)
                for term in atom.terms
            )
            valid &= (left == right) == (atom.predicate == EQUAL)
    return valid


@dataclass(frozen=True, eq=False, kw_only=True)
class _FormBuilder:
    """Builder of a block, and of the hinges over its rows.

    Attributes:
        bound: The rule and all its rows.
        world: The facts.
        rows: rows[g], which of the rule's rows are in the block.
        slots: slots[column], whether a column of units is the block's first (0) or second (1).
        classes: classes[name][c], the class of each class variable in each assignment.
        evidence: The truth of each observed atom, by its position: one for all rows, [g], or [g, c].
        valid: valid[c], the assignments that the comparisons allow.
    """

    bound: BoundRule
    world: World
    rows: Ints
    slots: dict[str, int]
    classes: dict[str, Ints]
    evidence: dict[int, Floats | float]
    valid: Bools

    @cached_property
    def units(self) -> list[Ints]:
        """units[slot][g], the units that the labels of each row are about."""
        found = {slot: self.bound.rows.columns[name] for name, slot in self.slots.items()}
        whole = len(self.rows) == self.bound.rows.size
        return [found[slot] if whole else found[slot][self.rows] for slot in sorted(found)]

    def block(self) -> Block:
        """Return the block: its units, its hinges, and how far its body holds."""
        return Block(
            first=self.units[0],
            second=self.units[1] if len(self.units) > 1 else None,
            violations=tuple(self.form(hinge) for hinge in violation(self.bound.rule)),
            applies=self.form(applicability(self.bound.rule)),
            valid=self.valid,
        )

    def form(self, hinge: Hinge) -> Form:
        """Return a hinge over the block's rows."""
        base: Floats = np.asarray(hinge.constant)
        labels: list[LabelTerm] = []
        predicted: list[PredictedTerm] = []
        for coefficient, atom in hinge.terms:
            role = find_predicate(atom, self.world.vocabulary).role
            term = atom.terms[-1]
            if role in (Role.latent, Role.predicted) and isinstance(term, Variable) and term.summed:
                base = base + coefficient  # one class holds, and predictions sum to one
            elif role is Role.latent:
                labels.append(
                    LabelTerm(coefficient, self.slots[column_name(atom.terms[0])], self._classes(atom.terms[1]))
                )
            elif role is Role.predicted:
                name, columns = column_name(atom.terms[0]), self.bound.rows.columns
                in_row = isinstance(term, Variable) and term.name in columns
                classes = columns[column_name(term)][self.rows][:, None] if in_row else self._classes(term)
                on_text = self.bound.kinds.get(name) is Kind.text
                predicted.append(PredictedTerm(coefficient, on_text, columns[name][self.rows], classes))
            else:
                truth = self.evidence[self.bound.rule.atoms.index(atom)]
                part = coefficient * np.asarray(truth if np.ndim(truth) == 0 else np.asarray(truth)[self.rows])
                # Either may be one for all rows, by row, or by row and assignment.
                if {base.ndim, part.ndim} == {1, 2}:
                    base, part = (side[:, None] if side.ndim == 1 else side for side in (base, part))
                base = base + part
        table, counted = self._table(labels)
        return Form(
            table=table,
            counted=counted,
            base=base,
            predicted=tuple(predicted),
            labels=tuple(labels),
            squared=hinge.squared,
        )

    def _classes(self, term: Term) -> Ints:
        """Return classes[c] of a term that stands for a class."""
        if isinstance(term, Variable):
            return np.broadcast_to(self.classes[term.name], len(self.valid))
        return np.full(len(self.valid), constant_code(term, Kind.label, self.world))

    def _table(self, labels: Sequence[LabelTerm]) -> tuple[Floats, Bools]:
        """Return table[t, c], and whether an assignment can be violated at labels t."""
        size = len(self.world.classes)
        # held[slot, t], the class of each unit in labelling t
        held = np.indices((size,) * len(self.units)).reshape(len(self.units), -1)
        _refuse_large_table(self.bound, size, held.shape[1] * len(self.valid))
        table = np.zeros((held.shape[1], len(self.valid)))
        counted = np.broadcast_to(self.valid, table.shape).copy()
        for term in labels:
            is_held = held[term.slot][:, None] == term.classes[None, :]
            table += term.coefficient * is_held
            if isinstance(self.bound.rule, LogicalRule) and term.coefficient > 0:
                counted &= is_held  # the clause holds unless this label does
        return table, counted


@dataclass(frozen=True, eq=False)
class GroundRule:
    """A rule and its groundings."""

    rule: Rule
    blocks: tuple[Block, ...]

    @property
    def count(self) -> int:
        """Number of groundings, without those that no labels can violate."""
        return sum(block.count for block in self.blocks)

    @property
    def is_static(self) -> bool:
        """Whether it does not depend on the classifier."""
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
        texts: The derived texts in Predicted, each once; they are predicted in one batch per epoch.
        asks_units: Whether Predicted refers to the items themselves.
        notices: Notices about facts that were left out, with the reason.
        cache: Results that depend on the groundings only, for the next projection.
    """

    rules: tuple[GroundRule, ...]
    corpus: Corpus
    classes: Classes
    texts: tuple[str, ...] = ()
    asks_units: bool = False
    notices: tuple[Finding, ...] = ()
    cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        """Number of groundings of all rules."""
        return sum(rule.count for rule in self.rules)

    @property
    def is_static(self) -> bool:
        """Whether no rule depends on the classifier."""
        return all(rule.is_static for rule in self.rules)

    def only(self, chosen: Sequence[int]) -> GroundRules:
        """Return some of the rules, by position."""
        rules = tuple(self.rules[place] for place in chosen)
        terms = list(_predicted_terms(rules))
        return replace(
            self,
            rules=rules,
            texts=self.texts if any(term.on_text for term in terms) else (),
            asks_units=any(not term.on_text for term in terms),
            cache={},
        )

    def reweight(self, factors: Sequence[float] | Floats) -> GroundRules:
        """Multiply the weight of each rule l by factors[l]; hard rules remain hard."""
        rules = tuple(
            rule if rule.rule.weight is None else replace(rule, rule=replace(rule.rule, weight=rule.rule.weight * f))
            for rule, f in zip(self.rules, map(float, factors), strict=True)
        )
        return replace(self, rules=rules, cache={})


def ground_rules(
    rules: RuleSet,
    corpus: Corpus,
    classes: Classes,
    *,
    vocabulary: Vocabulary | None = None,
    max_rows: int = MAX_ROWS,
) -> GroundRules:
    """Check rules and ground them over a corpus.

    Args:
        rules: The parsed rules.
        corpus: The items.
        classes: The classes, in the order of the beliefs' columns.
        vocabulary: The predicates; the built-in ones when not given.
        max_rows: Maximum number of rows of one rule, during joins and after. A row needs about 8 bytes per variable.
    """
    words = vocabulary or Vocabulary()
    plain = expand(rules, classes)
    require_valid(plain, classes=classes, vocabulary=words, corpus=corpus)
    world = World(corpus, classes, words, max_rows)
    grounded = tuple(GroundRule(rule, tuple(build_blocks(bind(rule, world), world))) for rule in plain.rules)
    terms = list(_predicted_terms(grounded))

    # Number the derived texts in Predicted, each once
    asked = [term.index for term in terms if term.on_text]
    used = np.unique(np.concatenate(asked)) if asked else np.zeros(0, dtype=np.int64)
    if len(used):
        grounded = tuple(
            replace(rule, blocks=tuple(_renumber_texts(block, used) for block in rule.blocks)) for rule in grounded
        )
    return GroundRules(
        grounded,
        corpus,
        classes,
        texts=tuple(world.derived.texts.gather(used).to_list()),
        asks_units=any(not term.on_text for term in terms),
        notices=tuple(world.notices),
    )


def _predicted_terms(rules: Sequence[GroundRule]) -> Iterator[PredictedTerm]:
    for rule in rules:
        for block in rule.blocks:
            for form in (*block.violations, block.applies):
                yield from form.predicted


def _renumber_texts(block: Block, used: Ints) -> Block:
    def renumber(form: Form) -> Form:
        predicted = tuple(
            replace(term, index=np.searchsorted(used, term.index)) if term.on_text else term for term in form.predicted
        )
        return replace(form, predicted=predicted)

    return replace(block, violations=tuple(map(renumber, block.violations)), applies=renumber(block.applies))
