"""Label tables that are too large to read at once: one file, a folder or a pattern of files, in batches of rows.

Parquet and csv (or tsv) files with one row per label. All files of a folder or pattern have the same columns; what is
in them is coded by `extensions/scale/coding.py`.
"""

from __future__ import annotations

import io
import mmap
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from crowdlogic.data.files import open_regular, require_file
from crowdlogic.data.formats.parquet import check_parquet
from crowdlogic.data.formats.tables import hold_back_panics
from crowdlogic.data.intake.contract import TableSource, find_roles, require_columns
from crowdlogic.data.reading import TABLE_SUFFIXES
from crowdlogic.errors import FormatError, OptionError, name_list

ROLES = ("item", "annotator", "label", "weight")
"""The columns that are read, by role; a weight is optional."""

REFUSED_ROLES = {"negated": "labels that say which class it is not", "tags": "tags of sentences"}
"""Columns that a table in shards cannot have, and what they hold."""

PROBE = 1 << 20
"""Bytes of a csv file from which the number of its rows is estimated."""

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


@dataclass(frozen=True, kw_only=True)
class LabelFiles:
    """Files of labels with the same columns.

    Attributes:
        name: What the user called them.
        paths: The files.
        format: parquet, csv or tsv.
        roles: role -> column.
    """

    name: str
    paths: tuple[Path, ...]
    format: str
    roles: Mapping[str, str]

    def count_rows(self) -> int:
        """Number of rows: as Parquet says; of a csv file estimated from its beginning."""
        if self.format == "parquet":
            return sum(_scan(path, self.format).select(pl.len()).collect().item() for path in self.paths)
        return sum(_estimate_rows(path) for path in self.paths)

    def batches(self, size: int) -> Iterator[tuple[Path, int, pl.DataFrame]]:
        """Tables with the roles as columns, in the order of the files: file, number of the first row, rows."""
        for path in self.paths:
            first = 0
            for table in _read_batches(path, self.format, self.roles, size):
                yield path, first, table
                first += len(table)

    def facts(self) -> list[tuple[str, int, int]]:
        """Name, size and time of every file, by which it is known again."""
        return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in self.paths]


def open_label_files(
    name: str, paths: tuple[Path, ...], *, columns: Mapping[str, str] | None = None, format: str | None = None
) -> LabelFiles:
    """The files, once each is known to be sound and to have the columns of the first.

    Args:
        name: What the user called them.
        paths: The files.
        columns: role -> column, for columns whose names are not recognised.
        format: parquet, csv or tsv, where the suffix does not say it.
    """
    formats = {path: format or TABLE_SUFFIXES.get(path.suffix.lower(), "") for path in paths}
    unknown = [path for path in paths if formats[path] not in ("parquet", "csv", "tsv")]
    if unknown:
        raise FormatError(f"{unknown[0]}: tables that are read in shards are parquet, csv or tsv. Convert it first.")
    schemas = {path: _schema(path, formats[path]) for path in paths}
    roles = find_roles(list(schemas[paths[0]]), columns, where=str(paths[0]))
    source = TableSource(str(paths[0]))
    require_columns(roles, ROLES[:3], list(schemas[paths[0]]), source=source, purpose="A table of labels")
    for role, what in REFUSED_ROLES.items():
        if role in roles:
            raise OptionError(f"{name}: column {roles[role]!r} holds {what}, which are read in memory alone.")
    kept = {role: roles[role] for role in ROLES if role in roles}
    _check_same(schemas, kept, formats)
    return LabelFiles(name=name, paths=paths, format=formats[paths[0]], roles=kept)


def _check_same(schemas: Mapping[Path, pl.Schema], roles: Mapping[str, str], formats: Mapping[Path, str]) -> None:
    """Refuse a file that differs from the first in format, columns or their types."""
    first, *others = schemas
    for path in others:
        if formats[path] != formats[first]:
            raise FormatError(
                f"{path}: is {formats[path]} where {first} is {formats[first]}. Give files of one format."
            )
        for column in roles.values():
            if column not in schemas[path]:
                raise FormatError(
                    f"{path}: has the columns {name_list(schemas[path])} and no {column!r}, as {first} has. Give files "
                    f"with the same columns."
                )
            ours, theirs = schemas[path][column], schemas[first][column]
            if ours != theirs:
                raise FormatError(
                    f"{path}: column {column!r} holds {ours} where that of {first} holds {theirs}. Give files with the "
                    f"same columns."
                )


def _schema(path: Path, format: str) -> pl.Schema:
    """The columns of a file and their types, once the file is known to be sound."""
    with open_regular(path) as file:
        if not os.fstat(file.fileno()).st_size:
            raise FormatError(f"{path}: the file is empty. A table needs a header and at least one row.")
        if format == "parquet":
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                check_parquet(content, str(path))
    try:
        with hold_back_panics():
            return _scan(path, format).collect_schema()
    except UNREADABLE as problem:
        raise _unreadable(path, format, problem) from problem


def _scan(path: Path, format: str) -> pl.LazyFrame:
    place = require_file(path)
    if format == "parquet":
        return pl.scan_parquet(place, glob=False)
    separator = "\t" if format == "tsv" else _separator(place)
    return pl.scan_csv(place, infer_schema=False, separator=separator, glob=False)


def _separator(path: Path) -> str:
    with path.open("rb") as file:
        header = file.readline(PROBE)
    return next((mark for mark in (",", ";", "\t") if mark.encode() in header), ",")


def _read_batches(path: Path, format: str, roles: Mapping[str, str], size: int) -> Iterator[pl.DataFrame]:
    """The rows of one file. Of Parquet, slices, whose memory is known; of csv, what streaming gives."""
    table = _scan(path, format).select(pl.col(column).alias(role) for role, column in roles.items())
    batches = _slices(table, size) if format == "parquet" else _streamed(table, size)
    while True:
        try:
            with hold_back_panics():  # around reading alone: it is the standard error of the whole process
                batch = next(batches, None)
        except UNREADABLE as problem:
            if isinstance(problem, OSError) and problem.errno is not None:
                raise
            raise _unreadable(path, format, problem) from problem
        if batch is None:
            return
        yield batch


def _slices(table: pl.LazyFrame, size: int) -> Iterator[pl.DataFrame]:
    for first in range(0, table.select(pl.len()).collect().item(), size):
        yield table.slice(first, size).collect()


def _streamed(table: pl.LazyFrame, size: int) -> Iterator[pl.DataFrame]:
    yield from table.collect_batches(chunk_size=size, maintain_order=True, lazy=True)


def _unreadable(path: Path, format: str, problem: BaseException) -> FormatError:
    why = str(problem).partition("\n")[0][:120]
    return FormatError(f"{path}: is not a {format} file that can be read ({why}). Fetch or write it again.")


def _estimate_rows(path: Path) -> int:
    """The number of rows of a csv file, by the length of its first ones."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = io.BytesIO(file.read(PROBE)).getvalue()
    lines = head.count(b"\n")
    return max(int(size / max(len(head), 1) * lines) - 1, 1)
