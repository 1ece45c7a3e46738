"""Parquet: tables with types, as written by polars, pandas, Spark and DuckDB."""

from __future__ import annotations

import io
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import parsed_limit, require_unpackable
from crowdlogic.data.formats.tables import UNREADABLE, TableFormat, hold_back_panics, require_rows
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import DataError, FormatError

# Validation of the footer of a Parquet file and the headers of its pages, before the file is passed to polars.
#
# polars checks the structure of the footer, but trusts the numbers in it and in the page headers: a few bytes can claim
# billions of values or pages of gigabytes, for which it allocates memory at once, so that the process may be killed
# without a message. So these numbers are first compared with the size of the file: where each column begins and ends,
# how many values its pages have, and how large the table would be.
#
# The layout is Thrift's compact protocol: a struct is a sequence of fields, each with a type and a number.
#
# [PARQUET] Apache Parquet, "File format", parquet.thrift.

PARQUET_MAGIC = b"PAR1"
MOST_ENTRIES = 4_000_000
"""Maximum number of values in a footer."""

DEEPEST = 20
"""Maximum nesting depth of structs and lists."""

LEAST_WIDTH = 32
"""Minimum memory of a value in bytes, including the encoding of names."""

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)

SCHEMA, ROWS, GROUPS = 2, 3, 4  # FileMetaData
COLUMNS, GROUP_ROWS = 1, 3  # RowGroup
CHUNK = 3  # ColumnChunk.meta_data
VALUES, UNPACKED, PACKED, DATA_PAGE, DICTIONARY_PAGE = 5, 6, 7, 9, 11  # ColumnMetaData
PAGE_UNPACKED, PAGE_PACKED, DATA_V1, DICTIONARY, DATA_V2 = 2, 3, 5, 7, 8  # PageHeader
LENGTH, CHILDREN = 2, 5  # SchemaElement

Content = memoryview | mmap.mmap


class DamagedError(ValueError):
    """The bytes are not valid Thrift, or contain impossible numbers."""


class Compact:
    """Reader of Thrift's compact protocol, with limits on the number of values and the nesting depth.

    Args:
        content: The bytes of the file.
        at: Position of the first byte to read.
        end: Position after the last byte to read.
        left: Number of values that may be read.
    """

    def __init__(self, content: Content, at: int, end: int, *, left: int = MOST_ENTRIES) -> None:
        self.content, self.at, self.end, self.left = content, at, end, left

    def take(self, size: int) -> bytes | memoryview:
        """Return the next bytes."""
        if size > self.end - self.at:
            raise DamagedError("a value is longer than the file")
        self.at += size
        return self.content[self.at - size : self.at]

    def varint(self) -> int:
        """Return a number of any length, stored with seven bits per byte."""
        found = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            found |= (byte & 127) << shift
            if byte < 128:
                return found
        raise DamagedError("a number is too long")

    def number(self) -> int:
        """Return a signed number in zigzag encoding."""
        found = self.varint()
        return (found >> 1) ^ -(found & 1)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the values of a struct by the numbers of its fields."""
        fields: dict[int, Any] = {}
        field = 0
        while header := self.take(1)[0]:
            field = field + (header >> 4) if header >> 4 else self.number()
            fields[field] = self.value(header & 15, depth + 1)
        return fields

    def value(self, kind: int, depth: int, *, listed: bool = False) -> Any:
        """Return a value of a type. In a list, a boolean is stored as a byte; elsewhere, the type is its value."""
        self.left -= 1
        if self.left < 0 or depth > DEEPEST:
            raise DamagedError("it has too many values or is nested too deeply")
        if kind in (TRUE, FALSE):
            return self.take(1)[0] == 1 if listed else kind == TRUE
        if kind in (LIST, SET):
            header = self.take(1)[0]
            size = header >> 4 if header >> 4 < 15 else self.varint()
            if size > self.left:
                raise DamagedError("a list is too long")
            return [self.value(header & 15, depth + 1, listed=True) for _ in range(size)]
        if kind == STRUCT:
            return self.struct(depth)
        if kind in (I16, I32, I64):
            return self.number()
        if kind == BYTE:
            return self.take(1)[0]
        if kind in (DOUBLE, BINARY):
            return self.take(8 if kind == DOUBLE else self.varint())
        raise DamagedError(f"type {kind} is unknown")


def check_parquet(file: BinaryIO, name: str, *, pages: bool = True) -> None:
    """Raise an error for a Parquet file with an impossible footer or page headers, or with a table beyond the limit.

    Args:
        file: The opened file.
        name: Name of the file in messages.
        pages: Whether to check the page headers and the size of the table. Files that are read in a stream may be of
            any size, and reading all their page headers would take as long as reading the rows.
    """
    try:
        with (
            file.getbuffer()
            if isinstance(file, io.BytesIO)
            else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content
        ):
            if len(content) < 12 or content[:4] != PARQUET_MAGIC or content[-4:] != PARQUET_MAGIC:
                raise DamagedError("it does not begin and end with PAR1")
            end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
            if end < 4:
                raise DamagedError("its footer is longer than the file")
            footer = Compact(content, end, len(content) - 8).struct()
            size = _table_size(footer)
            if pages:
                require_unpackable(size, parsed_limit(len(content)), name)
            for group in _list(footer, GROUPS):
                for column in _list(group, COLUMNS):
                    _check_column(content, column[CHUNK], end, pages=pages)
    except FormatError:
        raise
    except (AttributeError, TypeError, KeyError, ValueError) as problem:  # a struct of another kind
        raise FormatError(f"{name}: cannot be read as a Parquet file ({problem}).") from None


def check_footer(path: Path) -> None:
    """Raise an error for a Parquet file with an impossible footer; see `check_parquet`."""
    with path.open("rb") as file:
        check_parquet(file, str(path), pages=False)


def _int(fields: dict[int, Any], field: int, *, most: int = 1 << 40) -> int:
    found = fields.get(field, 0)
    if not isinstance(found, int) or not 0 <= found <= most:
        raise DamagedError("a size is negative or impossibly large")
    return found


def _list(fields: dict[int, Any], field: int) -> list[Any]:
    found = fields.get(field, [])
    if not isinstance(found, list):
        raise DamagedError("a list is missing")
    return found


def _table_size(footer: dict[int, Any]) -> int:
    """Return the memory for the table in bytes: its unpacked pages, and a cell for each row and column."""
    rows, groups = _int(footer, ROWS), _list(footer, GROUPS)
    if rows != sum(_int(group, GROUP_ROWS) for group in groups):
        raise DamagedError("the row counts of its parts do not add up")
    leaves = [one for one in _list(footer, SCHEMA)[1:] if not one.get(CHILDREN)]
    size = 0
    for group in groups:
        columns = _list(group, COLUMNS)
        if len(columns) != len(leaves):
            raise DamagedError("the columns of a part differ from the schema")
        for column, leaf in zip(columns, leaves, strict=True):
            chunk, group_rows = column[CHUNK], _int(group, GROUP_ROWS)
            values = _int(chunk, VALUES)
            cells = values if values == group_rows else values + group_rows  # lists have other numbers of values
            size += _int(chunk, UNPACKED) + cells * max(_int(leaf, LENGTH, most=1 << 20), LEAST_WIDTH)
    return size


def _check_column(content: Content, chunk: dict[int, Any], size: int, *, pages: bool) -> None:
    """Raise an error unless a column lies before the footer, at `size`, and its pages have the values it claims."""
    begin, unpacked, values = _int(chunk, DATA_PAGE), _int(chunk, UNPACKED), _int(chunk, VALUES)
    if 0 < _int(chunk, DICTIONARY_PAGE) < begin:
        begin = _int(chunk, DICTIONARY_PAGE)
    end = begin + _int(chunk, PACKED)
    if values and (begin < 4 or end > size):
        raise DamagedError("a column is outside of the file")
    if not values or not pages:
        return
    found = unpacked_pages = 0
    for page, header_length in _pages(content, begin, end):
        unpacked_pages += _int(page, PAGE_UNPACKED, most=1 << 31) + header_length
        data = page.get(DATA_V1) or page.get(DATA_V2)
        found += 0 if data is None else _int(data, 1, most=1 << 31)
        if page.get(DICTIONARY) is not None and _int(page[DICTIONARY], 1, most=1 << 31) > _int(page, PAGE_UNPACKED):
            raise DamagedError("a dictionary claims more entries than it has bytes")
    if found != values or unpacked_pages > unpacked + 1024:
        raise DamagedError("the pages of a column do not match the footer")


def _pages(content: Content, at: int, end: int) -> Iterator[tuple[dict[int, Any], int]]:
    """Yield the header of every page, and its length."""
    while at < end:
        reader = Compact(content, at, end, left=10_000)
        page = reader.struct()
        if page.get(DATA_V1) is None and page.get(DATA_V2) is None and page.get(DICTIONARY) is None:
            raise DamagedError("a page has an unknown type")
        yield page, reader.at - at
        at = reader.at + _int(page, PAGE_PACKED, most=1 << 31)
    if at != end:
        raise DamagedError("a page extends beyond its column")


class Parquet(TableFormat):
    """Table with types."""

    name, title, suffixes = "parquet", "parquet", (".parquet", ".pq")

    def recognises(self, head: bytes) -> bool:
        """Return whether the file begins with the magic bytes of Parquet."""
        return head.startswith(PARQUET_MAGIC)

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Read the table with its types."""
        try:
            # An open file, because brackets in a path would be taken for a pattern
            with file.open() if file.is_plain else io.BytesIO(file.content) as opened:
                table = read_parquet(opened, file.name)
        except DataError:
            raise
        except UNREADABLE as problem:
            raise FormatError(f"{file.name}: cannot be read as a Parquet file ({str(problem)[:80]}).") from problem
        return require_rows(table, file.name), TableSource(file.name)

    def encode_table(self, table: pl.DataFrame, target: str) -> bytes:  # noqa: ARG002 (any table will do)
        """Encode the table as one Parquet file."""
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        return buffer.getvalue()


PARQUET = Parquet()


def read_parquet(file: BinaryIO, name: str) -> pl.DataFrame:
    """Read a table after validating the footer and the headers of the pages.

    Args:
        file: The file, opened.
        name: Name of the file in messages.
    """
    check_parquet(file, name)
    file.seek(0)
    with hold_back_panics():
        return pl.read_parquet(file, glob=False)
