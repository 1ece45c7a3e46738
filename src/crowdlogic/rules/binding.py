"""The bindings of a rule's variables: its binding atoms joined, smallest first.

Class variables that no table binds stay open: they are an axis of the tables that grounding makes, not a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.rules.facts import World
from crowdlogic.rules.places import rule_error
from crowdlogic.rules.predicates.definition import FIXED, Kind, Role
from crowdlogic.rules.relations import NOTHING_JOINED, Relation, join, look_up, row_limit
from crowdlogic.rules.syntax import EQUAL, Atom, Constant, LogicalRule, Rule, Term, Variable
from crowdlogic.rules.variables import asked_word, binding_atoms, find_predicate, generates, variable_kinds


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundRule:
    """A rule with its rows.

    Attributes:
        rule: The rule.
        kinds: What each variable stands for.
        rows: A column for each bound variable and each unit that is named by a constant.
        axes: The class variables that stay open.
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
    rows = _join_atoms(rule, listed, kinds, world)
    rows = _join_units(rule, kinds, rows, world)
    summed = {variable.name for atom in rule.atoms for variable in atom.variables() if variable.summed}
    axes = [
        name for name, kind in kinds.items() if kind is Kind.label and name not in rows.columns | dict.fromkeys(summed)
    ]
    rows = _apply_comparisons(rule, kinds, rows, world)
    return BoundRule(rule=rule, kinds=kinds, rows=rows, axes=tuple(axes), joined=frozenset(listed))


def column_name(term: Term) -> str:
    """The column of a term that stands for a unit: a variable's name, or the constant as it is written."""
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
        chosen = min(ready, key=lambda a: (not _touches(ready[a], rows), ready[a].size))
        rows = join(rows, ready.pop(chosen), limit)
        pending.pop(chosen)
    return rows


def _is_ready(atom: Atom, kinds: dict[str, Kind], rows: Relation, world: World) -> bool:
    """A function of a derived text, or of a word that a table gives, waits until that is there."""
    source, word = atom.terms[0], asked_word(atom, world.vocabulary)
    return (not _reads_text(source, kinds) or column_name(source) in rows.columns) and (
        word is None or word.name in rows.columns
    )


def _reads_text(term: Term, kinds: dict[str, Kind]) -> bool:
    return isinstance(term, Variable) and kinds[term.name] is Kind.text


def _touches(relation: Relation, rows: Relation) -> bool:
    return not rows.columns or any(name in rows.columns for name in relation.columns)


def _atom_relation(a: int, rule: Rule, kinds: dict[str, Kind], *, rows: Relation, world: World) -> Relation:
    """An atom's facts as a relation over its variables, with its constants and repeated variables applied."""
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
    """The open places of an atom, a column of codes for each, and the truth of the facts."""
    predicate = find_predicate(atom, world.vocabulary)
    here = [_kind_here(term, kind, kinds) for term, kind in zip(atom.terms, predicate.kinds, strict=True)]
    inputs = rows.columns[column_name(atom.terms[0])] if _reads_text(atom.terms[0], kinds) else None
    word = asked_word(atom, world.vocabulary)
    if word is None:
        facts = world.facts(atom, predicate, here, inputs)
    else:
        facts = world.word_facts(atom, predicate, rows.columns[word.name], inputs)
    places = [(term, kind) for term, kind in zip(atom.terms, here, strict=True) if kind not in FIXED]
    return places, facts.columns, facts.truth


def _kind_here(term: Term, kind: Kind, kinds: dict[str, Kind]) -> Kind:
    if isinstance(term, Variable):
        return kinds[term.name]
    return Kind.unit if kind is Kind.readable else kind


def constant_code(term: Term, kind: Kind, world: World) -> int:
    """The code of a constant at a place of some kind."""
    if not isinstance(term, Constant):
        raise rule_error(term.place, f"{term} is no constant.")
    if kind is Kind.unit:
        return world.unit(term)
    if kind is Kind.label:
        return world.class_codes.get(term.value, -1)
    return int(world.names.codes(pl.Series([term.value]))[0])


def _join_units(rule: Rule, kinds: dict[str, Kind], rows: Relation, world: World) -> Relation:
    """Units that only Label and Predicted speak of: any unit, or the one that a constant names."""
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


def _apply_comparisons(rule: Rule, kinds: dict[str, Kind], rows: Relation, world: World) -> Relation:
    """Keep the rows that every comparison between columns and constants allows."""
    keep: list[Bools] = []
    for atom in rule.atoms:
        if not atom.is_comparison:
            continue
        kind = next((kinds[t.name] for t in atom.terms if isinstance(t, Variable)), Kind.name)
        sides = [_comparison_side(term, kind, rows, world) for term in atom.terms]
        if sides[0] is not None and sides[1] is not None:
            same = np.broadcast_to(np.asarray(sides[0] == sides[1]), rows.size)
            keep.append(same if atom.predicate == EQUAL else ~same)
    return rows.take(np.logical_and.reduce(keep)) if keep else rows


def _comparison_side(term: Term, kind: Kind, rows: Relation, world: World) -> Ints | int | None:
    """A side of a comparison: a column, a code, or None for a class variable that stays open."""
    if isinstance(term, Variable):
        return rows.columns.get(term.name)
    return constant_code(term, kind, world)


def atom_truth(a: int, bound: BoundRule, world: World, axes: dict[str, Ints]) -> Floats | float:
    """The truth of an observed atom on every row: truth[g], or truth[g, c] where it speaks of an open class.

    Args:
        a: The atom's position among the rule's.
        bound: The rule and its rows.
        world: The facts.
        axes: The class of each open variable in each of their assignments.
    """
    atom, rows = bound.rule.atoms[a], bound.rows
    if a in bound.joined:
        return rows.truths.get(a, 1.0)
    places, columns, truth = atom_facts(atom, bound.kinds, rows, world)
    wide = any(isinstance(term, Variable) and term.name in axes for term, _ in places)
    count = len(next(iter(axes.values()))) if wide else 1
    wanted = [_lookup_codes(term, kind, bound, world=world, axes=axes) for term, kind in places]
    # Every place is broadcast to [g, c] and flattened, so that one look-up serves all rows and assignments.
    found = look_up(columns, truth, [np.broadcast_to(part, (rows.size, count)).ravel() for part in wanted])
    return found.reshape(rows.size, count) if wide else found


def _lookup_codes(term: Term, kind: Kind, bound: BoundRule, *, world: World, axes: dict[str, Ints]) -> Ints:
    """The codes to look up at a place, over rows and assignments: [1, c] for an open class, else [g, 1] or [1, 1]."""
    if isinstance(term, Variable):
        return axes[term.name][None, :] if term.name in axes else bound.rows.columns[term.name][:, None]
    return np.full((1, 1), constant_code(term, kind, world), dtype=np.int64)
