"""Potentials: the sum of the penalties of all groundings, for each unit and each pair of units.

penalty = sum over rules l and their groundings of w_l (1 - v_l), one slack per grounding ([LNCL] eq. 15). What hard
rules forbid is stored separately, so that it is not scaled by the strength of the rules.

Axes: i unit, k class, g row, c assignment of the open class variables, t labels of the units of a row (k, or
k * K + k' for two), e pair of units (edge), n distinct table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import OptionError, RuleError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import LOG_ZERO

if TYPE_CHECKING:
    from crowdlogic.rules.grounding import GroundRule, GroundRules


# Blocks of groundings, and their distances to satisfaction for all labels of their units.
#
# The rows of a block are about one unit, or about two in order. Its distances are
#
#     distance[g, t] = sum over c of max(0, base[g, c] + table[t, c]) ** power
#
# where the table is the part that depends on the labels (the same for all rows), and the base the evidence of each row.

CHUNK = 4_000_000
"""Maximum number of cells of a table that are computed at a time."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of the current classifier.

    Attributes:
        units: units[i, k], for the items themselves; None if no rule needs them.
        texts: texts[n, k], for the derived texts (`GroundRules.texts`); None if no rule needs them.
    """

    units: Beliefs | None = None
    texts: Beliefs | None = None


@dataclass(frozen=True, eq=False)
class PredictedTerm:
    """A coefficient times Predicted(x, c).

    Attributes:
        coefficient: The coefficient.
        on_text: Whether x is a derived text rather than a unit.
        index: index[g], the unit or text of each row.
        classes: classes[c], or classes[g, 1] if the class is in the row.
    """

    coefficient: float
    on_text: bool
    index: Ints
    classes: Ints


@dataclass(frozen=True, eq=False)
class LabelTerm:
    """A coefficient times Label(unit, c): the number of the unit in the block (its slot), and classes[c]."""

    coefficient: float
    slot: int
    classes: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Form:
    """A hinge over the rows of a block.

    Attributes:
        table: table[t, c], the part that depends on the labels.
        counted: counted[t, c], whether an assignment of the class variables can be violated at labels t.
        base: base (one for all rows), base[g] or base[g, c], the part that depends on observed evidence.
        predicted: The part that depends on the classifier.
        labels: The terms that are summed in the table.
        squared: Whether the distance is squared.
    """

    table: Floats
    counted: Bools
    base: Floats
    predicted: tuple[PredictedTerm, ...]
    labels: tuple[LabelTerm, ...]
    squared: bool

    @property
    def is_static(self) -> bool:
        """Whether it does not depend on the classifier."""
        return not self.predicted


@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """Rows with the same pattern of units and classes.

    Attributes:
        first: first[g], the unit, or the earlier of the two.
        second: second[g], the later unit; None for rows with a single unit.
        violations: The hinges whose sum is the distance to satisfaction.
        applies: Truth of the body.
        valid: valid[c], the assignments of open class variables that the comparisons allow.
    """

    first: Ints
    second: Ints | None
    violations: tuple[Form, ...]
    applies: Form
    valid: Bools

    @property
    def count(self) -> int:
        """Number of groundings."""
        return len(self.first) * int(self.valid.sum())

    @property
    def is_static(self) -> bool:
        """Whether its distances do not depend on the classifier."""
        return all(form.is_static for form in self.violations)


@dataclass(frozen=True, eq=False)
class DistanceTable:
    """Distances: table[n, t], and which[g], the row of the table for each row of the block (None: always the first)."""

    table: Floats
    which: Ints | None

    def by_row(self) -> Floats:
        """Return distance[g, t], or one row for all."""
        return self.table if self.which is None else self.table[self.which]


def distances(block: Block, predictions: Predictions) -> DistanceTable:
    """Return the distance to satisfaction of each row for all labels of its units."""
    parts = [tabulate(form, predictions) for form in block.violations]
    if len(parts) == 1:
        return parts[0]
    if all(part.which is None for part in parts):
        return DistanceTable(np.sum([part.table for part in parts], axis=0), None)
    total = np.sum([part.by_row() for part in parts], axis=0)
    return DistanceTable(total, np.arange(len(total)))


def tabulate(form: Form, predictions: Predictions) -> DistanceTable:
    """Return a hinge for every row and all labels. Rows with the same evidence share a row of the table."""
    base = evidence(form, predictions)
    if base.ndim == 0:
        return DistanceTable(_hinges(form, base.reshape(1, 1)), None)
    if base.ndim == 1:
        distinct, which = np.unique(base, return_inverse=True)
        return DistanceTable(_hinges(form, distinct[:, None]), which if len(distinct) > 1 else None)
    return DistanceTable(_hinges(form, base), np.arange(len(base)))


def evidence(form: Form, predictions: Predictions) -> Floats:
    """Return the base with the classifier's predictions added."""
    base = form.base
    for term in form.predicted:
        beliefs = predictions.texts if term.on_text else predictions.units
        if beliefs is None:
            what, name = ("derived texts", "predict") if term.on_text else ("items", "classifier")
            raise OptionError(f"A rule uses Predicted, but there are no predictions for the {what}. Pass `{name}`.")
        classes = term.classes if term.classes.ndim == 2 else term.classes[None, :]
        # beliefs[index[g], classes[c]]: a column for each assignment, or one where the class is in the row
        predicted = term.coefficient * beliefs[term.index[:, None], classes]
        base = (base[:, None] if base.ndim == 1 else base) + predicted
    return base


def _hinges(form: Form, base: Floats) -> Floats:
    """Sum over c of max(0, base + table) ** power, over the assignments that count."""
    at, assigned = np.nonzero(form.counted)  # the labellings t and assignments c that count, as pairs
    result = np.zeros((len(base), len(form.table)))
    labels = form.table[at, assigned]
    once = len(np.unique(at)) == len(at)
    step = max(1, CHUNK // max(len(at), 1))
    for start in range(0, len(base), step):
        part = base[start : start + step]
        value = np.maximum(0.0, (part if part.shape[1] == 1 else part[:, assigned]) + labels)
        if form.squared:
            value *= value
        if once:
            result[start : start + step, at] = value
        else:
            np.add.at(result[start : start + step].T, at, value.T)
    return result


def soft_distances(block: Block, truth: Beliefs, predictions: Predictions) -> Floats:
    """Return distance[g, c] for labels whose truth values truth[i, k] lie between 0 and 1, as in PSL."""
    units = (block.first, block.second if block.second is not None else block.first)
    total = np.zeros((len(block.first), len(block.valid)))
    for form in block.violations:
        base = evidence(form, predictions)
        value = np.zeros_like(total) + (base[:, None] if base.ndim == 1 else base)
        for term in form.labels:
            value += term.coefficient * truth[units[term.slot][:, None], term.classes[None, :]]
        value = np.maximum(0.0, value)
        total += value * value if form.squared else value
    return total[:, block.valid]


MAX_CELLS = 400_000_000
"""Maximum number of entries in the tables of all pairs: 3 GB."""

SMALL_RANGE = 1 << 22
"""Codes below this are renumbered by marking them in an array, which is faster than sorting them."""


class PerUnit(StrEnum):
    """How groundings of one rule are combined."""

    sum = "sum"
    """Every grounding counts fully."""
    mean = "mean"
    """A grounding counts 1 / n, where its rule has n groundings at the unit (of two units, at the one with more)."""


def check_per_unit(per_unit: PerUnit | str) -> PerUnit:
    """Return the way to combine groundings with a given name."""
    if per_unit not in list(PerUnit):
        raise OptionError(f"per_unit must be sum or mean; got {per_unit!r}.")
    return PerUnit(per_unit)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs:
    """Penalties over pairs of units.

    Attributes:
        first: first[e], the earlier unit.
        second: second[e], the later unit.
        penalty: penalty[n, k, k'], one for each distinct table.
        forbidden: forbidden[n, k, k'], whether a hard rule forbids the two classes.
        which: which[e], the table of each pair.
    """

    first: Ints
    second: Ints
    penalty: Floats
    forbidden: Bools
    which: Ints

    def log_potential(self, strength: float) -> Floats:
        """Return log[n, k, k'], the log potential of each table."""
        return np.where(self.forbidden, LOG_ZERO, -strength * self.penalty)


@dataclass(frozen=True, eq=False)
class Potentials:
    """Penalties over units and pairs.

    Attributes:
        penalty: penalty[i, k].
        forbidden: forbidden[i, k].
        touched: touched[i], whether some grounding is about unit i alone.
        pairs: Penalties over pairs; None when no grounding touches two units.
    """

    penalty: Floats
    forbidden: Bools
    touched: Bools
    pairs: Pairs | None

    def apply(self, log_beliefs: Floats, strength: float) -> Floats:
        """Return log[i, k], the log beliefs plus the log potentials of single units."""
        log = log_beliefs.copy()
        rows = np.flatnonzero(self.touched)  # often few
        log[rows] = np.where(self.forbidden[rows], LOG_ZERO, log[rows] - strength * self.penalty[rows])
        return log


def potentials(
    ground: GroundRules, predictions: Predictions | None = None, *, per_unit: PerUnit | str = PerUnit.sum
) -> Potentials:
    """Add up the penalties of the groundings of all rules.

    Args:
        ground: The grounded rules.
        predictions: Predictions of the classifier, for rules that use them.
        per_unit: Whether the groundings of a rule at a unit are summed or averaged.
    """
    mode, answers = check_per_unit(per_unit), predictions or Predictions()
    if mode not in ground.cache:
        # The part that does not depend on the classifier is computed once and reused in the next epoch
        shape = (ground.corpus.n_units, len(ground.classes))
        nothing = Potentials(np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape[0], dtype=bool), None)
        ground.cache[mode] = _add_rules(nothing, ground, answers, mode, static=True)
    static: Potentials = ground.cache[mode]
    return static if ground.is_static else _add_rules(static, ground, answers, mode, static=False)


def _add_rules(
    base: Potentials, ground: GroundRules, predictions: Predictions, mode: PerUnit, *, static: bool
) -> Potentials:
    """Return the potentials with the static blocks of every rule added, or with those that depend on the classifier."""
    penalty, forbidden, touched = base.penalty.copy(), base.forbidden.copy(), base.touched.copy()
    pairs = []
    if base.pairs is not None:
        part = _Contribution(
            first=base.pairs.first,
            second=base.pairs.second,
            penalty=base.pairs.penalty.reshape(len(base.pairs.penalty), -1),
            forbidden=base.pairs.forbidden.reshape(len(base.pairs.penalty), -1),
            which=base.pairs.which,
        )
        pairs.append(part)
    for rule in ground.rules:
        share = None
        if mode is PerUnit.mean:
            # share[i] = 1 / (number of groundings of the rule at unit i)
            columns = [c for block in rule.blocks for c in (block.first, block.second) if c is not None]
            counts = np.bincount(np.concatenate(columns or [np.zeros(0, dtype=np.int64)]), minlength=len(penalty))
            share = 1.0 / np.maximum(counts, 1.0)
        for block in rule.blocks:
            if block.is_static is not static:
                continue
            part = _contribution(rule, block, distances(block, predictions), share)
            if block.second is None:
                _add_units(part, penalty, forbidden)
                touched[part.first] = True
            else:
                pairs.append(part)
    return Potentials(penalty, forbidden, touched, combine_pairs(pairs, *penalty.shape) if pairs else None)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Contribution:
    """Contribution of one block: penalty[n, t] (times the weight), forbidden[n, t], and which[g]."""

    first: Ints
    second: Ints | None
    penalty: Floats
    forbidden: Bools
    which: Ints | None


def _contribution(rule: GroundRule, block: Block, found: DistanceTable, share: Floats | None) -> _Contribution:
    table, which = found.table, found.which
    if rule.rule.weight is None:
        return _Contribution(
            first=block.first, second=block.second, penalty=np.zeros_like(table), forbidden=table > 1e-12, which=which
        )
    if share is not None:
        # Of two units, the one with more groundings decides, which has the smaller share
        ours = share[block.first] if block.second is None else np.minimum(share[block.first], share[block.second])
        # A row is coded by its table and its factor; rows with the same code have the same product
        factors, of_row = np.unique(ours, return_inverse=True)
        code = of_row if which is None else which * len(factors) + of_row
        distinct, which = np.unique(code, return_inverse=True)
        table = table[distinct // len(factors)] * factors[distinct % len(factors), None]
    return _Contribution(
        first=block.first,
        second=block.second,
        penalty=rule.rule.weight * table,
        forbidden=np.zeros(table.shape, dtype=bool),
        which=which,
    )


def _add_units(part: _Contribution, penalty: Floats, forbidden: Bools) -> None:
    """Add a block with one unit per row to the penalties in place. Several rows may be about the same unit."""
    n_units = len(penalty)
    if part.which is None and _is_increasing(part.first):
        penalty[part.first] += part.penalty
        forbidden[part.first] |= part.forbidden
        return
    if part.which is None:
        counts = np.bincount(part.first, minlength=n_units)
        penalty += counts[:, None] * part.penalty
        forbidden |= (counts > 0)[:, None] & part.forbidden
        return
    for k in range(penalty.shape[1]):
        penalty[:, k] += np.bincount(part.first, weights=part.penalty[part.which, k], minlength=n_units)
        if part.forbidden[:, k].any():
            forbidden[part.first[part.forbidden[part.which, k]], k] = True


def combine_pairs(parts: Sequence[_Contribution], n_units: int, size: int) -> Pairs:
    """Return one table for each pair of units: the sum of the tables of every block."""
    # The distinct pairs in the order of their units, and the pair of every row of every block
    keys = [part.first * np.int64(n_units) + part.second for part in parts if part.second is not None]
    if all(len(key) == len(keys[0]) and (key == keys[0]).all() for key in keys[1:]) and _is_increasing(keys[0]):
        pairs, edges = keys[0], [np.arange(len(keys[0]))] * len(keys)
    else:
        pairs = np.unique(np.concatenate(keys))
        edges = [np.searchsorted(pairs, key) for key in keys]

    # penalty[n, t], forbidden[n, t]: the sums so far; pairs with the same history of tables share a number which[e]
    penalty, forbidden = np.zeros((1, size * size)), np.zeros((1, size * size), dtype=bool)
    nothing, which = np.zeros((1, size * size)), np.zeros(len(pairs), dtype=np.int64)
    for part, rows in zip(parts, edges, strict=True):
        edge, more_penalty, more_forbidden, added_which = _merge_repeated_pairs(part, rows)
        # A pair's new table is the pair (old table, added table); 0 means no added table.
        added = np.zeros(len(pairs), dtype=np.int64)
        added[edge] = added_which + 1
        span = len(more_penalty) + 1
        distinct, which = renumber(which * span + added, len(penalty) * span)
        old, new = distinct // span, distinct % span
        _refuse_large_tables(len(distinct) * size * size)
        penalty = penalty[old] + np.concatenate([nothing, more_penalty])[new]
        forbidden = forbidden[old] | np.concatenate([nothing > 0, more_forbidden])[new]
    shape = (len(penalty), size, size)
    return Pairs(
        first=pairs // n_units,
        second=pairs % n_units,
        penalty=penalty.reshape(shape),
        forbidden=forbidden.reshape(shape),
        which=which,
    )


def _is_increasing(values: Ints) -> bool:
    """Return whether each value is larger than the one before it, so that none is repeated."""
    return bool((values[1:] > values[:-1]).all())


def _merge_repeated_pairs(part: _Contribution, edge: Ints) -> tuple[Ints, Floats, Bools, Ints]:
    """Return a block with each pair at most once: rows of the same pair are added up."""
    which = np.zeros(len(edge), dtype=np.int64) if part.which is None else part.which
    if _is_increasing(edge):
        return edge, part.penalty, part.forbidden, which
    # Rows of one pair become neighbours, so that their tables can be summed run by run.
    order = np.argsort(edge, kind="stable")
    distinct, starts = np.unique(edge[order], return_index=True)
    if len(distinct) == len(edge):
        return distinct, part.penalty, part.forbidden, which[order]
    _refuse_large_tables(len(edge) * part.penalty.shape[1])
    penalty = np.add.reduceat(part.penalty[which[order]], starts, axis=0)
    forbidden = np.logical_or.reduceat(part.forbidden[which[order]], starts, axis=0)
    return distinct, penalty, forbidden, np.arange(len(distinct))


def _refuse_large_tables(cells: int) -> None:
    if cells > MAX_CELLS:
        raise RuleError(
            f"The tables of all pairs of units would have {cells:,} cells, and the limit is {MAX_CELLS:,}. Use "
            f"facts with truth 0 or 1, which share tables, or fewer pairs."
        )


def renumber(codes: Ints, span: int) -> tuple[Ints, Ints]:
    """Return the distinct codes, sorted, and the position of each among them."""
    if span > SMALL_RANGE:
        distinct, renumbered = np.unique(codes, return_inverse=True)
        return distinct, renumbered
    present = np.zeros(span, dtype=bool)
    present[codes] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[codes]
