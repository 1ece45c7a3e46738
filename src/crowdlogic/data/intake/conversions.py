"""Conversions of columns to text and numbers, and of plain values to columns: the one place that knows polars' types.

A column of lists, records or bytes, or an integer that no column holds, is refused in one line. No exception of polars
or numpy about a type leaves this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl

from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.names import Names, as_text
from crowdlogic.errors import DataError, FormatError, LabelError

UNCONVERTIBLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError, TypeError)
"""What polars raises on values that do not fit a type."""

LARGEST_INTEGER = 2**63
"""From here on a whole number is kept as text: the integers of a column end here."""


def is_plain(dtype: pl.DataType) -> bool:
    """Whether a column holds single values: not lists, records, bytes or objects of Python."""
    return not (dtype.is_nested() or dtype in (pl.Object, pl.Binary))


def text_column(values: Names, what: str, source: TableSource, *, error: type[DataError] = LabelError) -> Names:
    """Return a column as text.

    Args:
        values: The column.
        what: What a cell is, for the message: item, text, kind.
        source: Where the column is from.
        error: Which error to raise.
    """
    _require_plain(values, what, source, error)
    try:
        return as_text(values)
    except UNCONVERTIBLE as problem:
        raise error(f"{source.name}: the {what} column holds {values.dtype}, which is no text.") from problem


def number_column(values: Names, what: str, source: TableSource, *, error: type[DataError] = LabelError) -> Names:
    """Return a column as numbers; what is no number is null. The arguments are those of `text_column`."""
    _require_plain(values, what, source, error)
    try:
        return values.cast(pl.Float64, strict=False)
    except UNCONVERTIBLE as problem:
        raise error(f"{source.name}: the {what} column holds {values.dtype}, which is no number.") from problem


def comparable_columns(table: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of single values as text; others are left out."""
    names = [name for name, dtype in table.schema.items() if is_plain(dtype)]
    return table.select(pl.col(names).cast(pl.String, strict=False))


def names_column(name: str, values: Sequence[Any]) -> Names:
    """Return names of a JSON file as a column: whole numbers if all are and fit, else their text."""
    numbers = all(type(value) is int and -LARGEST_INTEGER <= value < LARGEST_INTEGER for value in values)
    return pl.Series(name, values, dtype=pl.Int64) if numbers else pl.Series(name, [str(value) for value in values])


@contextmanager
def convertible(name: str) -> Iterator[None]:
    """Refuse a file whose columns hold what no conversion expected, in one line that names it."""
    try:
        yield
    except DataError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError) as problem:
        said = str(problem).partition("\n")[0]
        raise FormatError(
            f"{name}: a column holds values that cannot be read as labels or texts ({said:.200}). Give each cell of a "
            f"column one value, all of one type."
        ) from problem


def _require_plain(values: Names, what: str, source: TableSource, error: type[DataError]) -> None:
    if not is_plain(values.dtype):
        raise error(
            f"{source.name}: the {what} column holds {values.dtype} where a single value is expected in each row. Give "
            f"each row one {what}."
        )
