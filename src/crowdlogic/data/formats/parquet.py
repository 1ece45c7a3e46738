"""Parquet: tables with types, as written by polars, pandas, Spark and DuckDB."""

from __future__ import annotations

import io
import mmap
import os
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
# A few bytes of a footer can claim billions of rows or pages of gigabytes. A reader that trusts them allocates the
# memory at once, and the process may be killed without a message. So every number is first compared with the size of
# the file: where each column begins and ends, how many values its pages hold, and how large the table would be.
#
# The layout is Thrift's compact protocol: a struct is a run of fields, each with a type and a number.
#
# [PARQUET] Apache Parquet, "File format", parquet.thrift.

PARQUET_MAGIC = b"PAR1"
MOST_ENTRIES = 4_000_000
"""Maximum number of values in a footer."""

DEEPEST = 20
"""Maximum nesting depth of structs and lists."""

USUAL_HEADER, LONGEST_HEADER = 1 << 12, 1 << 22
"""Maximum size of a page header in bytes; statistics may contain long text."""

WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 16}
"""Memory of a value of each physical type in bytes; type 7 has a fixed length given in the schema."""

LEAST_WIDTH = 32
"""Minimum memory of a value in bytes, including the encoding of names."""

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)

SCHEMA, ROWS, GROUPS = 2, 3, 4  # FileMetaData
COLUMNS, GROUP_ROWS = 1, 3  # RowGroup
CHUNK = 3  # ColumnChunk.meta_data
KIND, VALUES, UNPACKED, PACKED, DATA_PAGE, DICTIONARY_PAGE = 1, 5, 6, 7, 9, 11  # ColumnMetaData
PAGE_KIND, PAGE_UNPACKED, PAGE_PACKED, DATA_V1, DICTIONARY, DATA_V2 = 1, 2, 3, 5, 7, 8  # PageHeader
NAME, CHILDREN, REPETITION, LENGTH = 4, 5, 3, 2  # SchemaElement


class DamagedError(ValueError):
    """The bytes are not valid Thrift, or contain impossible numbers."""


class Compact:
    """Reader of Thrift's compact protocol, with limits on the number of values and the nesting depth.

    Args:
        content: The bytes.
        left: Number of values that may be read.
    """

    def __init__(self, content: bytes, left: int = MOST_ENTRIES) -> None:
        self.content, self.at, self.left = content, 0, left

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        if size > len(self.content) - self.at:
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
        """Return a value of a type. In a list a boolean takes a byte; elsewhere the type itself is its value."""
        self.left -= 1
        if self.left < 0 or depth > DEEPEST:
            raise DamagedError("it holds too many values or is nested too deep")
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


def check_parquet(content: bytes | mmap.mmap, name: str) -> None:
    """Raise an error for a Parquet file with an impossible footer or page headers, or with a table beyond the limit.

    Args:
        content: The file.
        name: Name of the file for messages.
    """
    try:
        footer = _footer(content)
        size = _table_size(footer)
        require_unpackable(size, parsed_limit(len(content)), name)
        for group in footer.get(GROUPS, []):
            for column in _list(group, COLUMNS):
                _check_column(content, column.get(CHUNK))
    except (DamagedError, AttributeError, TypeError, KeyError) as problem:
        raise FormatError(f"{name}: cannot be read as a Parquet file ({problem}).") from None


def check_footer(path: Path) -> None:
    """Raise an error for a Parquet file with a damaged footer or columns outside of the file, without checking pages.

    For files that are read in a stream, where the size of the table does not matter and walking over all its pages
    would take as long as reading them.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            footer, length = _footer(content), int.from_bytes(content[-8:-4], "little")
            _table_size(footer)
            for group in _list(footer, GROUPS):
                for column in _list(group, COLUMNS):
                    _column_bounds(column.get(CHUNK), len(content) - length)
    except (DamagedError, AttributeError, TypeError, KeyError, ValueError) as problem:
        raise FormatError(f"{path}: cannot be read as a Parquet file ({problem}).") from None


def _footer(content: bytes | mmap.mmap) -> dict[int, Any]:
    if len(content) < 12 or content[:4] != PARQUET_MAGIC or content[-4:] != PARQUET_MAGIC:
        raise DamagedError("it does not begin and end with PAR1")
    length = int.from_bytes(content[-8:-4], "little")
    if length > len(content) - 12:
        raise DamagedError("its footer is longer than the file")
    return Compact(bytes(content[-8 - length : -8])).struct()


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
    """Return the memory that the table takes in bytes: its unpacked pages, and a cell for each row and column."""
    rows, groups = _int(footer, ROWS), _list(footer, GROUPS)
    if rows != sum(_int(group, GROUP_ROWS) for group in groups):
        raise DamagedError("the row counts of its parts do not add up")
    leaves = [one for one in _list(footer, SCHEMA)[1:] if not one.get(CHILDREN)]
    unpacked = cells = 0
    for group in groups:
        columns = _list(group, COLUMNS)
        if len(columns) != len(leaves):
            raise DamagedError("the columns of a part differ from the schema")
        for column, leaf in zip(columns, leaves, strict=True):
            chunk = column[CHUNK]
            unpacked += _int(chunk, UNPACKED)
            values = _int(chunk, VALUES)
            nested = len(leaves) and values != _int(group, GROUP_ROWS)
            cells += (values + (_int(group, GROUP_ROWS) if nested else 0)) * max(_width(chunk, leaf), LEAST_WIDTH)
    return unpacked + cells


def _width(chunk: dict[int, Any], leaf: dict[int, Any]) -> int:
    kind = _int(chunk, KIND)
    if kind == 7:
        return _int(leaf, LENGTH, most=1 << 20)
    if kind not in WIDTHS:
        raise DamagedError(f"unknown physical type {kind}")
    return WIDTHS[kind]


def _column_bounds(chunk: dict[int, Any], size: int) -> tuple[int, int]:
    """Return where the pages of a column begin and end, in a file of that size (or its part before the footer)."""
    begin = _int(chunk, DATA_PAGE)
    if DICTIONARY_PAGE in chunk and 0 < _int(chunk, DICTIONARY_PAGE) < begin:
        begin = _int(chunk, DICTIONARY_PAGE)
    end = begin + _int(chunk, PACKED)
    if _int(chunk, VALUES) and (begin < 4 or end > size - 8):
        raise DamagedError("a column is outside of the file")
    return begin, end


def _check_column(content: bytes | mmap.mmap, chunk: dict[int, Any]) -> None:
    """Walk over the pages of a column: each lies in the file, and together they hold what the footer says."""
    unpacked, values = _int(chunk, UNPACKED), _int(chunk, VALUES)
    begin, end = _column_bounds(chunk, len(content))
    if not values:
        return
    held = size = 0
    for page, header_length in _pages(content, begin, end):
        size += _int(page, PAGE_UNPACKED, most=1 << 31) + header_length
        data = page.get(DATA_V1) or page.get(DATA_V2)
        held += 0 if data is None else _int(data, 1, most=1 << 31)
        if page.get(DICTIONARY) is not None and _int(page[DICTIONARY], 1, most=1 << 31) > _int(page, PAGE_UNPACKED):
            raise DamagedError("a dictionary claims more entries than it has bytes")
    if held != values or size > unpacked + 1024:
        raise DamagedError("the pages of a column do not match the footer")


def _pages(content: bytes | mmap.mmap, at: int, end: int) -> Iterator[tuple[dict[int, Any], int]]:
    """Yield the header of every page, and its length."""
    while at < end:
        reader = Compact(bytes(content[at : min(end, at + USUAL_HEADER)]), left=10_000)
        try:
            page = reader.struct()
        except DamagedError:
            reader = Compact(bytes(content[at : min(end, at + LONGEST_HEADER)]), left=10_000)
            page = reader.struct()
        at += reader.at
        if page.get(DATA_V1) is None and page.get(DATA_V2) is None and page.get(DICTIONARY) is None:
            raise DamagedError("a page has an unknown type")
        at += _int(page, PAGE_PACKED, most=1 << 31)
        yield page, reader.at
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
    if isinstance(file, io.BytesIO):
        check_parquet(file.getvalue(), name)
    elif not os.fstat(file.fileno()).st_size:
        check_parquet(b"", name)
    else:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            check_parquet(content, name)
    file.seek(0)
    with hold_back_panics():
        return pl.read_parquet(file, glob=False)
