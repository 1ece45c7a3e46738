"""How inputs are changed: bytes, texts, values of JSON, arrays and tables. All randomness comes from a generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

Rng = np.random.Generator

TOKENS = [
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"NaN", b"nan", b"Infinity", b"-1", b"1e999", b"9" * 30, b"9" * 5000, b"null", b"true",
    b"\n", b"\r\n", b"\t", b",", b";", b'"', b"'", b"\\", b"[", b"]", b"{", b"}", b"[" * 500, b"PAR1", b"\x1f\x8b", b"PK\x03\x04", b"../",
    b"=1+1", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"include '/etc/passwd'\n", b"$G", b"-> ", b"&",
]  # fmt: skip
"""Bytes that readers may stumble over."""

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 3.5, -0.0, 1e308, float("nan"), float("inf"), 2**31, 2**63, 10**40, "", "x", "nan", "\ud800", "a" * 3000,
    [], [None], [[]], [1, "x"], {}, {"name": "x"}, {"name": None}, {"": {}}, {"name": "transformer"}, {"name": "linear", "steps": 10**12},
]  # fmt: skip
"""Values that JSON or a table of options may hold in the place of others."""


def pick(rng: Rng, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


def mutate_bytes(content: bytes, rng: Rng, others: Sequence[bytes]) -> bytes:
    """One to four changes: flipped bits, other bytes, parts left out, repeated, put in or taken from another input."""
    found = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(found) + 1))
        found = pick(rng, BYTE_CHANGES)(found, at, rng, others)
    return bytes(found[:2_000_000])


def _flip(found: bytearray, at: int, rng: Rng, others: Sequence[bytes]) -> bytearray:
    if at < len(found):
        found[at] ^= 1 << int(rng.integers(8))
    return found


def _replace(found: bytearray, at: int, rng: Rng, others: Sequence[bytes]) -> bytearray:
    found[at : at + 1] = bytes([int(rng.integers(256))])
    return found


def _leave_out(found: bytearray, at: int, rng: Rng, others: Sequence[bytes]) -> bytearray:
    del found[at : at + int(rng.integers(1, 20))]
    return found


def _cut(found: bytearray, at: int, rng: Rng, others: Sequence[bytes]) -> bytearray:
    return found[:at]


def _repeat(found: bytearray, at: int, rng: Rng, others: Sequence[bytes]) -> bytearray:
    part = found[at : at + int(rng.integers(1, 60))]
    found[at:at] = part * int(rng.integers(1, 30))
    return found


def _insert(found: bytearray, at: int, rng: Rng, others: Sequence[bytes]) -> bytearray:
    found[at:at] = pick(rng, TOKENS)
    return found


def _overwrite(found: bytearray, at: int, rng: Rng, others: Sequence[bytes]) -> bytearray:
    token = pick(rng, TOKENS)
    found[at : at + len(token)] = token
    return found


def _splice(found: bytearray, at: int, rng: Rng, others: Sequence[bytes]) -> bytearray:
    other = pick(rng, others) if others else b""
    begin = int(rng.integers(len(other) + 1))
    found[at:at] = other[begin : begin + 200]
    return found


BYTE_CHANGES = [_flip, _flip, _replace, _leave_out, _cut, _repeat, _insert, _insert, _overwrite, _splice]


def mutate_json(value: Any, rng: Rng) -> Any:
    """The same value with something else at a random place, or something missing there."""
    places: list[tuple[Any, Any]] = []
    _collect(value, places)
    if not places or rng.random() < 0.02:
        return pick(rng, VALUES)
    for _ in range(int(rng.integers(1, 3))):
        holder, key = pick(rng, places)
        if rng.random() < 0.2:
            if isinstance(holder, dict):
                holder.pop(key, None)
            else:
                holder[:] = holder[: int(rng.integers(len(holder) + 1))]
        elif isinstance(holder, dict) or key < len(holder):
            holder[key] = pick(rng, VALUES)
    return value


def _collect(value: Any, places: list[tuple[Any, Any]]) -> None:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        places.append((value, key))
        _collect(inner, places)


ARRAY_CHANGES: list[Callable[[Any], Any]] = [
    lambda array: array[:1] if array.ndim else array.reshape(1),
    lambda array: np.concatenate([array, array]) if array.ndim else np.stack([array, array]),
    lambda array: array[..., None],
    lambda array: array.reshape(-1),
    lambda array: np.zeros((0, *array.shape[1:]), array.dtype),
    lambda array: array.astype(np.float32),
    lambda array: array.astype(np.int64) if array.dtype.kind != "f" or np.isfinite(array).all() else array,
    lambda array: array != 0,
    lambda array: np.full(array.shape, np.nan),
    lambda array: np.full(array.shape, np.inf),
    lambda array: np.full(array.shape, -1, np.int64),
    lambda array: np.full(array.shape, 2**62, np.int64),
    lambda array: np.full(array.shape, 255, np.uint8),
    lambda array: -array if array.dtype.kind in "fi" else array,
    lambda array: array * 3 if array.dtype.kind in "fiu" else array,
    lambda array: array[::-1].copy() if array.ndim else array,
]


def mutate_arrays(arrays: dict[str, Any], rng: Rng) -> dict[str, Any]:
    """Named arrays with one of them changed, renamed or left out."""
    found = dict(arrays)
    name = pick(rng, sorted(found))
    how = rng.random()
    if how < 0.1:
        del found[name]
    elif how < 0.15:
        found[pick(rng, ["x", "model.", "fixed.words", "classifier.fixed.x"])] = found.pop(name)
    else:
        found[name] = np.ascontiguousarray(pick(rng, ARRAY_CHANGES)(found[name]))
    return found


def mutate_table(table: pl.DataFrame, rng: Rng) -> pl.DataFrame:
    """A table with a column left out, of another type, with gaps or other values; or with other rows."""
    name = pick(rng, table.columns)
    changes: list[Callable[[], pl.DataFrame]] = [
        lambda: table.drop(name),
        lambda: table.head(int(rng.integers(table.height + 1))),
        table.reverse,
        lambda: pl.concat([table, table]),
        lambda: table.rename({name: pick(rng, ["xyz", "p_", "q_f", "0"])}),
        lambda: table.with_columns(pl.lit(None).alias(name)),
        lambda: table.with_columns(pl.lit(pick(rng, ["x", -1, 2**40, 0.5, True])).alias(name)),
        lambda: table.with_columns(pl.lit(float("nan")).alias(name)),
        lambda: table.with_columns(pl.lit([1, 2]).alias(name)),
        lambda: table.with_columns(pl.when(pl.int_range(pl.len()) == 1).then(None).otherwise(pl.col(name)).alias(name)),
    ]
    return pick(rng, changes)()
