"""csv and tsv: a header and rows of text, in which an empty cell is missing.

Files are read by polars. If that fails, the file is read again with Python's slower csv module, to report the row and
the problem.
"""

from __future__ import annotations

import csv
import io
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Thread

import numpy as np
import polars as pl

from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import require_parsable
from crowdlogic.data.formats.protocol import Encoded
from crowdlogic.data.formats.tables import UNREADABLE, TableFormat, require_rows, require_uncompressed
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import DataError, FormatError, SpreadsheetWarning

# Cells of csv and tsv files that a spreadsheet would read as formulas.
#
# Spreadsheets execute formulas in csv cells: =HYPERLINK(...), @SUM(...) or -2+3+cmd|... . Values are nevertheless
# written unchanged, since a changed id no longer joins with the original data; a warning names files with such cells.
# With the option `spreadsheet_safe`, these cells get a leading quote (').

PLAIN = r"^(?:[+-]|[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)$"
"""Pattern of numbers and single signs: the labels -1, +1, + and - are not formulas."""

FORMULA = r"^'*[=+\-@\t\r\n]"


def guard_text(text: str) -> str:
    """Return a cell with a leading quote if a spreadsheet would read it as a formula."""
    return f"'{text}" if re.match(FORMULA, text) and not re.fullmatch(PLAIN, text) else text


def guard_cells(table: pl.DataFrame) -> pl.DataFrame:
    """Apply `guard_text` to every cell and column name of a table."""
    table = table.with_columns(pl.col(pl.Categorical).cast(pl.String))
    names = _suspicious_columns(table)
    if names:
        cells = pl.col(names)
        table = table.with_columns(pl.when(_is_formula(cells)).then(pl.lit("'") + cells).otherwise(cells).name.keep())
    return table.rename({name: guard_text(name) for name in table.columns if guard_text(name) != name})


def warn_of_formulas(table: pl.DataFrame, target: str) -> bool:
    """Warn if a table that is written to `target` has cells that a spreadsheet would read as formulas."""
    names = _suspicious_columns(table)
    if not names:
        return False
    counts = table.select(_is_formula(pl.col(names)).sum()).row(0)
    if sum(counts):
        column = names[counts.index(max(counts))]
        example = table.filter(_is_formula(pl.col(column)))[column][0]
        warnings.warn(
            f"{target}: a spreadsheet would read {pluralise(sum(counts), 'cell')} as formulas, such as "
            f"{example[:40]!r}. They are written unchanged; --spreadsheet-safe (spreadsheet_safe=True) quotes them.",
            SpreadsheetWarning,
            stacklevel=2,
        )
    return any(counts)


def _is_formula(cells: pl.Expr) -> pl.Expr:
    return cells.str.contains(FORMULA) & ~cells.str.contains(PLAIN)


def _suspicious_columns(table: pl.DataFrame) -> list[str]:
    """Return the text columns with a cell that sorts before "A", as all signs of formulas do: a quick first check."""
    if pl.String not in table.schema.values() or not table.height:
        return []
    found = table.select((pl.col(pl.String) < "A").any())
    return [name for name in found.columns if found[name][0]]


LARGE_FILE = 200_000_000
"""Minimum size in bytes of files for which the compiled kernels are loaded in advance."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class Delimited(TableFormat):
    """Table of text with a header.

    Attributes:
        separator: Separator of fields; None to infer it from the header: a comma, a semicolon or a tab.
        spreadsheet_safe: Whether cells that a spreadsheet would read as formulas are written with a leading quote.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    separator: str | None = None
    spreadsheet_safe: bool = False
    only_text = True

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Read the table. Every cell is text or missing; blank lines are skipped."""
        header = _first_line(file)
        require_uncompressed(header, file.name)
        separator = self.separator or guess_separator(header)
        require_parsable(file.name, columns=header.count(separator.encode()) + 1)
        table = _parse(file, separator)
        _check_header(file, separator)
        if not table[table.columns[-1]].null_count():
            return require_rows(table, file.name), TableSource(file.name, first_row=2)
        # Blank lines, or rows padded by polars, are only possible if the last column has missing values.
        _check_fields(file, separator)
        filled = ~table.select(pl.all_horizontal(pl.all().is_null())).to_series()
        if filled.all():
            return table, TableSource(file.name, first_row=2)
        numbers = filled.arg_true().to_numpy().astype(np.int64) + 2
        return require_rows(table.filter(filled), file.name), TableSource(file.name, numbers=numbers)

    def encode_table(self, table: pl.DataFrame, target: str) -> Encoded:
        """Return a function that writes the table with its header incrementally."""
        separator = self.separator or ","
        if self.spreadsheet_safe:
            table = guard_cells(table)
        else:
            warn_of_formulas(table, target)
        return lambda file: table.write_csv(file, separator=separator)

    def for_spreadsheets(self) -> Delimited:
        """Return this format with a quote before every cell that a spreadsheet would read as a formula."""
        return replace(self, spreadsheet_safe=True)


CSV = Delimited("csv", "csv", (".csv",))
TSV = Delimited("tsv", "tsv", (".tsv", ".tab"), separator="\t")


def _parse(file: InputFile, separator: str) -> pl.DataFrame:
    try:
        if not file.is_plain:
            return pl.read_csv(io.BytesIO(file.content), infer_schema=False, separator=separator)
        if file.location.stat().st_size > LARGE_FILE:
            # Load the compiled kernels of the methods while the file is read, which saves a second
            Thread(target=import_module, args=("crowdlogic.numerics.label_kernels",), daemon=True).start()
        # Pass the path, which polars maps into memory, whereas an open file is copied; brackets are not a pattern
        return pl.read_csv(file.location.absolute(), infer_schema=False, separator=separator, glob=False)
    except pl.exceptions.NoDataError:
        raise FormatError(f"{file.name}: the file is empty. A table needs a header and at least one row.") from None
    except UNREADABLE as problem:
        if isinstance(problem, DataError):
            raise
        return _parse_slowly(file, separator)


def _first_line(file: InputFile) -> bytes:
    if not file.is_plain:
        return file.content.partition(b"\n")[0]
    with file.open() as opened:
        return opened.readline(LONGEST_HEADER)


def guess_separator(header: bytes) -> str:
    """Return the first of comma, semicolon and tab that the header contains; a comma if it contains none."""
    return next((mark for mark in (",", ";", "\t") if mark.encode() in header), ",")


def _rows(content: bytes, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield row number and fields with Python's csv module, which can report the row. The header is row 1."""
    whole = content.removeprefix(BYTE_ORDER_MARK)
    try:
        text = whole.decode("utf-8")
    except UnicodeDecodeError as wrong:
        row = whole[: wrong.start].count(b"\n") + 1
        raise FormatError(f"{name}, row {row}: not UTF-8 text. Save the file as UTF-8.") from None
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        yield from enumerate(rows, start=1)
    except csv.Error as problem:
        raise FormatError(f"{name}, row {rows.line_num}: {problem}. Correct the row.") from None


def _check_header(file: InputFile, separator: str) -> None:
    """Raise an error if two columns have the same name, since polars would silently rename one."""
    header = _first_line(file).rstrip(b"\r\n")
    names = next(_rows(header or b"\n", file.name, separator), (1, []))[1]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise FormatError(f"{file.name}, row 1: two columns are called {twice[0]!r}. Give each its own name.")


def _check_fields(file: InputFile, separator: str) -> None:
    """Raise an error if a row has more or fewer fields than the header, since polars would silently pad it."""
    rows = ((number, fields) for number, fields in _rows(file.content, file.name, separator) if fields)
    _, header = next(rows, (1, []))
    for number, fields in rows:
        if len(fields) != len(header):
            raise FormatError(
                f"{file.name}, row {number}: {len(fields)} fields, but the header has {len(header)}. "
                f"Correct the row. Fields with {separator!r} or a line break must be quoted."
            )


def _parse_slowly(file: InputFile, separator: str) -> pl.DataFrame:
    """Return the table by Python's reader, which accepts some files that polars rejects, and reports errors by row."""
    _check_fields(file, separator)
    header, *rows = [fields or None for _, fields in _rows(file.content, file.name, separator)]
    width = len(header or [])
    cells = [[None] * width if fields is None else [cell or None for cell in fields] for fields in rows]
    return pl.DataFrame(cells, schema=dict.fromkeys(header or [], pl.String), orient="row")
