"""Checks of the options of a simulation: counts, shares, means, mixes of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from crowdlogic.errors import OptionError, did_you_mean
from crowdlogic.numerics.arrays import Floats

STEEPEST_TAIL = 10
"""The largest exponent of the activity."""


def check_count(name: str, value: int) -> None:
    """A count must be a whole number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise OptionError(f"{name}: {value!r} is not valid. Give a whole number of 1 or more.")


def check_share(name: str, value: float) -> None:
    """A share must lie between 0 and 1."""
    if not 0 <= value <= 1:
        raise OptionError(f"{name}: {value!r} is no share. Give a number from 0 to 1.")


def check_mean(name: str, value: float, most: int) -> None:
    """The mean number of annotators per item must be possible: from 1 to the number of annotators."""
    if not 1 <= value <= most:
        raise OptionError(
            f"{name}: {value!r} annotators per item requested, but there are {most}. Give a mean from 1 to {most}."
        )


def check_tail(tail: float) -> None:
    """The exponent of the activity must leave everybody a share that a number can hold."""
    if not 0 <= tail <= STEEPEST_TAIL:
        raise OptionError(f"tail: {tail!r} is no exponent. Give 0 (all alike) to {STEEPEST_TAIL} (one does it all).")


def class_names(classes: int | Sequence[str]) -> tuple[str, ...]:
    """The given names, or class_0, class_1, ...; padded with zeros so that they sort in the order of their codes."""
    if isinstance(classes, str):
        raise OptionError(f"classes: {classes!r} is one text. Give a number of classes or a list of names.")
    if isinstance(classes, Sequence):
        names = tuple(classes)
        if not names or len(set(names)) != len(names):
            raise OptionError("classes: a class is named twice, or none at all. Give each class once.")
        return names
    check_count("classes", classes)
    return numbered_names("class_", classes, start=0)


def numbered_names(prefix: str, count: int, *, start: int = 1) -> tuple[str, ...]:
    """prefix01, prefix02, ...: as many digits as the last one needs."""
    width = len(str(start + count - 1))
    return tuple(f"{prefix}{n:0{width}d}" for n in range(start, start + count))


def class_balance(balance: Sequence[float] | None, classes: int) -> Floats:
    """balance[k], the share of each class: even when none is given, else as given, scaled to sum to one."""
    if balance is None:
        return np.full(classes, 1.0 / classes)
    given: Floats = np.asarray(balance, dtype=np.float64)
    if given.shape != (classes,) or not np.isfinite(given).all() or (given < 0).any() or given.sum() == 0:
        raise OptionError(f"balance: {list(balance)} does not give each of the {classes} classes a share of 0 or more.")
    total = float(given.sum())
    return given / total


def allocate_mix(mix: Mapping[str, float], known: Sequence[str], annotators: int) -> tuple[str, ...]:
    """The kinds in a mix, each as often as asked: whole numbers are counts, anything else is shares.

    Shares are rounded by largest remainder, so that together they make exactly the number of annotators.
    """
    for name, amount in mix.items():
        if name not in known:
            raise OptionError(
                f"mix: no character is called {name!r}.{did_you_mean(name, [*map(str, known)])} Known: "
                f"{', '.join(known)}."
            )
        if not (np.isfinite(amount) and amount >= 0):
            raise OptionError(f"mix: {amount!r} of {str(name)!r} is not valid. Give counts or shares of 0 or more.")
    amounts = np.array(list(mix.values()), dtype=np.float64)
    if amounts.sum() == 0:
        raise OptionError("mix: all amounts are 0. Give at least one character a count or a share.")
    if all(isinstance(amount, (int, np.integer)) for amount in mix.values()):
        if amounts.sum() != annotators:
            raise OptionError(
                f"mix: the counts make {int(amounts.sum())} annotators, but {annotators} are requested. "
                f"Make them agree, or give shares."
            )
        counts = amounts.astype(np.int64)
    else:
        counts = _round_counts(amounts / amounts.sum() * annotators)
    return tuple(name for name, count in zip(mix, counts, strict=True) for _ in range(count))


def _round_counts(amounts: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Whole numbers with the same sum, by largest remainder."""
    counts = np.floor(amounts).astype(np.int64)
    short = round(amounts.sum()) - counts.sum()
    counts[np.argsort(counts - amounts, kind="stable")[:short]] += 1
    return counts
