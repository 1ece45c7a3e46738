"""Reader for label tables that are too large to read at once: a file, a folder or a pattern, in batches of rows.

Supported are Parquet, csv and tsv files with one row per label. All files of a folder or pattern must have the same
columns. `extensions/scale/coding.py` encodes the rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from crowdlogic.data.files import open_regular, require_file
from crowdlogic.data.formats.delimited import guess_separator
from crowdlogic.data.formats.parquet import check_parquet
from crowdlogic.data.formats.tables import hold_back_panics
from crowdlogic.data.intake.columns import find_roles, require_columns
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.reading import TABLE_SUFFIXES
from crowdlogic.errors import FormatError, OptionError, name_list

ROLES = ("item", "annotator", "label", "weight")
"""Roles of the columns that are read; the weight is optional."""

REFUSED_ROLES = {"negated": "negated labels", "tags": "tags of sentences"}
"""Roles that shards do not support, and a description of their content."""

PROBE = 1 << 20
"""Number of bytes of a csv file from which its number of rows is estimated."""

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


@dataclass(frozen=True, kw_only=True)
class LabelFiles:
    """Files of labels with the same columns.

    Attributes:
        name: Name of the files in messages.
        paths: The files.
        format: parquet, csv or tsv.
        roles: role -> column.
    """

    name: str
    paths: tuple[Path, ...]
    format: str
    roles: Mapping[str, str]

    def count_rows(self) -> int:
        """Return the number of rows: exact for Parquet files, estimated from the beginning for csv files."""
        if self.format == "parquet":
            return sum(_scan(path, self.format).select(pl.len()).collect().item() for path in self.paths)
        rows = 0
        for path in self.paths:
            with path.open("rb") as file:
                head = file.read(PROBE)
            rows += max(int(path.stat().st_size / max(len(head), 1) * head.count(b"\n")) - 1, 1)
        return rows

    def batches(self, size: int) -> Iterator[tuple[Path, int, pl.DataFrame]]:
        """Yield the file, the number of the first row, and the rows (with roles as columns) of every batch."""
        for path in self.paths:
            first = 0
            for table in _read_batches(path, self.format, self.roles, size):
                yield path, first, table
                first += len(table)

    def facts(self) -> list[tuple[str, int, int]]:
        """Return the name, size and modification time of every file, to detect changes."""
        return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in self.paths]


def open_label_files(
    name: str, paths: tuple[Path, ...], *, columns: Mapping[str, str] | None = None, format: str | None = None
) -> LabelFiles:
    """Open files after checking that each can be read and has the same columns as the first.

    Args:
        name: Name of the files in messages.
        paths: The files.
        columns: role -> column, for columns whose names are not recognised.
        format: parquet, csv or tsv; inferred from the suffix if None.
    """
    formats = {path: format or TABLE_SUFFIXES.get(path.suffix.lower(), "") for path in paths}
    unknown = [path for path in paths if formats[path] not in ("parquet", "csv", "tsv")]
    if unknown:
        raise FormatError(f"{unknown[0]}: tables in shards must be parquet, csv or tsv files. Convert it first.")
    schemas = {path: _schema(path, formats[path]) for path in paths}
    roles = find_roles(list(schemas[paths[0]]), columns, where=str(paths[0]))
    source = TableSource(str(paths[0]))
    require_columns(roles, ROLES[:3], list(schemas[paths[0]]), source=source, purpose="A table of labels")
    for role, what in REFUSED_ROLES.items():
        if role in roles:
            raise OptionError(
                f"{name}: column {roles[role]!r} contains {what}, which are not supported for tables in shards. "
                f"Read the table in memory."
            )
    kept = {role: roles[role] for role in ROLES if role in roles}
    _check_same(schemas, kept, formats)
    return LabelFiles(name=name, paths=paths, format=formats[paths[0]], roles=kept)


def _check_same(schemas: Mapping[Path, pl.Schema], roles: Mapping[str, str], formats: Mapping[Path, str]) -> None:
    """Raise an error if a file differs from the first in its format, columns or column types."""
    first, *others = schemas
    for path in others:
        if formats[path] != formats[first]:
            raise FormatError(
                f"{path}: expected {formats[first]}, as {first}; got {formats[path]}. Give files of one format."
            )
        for column in roles.values():
            if column not in schemas[path]:
                raise FormatError(
                    f"{path}: no column {column!r} among {name_list(schemas[path])}, unlike {first}. Give files with "
                    f"the same columns."
                )
            ours, theirs = schemas[path][column], schemas[first][column]
            if ours != theirs:
                raise FormatError(
                    f"{path}: column {column!r} has type {ours}, but in {first} it has type {theirs}. Give files with "
                    f"the same column types."
                )


def _schema(path: Path, format: str) -> pl.Schema:
    """Return the columns of a file and their types; raise an error if the file cannot be read."""
    with open_regular(path) as file:
        if not os.fstat(file.fileno()).st_size:
            raise FormatError(f"{path}: the file is empty. A table needs a header and at least one row.")
        if format == "parquet":
            check_parquet(file, str(path))
    try:
        with hold_back_panics():
            return _scan(path, format).collect_schema()
    except UNREADABLE as problem:
        raise _unreadable(path, format, problem) from problem


def _scan(path: Path, format: str) -> pl.LazyFrame:
    place = require_file(path)
    if format == "parquet":
        return pl.scan_parquet(place, glob=False)
    with place.open("rb") as file:
        separator = "\t" if format == "tsv" else guess_separator(file.readline(PROBE))
    return pl.scan_csv(place, infer_schema=False, separator=separator, glob=False)


def _read_batches(path: Path, format: str, roles: Mapping[str, str], size: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of one file in batches: slices of a Parquet file, or streamed rows of a csv file."""
    table = _scan(path, format).select(pl.col(column).alias(role) for role, column in roles.items())
    batches: Iterator[pl.DataFrame]
    if format == "parquet":
        n_rows = table.select(pl.len()).collect().item()
        batches = (table.slice(first, size).collect() for first in range(0, n_rows, size))
    else:
        batches = (batch for batch in table.collect_batches(chunk_size=size, maintain_order=True, lazy=True))
    while True:
        try:
            with hold_back_panics():  # only while reading, since standard error belongs to the whole process
                batch = next(batches, None)
        except UNREADABLE as problem:
            if isinstance(problem, OSError) and problem.errno is not None:
                raise
            raise _unreadable(path, format, problem) from problem
        if batch is None:
            return
        yield batch


def _unreadable(path: Path, format: str, problem: BaseException) -> FormatError:
    why = str(problem).partition("\n")[0][:120]
    return FormatError(f"{path}: cannot be read as a {format} file ({why}). Fetch or write it again.")
