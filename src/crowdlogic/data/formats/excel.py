"""xlsx: the first sheet of a workbook, with a header and rows.

As for csv, cells are read as text: the displayed integer, date or result of a formula. Text is written as text, so that
no cell is interpreted as a formula.
"""

from __future__ import annotations

import gc
import io
import sys
import traceback
import zipfile
from datetime import date, datetime, time
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import (
    advise_limit,
    describe_size,
    open_member,
    parsed_limit,
    require_unpackable,
    unpacked_limit,
)
from crowdlogic.data.formats.tables import TableFormat, require_rows
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import FormatError, MissingExtraError, OptionError, SizeLimitError

XML_BYTES = 6
"""Memory of the cells of a workbook, in bytes per byte of XML."""

CELL_COST = 2048
"""Share of the limit that a cell counts as (1,048,576 cells by default), since openpyxl is slow."""

TAG_COST = 128
"""Share of the limit that an XML tag counts as (16,777,216 by default); a cell has at least four."""

PIECE, LONG_TEXT_COST = 1 << 20, 20
"""Number of bytes of XML that are checked at a time, and memory per byte of text that is longer than that."""

MOST_ROWS = 1_048_576
"""Maximum number of rows of a sheet."""

LONGEST_TEXT = 32_767
"""Maximum number of characters of a cell."""

LARGEST_NUMBER = 10**15
"""Maximum number of digits of an integer; longer ones are written as text, since spreadsheets round them."""

NOT_IN_XML = r"[\x00-\x08\x0b-\x1f\x{FFFE}\x{FFFF}]"
"""Characters that a cell cannot contain, or that would change, such as a carriage return."""


class Excel(TableFormat):
    """First sheet of a workbook."""

    name, title, suffixes = "xlsx", "xlsx", (".xlsx",)
    only_text = True

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Read the table. Every cell is text or missing; empty rows are skipped."""
        rows = _read_rows(file)
        header = [_text(cell) for cell in rows[0]] if rows else []
        while header and header[-1] is None:
            header.pop()
        if not header:
            raise FormatError(f"{file.name}: the first sheet is empty. A table needs a header and at least one row.")
        if None in header:
            what = f"column {header.index(None) + 1} has no name"
            raise FormatError(f"{file.name}, row 1: {what}. Give each column a name.")
        twice = sorted({str(one) for one in header if header.count(one) > 1})
        if twice:
            raise FormatError(f"{file.name}, row 1: two columns are called {twice[0]!r}. Give each its own name.")
        cells = [[_text(cell) for cell in row[: len(header)]] for row in rows[1:]]
        for number, row in enumerate(rows[1:], start=2):
            if any(_text(cell) is not None for cell in row[len(header) :]):
                what = "a cell in a column without a name. Name the column, or clear the cell"
                raise FormatError(f"{file.name}, row {number}: {what}.")
        filled = [n for n, row in enumerate(cells) if any(cell is not None for cell in row)]
        columns = {
            str(name): pl.Series(
                str(name), [cells[n][k] if k < len(cells[n]) else None for n in filled], dtype=pl.String
            )
            for k, name in enumerate(header)
        }
        source = TableSource(file.name, numbers=np.array(filled, dtype=np.int64) + 2)
        return require_rows(pl.DataFrame(columns), file.name), source

    def encode_table(self, table: pl.DataFrame, target: str) -> bytes:
        """Encode the table with its header as a workbook with one sheet."""
        if len(table) >= MOST_ROWS:
            raise OptionError(
                f"{target}: a sheet can have {MOST_ROWS:,} rows, but there are {len(table):,}. Write a csv file."
            )
        _check_cells(table, target)
        try:
            return _encode_book(table)
        except (OSError, KeyboardInterrupt) as problem:  # a full disk for temporary files, or a signal
            _close_quietly(problem)
            raise


EXCEL = Excel()


def _import_openpyxl() -> Any:
    try:
        import openpyxl
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            "xlsx needs the package openpyxl, which is not installed: pip install crowdlogic[excel]"
        ) from problem
    return openpyxl


def _encode_book(table: pl.DataFrame) -> bytes:
    openpyxl = _import_openpyxl()
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("crowdlogic")

    def cell(value: Any) -> Any:
        if isinstance(value, int) and abs(value) >= LARGEST_NUMBER:
            value = str(value)
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, value=value)
        made.data_type = "s"  # text, even if it begins like a formula
        return made

    for row in (table.columns, *table.rows()):
        sheet.append([cell(value) for value in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _close_quietly(problem: BaseException) -> None:
    """Close the generators of openpyxl in a traceback; they fail again, which Python would report at its end."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        traceback.clear_frames(problem.__traceback__)
        gc.collect()
    finally:
        sys.unraisablehook = hook


def _read_rows(file: InputFile) -> list[tuple[Any, ...]]:
    """Return the cells of the first sheet, row by row."""
    openpyxl = _import_openpyxl()
    content = file.content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
            require_unpackable(unpacked, unpacked_limit(len(content)), file.name)
            require_unpackable(unpacked * XML_BYTES, parsed_limit(len(content)), file.name)
            _require_quick(packed, parsed_limit(len(content)), file.name)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        # Rows are padded up to the position of their last cell, and gaps with empty rows, so cells are counted while
        # reading
        rows: list[tuple[Any, ...]] = []
        limit, left = parsed_limit(len(content)), parsed_limit(len(content)) // CELL_COST
        for row in book.worksheets[0].iter_rows(values_only=True) if book.worksheets else ():
            left -= len(row) + 1
            if left < 0:
                raise SizeLimitError(f"{file.name}: has more than {limit // CELL_COST:,} cells. {advise_limit(limit)}")
            rows.append(row)
        return rows
    except FormatError:
        raise
    except Exception as problem:  # a damaged file can cause any exception in openpyxl
        raise FormatError(
            f"{file.name}: cannot be read as an xlsx file ({type(problem).__name__}). Save it again as xlsx or csv."
        ) from problem


def _require_quick(packed: zipfile.ZipFile, limit: int, name: str) -> None:
    """Raise an error for a workbook with too many tags or too long texts, before openpyxl spends time and memory."""
    tags = long_text = 0
    for member in packed.infolist():
        with open_member(packed, member.filename) as file:
            while piece := file.read(PIECE):
                found = piece.count(b"<")
                tags += found
                long_text += 0 if found else len(piece)
                if tags * TAG_COST > limit:
                    most = limit // TAG_COST
                    raise SizeLimitError(f"{name}: has more than {most:,} XML tags. {advise_limit(limit)}")
                if long_text * LONG_TEXT_COST > limit:
                    size = describe_size(limit // LONG_TEXT_COST)
                    raise SizeLimitError(f"{name}: has cells with more than {size} of text. {advise_limit(limit)}")


def _text(value: Any) -> str | None:
    """Return a cell as displayed by a spreadsheet; None if it is empty."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


def _check_cells(table: pl.DataFrame, target: str) -> None:
    """Raise an error for text and names that a workbook would change, and for cells that are not single values."""
    names = pl.Series(table.columns, dtype=pl.String)
    wrong = names.str.contains(NOT_IN_XML) | (names.str.len_chars() > LONGEST_TEXT)
    if wrong.any():
        name = names[int(wrong.arg_true()[0])]
        raise OptionError(
            f"{target}: the name of the column {name!r:.80} is too long, or holds a control character, "
            f"which a workbook does not support. Write csv or parquet instead."
        )
    for name, dtype in table.schema.items():
        if dtype.is_nested():
            raise OptionError(f"{target}: the column {name!r:.80} has type {dtype}. Write jsonl or parquet instead.")
        if dtype != pl.String:
            continue
        lengths = table[name].str.len_chars()
        for wrong, what in (
            (lengths > LONGEST_TEXT, f"a text of more than {LONGEST_TEXT:,} characters, the maximum of a cell"),
            (table[name].str.contains(NOT_IN_XML), "a control character, which a workbook does not support"),
        ):
            if wrong.any():
                row = int(wrong.arg_true()[0]) + 2
                raise OptionError(f"{target}, row {row}, column {name!r}: {what}. Write csv or parquet instead.")
