"""Damaged runs: one line that names the run, the file and what is wrong with it.

A file is damaged where its decoder fails, or where a value has the wrong type, shape or range. Both are checked while
a file is read, and nothing else is: an AttributeError out of a classifier is a bug and says nothing about a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdlogic.errors import CrowdLogicError, DataError, FormatError, MissingDataError, MissingExtraError, name_list


class InvalidValueError(DataError):
    """A value of a file is not what was written. `reading` says of which run."""


@contextmanager
def reading(run: str | Path) -> Iterator[None]:
    """Decode and validate files of a run: a value that does not fit is reported as damage to that run.

    Args:
        run: Its folder.
    """
    try:
        yield
    except (FormatError, MissingDataError, MissingExtraError):
        raise  # these name the file, or what is not installed
    except CrowdLogicError as problem:
        if str(problem).startswith(f"{run}: "):
            raise
        raise damage_error(run, str(problem).rstrip(".")) from problem


def damage_error(run: str | Path, what: str) -> FormatError:
    """The error for a run that is not as it was written."""
    return FormatError(f"{run}: the run is damaged ({what}). Train it again, or bring back the file.")


def require(value: Any, kind: type | tuple[type, ...], name: str) -> Any:
    """A value of a file, if it is of its kind.

    Args:
        value: The value that was read.
        kind: The expected type.
        name: What to call it.
    """
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InvalidValueError(f"{name} is {value!r:.80}")
    return value


def require_entry(stored: Any, name: str, kind: type | tuple[type, ...] = object, *, where: str = "") -> Any:
    """An entry of a mapping in a file, if it is there and of its kind.

    Args:
        stored: The mapping that was read.
        name: The entry's name.
        kind: The expected type.
        where: What to call the mapping.
    """
    mapping = require(stored, Mapping, where or "what holds " + name)
    if name not in mapping:
        raise InvalidValueError(f"no {name!r}")
    return require(mapping[name], kind, f"{where}: {name}" if where else name)


def require_numbers(stored: Any, name: str, *, entries: Sequence[str] | None = None) -> dict[str, Any]:
    """A mapping of numbers, where null, which JSON has for NaN, is NaN again.

    Args:
        stored: The mapping that was read.
        name: What to call it.
        entries: The names of the numbers; any when not given.
    """
    found = require(stored, Mapping, name)
    if entries is not None and set(found) != set(entries):
        raise InvalidValueError(f"{name} has {name_list(found)} where {name_list(entries)} are expected")
    return {
        key: float("nan") if value is None else require(value, (int, float), f"{name}: {key}")
        for key, value in found.items()
    }


def require_bounded(options: Any, name: str, *, most: int = 100_000) -> None:
    """Refuse options of a run with a number that would take for ever: sizes of networks, numbers of iterations.

    Args:
        options: The options, nested.
        name: What to call them.
        most: The largest whole number; seeds may be larger.
    """
    if isinstance(options, Mapping):
        for key, value in options.items():
            least = 10_000 if "iterations" in str(key) else most
            if "seed" not in str(key) and key != "random_state":
                require_bounded(value, f"{name}.{key}", most=least)
    elif isinstance(options, list):
        for value in options:
            require_bounded(value, name, most=most)
    elif isinstance(options, int | float) and abs(options) > most and math.isfinite(options):
        raise InvalidValueError(f"{name} is {options!r:.80}, which is beyond {most:,}")


LARGEST = 1e100
"""No number that a fit leaves is anywhere near this."""


def are_class_names(classes: Sequence[Any]) -> bool:
    """Whether these can name classes: texts, or whole numbers, or true and false, each once."""
    kinds = {type(one) for one in classes}
    fit = kinds <= {str} or kinds <= {bool} or (kinds <= {int} and all(-(2**63) <= one < 2**63 for one in classes))
    is_text = not any("\ud800" <= sign <= "\udfff" for one in classes if isinstance(one, str) for sign in one)
    return fit and is_text and len(set(map(str, classes))) == len(classes)


def require_finite(value: Any, name: str) -> Any:
    """A value of a file, nested, if no number in it is infinite, or so large that arithmetic would make it so."""
    if isinstance(value, int | float) and abs(value) > LARGEST:
        raise InvalidValueError(f"{name} holds an infinite number")
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for one in inner:
        require_finite(one, name)
    return value


ROUNDING = 1e-6
"""How far a probability may lie outside 0 and 1."""


def require_floats(array: NDArray[Any], shape: tuple[int, ...], name: str, *, gaps: bool = False) -> NDArray[Any]:
    """An array of a file, if it holds finite numbers in this shape.

    Args:
        array: The array that was read.
        shape: What is expected; -1 for any length.
        name: What to call it.
        gaps: Whether it may hold NaN, too.
    """
    expected = tuple(found if size == -1 else size for found, size in zip(array.shape, shape, strict=False))
    require_shape(array, expected if array.ndim == len(shape) else shape, name)
    if array.dtype not in (np.float32, np.float64):
        raise InvalidValueError(f"{name} holds {array.dtype} where numbers with a fraction are expected")
    if not (np.isfinite(array) | (gaps & np.isnan(array))).all():
        raise InvalidValueError(f"{name} holds {'infinities' if gaps else 'NaN or infinities'}")
    return array


def require_shares(array: NDArray[Any], shape: tuple[int, ...], name: str, *, gaps: bool = False) -> NDArray[Any]:
    """An array of a file, if it holds probabilities in this shape; the arguments are those of `require_floats`."""
    found = require_floats(array, shape, name, gaps=gaps)
    with np.errstate(invalid="ignore"):
        if (found < -ROUNDING).any() or (found > 1 + ROUNDING).any():
            raise InvalidValueError(f"{name} holds what is no probability")
    return found


def require_distributions(array: NDArray[Any], shape: tuple[int, ...], name: str) -> NDArray[Any]:
    """An array of a file, if its last axis holds probabilities that sum to one."""
    found = require_shares(array, shape, name)
    if found.shape[-1] and not (np.abs(found.sum(axis=-1) - 1) < 1e3 * ROUNDING).all():
        raise InvalidValueError(f"{name} holds probabilities that do not sum to one")
    return found


def require_codes(array: NDArray[Any], shape: tuple[int, ...], name: str, *, least: int, most: int) -> NDArray[Any]:
    """An array of a file, if it holds whole numbers from `least` to `most` in this shape."""
    require_shape(array, shape, name)
    if array.dtype.kind not in "iu":
        raise InvalidValueError(f"{name} holds {array.dtype} where whole numbers are expected")
    if array.size and not (least <= int(array.min()) and int(array.max()) <= most):
        raise InvalidValueError(f"{name} holds what is not from {least} to {most}")
    return array


def require_shape(array: NDArray[Any], shape: tuple[int, ...], name: str) -> None:
    """Refuse an array of another shape.

    Args:
        array: The array that was read.
        shape: What is expected.
        name: What to call it.
    """
    if array.shape != shape:
        raise InvalidValueError(f"{name} is {array.shape} where {shape} is expected")
