"""Parquet: tables with types, as polars, pandas, Spark and DuckDB write them."""

from __future__ import annotations

import io
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import polars as pl

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.parquet_footer import check_parquet
from crowdlogic.data.formats.rust_panics import hold_back_panics
from crowdlogic.data.formats.tables import UNREADABLE, TableFormat, require_rows
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import DataError, FormatError

MAGIC = b"PAR1"


class Parquet(TableFormat):
    """A table with types."""

    name, title, suffixes = "parquet", "parquet", (".parquet", ".pq")

    def recognises(self, head: bytes) -> bool:
        """Every parquet file begins with the same four bytes."""
        return head.startswith(MAGIC)

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """The table, types as stored."""
        try:
            table = self._parse(file)
        except UNREADABLE as problem:
            if isinstance(problem, DataError):
                raise
            raise FormatError(
                f"{file.name}: is not a parquet file that can be read ({str(problem)[:80]})."
            ) from problem
        return require_rows(table, file.name), TableSource(file.name)

    def _parse(self, file: InputFile) -> pl.DataFrame:
        if not file.is_plain:
            return read_parquet(io.BytesIO(file.content), file.name)
        with file.open() as opened:  # a path would be taken for a pattern where it has brackets
            return read_parquet(opened, file.name)

    def encode_table(self, table: pl.DataFrame, target: str) -> bytes:  # noqa: ARG002 (any table will do)
        """The table as one parquet file."""
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        return buffer.getvalue()


PARQUET = Parquet()


def read_parquet(file: BinaryIO, name: str) -> pl.DataFrame:
    """A table, once the footer and the headers of the pages are known to be sound.

    Args:
        file: The file, opened.
        name: What messages call it.
    """
    with _view(file) as content:
        check_parquet(content, name)
    file.seek(0)
    with hold_back_panics():
        return pl.read_parquet(file, glob=False)


@contextmanager
def _view(file: BinaryIO) -> Iterator[bytes | mmap.mmap]:
    """The bytes of a file, without reading those that nobody asks for."""
    if isinstance(file, io.BytesIO):
        yield file.getvalue()
        return
    if not os.fstat(file.fileno()).st_size:
        yield b""
        return
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        yield mapped
