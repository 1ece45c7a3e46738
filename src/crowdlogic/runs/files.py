"""The files of a run: each is written whole or not at all, and on the disk before it takes its name. Data only."""

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

from crowdlogic.data.files import atomic_write
from crowdlogic.errors import FormatError, MissingDataError

CONFIG, HISTORY, AGAIN, RULES = "config.json", "history.jsonl", "again.jsonl", "rules.json"
MODEL, CONFUSION, FEATURES = "model.safetensors", "confusion.safetensors", "items.safetensors"
ANSWERS, ANNOTATORS, CROWD, ITEMS = "labels.parquet", "annotators.parquet", "crowd.parquet", "items.parquet"
TABLES, WORDS, CHECKPOINT, SECOND = "tables", "words", "checkpoint", "checkpoint-again"

VERSION = 1
"""Of the layout: a run of another version is refused and not misread."""

Arrays: TypeAlias = Mapping[str, NDArray[Any]]


def put(path: Path, content: bytes) -> None:
    """Write a file whole."""
    with atomic_write(path) as draft, draft.open("wb") as file:
        file.write(content)
        _settle(file.fileno())


def put_json(path: Path, value: Any) -> None:
    """Write what JSON can hold; what is not a number becomes null."""
    put(path, (json.dumps(plain(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode())


def put_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write one JSON object a line."""
    put(path, "".join(json.dumps(plain(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode())


def put_arrays(path: Path, arrays: Arrays) -> None:
    """Write named arrays."""
    from safetensors.numpy import save_file

    with atomic_write(path) as draft:
        # asarray and not ascontiguousarray, which would make a row out of a single number
        save_file({name: np.asarray(array, order="C") for name, array in arrays.items()}, draft)
        with draft.open("rb+") as file:
            _settle(file.fileno())


def put_table(path: Path, table: pl.DataFrame) -> None:
    """Write a table as Parquet."""
    with atomic_write(path) as draft:
        table.write_parquet(draft)
        with draft.open("rb+") as file:
            _settle(file.fileno())


def _settle(handle: int) -> None:
    """Have the file on the disk: a rename may otherwise overtake the content when a machine goes down."""
    os.fsync(handle)


def plain(value: Any) -> Any:
    """What JSON can hold: numbers of numpy as Python's, and null for what is not a number."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def get_json(path: Path) -> Any:
    """What `put_json` wrote."""
    found = _existing(path)
    try:
        return json.loads(found.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{path}: is no JSON ({problem}). The run is damaged.") from problem


def get_lines(path: Path) -> list[Any]:
    """What `put_lines` wrote."""
    found = _existing(path)
    try:
        return [json.loads(line) for line in found.read_text(encoding="utf-8").splitlines()]
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{path}: a line is no JSON ({problem}). The run is damaged.") from problem


def get_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """What `put_arrays` wrote."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    found = _existing(path)
    try:
        return dict(load_file(found))
    except (SafetensorError, KeyError) as problem:
        raise FormatError(f"{path}: holds no arrays ({problem}). The run is damaged.") from problem


def get_table(path: Path) -> pl.DataFrame:
    """What `put_table` wrote."""
    found = _existing(path)
    try:
        return pl.read_parquet(found)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
        raise FormatError(f"{path}: is no Parquet table ({problem}). The run is damaged.") from problem


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise MissingDataError(f"{path.parent}: no {path.name} in it. The run is damaged, or it is no run.")
    return path
