"""From the rows of a rule to blocks: rows with the same pattern of units and classes share the table of their hinges.

Axes: i unit, k class, g grounding (row), c assignment of the class variables, t labels of the one or two units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdlogic.errors import RuleError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.rules.binding import BoundRule, atom_truth, column_name, constant_code
from crowdlogic.rules.blocks import Block, Form, LabelTerm, PredictedTerm
from crowdlogic.rules.facts import World
from crowdlogic.rules.places import rule_error
from crowdlogic.rules.predicates.definition import Kind, Role
from crowdlogic.rules.soft import Hinge, applicability, violation
from crowdlogic.rules.syntax import EQUAL, Atom, LogicalRule, Term, Variable
from crowdlogic.rules.variables import find_predicate, label_units

MAX_CELLS = 20_000_000
"""Maximum number of cells of a table of labellings and class assignments; more means too many classes for the rule."""

CRISP = (0.0, 1.0)


def build_blocks(bound: BoundRule, world: World) -> Iterator[Block]:
    """Blocks of a rule's rows, grouped by which units coincide, by their order, and by the classes in the rows."""
    size = len(world.classes)
    _refuse_large_table(bound, size, size ** len(bound.axes) * max(len(bound.axes), 1))
    axes = _class_assignments(bound.axes, size)
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
    """Refuse a table before it is made."""
    if cells > MAX_CELLS:
        raise rule_error(
            bound.rule.place,
            f"{size} classes make a table of {_count(cells)} cells for this rule, and the limit is {MAX_CELLS:,}. "
            f"Use fewer class variables.",
        )


def _count(cells: int) -> str:
    return f"{cells:,}" if cells < 10**15 else "over 10^15"  # Python refuses to print the largest numbers


def _class_assignments(names: Sequence[str], size: int) -> dict[str, Ints]:
    """The class of each open variable in each assignment: axes[name][c]."""
    # Digits of the assignment's number: np.indices would stop at 64 variables, even of a single class.
    number = np.arange(size ** len(names))
    return {name: number // size ** (len(names) - 1 - place) % size for place, name in enumerate(names)}


def _evidence(bound: BoundRule, world: World, axes: dict[str, Ints]) -> dict[int, Floats | float]:
    """The truth of every observed atom on every row."""
    found: dict[int, Floats | float] = {}
    for a, atom in enumerate(bound.rule.atoms):
        if atom.is_comparison or find_predicate(atom, world.vocabulary).role in (Role.latent, Role.predicted):
            continue
        found[a] = atom_truth(a, bound, world, axes)
        if bound.rule.weight is None and not np.isin(found[a], CRISP).all():
            raise rule_error(
                atom.place,
                f"a hard rule needs evidence that is true or false, and {atom.predicate} holds truth values in "
                f"between. Give the rule a weight.",
            )
    return found


def _violable_rows(bound: BoundRule, evidence: dict[int, Floats | float]) -> Ints:
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


def _group_by_units(bound: BoundRule, live: Ints, world: World) -> Iterator[tuple[Ints, dict[str, int]]]:
    """Rows by which of their Label units coincide, and whether the earlier of two comes first: slots[column]."""
    names = [column_name(term) for term in label_units(bound.rule, world.vocabulary)]
    columns = [bound.rows.columns[name][live] for name in names]
    first = columns[0] if columns else np.zeros(0, dtype=np.int64)
    second = np.full(len(first), -1)
    pattern = np.zeros(len(first), dtype=np.int64)
    for place, column in enumerate(columns[1:], start=1):
        other = column != first  # bit `place`: this name's unit is not the first name's
        second = np.where(other & (second < 0), column, second)
        if (other & (column != second)).any():
            raise _three_units_error(bound, names, live[np.flatnonzero(other & (column != second))[0]], world)
        pattern += other.astype(np.int64) << place
    pattern += (second >= 0) & (second < first)  # bit 0: the first name's unit is the later one
    for code in np.unique(pattern):
        turned = int(code) & 1
        slots = {name: ((int(code) >> place) & 1 if place else 0) ^ turned for place, name in enumerate(names)}
        yield live[pattern == code] if len(live) and (pattern != code).any() else live, slots


def _three_units_error(bound: BoundRule, names: Sequence[str], row: int, world: World) -> RuleError:
    units = [world.unit_names[int(bound.rows.columns[name][row])] for name in names]
    return rule_error(
        bound.rule.place,
        f"one grounding of this rule is about the labels of {', '.join(dict.fromkeys(units))}: three units or more. "
        f"Only rules over the labels of one or two units can be projected; write it as rules over pairs.",
    )


def _group_by_classes(bound: BoundRule, rows: Ints, world: World) -> Iterator[tuple[Ints, dict[str, Ints]]]:
    """Rows by the classes in those of their columns that Label or an open comparison refers to."""
    names = sorted(_classes_in_rows(bound, world))
    if not names:
        yield rows, {}
        return
    codes = np.stack([bound.rows.columns[name][rows] for name in names], axis=1)
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    for group, classes in enumerate(distinct):
        yield rows[which.reshape(-1) == group], {name: classes[[n]] for n, name in enumerate(names)}


def _classes_in_rows(bound: BoundRule, world: World) -> set[str]:
    spoken = set()
    for atom in bound.rule.atoms:
        open_comparison = atom.is_comparison and any(v.name in bound.axes for v in atom.variables())
        if open_comparison or (not atom.is_comparison and find_predicate(atom, world.vocabulary).role is Role.latent):
            spoken |= {v.name for v in atom.variables() if bound.kinds.get(v.name) is Kind.label}
    return {name for name in spoken if name in bound.rows.columns}


def _valid_assignments(bound: BoundRule, world: World, classes: dict[str, Ints]) -> Bools:
    """valid[c], the assignments of open class variables that the comparisons allow."""
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
    """What the forms of a block have in common.

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
        """The block: its units, its hinges, and how far its body holds."""
        return Block(
            first=self.units[0],
            second=self.units[1] if len(self.units) > 1 else None,
            violations=tuple(self.form(hinge) for hinge in violation(self.bound.rule)),
            applies=self.form(applicability(self.bound.rule)),
            valid=self.valid,
        )

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
                    LabelTerm(coefficient, self.slots[column_name(atom.terms[0])], self._classes(atom.terms[1]))
                )
            elif role is Role.predicted:
                predicted.append(self._predicted_term(coefficient, atom))
            else:
                base = _add_evidence(base, coefficient, self._truth(atom))
        table, counted = self._table(labels)
        return Form(
            table=table,
            counted=counted,
            base=base,
            predicted=tuple(predicted),
            labels=tuple(labels),
            squared=hinge.squared,
        )

    def _is_sum(self, term: Term) -> bool:
        return isinstance(term, Variable) and term.summed

    def _classes(self, term: Term) -> Ints:
        """classes[c] of a term at a class place."""
        if isinstance(term, Variable):
            return np.broadcast_to(self.classes[term.name], len(self.valid))
        return np.full(len(self.valid), constant_code(term, Kind.label, self.world))

    def _predicted_term(self, coefficient: float, atom: Atom) -> PredictedTerm:
        name = column_name(atom.terms[0])
        on_text = self.bound.kinds.get(name) is Kind.text
        term = atom.terms[1]
        in_row = isinstance(term, Variable) and term.name in self.bound.rows.columns
        classes = self.bound.rows.columns[column_name(term)][self.rows][:, None] if in_row else self._classes(term)
        return PredictedTerm(coefficient, on_text, self.bound.rows.columns[name][self.rows], classes)

    def _truth(self, atom: Atom) -> Floats | float:
        truth = self.evidence[self.bound.rule.atoms.index(atom)]
        return truth if np.ndim(truth) == 0 else np.asarray(truth)[self.rows]

    def _table(self, labels: Sequence[LabelTerm]) -> tuple[Floats, Bools]:
        """table[t, c], and whether an assignment can be violated at labels t."""
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


def _add_evidence(base: Floats, coefficient: float, truth: Floats | float) -> Floats:
    """Base + coefficient * truth, where either may be one for all rows, by row, or by row and assignment."""
    part = np.asarray(coefficient * np.asarray(truth))
    if base.ndim == 1 and part.ndim == 2:
        base = base[:, None]
    elif base.ndim == 2 and part.ndim == 1:
        part = part[:, None]
    return base + part
