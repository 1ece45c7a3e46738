"""Reader for doccano exports: a zip file or folder with one JSONL (or JSON) file per member of the project.

Supported are categories (`label` or `cats`: a list of names) and spans (`label` or `entities`: [start, end, type], or
objects with start_offset and end_offset). A project in which members share their annotations exports one `all.jsonl`,
which does not record who annotated what, and is rejected.

A member's file lists every text of the project unless only confirmed ones were exported, so a text without spans may
be one that the member never saw. If all members' files contain the same texts, a text without spans counts as not
seen. If the texts differ (an export of confirmed texts), it counts as annotated with no entities.
Layout as in doccano 1.8 (backend/data_export).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from crowdlogic.data.files import InputFile, member_file
from crowdlogic.data.folders import Folder
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.errors import FormatError
from crowdlogic.extensions.tools.collector import Collector, ToolExport, require_question
from crowdlogic.extensions.tools.json_exports import Outline, outline_json

SHARED = "all"
"""Name of the only file exported by a project whose members share annotations."""

CATEGORIES, SPANS = "categories", "spans"
FIELDS = ("label", "cats", "entities")
REMEDY = "Export the project again."


class Doccano(ToolExport):
    """doccano export with one file per member."""

    name, title, suffixes = "doccano", "doccano's export", (".zip", ".jsonl", ".json")

    def recognises(self, head: bytes) -> bool:
        """Return whether the records have an id, a text, labels and comments."""
        return _is_doccano(outline_json(head)) and outline_json(head).has("Comments")

    def recognises_folder(self, folder: Folder) -> bool:
        """Return whether the records of every JSONL or JSON file have an id, a text and labels."""
        names = _member_names(folder)
        return bool(names) and all(_is_doccano(outline_json(member_file(folder, name).head())) for name in names)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the labels or tags of all members, and the texts."""
        collector = Collector(file.name, options)
        files = _files(file)
        for member in files:
            if _annotator(member) == SHARED:
                raise FormatError(
                    f"{member.name}: members share their annotations, so the export does not say who made them. "
                    f"In doccano, create a project without 'Share annotations across all users', and export it."
                )
        survey = _survey(files)
        chosen = collector.question if collector.question in FIELDS else None
        question = require_question(survey.kinds, chosen, file.name)
        for member in files:
            collector.enter(member)
            for number, record in iterate_records(member):
                _read_record(record, number, _annotator(member), collector, question, survey)
        return collector.crowd()


DOCCANO = Doccano()


def _is_doccano(outline: Outline) -> bool:
    return outline.has("id", "text") and any(outline.has(name) for name in FIELDS)


def _member_names(folder: Folder) -> list[str]:
    return [name for name in folder.names if name.endswith((".jsonl", ".json")) and not name.startswith("__MACOSX/")]


def _files(file: InputFile) -> list[InputFile]:
    """Return the members' files; a single file belongs to one member."""
    if not file.is_folder:
        return [file]
    names = _member_names(file.folder)
    if not names:
        raise FormatError(f"{file.name}: no JSONL or JSON file of a member. {REMEDY}")
    return [member_file(file.folder, name) for name in names]


def _annotator(file: InputFile) -> str:
    """Return the member's name, taken from the file name."""
    return PurePosixPath(str(file.path).replace("\\", "/")).name.removesuffix(".gz").rsplit(".", 1)[0]


@dataclass(frozen=True)
class _Survey:
    """Survey of the files: field -> categories or spans, and whether all files have the same texts."""

    kinds: dict[str, str]
    same_texts: bool


def _survey(files: Sequence[InputFile]) -> _Survey:
    kinds: dict[str, str] = {}
    first: set[str] = set()
    same_texts = len(files) > 1
    for file in files:
        own: set[str] = set()
        for _, record in iterate_records(file):
            own.add(str(record.get("id")))
            for name in FIELDS:
                if isinstance(record.get(name), list) and record[name]:
                    kinds[name] = CATEGORIES if isinstance(record[name][0], str) else SPANS
        first = first if file is not files[0] else own
        same_texts = same_texts and own == first
    return _Survey(kinds, same_texts)


def _read_record(
    record: dict[str, Any], number: int, annotator: str, collector: Collector, question: str, survey: _Survey
) -> None:
    text, found = record.get("text"), record.get(question, [])
    if not isinstance(text, str):
        raise collector.error(number, "no text", REMEDY)
    if not isinstance(found, list):
        raise collector.error(number, f"{question} is not a list", REMEDY)
    item = collector.record_item(record, number, text=text)
    if survey.kinds[question] == CATEGORIES:
        collector.choice(item, annotator, found, record=number, kind="human")
    elif found or not survey.same_texts:
        keys = ("start_offset", "end_offset", "label")
        named = [dict(zip(keys, one, strict=True)) if isinstance(one, list) and len(one) == 3 else one for one in found]
        spans = [collector.parse_span(one, number, keys) for one in named]
        collector.spans(item, annotator, spans, record=number, kind="human")
    else:
        collector.leave_out("text", "without a span, in files that list every text: taken as not seen", number)
