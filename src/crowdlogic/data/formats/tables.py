"""Tables in files: csv, tsv, parquet and jsonl, plain or gzipped, from a path or from standard input.

polars reads them. When it stumbles, the file is read again slowly, to say which row is wrong and why.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import FormatError, MissingDataError, OptionError, name_list

LARGE_FILE = 30_000_000
"""From this many bytes on, a table has so many rows that the compiled kernels will be wanted."""

STANDARD_STREAM = "-"
"""The path that means standard input or output."""

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)
"""What polars raises on a file that is not what it claims to be."""


class Format(StrEnum):
    """How a file is laid out."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    jsonl = "jsonl"
    conll = "conll"


SUFFIXES = {
    ".csv": Format.csv, ".tsv": Format.tsv, ".tab": Format.tsv, ".parquet": Format.parquet, ".pq": Format.parquet,
    ".jsonl": Format.jsonl, ".ndjson": Format.jsonl, ".conll": Format.conll, ".bio": Format.conll, ".iob": Format.conll,
}  # fmt: skip


def detect_format(path: str | Path, given: Format | str | None = None) -> Format:
    """The format that was given, or the one that the file's suffix says (a final .gz aside)."""
    if given is not None:
        try:
            return Format(given)
        except ValueError:
            raise OptionError(f"format: {given!r} is none of {', '.join(Format)}.") from None
    if str(path) == STANDARD_STREAM:
        return Format.csv
    bare = Path(str(path).removesuffix(".gz"))
    if bare.suffix.lower() not in SUFFIXES:
        raise OptionError(
            f"{path}: the suffix {bare.suffix!r} says no format. Use {', '.join(SUFFIXES)}, or give --format."
        )
    return SUFFIXES[bare.suffix.lower()]


def read_bytes(path: str | Path) -> bytes:
    """The whole file, unzipped; standard input for "-"."""
    content = sys.stdin.buffer.read() if str(path) == STANDARD_STREAM else require_file(path).read_bytes()
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as problem:
        raise FormatError(f"{path}: the gzip file is damaged ({problem}). Fetch or pack it again.") from problem


def require_file(path: str | Path) -> Path:
    """The path, if a file is there."""
    found = Path(path)
    if not _is_text(str(path)):
        raise FormatError(f"{path}: the file's name is not UTF-8. Rename the file.")
    if found.is_dir():
        raise MissingDataError(f"{path}: is a folder. Name a file in it.")
    if not found.exists():
        beside = sorted(p.name for p in found.parent.iterdir() if p.is_file()) if found.parent.is_dir() else []
        hint = f" Beside it are: {name_list(beside)}." if beside else ""
        raise MissingDataError(f"{path}: no such file.{hint}")
    return found


def _is_text(name: str) -> bool:
    """Whether a name can be written as UTF-8, as polars asks for; Python takes any bytes, as lone surrogates."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)


def display_name(path: str | Path) -> str:
    """What messages call the file."""
    return "standard input" if str(path) == STANDARD_STREAM else str(path)


def read_table(path: str | Path, *, format: Format | str | None = None) -> tuple[pl.DataFrame, TableSource]:
    """A table, and how to speak of its rows. In csv and tsv every cell is text or missing."""
    layout = detect_format(path, format)
    if layout is Format.conll:
        raise FormatError(f"{display_name(path)}: CoNLL holds tagged sentences, and a table is needed here.")
    if layout is Format.parquet:
        return read_parquet(path)
    if layout is Format.jsonl:
        return table_of_jsonl(read_bytes(path), display_name(path))
    return read_delimited(path, "\t" if layout is Format.tsv else None)


def read_delimited(path: str | Path, separator: str | None) -> tuple[pl.DataFrame, TableSource]:
    """A csv or tsv with a header. A csv without commas in its header may be separated by semicolons or tabs."""
    plain = str(path) != STANDARD_STREAM and not _is_gzipped(path)
    content = b"" if plain else read_bytes(path)
    mark = separator or _separator(_first_line(path, content))
    if plain and require_file(path).stat().st_size > LARGE_FILE:
        Thread(target=_warm_up, daemon=True).start()
    try:
        table = pl.read_csv(path if plain else io.BytesIO(content), infer_schema=False, separator=mark)
    except pl.exceptions.NoDataError:
        raise FormatError(
            f"{display_name(path)}: the file is empty. A table needs a header and at least one row."
        ) from None
    except UNREADABLE:
        table = _read_slowly(path, content, mark)
    _check_header(path, content, mark)
    last = table[table.columns[-1]]
    if not last.null_count():
        return _rows_needed(table, display_name(path)), TableSource(display_name(path), first_row=2)
    _check_fields(path, content, mark)
    return _without_blanks(table, path)


def _warm_up() -> None:
    """Load the compiled kernels while the file is read: a second that a large table would else wait for."""
    from crowdlogic.numerics.kernels import warm_up

    warm_up()


def _without_blanks(table: pl.DataFrame, path: str | Path) -> tuple[pl.DataFrame, TableSource]:
    filled = ~table.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if filled.all():
        return table, TableSource(display_name(path), first_row=2)
    numbers = filled.arg_true().to_numpy().astype(np.int64) + 2
    return _rows_needed(table.filter(filled), display_name(path)), TableSource(display_name(path), numbers=numbers)


def _rows_needed(table: pl.DataFrame, name: str) -> pl.DataFrame:
    if not len(table):
        raise FormatError(f"{name}: a header ({name_list(table.columns)}) and no rows. Give at least one row.")
    return table


def _first_line(path: str | Path, content: bytes) -> bytes:
    if content or str(path) == STANDARD_STREAM:
        return content.partition(b"\n")[0]
    with require_file(path).open("rb") as file:
        return file.readline(1 << 20)


def _separator(header: bytes) -> str:
    return next((mark for mark in (",", ";", "\t") if mark.encode() in header), ",")


def _is_gzipped(path: str | Path) -> bool:
    with require_file(path).open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _slowly(path: str | Path, content: bytes, mark: str) -> Iterator[tuple[int, list[str]]]:
    """Row number and fields, by Python's own reader, which can say where it stumbles. The header is row 1."""
    whole = (content or read_bytes(path)).removeprefix(b"\xef\xbb\xbf")
    try:
        text = whole.decode("utf-8")
    except UnicodeDecodeError as wrong:
        row = whole[: wrong.start].count(b"\n") + 1
        raise FormatError(f"{display_name(path)}, row {row}: not UTF-8 text. Save the file as UTF-8.") from None
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        yield from enumerate(rows, start=1)
    except csv.Error as problem:
        raise FormatError(f"{display_name(path)}, row {rows.line_num}: {problem}. Mend the row.") from None


def _check_header(path: str | Path, content: bytes, mark: str) -> None:
    """Raise if two columns have one name: polars would rename one in silence."""
    header = _first_line(path, content).rstrip(b"\r\n")
    names = next(_slowly(path, header or b"\n", mark), (1, []))[1]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FormatError(f"{display_name(path)}, row 1: two columns are called {twice[0]!r}. Give each its own name.")


def _check_fields(path: str | Path, content: bytes, mark: str) -> None:
    """Raise if some row has more or fewer fields than the header: polars would fill it up in silence."""
    rows = ((number, fields) for number, fields in _slowly(path, content, mark) if fields)  # a blank line has none
    _, header = next(rows, (1, []))
    for number, fields in rows:
        if len(fields) != len(header):
            raise FormatError(
                f"{display_name(path)}, row {number}: {len(fields)} fields where the header has {len(header)}. "
                f"Mend the row; a field that holds {mark!r} or a line break must be quoted."
            )


def _read_slowly(path: str | Path, content: bytes, mark: str) -> pl.DataFrame:
    """The table by Python's reader: it takes some files that polars does not, and says where it cannot."""
    _check_fields(path, content, mark)
    header, *rows = [fields or None for _, fields in _slowly(path, content, mark)]
    width = len(header or [])
    cells = [[None] * width if fields is None else [cell or None for cell in fields] for fields in rows]
    return pl.DataFrame(cells, schema=dict.fromkeys(header or [], pl.String), orient="row")


def read_parquet(path: str | Path) -> tuple[pl.DataFrame, TableSource]:
    """A parquet table, types as stored."""
    try:
        packed = str(path) == STANDARD_STREAM or str(path).endswith(".gz")
        table = pl.read_parquet(io.BytesIO(read_bytes(path)) if packed else require_file(path))
    except UNREADABLE as problem:
        if isinstance(problem, MissingDataError):
            raise
        raise FormatError(
            f"{display_name(path)}: is not a parquet file that can be read ({str(problem)[:80]})."
        ) from problem
    return _rows_needed(table, display_name(path)), TableSource(display_name(path))


def table_of_jsonl(content: bytes, name: str) -> tuple[pl.DataFrame, TableSource]:
    """A table of one flat JSON object a line."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        table = pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)
    except UNREADABLE:
        records, source = parse_jsonl(content, name)
        return _table_of_records(records, source), source
    numbers = [number for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
    if len(numbers) != len(table):
        raise FormatError(f"{name}: {len(numbers)} lines but {len(table)} records. Write one JSON object a line.")
    return _rows_needed(table, name), TableSource(name, word="line", numbers=np.array(numbers))


def parse_jsonl(content: bytes, name: str) -> tuple[list[dict[str, Any]], TableSource]:
    """The records of a jsonl file one by one, with the line of the first one that is wrong."""
    records, numbers = [], []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            records.append(_record(line, f"{name}, line {number}"))
            numbers.append(number)
    if not records:
        raise FormatError(f"{name}: the file is empty. Give one JSON object a line.")
    return records, TableSource(name, word="line", numbers=np.array(numbers))


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise FormatError(f"{where}: not UTF-8 text. Save the file as UTF-8.") from None
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{where}: not JSON ({problem}). Write one JSON object a line.") from None
    if not isinstance(record, dict):
        raise FormatError(
            f"{where}: a JSON {type(record).__name__} where an object is expected. Write one object a line."
        )
    return record


def _table_of_records(records: list[dict[str, Any]], source: TableSource) -> pl.DataFrame:
    """The records as a table. A field of mixed types is left out, unless its name says that it matters."""
    columns = list(dict.fromkeys(name for record in records for name in record))
    roles = find_roles(columns, where=source.name).values()
    table = {}
    for name in columns:
        try:
            table[name] = pl.Series(name, [record.get(name) for record in records])
        except (TypeError, OverflowError, *UNREADABLE):
            if name in roles:
                raise FormatError(
                    f"{source.name}: the field {name!r} holds values of different types. Use one type throughout."
                ) from None
    return pl.DataFrame(table)
