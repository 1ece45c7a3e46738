"""jsonl: one JSON object a line.

Flat objects make a table. Objects with tokens are sentences: {"item": ..., "tokens": [...], "tags": [...]} with one tag
per token, or {"item": ..., "tokens": [...], "crowd": {"ann": [...], ...}} with the tags of every annotator.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import COLUMN_BYTES, parsed_limit, require_parsable
from crowdlogic.data.formats.json_records import iterate_records, require_object
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.formats.tables import UNREADABLE, TableFormat, hold_back_panics, require_rows
from crowdlogic.data.intake.columns import ALIASES, find_roles, normalise_name
from crowdlogic.data.intake.contract import UNCONVERTIBLE, TableSource
from crowdlogic.data.item_tables import corpus_from_records, crowd_from_records, holds_crowd
from crowdlogic.errors import FormatError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Jsonl(TableFormat):
    """One JSON object a line: rows of a table, or sentences."""

    name, title, suffixes = "jsonl", "jsonl", (".jsonl", ".ndjson")

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """A table of flat objects."""
        content = file.content.removeprefix(BYTE_ORDER_MARK)
        try:
            with hold_back_panics():
                _require_fields(content, file.name)
                # The schema first, which read_ndjson would infer in the same time: a file may have a field for each row
                schema = pl.scan_ndjson(io.BytesIO(content), infer_schema_length=None).collect_schema()
                require_parsable(file.name, rows=content.count(b"\n") + 1, columns=len(schema), size=len(content))
                table = pl.read_ndjson(io.BytesIO(content), schema=schema)
        except FormatError:
            raise
        except UNREADABLE:
            records, source = parse_jsonl(content, file.name)
            return table_from_records(records, source), source
        numbers = [number for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
        if len(numbers) != len(table):
            raise FormatError(
                f"{file.name}: {len(numbers)} lines but {len(table)} records. Write one JSON object a line."
            )
        return require_rows(table, file.name), TableSource(file.name, word="line", numbers=np.array(numbers))

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Labels of a table, or tokens with the tags of every annotator."""
        if not _has_crowds(file.content):
            return super().read_crowd(file, options)
        records, source = parse_jsonl(file.content, file.name)
        return crowd_from_records(records, source, classes=options.classes, columns=options.columns)

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:
        """Texts of a table, or sentences."""
        records, source = parse_jsonl(file.content, file.name)
        if "tokens" in find_roles(list(records[0]), _present(columns, records[0]), where=source.name):
            return corpus_from_records(records, source, columns)
        return super().read_corpus(file, columns)

    def encode_table(self, table: pl.DataFrame, target: str) -> bytes:  # noqa: ARG002 (any table will do)
        """One object a row."""
        buffer = io.BytesIO()
        table.write_ndjson(buffer)
        return buffer.getvalue()


JSONL = Jsonl()


def parse_jsonl(content: bytes, name: str) -> tuple[list[dict[str, Any]], TableSource]:
    """The objects one by one, or an error with the line of the first one that is wrong."""
    records, numbers = [], []
    for number, line in enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        if line.strip():
            records.append(_parse_object(line, f"{name}, line {number}"))
            numbers.append(number)
    if not records:
        raise FormatError(f"{name}: the file is empty. Give one JSON object a line.")
    return records, TableSource(name, word="line", numbers=np.array(numbers))


LOOKED_AT = 4 << 20
"""Bytes in which fields are counted before a schema is inferred, which takes time in the square of their number."""

FIELD = re.compile(rb'"([^"\\]{1,200})"\s*:')


def _require_fields(content: bytes, name: str) -> None:
    """Refuse objects with so many fields in all that no table holds them, by the beginning of the file."""
    head = content[:LOOKED_AT]
    most = parsed_limit(len(content)) // COLUMN_BYTES
    if len(set(FIELD.findall(head))) <= most:
        return
    fields: set[str] = set()  # those of the objects themselves, without what is nested in them
    for line in head.split(b"\n")[:-1]:
        try:
            fields.update(_parse_object(line, name) if line.strip() else ())
        except FormatError:
            return  # the reader says what is wrong
    require_parsable(name, columns=len(fields), size=len(content))


def _parse_object(line: bytes, where: str) -> dict[str, Any]:
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


def _present(columns: Mapping[str, str] | None, record: Mapping[str, Any]) -> dict[str, str]:
    """Role -> field, of the fields that a record has; others may come in later records."""
    return {role: field for role, field in (columns or {}).items() if field in record}


def _has_crowds(content: bytes) -> bool:
    """Whether the first object has {annotator: tags}."""
    try:
        records, _ = parse_jsonl(content.lstrip().partition(b"\n")[0], "")
    except FormatError:
        return False
    return holds_crowd(records[0])


def table_from_records(records: list[dict[str, Any]], source: TableSource) -> pl.DataFrame:
    """The objects as a table. A field of mixed types is left out, unless its name says that it matters."""
    columns = list(dict.fromkeys(name for record in records for name in record))
    require_parsable(source.name, rows=len(records), columns=len(columns))
    roles = find_roles(columns, where=source.name).values()
    table = {}
    for name in columns:
        try:
            table[name] = pl.Series(name, [record.get(name) for record in records])
        except (*UNCONVERTIBLE, *UNREADABLE):
            if name in roles:
                raise FormatError(
                    f"{source.name}: the field {name!r} holds values of different types. Use one type throughout."
                ) from None
    return pl.DataFrame(table)


# json: an array of objects, which is a table or a list of sentences: jsonl in one array.


class JsonTable(TableFormat):
    """An array of objects: rows of a table, or sentences."""

    name, title, suffixes = "json", "json", (".json",)

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """A table of flat objects."""
        records, source = _records(file)
        return table_from_records(records, source), source

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Labels of a table, or tokens with the tags of every annotator."""
        records, source = _records(file)
        if not holds_crowd(records[0]):
            return super().read_crowd(file, options)
        return crowd_from_records(records, source, classes=options.classes)

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:
        """Texts of a table, or sentences."""
        records, source = _records(file)
        if any(normalise_name(name) in ALIASES["tokens"] for name in records[0]):
            return corpus_from_records(records, source)
        return super().read_corpus(file, columns)

    def encode_table(self, table: pl.DataFrame, target: str) -> bytes:  # noqa: ARG002 (any table will do)
        """One object a row, a row a line."""
        buffer = io.BytesIO()
        table.write_ndjson(buffer)
        rows = buffer.getvalue().rstrip(b"\n").split(b"\n") if len(table) else []
        return b"[\n" + b",\n".join(rows) + b"\n]\n"


JSON = JsonTable()


def _records(file: InputFile) -> tuple[list[dict[str, Any]], TableSource]:
    numbered = [(number, require_object(record, number, file)) for number, record in iterate_records(file)]
    if not numbered:
        raise FormatError(f"{file.name}: an empty array. Give at least one object.")
    source = TableSource(file.name, word="record", numbers=np.array([number for number, _ in numbered]))
    return [record for _, record in numbered], source
