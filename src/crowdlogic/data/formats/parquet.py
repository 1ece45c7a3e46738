"""Parquet: tables with types, as polars, pandas, Spark and DuckDB write them."""

from __future__ import annotations

import io

import polars as pl

from crowdlogic.data.files import InputFile
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
            return pl.read_parquet(io.BytesIO(file.content))
        with file.open() as opened:  # a path would be taken for a pattern where it has brackets
            return pl.read_parquet(opened, glob=False)

    def encode_table(self, table: pl.DataFrame, target: str) -> bytes:  # noqa: ARG002 (any table will do)
        """The table as one parquet file."""
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        return buffer.getvalue()


PARQUET = Parquet()
