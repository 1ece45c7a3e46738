"""Answers written as they are made: one table, part after part, in bounded memory."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from crowdlogic.data.files import STANDARD_STREAM, atomic_write
from crowdlogic.data.formats.spreadsheet_cells import guard_cells, warn_of_formulas
from crowdlogic.data.names import as_text
from crowdlogic.errors import OptionError, name_list
from crowdlogic.workflows.outputs import require_folder

STREAMED = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl"}
"""Formats that can be written part after part, by suffix."""


def stream_format(out: str, named: str | None) -> str:
    """The format to write, which must be one that can be written part after part."""
    found = named or STREAMED.get(Path(out).suffix.lower(), "")
    if out == STANDARD_STREAM or found not in STREAMED.values():
        raise OptionError(
            f"-o {out}: answers of labels that are read in shards are written as {name_list(STREAMED)}. "
            f"Name such a file."
        )
    require_folder(out)
    return found


def write_parts(
    out: str, parts: Iterator[pl.DataFrame], format: str, schema: Mapping[str, Any], *, spreadsheet_safe: bool = False
) -> None:
    """Write a table part after part; the file is there when all of it is, or not at all."""
    with atomic_write(out) as draft:
        if format == "parquet":
            _write_parquet(draft, parts, schema)
        else:
            _write_text(draft, parts, format, target=out, spreadsheet_safe=spreadsheet_safe)


def _write_parquet(draft: Path, parts: Iterator[pl.DataFrame], schema: Mapping[str, Any]) -> None:
    from polars.io.plugins import register_io_source

    problems: list[BaseException] = []

    def read(*_: object) -> Iterator[pl.DataFrame]:
        try:
            yield from parts
        except BaseException as problem:  # polars would wrap it in an error of its own
            problems.append(problem)
            raise

    try:
        register_io_source(io_source=read, schema=dict(schema)).sink_parquet(draft, maintain_order=True)
    except (pl.exceptions.PolarsError, OSError) as problem:
        if problems:
            raise problems[0] from None
        if "No space left" in str(problem) or "os error 28" in str(problem):
            raise OSError(errno.ENOSPC, "No space left on device", str(draft)) from problem
        raise


def _write_text(
    draft: Path, parts: Iterator[pl.DataFrame], format: str, *, target: str, spreadsheet_safe: bool
) -> None:
    """Write csv, tsv or jsonl; the first part of a csv file has the header."""
    has_warned = False
    with draft.open("wb") as file:
        for at, part in enumerate(parts):
            if format == "jsonl":
                part.write_ndjson(file)
                continue
            table = part.with_columns(as_text(part["label"]).alias("label"))
            if spreadsheet_safe:
                table = guard_cells(table)
            elif not has_warned:
                has_warned = warn_of_formulas(table, target)
            table.write_csv(file, separator="\t" if format == "tsv" else ",", include_header=at == 0)
