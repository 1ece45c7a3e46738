"""Texts of items whose names are known, looked for in the data files that lie beside annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from crowdlogic.data.files import InputFile, member_file
from crowdlogic.data.folders import Folder
from crowdlogic.data.formats.delimited import CSV, TSV
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.errors import DataError

TEXT_FIELDS = ("text", "content", "sentence", "review", "comment", "document")
"""Fields that hold the text, in this order; else the longest text is taken."""


def find_texts(folder: Folder, names: Iterable[str], items: set[str]) -> Mapping[str, str]:
    """Item -> text, from the first of the files in which all these items have a text; empty where there is none.

    Args:
        folder: The folder or zip file.
        names: The members to look into, in this order: JSON, JSONL, csv and tsv.
        items: The names of the items, as text.
    """
    for name in names:
        try:
            texts = dict(_texts_by_id(member_file(folder, name), items))
        except DataError:  # some other file of the project
            continue
        if items and texts.keys() >= items:
            return texts
    return {}


def _texts_by_id(file: InputFile, items: set[str]) -> Iterator[tuple[str, str]]:
    for record in _records(file):
        key = next((value for value in record.values() if isinstance(value, str | int) and str(value) in items), None)
        text = _text(record)
        if key is not None and text is not None:
            yield str(key), text


def _records(file: InputFile) -> Iterator[dict[str, Any]]:
    suffix = PurePosixPath(str(file.path)).suffix.lower()
    if suffix in (".json", ".jsonl"):
        yield from (record for _, record in iterate_records(file) if isinstance(record, dict))
    elif suffix in (".csv", ".tsv"):
        table, _ = (CSV if suffix == ".csv" else TSV).read_table(file)
        yield from table.iter_rows(named=True)


def _text(record: Mapping[str, Any]) -> str | None:
    texts = {name: value for name, value in record.items() if isinstance(value, str)}
    named = next((texts[name] for name in TEXT_FIELDS if name in texts), None)
    return named if named is not None else max(texts.values(), key=len, default=None)
