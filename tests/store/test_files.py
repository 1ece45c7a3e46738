"""The one codec: what is written is read, whole or not at all, and a file that is something else is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crowdlogic.errors import FormatError, MissingDataError
from crowdlogic.store.files import (
    get_arrays,
    get_arrays_and_metadata,
    get_json,
    get_lines,
    get_table,
    put_arrays,
    put_bytes,
    put_json,
    put_lines,
    put_table,
    to_plain,
)

ARRAYS = {
    "number": np.array(3, dtype=np.int16),
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "none": np.zeros((0, 4), np.float32),
    "bytes": np.frombuffer(b'["a"]', dtype=np.uint8),
    "flags": np.array([True, False]),
}
TABLE = pl.DataFrame({"item": ["ä", None], "n": [1, 2]})

Writer = Callable[[Path], None]
WRITERS: dict[str, Writer] = {
    "bytes": lambda path: put_bytes(path, b"new"),
    "json": lambda path: put_json(path, {"new": 1}),
    "lines": lambda path: put_lines(path, [{"new": 1}]),
    "arrays": lambda path: put_arrays(path, ARRAYS),
    "table": lambda path: put_table(path, TABLE),
}


def test_json_is_read_as_it_was_written(tmp_path: Path) -> None:
    value = {"text": "née\n'x'", "list": [1, 2.5, True, None], "nested": {"a": {"b": []}}}

    put_json(tmp_path / "x.json", value)
    put_lines(tmp_path / "x.jsonl", [value, {}])

    assert get_json(tmp_path / "x.json") == value
    assert get_lines(tmp_path / "x.jsonl") == [value, {}]


def test_arrays_keep_their_types_shapes_and_bits(tmp_path: Path) -> None:
    put_arrays(tmp_path / "x.safetensors", ARRAYS, metadata={"owner": "me"})

    found, metadata = get_arrays_and_metadata(tmp_path / "x.safetensors")

    assert found.keys() == ARRAYS.keys() == get_arrays(tmp_path / "x.safetensors").keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
    assert metadata == {"owner": "me"}


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    put_table(tmp_path / "x.parquet", TABLE)

    assert get_table(tmp_path / "x.parquet").equals(TABLE)


def test_plain_data_has_no_numbers_of_numpy_and_null_for_what_is_no_number() -> None:
    given = {
        1: (np.float64(0.5), np.nan, np.inf),
        "a": np.arange(2),
        "b": np.array([-np.inf, 1.0]),
        "c": np.bool_(True),
    }

    found = to_plain(given)

    assert found == {"1": [0.5, None, None], "a": [0, 1], "b": [None, 1.0], "c": True}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_a_file_is_on_the_disk_before_it_takes_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Writer
) -> None:
    order: list[tuple[str, int]] = []
    rename, sync = Path.replace, os.fsync

    def replace(self: Path, target: Path) -> Path:
        order.append(("rename", self.stat().st_ino))
        return rename(self, target)

    def fsync(handle: int) -> None:
        assert os.fstat(handle).st_size > 0  # nothing waits in a buffer
        order.append(("sync", os.fstat(handle).st_ino))
        sync(handle)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(os, "fsync", fsync)
    writer(tmp_path / "file")

    inode = (tmp_path / "file").stat().st_ino
    assert order == [("sync", inode), ("rename", inode)]


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Writer
) -> None:
    (tmp_path / "file").write_text("old")

    def full(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(OSError, match="no space left"):
        writer(tmp_path / "file")

    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("file", "old")]


DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("reader", "content", "said"),
    [
        (get_json, b"{", "is not valid JSON (Expecting property name"),
        (get_json, b"\xff", "is not valid JSON ('utf-8' codec can't decode"),
        (get_json, DEEP, "is not valid JSON (it is nested too deeply"),
        (get_lines, b"{}\n{", "a line is not valid JSON (Expecting property name"),
        (get_lines, DEEP, "a line is not valid JSON (it is nested too deeply"),
        (get_arrays, b"{", "cannot be read as safetensors (Error while deserializing header"),
        (get_arrays, b"", "cannot be read as safetensors (Error while deserializing header"),
        (get_table, b"{", "cannot be read as a Parquet file ("),
        (get_table, b"", "cannot be read as a Parquet file ("),
    ],
)
def test_a_file_that_is_something_else_is_named(tmp_path: Path, reader: Any, content: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)

    with pytest.raises(FormatError) as refused:
        reader(path, remedy="Do it again.")

    assert str(refused.value).startswith(f"{path}: {said}")
    assert str(refused.value).endswith("). Do it again.")
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("reader", [get_json, get_lines, get_arrays, get_table])
def test_a_missing_file_is_named(tmp_path: Path, reader: Any) -> None:
    with pytest.raises(MissingDataError) as refused:
        reader(tmp_path / "file")

    assert str(refused.value) == f"{tmp_path}: file is missing. The run is damaged, or it is not a run."
