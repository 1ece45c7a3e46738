"""Array types for signatures, read-only views, stable sorting, sums by group, and pseudo-random bits.

[BH95] Benjamini and Hochberg, "Controlling the false discovery rate", 1995.
[BY01] Benjamini and Yekutieli, "The control of the false discovery rate in multiple testing under dependency", 2001.
[SPLITMIX] Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from crowdlogic.errors import OptionError, require_kind

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.signedinteger[Any]]
Bools: TypeAlias = NDArray[np.bool_]

Bits: TypeAlias = NDArray[np.uint64]

AnyArray = TypeVar("AnyArray", bound=NDArray[Any])


def read_only(array: AnyArray) -> AnyArray:
    """Return a read-only view of an array, for the fields of frozen dataclasses."""
    view = array.view()
    view.flags.writeable = False
    return view


def stable_order(key: Ints) -> Ints:
    """Return the permutation that sorts non-negative integers; equal numbers keep their order.

    Numbers below 2^32 are sorted by their lower and then by their upper 16 bits, which numpy does by radix sort. If the
    upper bits are already sorted, as in a table sorted by item, a single stable sort is faster. Larger numbers are
    packed with their position into one integer if both fit, because that is faster than `argsort`.
    """
    bits = max(len(key) - 1, 1).bit_length()
    largest = int(key.max(initial=0))
    if largest < 1 << 32:
        return _order_by_halves(key.astype(np.uint32))
    if largest >= 1 << (62 - bits):
        return np.argsort(key, kind="stable")
    packed = key.astype(np.int64)  # a copy, modified in place: with ten million rows, each further copy takes 80 MB
    packed <<= bits
    packed |= np.arange(len(key))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def _order_by_halves(key: NDArray[np.uint32]) -> Ints:
    upper = (key >> 16).astype(np.uint16)
    if (upper[1:] >= upper[:-1]).all():
        return np.argsort(key, kind="stable")
    by_lower = np.argsort(key.astype(np.uint16), kind="stable")  # the cast truncates to the lower 16 bits
    return np.asarray(by_lower[np.argsort(upper[by_lower], kind="stable")])


# Validation of numeric options.


def check_amounts(options: Any, *, not_negative: tuple[str, ...] = (), positive: tuple[str, ...] = ()) -> None:
    """Raise an error if options are negative, infinite, not a number, or (for `positive`) zero.

    Args:
        options: A frozen dataclass with a `name`.
        not_negative: The fields that may be 0 or more.
        positive: The fields that must be more than 0.
    """
    for name in (*not_negative, *positive):
        value = getattr(options, name)
        require_kind(value, (int, float, np.number), f"{options.name}: {name}", "Give a number.")
        if not np.isfinite(value) or value < 0 or (value == 0 and name in positive):
            least = "greater than 0" if name in positive else "at least 0"
            raise OptionError(f"{options.name}: {name} must be {least}, got {value}.")


# Row sums, group sums and row maxima.

FEW_COLUMNS = 16
"""Maximum number of columns for which maxima are computed column by column."""


def row_maxima(table: Floats) -> Floats:
    """Return the largest number of each row; column by column for few columns, which is several times as fast."""
    if not 0 < table.shape[1] <= FEW_COLUMNS:
        return np.asarray(table.max(axis=1, initial=-np.inf))
    peak = table[:, 0].copy()
    for k in range(1, table.shape[1]):
        np.maximum(peak, table[:, k], out=peak)
    return peak


def row_sums(table: Floats) -> Floats:
    """Return the sum of each row; for few columns, this is several times as fast as `sum(axis=1)`."""
    return np.asarray(np.einsum("ik->i", table))


def sum_by(group: NDArray[np.integer[Any]], size: int, values: Floats | None = None) -> Floats:
    """Return total[g], the sum of the values in each group g < size (or the number of entries without values)."""
    return np.bincount(group, weights=values, minlength=size).astype(np.float64, copy=False)


def shuffle_bits(numbers: Bits) -> Bits:
    """Return numbers below 2^64 as others that look random, one to one; sums wrap around ([SPLITMIX])."""
    with np.errstate(over="ignore"):
        mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def find_discoveries(p_value: Floats, rate: float, *, dependent: bool = False) -> Bools:
    """Return which tests are significant with the false discovery rate controlled ([BH95]); NaN is no test.

    scipy.stats has the same, but takes longer to load than a small `aggregate` needs for the rest.

    Args:
        p_value: The p values.
        rate: Expected share of false discoveries.
        dependent: Whether tests may depend on each other in any way ([BY01]).
    """
    known = np.flatnonzero(np.isfinite(p_value))
    order = known[np.argsort(p_value[known], kind="stable")]
    rank = np.arange(1, len(order) + 1)
    limit = rate * rank / max(len(order), 1) / ((1.0 / rank).sum() if dependent else 1.0)
    passing = np.flatnonzero(p_value[order] <= limit)
    found = np.zeros(len(p_value), dtype=bool)
    found[order[: passing.max(initial=-1) + 1]] = True
    return found
