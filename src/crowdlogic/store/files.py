"""The one codec: every file is written whole or not at all, and is on the disk before it takes its name. Data only.

A file that cannot be decoded is a FormatError that names it, one that is not there a MissingDataError. Both end with
what to do about it: the `remedy`, which depends on what the file is a part of.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.data.files import atomic_write, open_regular
from crowdlogic.errors import FormatError, MissingDataError

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
NamedArrays: TypeAlias = dict[str, NDArray[Any]]

DAMAGED_RUN = "The run is damaged."


def put_bytes(path: Path, content: bytes) -> None:
    """Write a file whole."""
    with atomic_write(path) as draft, draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def put_json(path: Path, value: Any) -> None:
    """Write what JSON can hold; NaN and infinities become null."""
    put_bytes(path, (json.dumps(to_plain(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode())


def put_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write one JSON object per line."""
    lines = (json.dumps(to_plain(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    put_bytes(path, "".join(lines).encode())


def put_arrays(path: Path, arrays: Arrays, *, metadata: Mapping[str, str] | None = None) -> None:
    """Write named arrays, and texts about them by name."""
    from safetensors.numpy import save_file

    with atomic_write(path) as draft:
        # asarray and not ascontiguousarray, which would make a row out of a single number
        contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        save_file(contiguous, draft, metadata=None if metadata is None else dict(metadata))
        _sync(draft)


def put_table(path: Path, table: pl.DataFrame) -> None:
    """Write a table as Parquet."""
    with atomic_write(path) as draft:
        table.write_parquet(draft)
        _sync(draft)


def _sync(draft: Path) -> None:
    """Have the file on the disk: a rename may otherwise overtake the content when a machine goes down."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())


def to_plain(value: Any) -> Any:
    """What JSON can hold: numbers of numpy as Python's, and null for NaN and infinities."""
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def get_json(path: Path, *, remedy: str = DAMAGED_RUN) -> Any:
    """What `put_json` wrote."""
    found = _existing(path)
    try:
        return json.loads(found.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as problem:  # no UTF-8, no JSON, or nested too deep
        raise FormatError(f"{path}: is no JSON ({problem}). {remedy}") from problem


def get_lines(path: Path, *, remedy: str = DAMAGED_RUN) -> list[Any]:
    """What `put_lines` wrote."""
    found = _existing(path)
    try:
        return [json.loads(line) for line in found.read_text(encoding="utf-8").splitlines()]
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{path}: a line is no JSON ({problem}). {remedy}") from problem


def get_arrays(path: Path, *, remedy: str = DAMAGED_RUN) -> NamedArrays:
    """What `put_arrays` wrote."""
    return get_arrays_and_metadata(path, remedy=remedy)[0]


def get_arrays_and_metadata(path: Path, *, remedy: str = DAMAGED_RUN) -> tuple[NamedArrays, dict[str, str]]:
    """What `put_arrays` wrote: the arrays, and the texts about them."""
    from safetensors import SafetensorError, safe_open

    found = _existing(path)
    try:
        with safe_open(found, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            return arrays, dict(file.metadata() or {})
    except (SafetensorError, KeyError) as problem:  # KeyError: a type of numbers that numpy does not have
        raise FormatError(f"{path}: holds no arrays ({problem}). {remedy}") from problem


def get_table(path: Path, *, remedy: str = DAMAGED_RUN) -> pl.DataFrame:
    """What `put_table` wrote."""
    found = _existing(path)
    try:
        with open_regular(found) as file:  # a path would be taken for a pattern where it has brackets
            return pl.read_parquet(file, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
        raise FormatError(f"{path}: is no Parquet table ({problem}). {remedy}") from problem


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise MissingDataError(f"{path.parent}: no {path.name} in it. The run is damaged, or it is no run.")
    return path
