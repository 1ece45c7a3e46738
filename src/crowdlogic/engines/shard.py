"""A shard: the labels of a run of units, as plain arrays that can be sent anywhere.

Codes are as narrow as they can be: 16 bits where they fit, so that a pass reads few bytes per label.

Axes: i unit, j annotator, n given label, s sequence.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.sums import sum_by

Codes: TypeAlias = NDArray[np.integer[Any]]
"""Codes of any width."""

UNKNOWN = -1
"""In fixed[i]: the class of unit i is not known."""

NARROW = np.uint16
"""Codes up to 65,535 take two bytes."""


def _no_floats() -> Floats:
    return np.empty(0)


def _no_ints() -> Ints:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False, kw_only=True)
class Shard:
    """The labels of a run of units.

    Attributes:
        first: The first unit of the run.
        starts: starts[i], the first row of the run's i-th unit; one entry more than there are units.
        annotator: annotator[row].
        label: label[row]; with partial labels, "not n" is the code n + the number of classes.
        weight: weight[row]; empty when all are 1.
        fixed: fixed[i], the class that a unit is known to be of, or UNKNOWN; empty when none is known.
        times: times[i], for how many units with the same labels the i-th stands; empty when each is one.
        offsets: offsets[s], the first unit of the run's s-th sequence; one entry more than there are; empty without.
    """

    first: int
    starts: Ints
    annotator: Codes
    label: Codes
    weight: Floats = field(default_factory=_no_floats)
    fixed: Ints = field(default_factory=_no_ints)
    times: Floats = field(default_factory=_no_floats)
    offsets: Ints = field(default_factory=_no_ints)

    @property
    def n_units(self) -> int:
        """Number of units of the run."""
        return len(self.starts) - 1

    @property
    def units(self) -> slice:
        """The positions of the run's units among all units."""
        return slice(self.first, self.first + self.n_units)

    @property
    def unit(self) -> Ints:
        """unit[row], counted from the first of the run."""
        return np.repeat(np.arange(self.n_units), np.diff(self.starts))

    @property
    def labelled(self) -> Bools:
        """labelled[i], whether the i-th unit has labels."""
        return np.asarray(np.diff(self.starts) > 0)

    @property
    def known(self) -> Bools:
        """known[i], whether the class of the i-th unit is known."""
        return self.fixed != UNKNOWN if len(self.fixed) else np.zeros(self.n_units, dtype=bool)

    def cells(self, n_codes: int) -> Ints:
        """cell[row] = annotator[row] * n_codes + label[row]."""
        return np.asarray(self.annotator.astype(np.int64) * n_codes + self.label)

    def narrow_cells(self, n_codes: int) -> Codes:
        """`cells` in 16 bits where they fit, else in 32; made once for as long as the shard is there."""
        known = self.__dict__.get("_cells")
        if known is None or known[0] != n_codes:
            cells = self.annotator.astype(np.uint32) * np.uint32(n_codes)
            cells += self.label.astype(np.uint32)
            known = (n_codes, narrow_codes(cells))
            object.__setattr__(self, "_cells", known)
        found: Codes = known[1]
        return found

    @property
    def is_plain(self) -> bool:
        """Whether no label has a weight, no class is known and each unit is one."""
        return not (len(self.weight) or len(self.fixed) or len(self.times))

    def row_weights(self) -> Floats | None:
        """weight[row], times the number of units that the row's unit stands for; None when all are 1."""
        weight = self.weight if len(self.weight) else None
        if not len(self.times):
            return weight
        times = np.repeat(self.times, np.diff(self.starts))
        return times if weight is None else times * weight

    def unit_sum(self, values: Floats) -> Floats:
        """The sum of values[i, ...] over the units that have labels, each as often as it stands for."""
        labelled = self.labelled
        if not len(self.times):
            return np.asarray(values[labelled].sum(axis=0))
        return np.asarray(self.times[labelled] @ values[labelled])

    def narrow(self) -> Shard:
        """The same shard with codes of 16 bits where they fit, else of 32."""
        return replace(self, annotator=narrow_codes(self.annotator), label=narrow_codes(self.label))


def narrow_codes(codes: Codes) -> Codes:
    """The codes in 16 bits where they fit, else in 32; the same array if it is so already."""
    if codes.dtype == NARROW:
        return codes
    fits = codes.max(initial=0) <= np.iinfo(NARROW).max
    return codes.astype(NARROW if fits else np.int32, copy=False)


def make_shard(
    unit: Ints,
    annotator: Codes,
    label: Codes,
    *,
    n_units: int,
    first: int = 0,
    weight: Floats | None = None,
    times: Floats | None = None,
) -> Shard:
    """A shard from columns that are sorted by unit.

    Args:
        unit: unit[row], counted from the first of the run.
        annotator: annotator[row].
        label: label[row].
        n_units: Number of units of the run.
        first: The first unit of the run among all units.
        weight: weight[row]; None when all are 1.
        times: times[i], for how many units the i-th stands; None when each is one.
    """
    counts = sum_by(unit, n_units).astype(np.int64)
    return Shard(
        first=first,
        starts=np.concatenate([[0], np.cumsum(counts)]),
        annotator=annotator,
        label=label,
        weight=_no_floats() if weight is None else weight,
        times=_no_floats() if times is None else times,
    )
