"""Policies for breaking ties between classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError, name_list
from crowdlogic.numerics.arrays import Bits, Bools, Floats, Ints, row_maxima, shuffle_bits

LONG_NAME, BASE = 64, 0x100000001B3
"""Maximum length of a name in bytes, beyond which it is replaced by its digest; and base of the bytes as a number."""

TOLERANCE = 1e-9
"""Maximum difference of tied scores, which are sums of weights in varying order."""


class Ties(StrEnum):
    """Policy for ties."""

    random = "random"
    """Draw one of the best classes at random."""
    first = "first"
    """Choose the first of the best classes, in the order of the classes."""
    order = "order"
    """Choose the first of the best classes, in a given order."""
    soft = "soft"
    """Keep the tie: beliefs are equal, scores can count it fractionally, and the displayed answer is the first."""


def best_classes(scores: Floats) -> Bools:
    """Return best[i, k], whether no other class has a higher score for unit i."""
    return np.asarray(scores >= row_maxima(scores)[:, None] - TOLERANCE)


def count_best(best: Bools) -> Ints:
    """Return the number of equally good classes of each unit."""
    return np.asarray(np.einsum("ik->i", best.view(np.int8), dtype=np.int64))


def winners(
    best: Bools,
    ties: Ties,
    *,
    classes: Classes,
    order: Sequence[Any] | None = None,
    seed: int = 0,
    unit_names: Callable[[Ints], pl.Series] | None = None,
) -> Ints:
    """Return winner[i], one of the best classes of each unit.

    Args:
        best: best[i, k].
        ties: Policy for ties.
        classes: The classes.
        order: With `Ties.order`: the classes, best first.
        seed: Random seed of random ties.
        unit_names: Returns the names of some units; random ties depend on the name, not on the order of the rows.
    """
    if order is not None and ties is not Ties.order:
        raise OptionError(f"ties = {ties}: an order of classes requires ties = order. Leave one of them out.")
    if not best.shape[1]:
        return np.full(len(best), -1, dtype=np.int32)
    if ties is Ties.order:
        ranked = _positions(order, classes)
        return np.asarray(ranked[best[:, ranked].argmax(axis=1)], dtype=np.int32)
    chosen: Ints = np.asarray(best.argmax(axis=1), dtype=np.int32)
    if ties is Ties.random:
        tied = np.flatnonzero(count_best(best) > 1)
        names = pl.Series(tied).cast(pl.String) if unit_names is None else unit_names(tied)
        draws = draw_by_name(names, classes, seed)
        chosen[tied] = np.where(best[tied], draws, -1.0).argmax(axis=1)
    return chosen


def draw_by_name(names: pl.Series, classes: Classes, seed: int) -> Floats:
    """Return draws[i, k], uniform from 0 to 1, which only depend on the names of unit and class and on the seed."""
    unit = shuffle_bits(_hash_names(names) + shuffle_bits(np.array([seed % 2**64], dtype=np.uint64)))
    known = _hash_names(pl.Series([str(name) for name in classes], dtype=pl.String))
    return np.asarray(shuffle_bits(unit[:, None] + known) / 2.0**64)


def _hash_names(names: pl.Series) -> Bits:
    """Return a number up to 2^64 for each name, computed from its bytes and the same on every machine."""
    encoded = names.cast(pl.Binary).to_list()
    width = int(names.str.len_bytes().max() or 1)  # type: ignore[arg-type]
    if width > LONG_NAME:
        encoded = [one if len(one) <= LONG_NAME else blake2b(one, digest_size=LONG_NAME).digest() for one in encoded]
        width = LONG_NAME
    digits = np.array(encoded, dtype=f"S{width}").view(np.uint8).reshape(len(encoded), width)
    place = np.cumprod(np.full(width, BASE, dtype=np.uint64), dtype=np.uint64)
    return np.asarray(shuffle_bits((digits * place).sum(axis=1, dtype=np.uint64)))


def _positions(order: Sequence[Any] | None, classes: Classes) -> Ints:
    """Return the codes of the classes in the given order, which must contain each class once."""
    named = [str(name) for name in order or ()]
    known = [str(name) for name in classes]
    if len(set(named)) != len(named) or set(known) - set(named):
        raise OptionError(
            f"ties = order: {name_list(named) or 'no order'} does not name each class once. "
            f"The classes are {name_list(known, most=20)}."
        )
    return np.array([known.index(name) for name in named if name in known], dtype=np.int32)
