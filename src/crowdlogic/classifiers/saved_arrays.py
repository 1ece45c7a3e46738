"""Arrays of a saved classifier, checked before anything is computed with them: a run may come from a stranger."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdlogic.classifiers.protocol import Arrays, decode_json
from crowdlogic.errors import FormatError

FLOATS, INTEGERS, BYTES, BOOLEANS = "f", "iu", "u", "b"
"""Kinds of numbers, as numpy's `dtype.kind` has them."""


def saved_array(arrays: Arrays, name: str, shape: tuple[int | None, ...], *, kind: str = FLOATS) -> NDArray[Any]:
    """An array of a saved state, if it is there, of its shape and its kind, and finite.

    Args:
        arrays: The saved state.
        name: The array's name.
        shape: The expected shape; None for any length.
        kind: The kinds of numbers that it may hold.
    """
    found = arrays.get(name)
    if found is None:
        raise _unfit(name, "missing", shape)
    fits = len(found.shape) == len(shape) and all(
        expected in (None, size) for size, expected in zip(found.shape, shape, strict=True)
    )
    if not fits:
        raise _unfit(name, str(found.shape), shape)
    if found.dtype.kind not in kind:
        raise FormatError(f"These arrays are of another classifier: {name} holds {found.dtype}.")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise FormatError(f"These arrays are damaged: {name} holds NaN or infinities.")
    return np.asarray(found)


def _unfit(name: str, found: str, shape: tuple[int | None, ...]) -> FormatError:
    expected = f"({', '.join('any' if size is None else str(size) for size in shape)}{',' * (len(shape) == 1)})"
    return FormatError(f"These arrays are of another classifier: {name} is {found} where {expected} is expected.")


def saved_number(arrays: Arrays, name: str, *, least: int, most: int) -> int:
    """A whole number of a saved state, within bounds."""
    found = int(saved_array(arrays, name, (), kind=INTEGERS))
    if not least <= found <= most:
        raise FormatError(f"These arrays are of another classifier: {name} is {found}, not from {least} to {most}.")
    return found


def saved_columns(arrays: Arrays, name: str, *, width: int) -> NDArray[Any]:
    """Column numbers of a saved state: rising, from 0 to below `width`."""
    found = saved_array(arrays, name, (None,), kind=INTEGERS).astype(np.int64)
    if len(found) and (found[0] < 0 or found[-1] >= width or (np.diff(found) <= 0).any()):
        raise FormatError(f"These arrays are of another classifier: {name} does not rise from 0 to below {width}.")
    return found


def saved_json(arrays: Arrays, name: str, kind: type) -> Any:
    """A value of a saved state that is kept as JSON, if it is of its kind."""
    try:
        found = decode_json(saved_array(arrays, name, (None,), kind=BYTES))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError, ValueError) as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"These arrays are damaged: {name} is no JSON ({problem}).") from problem
    if not isinstance(found, kind):
        raise FormatError(f"These arrays are of another classifier: {name} holds a {type(found).__name__}.")
    return found


def saved_words(arrays: Arrays, name: str) -> tuple[str, ...]:
    """Words of a saved state, each once."""
    found = saved_json(arrays, name, list)
    if not all(isinstance(word, str) for word in found) or len(set(found)) != len(found):
        raise FormatError(f"These arrays are of another classifier: {name} is no list of words, each once.")
    return tuple(found)
