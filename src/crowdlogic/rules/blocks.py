"""Blocks of groundings, and their distances to satisfaction for every labelling of their units.

A block's rows touch one unit, or two in their order. Its hinges read

    distance[g, t] = sum over c of max(0, base[g, c] + table[t, c]) ** power

where the table holds the part that labels decide (the same for all rows), and the base the evidence of each row.

Axes: g row, c assignment of the open class variables, t labels of the units (k, or k * K + k' for two), k class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints

CHUNK = 4_000_000
"""Maximum number of cells of a table that are computed at a time."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of the current classifier.

    Attributes:
        units: units[i, k], on the items themselves; None when no rule asks.
        texts: texts[n, k], on the derived texts (`GroundRules.texts`); None when no rule asks.
    """

    units: Beliefs | None = None
    texts: Beliefs | None = None


@dataclass(frozen=True, eq=False)
class PredictedTerm:
    """A coefficient times Predicted(x, c).

    Attributes:
        coefficient: The coefficient.
        on_text: Whether x is a derived text rather than a unit.
        index: index[g], which unit or text.
        classes: classes[c], or classes[g, 1] where the class is in the row.
    """

    coefficient: float
    on_text: bool
    index: Ints
    classes: Ints


@dataclass(frozen=True, eq=False)
class LabelTerm:
    """A coefficient times Label(unit, c): which of the block's units, and classes[c]."""

    coefficient: float
    slot: int
    classes: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Form:
    """A hinge over the rows of a block.

    Attributes:
        table: table[t, c], the part that depends on the labels.
        counted: counted[t, c], whether the assignment can be violated at those labels at all.
        base: base (one for all rows), base[g] or base[g, c], the part that depends on observed evidence.
        predicted: The part that depends on the classifier.
        labels: The terms that the table is made of.
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
        second: second[g], the later unit; None when there is one.
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
        """Whether its distances are the same whatever the classifier says."""
        return all(form.is_static for form in self.violations)


@dataclass(frozen=True, eq=False)
class DistanceTable:
    """Distances: table[n, t], and which[g] of them holds for each row; None when the first does for all."""

    table: Floats
    which: Ints | None

    def by_row(self) -> Floats:
        """Return distance[g, t], or one row for all."""
        return self.table if self.which is None else self.table[self.which]


def distances(block: Block, predictions: Predictions) -> DistanceTable:
    """Return the distance to satisfaction of each row at each labelling of its units."""
    return _sum_tables([tabulate(form, predictions) for form in block.violations])


def _sum_tables(parts: list[DistanceTable]) -> DistanceTable:
    if len(parts) == 1:
        return parts[0]
    if all(part.which is None for part in parts):
        return DistanceTable(np.sum([part.table for part in parts], axis=0), None)
    total = np.sum([part.by_row() for part in parts], axis=0)
    return DistanceTable(total, np.arange(len(total)))


def tabulate(form: Form, predictions: Predictions) -> DistanceTable:
    """Return a hinge for every row and labelling. Rows with the same evidence share a row of the table."""
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
            what = "derived texts (give `predict`)" if term.on_text else "items (give `classifier`)"
            raise OptionError(f"A rule uses Predicted, but there are no predictions for the {what}.")
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
    """Return distance[g, c] where Label(i, k) itself has the truth truth[i, k], as in PSL, rather than 0 or 1."""
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
