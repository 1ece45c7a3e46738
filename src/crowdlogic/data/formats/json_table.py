"""json: an array of objects, which is a table or a list of sentences: jsonl in one array."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.json_records import iterate_records, require_object
from crowdlogic.data.formats.jsonl import table_from_records
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.formats.records import corpus_from_records, crowd_from_records, holds_crowd
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.intake.columns import ALIASES, normalise_name
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import FormatError


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
