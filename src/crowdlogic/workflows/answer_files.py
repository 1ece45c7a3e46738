"""Answers written as they are made: one table, part after part, in bounded memory."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from crowdlogic.data.files import STANDARD_STREAM, atomic_write
from crowdlogic.data.formats.spreadsheet_cells import guard_cells
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


def write_parts(out: str, parts: Iterator[pl.DataFrame], format: str, schema: Mapping[str, Any]) -> None:
    """Write a table part after part; the file is there when all of it is, or not at all."""
    write = _write_parquet if format == "parquet" else _write_text
    with atomic_write(out) as draft:
        write(draft, parts, format, schema)


def _write_parquet(draft: Path, parts: Iterator[pl.DataFrame], format: str, schema: Mapping[str, Any]) -> None:  # noqa: ARG001
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


def _write_text(draft: Path, parts: Iterator[pl.DataFrame], format: str, schema: Mapping[str, Any]) -> None:  # noqa: ARG001
    encode = _encoder(format)
    with draft.open("wb") as file:
        for at, part in enumerate(parts):
            file.write(encode(part, at == 0))


def _encoder(format: str) -> Callable[[pl.DataFrame, bool], bytes]:
    """How a part becomes bytes; the first one of a csv file has the header."""

    def encode(part: pl.DataFrame, is_first: bool) -> bytes:
        buffer = io.BytesIO()
        if format == "jsonl":
            part.write_ndjson(buffer)
        else:
            table = guard_cells(part.with_columns(as_text(part["label"]).alias("label")))
            table.write_csv(buffer, separator="\t" if format == "tsv" else ",", include_header=is_first)
        return buffer.getvalue()

    return encode
