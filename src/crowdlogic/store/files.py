"""The one codec: every file is written whole or not at all, and is on the disk before it takes its name. Data only.

A file that cannot be decoded is a FormatError that names it, one that is not there a MissingDataError. Both end with
what to do about it: the `remedy`, which depends on what the file is a part of.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.data.files import atomic_write, open_regular
from crowdlogic.data.formats.parquet import read_parquet
from crowdlogic.errors import FormatError, MissingDataError

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
NamedArrays: TypeAlias = dict[str, NDArray[Any]]

DAMAGED_RUN = "The run is damaged."
MISSING_FILE = "The run is damaged, or it is no run."


OS_ERROR = re.compile(r"\(os error ([0-9]+)\)")
"""How safetensors, which is written in Rust, quotes an error of the system: its number."""


def put_bytes(path: Path, content: bytes) -> str:
    """Write a file whole; its SHA-256."""
    with atomic_write(path) as draft, draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(content).hexdigest()


def put_json(path: Path, value: Any) -> str:
    """Write what JSON can hold; NaN and infinities become null. The file's SHA-256."""
    return put_bytes(path, json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """What `put_json` writes."""
    return (json.dumps(to_plain(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def put_lines(path: Path, rows: Iterable[Any]) -> str:
    """Write one JSON object per line; the file's SHA-256."""
    lines = (json.dumps(to_plain(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    return put_bytes(path, "".join(lines).encode())


def put_arrays(path: Path, arrays: Arrays, *, metadata: Mapping[str, str] | None = None) -> str:
    """Write named arrays, and texts about them by name; the file's SHA-256."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    with atomic_write(path) as draft:
        # asarray and not ascontiguousarray, which would make a row out of a single number
        contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        try:
            save_file(contiguous, draft, metadata=None if metadata is None else dict(metadata))
        except SafetensorError as problem:
            raise _system_error(problem) from problem
        return _sync(draft)


def _system_error(problem: Exception) -> OSError:
    """What the system said when safetensors could not write, such as that the disk is full."""
    number = OS_ERROR.search(str(problem))
    code = errno.EIO if number is None else int(number[1])
    return OSError(code, os.strerror(code))


def put_table(path: Path, table: pl.DataFrame) -> str:
    """Write a table as Parquet; the file's SHA-256."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return put_bytes(path, buffer.getvalue())


def _sync(draft: Path) -> str:
    """Have the file on the disk: a rename may otherwise overtake the content when a machine goes down. Its SHA-256."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


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
    content = read_own_bytes(path)
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as problem:  # no UTF-8, no JSON, or nested too deep
        raise FormatError(f"{path}: is no JSON ({problem}). {remedy}") from problem


def get_lines(path: Path, *, remedy: str = DAMAGED_RUN) -> list[Any]:
    """What `put_lines` wrote."""
    content = read_own_bytes(path)
    try:
        return [json.loads(line) for line in content.decode("utf-8").splitlines()]
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
        with open_regular(found, follow=False) as file:  # a path would be taken for a pattern where it has brackets
            return read_parquet(file, str(path))
    except FormatError as problem:
        raise FormatError(f"{str(problem).rstrip('.')}. {remedy}") from problem
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
        raise FormatError(f"{path}: is no Parquet table ({problem}). {remedy}") from problem


def read_own_bytes(path: Path) -> bytes:
    """The content of a file of a run, which is no link to another."""
    with open_regular(_existing(path), follow=False) as file:
        return file.read()


def _existing(path: Path) -> Path:
    if path.is_symlink():
        raise FormatError(f"{path}: is a symbolic link. A run holds files of its own and nothing else.")
    if not path.is_file():
        raise MissingDataError(f"{path.parent}: no {path.name} in it. {MISSING_FILE}")
    return path
