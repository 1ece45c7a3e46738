"""Which class wins when several are equally good."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import Any

import numpy as np

from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError, name_list
from crowdlogic.numerics.arrays import Bools, Floats, Ints

TOLERANCE = 1e-9
"""Scores that differ by less are tied: they are sums of weights in some order."""


class Ties(StrEnum):
    """What to do with a tie."""

    random = "random"
    """Draw one of the best, by seed."""
    first = "first"
    """Take the first of the best, in the order of the classes."""
    order = "order"
    """Take the first of the best, in an order that the user gives."""
    soft = "soft"
    """Leave it a tie: the beliefs keep it, scores can count it in parts, and the answer shown is the first."""

    @classmethod
    def named(cls, name: str) -> Ties:
        """The policy of that name."""
        try:
            return cls(name)
        except ValueError:
            raise OptionError(f"ties: {name!r} is none of {', '.join(cls)}.") from None


def best_classes(scores: Floats) -> Bools:
    """best[i, k], whether no class scores higher than k for unit i."""
    return np.asarray(scores >= scores.max(axis=1, keepdims=True, initial=-np.inf) - TOLERANCE)


def winners(
    best: Bools,
    ties: Ties,
    *,
    classes: Classes,
    order: Sequence[Any] | None = None,
    seed: int = 0,
    unit_names: Callable[[Ints], Iterable[str]] | None = None,
) -> Ints:
    """winner[i], one of the best classes of each unit.

    Args:
        best: best[i, k].
        ties: How a tie is decided.
        classes: The classes.
        order: With `Ties.order`: the classes, best first.
        seed: Random seed of random ties.
        unit_names: The names of some units: a random tie is drawn by its unit's name, whatever the order of the rows.
    """
    if order is not None and ties is not Ties.order:
        raise OptionError(f"ties = {ties}: an order of classes goes with ties = order alone. Leave one of them out.")
    if not best.shape[1]:
        return np.full(len(best), -1, dtype=np.int32)
    if ties is Ties.order:
        ranked = _positions(order, classes)
        return np.asarray(ranked[best[:, ranked].argmax(axis=1)], dtype=np.int32)
    chosen: Ints = np.asarray(best.argmax(axis=1), dtype=np.int32)
    if ties is Ties.random:
        tied = np.flatnonzero(best.sum(axis=1) > 1)
        names = map(str, tied) if unit_names is None else unit_names(tied)
        draws = draw_by_name(names, classes, seed)
        chosen[tied] = np.where(best[tied], draws, -1.0).argmax(axis=1)
    return chosen


def draw_by_name(names: Iterable[str], classes: Classes, seed: int) -> Floats:
    """draws[i, k], uniform from 0 to 1: the same for the same names of unit and class and the same seed."""
    known = [f" {name}".encode(errors="backslashreplace") for name in classes]
    draws = [_draw(f"{seed} {name}".encode(errors="backslashreplace"), known) for name in names]
    return np.array(draws, dtype=np.float64).reshape(len(draws), len(classes))


def _draw(unit: bytes, classes: Sequence[bytes]) -> list[float]:
    begun = blake2b(unit, digest_size=8)
    found = []
    for name in classes:
        one = begun.copy()
        one.update(name)
        found.append(int.from_bytes(one.digest(), "little") / 2**64)
    return found


def _positions(order: Sequence[Any] | None, classes: Classes) -> Ints:
    """The classes' codes in the order given, which must name each class once."""
    named = [str(name) for name in order or ()]
    known = [str(name) for name in classes]
    if len(set(named)) != len(named) or set(known) - set(named):
        raise OptionError(
            f"ties = order: {name_list(named) or 'no order'} does not name each class once. "
            f"The classes are {name_list(known, most=20)}."
        )
    return np.array([known.index(name) for name in named if name in known], dtype=np.int32)
