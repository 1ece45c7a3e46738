"""The input contract of tables: valid values of cells, policies for readers, and messages about problems.

An invalid value raises one error that names the source, the row, the value and the remedy, and the number of other rows
with the same problem. Duplicates and missing labels, for which there are policies, are counted in `Intake`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from crowdlogic.data.names import Names, as_text
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import (
    CorpusError,
    DataError,
    FormatError,
    LabelError,
    MissingExtraError,
)
from crowdlogic.numerics.arrays import Ints

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd


SHOWN_ROWS = 5
"""Maximum number of further rows with the same problem in a message."""


# Policies that readers of labels apply; `errors.parse_choice` turns their names into members.


class Duplicates(StrEnum):
    """Policy for several labels by one annotator on one item.

    With `error`, equal labels count once, and labels that differ raise an error.
    """

    error = "error"
    first = "first"
    last = "last"
    keep = "keep"


class Tokenizer(StrEnum):
    """Tokenisers of texts."""

    words = "words"
    whitespace = "whitespace"
    characters = "characters"


class Boundaries(StrEnum):
    """Policy for a span that begins or ends inside a token.

    The span is extended to the whole token (widen), cut back to whole tokens (shrink), dropped, or raises an error.
    """

    widen = "widen"
    shrink = "shrink"
    drop = "drop"
    error = "error"


FRAME_NAME = "the table"
"""Name of a Python data frame in messages."""


@dataclass(frozen=True, eq=False)
class TableSource:
    """Source of rows, and how its rows are numbered in messages.

    Attributes:
        name: Name in messages.
        first_row: Number of the first row: 2 in a spreadsheet, after the header, and 0 in a data frame.
        word: Word for a row: row, line or record.
        numbers: Number of each row, if they are not consecutive, for example because of blank lines.
        in_memory: Whether the rows come from Python, so that messages suggest arguments instead of options.
    """

    name: str
    first_row: int = 0
    word: str = "row"
    numbers: Ints | None = None
    in_memory: bool = False

    def advise(self, option: str, argument: str) -> str:
        """Return the argument for rows from Python, otherwise the option followed by the argument."""
        return argument if self.in_memory else f"{option} (in Python {argument})"

    def number(self, row: int) -> int:
        """Return the number of a row as users count it."""
        return row + self.first_row if self.numbers is None else int(self.numbers[row])

    def take(self, rows: Ints) -> TableSource:
        """Return the source of some of the rows."""
        numbers = rows + self.first_row if self.numbers is None else self.numbers[rows]
        return TableSource(self.name, word=self.word, numbers=numbers, in_memory=self.in_memory)

    def at(self, row: int) -> str:
        """Return the name of the source and the number of a row, for messages."""
        return f"{self.name}, {self.word} {self.number(row)}"


@dataclass(frozen=True)
class LeftOut:
    """Count of the parts of an export that were left out or changed, with the reason.

    Attributes:
        count: Number of parts.
        what: Kind of part, such as annotation, span or label.
        reason: Reason and what was done, such as "skipped by the annotator: no label".
        first: Position of the first part, such as "record 12".
    """

    count: int
    what: str
    reason: str
    first: str = ""

    def __str__(self) -> str:
        """Return a sentence for users."""
        where = f" (first: {self.first})" if self.first else ""
        return f"{self.count:,} {self.what}{'' if self.count == 1 else 's'} {self.reason}{where}."


@dataclass(frozen=True, kw_only=True)
class Intake:
    """Report on the rows of a table of labels.

    Attributes:
        rows: Number of rows; for sequences, of annotated sequences.
        missing: Number of rows without a label, which were left out.
        duplicates: Number of rows that repeat an earlier pair of item and annotator.
        policy: Policy that was applied to the duplicates.
        notices: Sentences about possible mistakes.
        left_out: Parts of an export that were left out or changed.
    """

    rows: int = 0
    missing: int = 0
    duplicates: int = 0
    policy: Duplicates = Duplicates.error
    notices: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def messages(self) -> list[str]:
        """Return sentences for the user; empty if all rows were used unchanged."""
        found = []
        if self.missing:
            what = "has no label and was" if self.missing == 1 else "have no label and were"
            found.append(f"{self.missing:,} of {pluralise(self.rows, 'row')} {what} left out.")
        if self.duplicates:
            found.append(self._describe_duplicates())
        return [*found, *map(str, self.left_out), *self.notices]

    def _describe_duplicates(self) -> str:
        """Return a sentence about the number of repeated rows, and what was done with them."""
        rows = "1 row repeats" if self.duplicates == 1 else f"{self.duplicates:,} rows repeat"
        if self.policy is Duplicates.error:
            return f"{rows} a label (same item, annotator and label): each label was counted once."
        done = {
            Duplicates.first: "the first label was used",
            Duplicates.last: "the last label was used",
            Duplicates.keep: "all labels were used",
        }[self.policy]
        return f"{rows} an item and annotator: {done} (duplicates = {self.policy})."

    def __add__(self, other: Intake) -> Intake:
        """Return the sum of the counts of two tables, and the notices of both."""
        return Intake(
            rows=self.rows + other.rows,
            missing=self.missing + other.missing,
            duplicates=self.duplicates + other.duplicates,
            policy=other.policy if other.duplicates else self.policy,
            notices=tuple(dict.fromkeys(self.notices + other.notices)),
            left_out=self.left_out + other.left_out,
        )


def row_error(
    source: TableSource, rows: Ints | Sequence[int], what: str, remedy: str, *, error: type[DataError] = LabelError
) -> DataError:
    """Return the error for rows with the same problem. The first row is described, the others are counted.

    Args:
        source: Source of the rows.
        rows: Positions of the rows, from 0.
        what: Description of the problem in the first row.
        remedy: Advice, a full sentence.
        error: Class of the error.
    """
    message = f"{source.at(int(rows[0]))}: {what}. {remedy}"
    others = len(rows) - 1
    if others:
        shown = ", ".join(str(source.number(int(row))) for row in rows[1 : 1 + SHOWN_ROWS])
        dots = ", ..." if others > SHOWN_ROWS else ""
        message += f" ({others:,} more such {source.word}{'s' if others > 1 else ''}: {shown}{dots})"
    return error(message)


def require_unique_items(
    items: pl.Series, source: TableSource, remedy: str, *, error: type[DataError] = CorpusError
) -> None:
    """Raise an error if an item has no name, or if a name occurs twice."""
    unnamed = items.is_null() | (items.str.strip_chars() == "") if items.dtype == pl.String else items.is_null()
    if unnamed.any():
        raise row_error(source, unnamed.arg_true().to_numpy(), "no item is named", "Fill in the item.", error=error)
    again = (~items.is_first_distinct()).arg_true().to_numpy()
    if len(again):
        raise row_error(source, again, f"item {items[int(again[0])]!r} appears again", remedy, error=error)


# Conversions of columns to text and numbers. Columns of lists, records or bytes, and integers that are too large, raise
# our errors instead of exceptions of polars or numpy.

UNCONVERTIBLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError, TypeError)
"""Exceptions that polars raises on values of the wrong type."""

LARGEST_INTEGER = 2**63
"""Integers from here on do not fit into a column, and are used as text."""


def is_plain(dtype: pl.DataType) -> bool:
    """Return whether a column holds single values: not lists, records, bytes or objects of Python."""
    return not (dtype.is_nested() or dtype in (pl.Object, pl.Binary))


def text_column(values: Names, what: str, source: TableSource, *, error: type[DataError] = LabelError) -> Names:
    """Return a column as text.

    Args:
        values: The column.
        what: Content of the column in messages: item, text or kind.
        source: Source of the column.
        error: Class of the error.
    """
    _require_plain(values, what, source, error)
    try:
        return as_text(values)
    except UNCONVERTIBLE as problem:
        raise error(f"{source.name}: the {what} column has type {values.dtype}, expected text.") from problem


def number_column(values: Names, what: str, source: TableSource, *, error: type[DataError] = LabelError) -> Names:
    """Return a column as numbers, null for other values. The arguments are those of `text_column`."""
    _require_plain(values, what, source, error)
    try:
        return values.cast(pl.Float64, strict=False)
    except UNCONVERTIBLE as problem:
        raise error(f"{source.name}: the {what} column has type {values.dtype}, expected numbers.") from problem


def comparable_columns(table: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of single values as text; others are left out."""
    names = [name for name, dtype in table.schema.items() if is_plain(dtype)]
    return table.select(pl.col(names).cast(pl.String, strict=False))


def names_column(name: str, values: Sequence[Any]) -> Names:
    """Return names of a JSON file as a column: integers if all of them are, otherwise text."""
    numbers = all(type(value) is int and -LARGEST_INTEGER <= value < LARGEST_INTEGER for value in values)
    return pl.Series(name, values, dtype=pl.Int64) if numbers else pl.Series(name, [str(value) for value in values])


@contextmanager
def convertible(name: str) -> Iterator[None]:
    """Convert exceptions of polars about unexpected values to an error that names the file."""
    try:
        yield
    except DataError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError) as problem:
        said = str(problem).partition("\n")[0]
        raise FormatError(
            f"{name}: a column contains values that are neither labels nor texts ({said:.200}). Give each cell of a "
            f"column one value, all of the same type."
        ) from problem


def _require_plain(values: Names, what: str, source: TableSource, error: type[DataError]) -> None:
    if not is_plain(values.dtype):
        raise error(
            f"{source.name}: the {what} column has type {values.dtype}, expected a single value in each row. Give each "
            f"row one {what}."
        )


# Conversion of frames of other libraries and of lists to polars, and of polars frames to pandas.


def to_polars(frame: Any, source: TableSource) -> pl.DataFrame:
    """Return a frame of pandas, polars or pyarrow as a polars frame; dictionaries of columns work too."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, dict):
        return pl.DataFrame({name: to_column(name, values) for name, values in frame.items()})
    import narwhals as nw

    header = [str(name) for name in getattr(frame, "columns", [])]
    if len(set(header)) != len(header):
        raise LabelError(f"{source.name}: two columns have the same name. Rename one.")
    try:
        known = nw.from_native(frame, eager_only=True)
    except TypeError as problem:
        raise LabelError(
            f"{source.name} is a {type(frame).__name__}, not a data frame. Give a frame of pandas, polars or pyarrow, "
            f"or use from_arrays, from_dict or from_matrix."
        ) from problem
    return pl.DataFrame([_convert_series(series, str(series.name)) for series in known.iter_columns()])


def to_column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return a list or array as a column; None and NaN are missing. Values of different types raise an error."""
    try:
        if getattr(values, "dtype", np.dtype(object)) != np.dtype(object):
            return pl.Series(name, values)
        return pl.Series(name, [None if _is_nan(value) else value for value in values])
    except (TypeError, pl.exceptions.PolarsError, OverflowError) as problem:
        raise mixed_types_error(name) from problem


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def mixed_types_error(name: str) -> LabelError:
    """Return the error for a column of several types."""
    return LabelError(
        f"The {name} column mixes types, such as text and numbers. Give all values as text, or all as numbers."
    )


def _convert_series(series: nw.Series[Any], name: str) -> pl.Series:
    """Convert a column to polars; without pyarrow, values of pandas are converted one by one."""
    import narwhals as nw

    if series.dtype in (nw.Categorical, nw.Enum):
        return to_column(name, series.to_list())
    try:
        return series.to_polars().alias(name)
    except ImportError:
        return to_column(name, series.to_list())
    except (TypeError, ValueError, pl.exceptions.PolarsError) as problem:
        raise mixed_types_error(name) from problem
    except Exception as problem:
        if type(problem).__module__.startswith("pyarrow"):
            raise mixed_types_error(name) from problem
        raise


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """Convert a polars frame to pandas; missing values are None or NaN."""
    try:
        import pandas as pd
    except ImportError as problem:
        raise MissingExtraError("A frame of pandas needs the package pandas: pip install pandas") from problem

    numeric = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    return pd.DataFrame({n: frame[n].to_numpy() if n in numeric else frame[n].to_list() for n in frame.columns})
