"""JSON: one object per line (jsonl), or an array of objects (json).

Flat objects form a table. Objects with tokens are sentences: {"item": ..., "tokens": [...], "tags": [...]} with one tag
per token, or {"item": ..., "tokens": [...], "crowd": {"ann": [...], ...}} with the tags of every annotator.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import COLUMN_BYTES, parsed_limit, require_parsable
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.formats.tables import (
    UNREADABLE,
    TableFormat,
    hold_back_panics,
    require_rows,
    require_uncompressed,
)
from crowdlogic.data.frames import corpus_from_records, from_sequences, text_list
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import UNCONVERTIBLE, TableSource, row_error
from crowdlogic.errors import FormatError, json_reason

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class JsonRecords(TableFormat):
    """Base class for objects of JSON: rows of a table, or sentences. A subclass defines how they are stored."""

    def records(self, file: InputFile) -> tuple[list[dict[str, Any]], TableSource]:
        """Return the objects of a file, at least one, and the source that numbers them."""
        raise NotImplementedError

    def first_record(self, file: InputFile) -> dict[str, Any]:
        """Return the first object of a file."""
        raise NotImplementedError

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read labels of a table, or tokens with the tags of every annotator."""
        if crowd_tags(self.first_record(file)) is None:
            return super().read_crowd(file, options)
        return crowd_from_records(*self.records(file), options)

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Read a table of flat objects."""
        records, source = self.records(file)
        return table_from_records(records, source), source

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:
        """Read texts of a table, or sentences."""
        records, source = self.records(file)
        # Only fields of the first record are looked up: others may come in later records
        present = {role: field for role, field in (columns or {}).items() if field in records[0]}
        if "tokens" in find_roles(list(records[0]), present, where=source.name):
            return corpus_from_records(records, source, columns)
        return super().read_corpus(file, columns)


class Jsonl(JsonRecords):
    """One JSON object per line."""

    name, title, suffixes = "jsonl", "jsonl", (".jsonl", ".ndjson")

    def records(self, file: InputFile) -> tuple[list[dict[str, Any]], TableSource]:
        """Return the objects of all lines."""
        return parse_jsonl(file.content, file.name)

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Read a table of flat objects with polars; what it cannot read is parsed line by line."""
        content = file.content.removeprefix(BYTE_ORDER_MARK)
        require_uncompressed(content, file.name)
        try:
            with hold_back_panics():
                _require_fields(content, file.name)
                # Check the schema first, since a file may have a field for each row; read_ndjson would infer it as well
                schema = pl.scan_ndjson(io.BytesIO(content), infer_schema_length=None).collect_schema()
                rows, fields = content.count(b"\n") + 1, sum(map(_count_fields, schema.values()))
                require_parsable(file.name, rows=rows, columns=len(schema), cell_bytes=FLAT_BYTES, size=len(content))
                require_parsable(file.name, rows=rows, columns=fields, cell_bytes=NESTED_BYTES, size=len(content))
                table = pl.read_ndjson(io.BytesIO(content), schema=schema)
        except FormatError:
            raise
        except UNREADABLE:
            return super().read_table(file)
        numbers = [number for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
        if len(numbers) != len(table):
            raise FormatError(
                f"{file.name}: {len(numbers)} lines but {len(table)} records. Write one JSON object per line."
            )
        return require_rows(table, file.name), TableSource(file.name, word="line", numbers=np.array(numbers))

    def first_record(self, file: InputFile) -> dict[str, Any]:
        """Return the object of the first line; empty if it is invalid."""
        try:
            return parse_jsonl(file.content.lstrip().partition(b"\n")[0], "")[0][0]
        except FormatError:
            return {}  # reading the table reports the problem

    def encode_table(self, table: pl.DataFrame, target: str) -> bytes:  # noqa: ARG002 (any table will do)
        """Encode one object per row."""
        return table.write_ndjson().encode()


class JsonTable(JsonRecords):
    """Array of objects."""

    name, title, suffixes = "json", "json", (".json",)

    def records(self, file: InputFile) -> tuple[list[dict[str, Any]], TableSource]:
        """Return the elements of the array."""
        numbered = list(iterate_records(file))
        if not numbered:
            raise FormatError(f"{file.name}: an empty array. Give at least one object.")
        source = TableSource(file.name, word="record", numbers=np.array([number for number, _ in numbered]))
        return [record for _, record in numbered], source

    def first_record(self, file: InputFile) -> dict[str, Any]:
        """Return the first element of the array."""
        return self.records(file)[0][0]

    def encode_table(self, table: pl.DataFrame, target: str) -> bytes:  # noqa: ARG002 (any table will do)
        """Encode an array with one object per row, one row per line."""
        rows = table.write_ndjson().rstrip("\n").split("\n") if len(table) else []
        return ("[\n" + ",\n".join(rows) + "\n]\n").encode()


JSONL, JSON = Jsonl(), JsonTable()


def parse_jsonl(content: bytes, name: str) -> tuple[list[dict[str, Any]], TableSource]:
    """Parse the objects line by line; raise an error for the first invalid line."""
    records, numbers = [], []
    for number, line in enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        if line.strip():
            records.append(_parse_object(line, f"{name}, line {number}"))
            numbers.append(number)
    if not records:
        raise FormatError(f"{name}: the file is empty. Give one JSON object per line.")
    return records, TableSource(name, word="line", numbers=np.array(numbers))


FLAT_BYTES, NESTED_BYTES = 24, 96
"""Memory of a field, and of a field of a nested object, in bytes per row."""


def _count_fields(dtype: Any) -> int:
    """Return the number of fields within objects in a column; 0 for a column of single values."""
    if isinstance(dtype, pl.List):
        return _count_fields(dtype.inner)
    if not isinstance(dtype, pl.Struct):
        return 0
    return sum(max(_count_fields(field.dtype), 1) for field in dtype.fields)


LOOKED_AT = 4 << 20
"""Number of bytes in which fields are counted first: inferring a schema takes time quadratic in their number."""

FIELD = re.compile(rb'"([^"\\]{1,200})"\s*:')


def _require_fields(content: bytes, name: str) -> None:
    """Raise an error if the objects at the beginning of the file have too many fields for a table."""
    head = content[:LOOKED_AT]
    most = parsed_limit(len(content)) // COLUMN_BYTES
    if len(set(FIELD.findall(head))) <= most:
        return
    fields: set[str] = set()  # those of the objects themselves, without what is nested in them
    for line in head.split(b"\n")[:-1]:
        try:
            fields.update(_parse_object(line, name) if line.strip() else ())
        except FormatError:
            return  # the reader reports the problem
    require_parsable(name, columns=len(fields), size=len(content))


def _parse_object(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise FormatError(f"{where}: not UTF-8 text. Save the file as UTF-8.") from None
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{where}: not JSON ({json_reason(problem)}). Write one JSON object per line.") from None
    if not isinstance(record, dict):
        raise FormatError(
            f"{where}: expected an object, got a JSON {type(record).__name__}. Write one object per line."
        )
    return record


def table_from_records(records: list[dict[str, Any]], source: TableSource) -> pl.DataFrame:
    """Convert objects to a table. Fields with mixed types are dropped unless their name identifies a role."""
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
                    f"{source.name}: the field {name!r} contains values of different types. Use one type everywhere."
                ) from None
    return pl.DataFrame(table)


# Sentences with the tags of several annotators.

CROWD_FIELDS = ("crowd", "annotations", "annotators")
"""Field names for {annotator: tags} in a record."""


def crowd_tags(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return {annotator: tags} of a record; None if it has none."""
    return next((record[name] for name in CROWD_FIELDS if isinstance(record.get(name), dict)), None)


def crowd_from_records(records: Sequence[dict[str, Any]], source: TableSource, options: ReadOptions) -> Crowd:
    """Return labels and tokens of records with {annotator: tags}; tags of None mean that the sentence was not seen."""
    corpus = corpus_from_records(records, source, options.columns)
    rows, places = [], []
    for at, (item, record) in enumerate(zip(corpus.items.to_list(), records, strict=True)):
        given = crowd_tags(record)
        if given is None:
            remedy = 'Give "crowd": {"ann": ["O", ...]} on each line.'
            raise row_error(source, [at], "no {annotator: tags}", remedy, error=FormatError)
        for annotator, tags in given.items():
            if tags is not None:
                rows.append((item, annotator, text_list(tags, "tags", source, at)))
                places.append(at)
    labels = from_sequences(rows, classes=options.classes, source=source.take(np.array(places, dtype=np.int64)))
    return Crowd(*align(labels, corpus))
