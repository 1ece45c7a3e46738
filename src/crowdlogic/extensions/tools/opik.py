"""Reader for the folder written by `opik export`: one trace_<id>.json per trace, with its feedback scores.

Each trace becomes an item with its output as the text. Each score name becomes a judge; if a score has several
authors, the judge's name includes the author. Scores from the user interface are of kind human, those from online
rules of kind llm, and those from the SDK of kind code. The grade is the category if there is one, otherwise the
numeric value. Based on the types and the export command of opik 2.2.122. No server was available for a real export,
so the tests build files with Opik's own types.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import Folder
from crowdlogic.data.formats.json_records import read_json_member
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.errors import FormatError
from crowdlogic.extensions.tools.collector import ToolExport, parse_time
from crowdlogic.extensions.tools.grades import Grades

KINDS_BY_SOURCE = {"ui": "human", "online_scoring": "llm", "sdk": "code"}
AuthorScore = tuple[str, dict[str, Any]]


class OpikTraces(ToolExport):
    """A folder of traces exported from Opik."""

    name, title, suffixes = "opik", "traces of Opik", (".opik",)

    def recognises_folder(self, folder: Folder) -> bool:
        """Return whether there are files named trace_<id>.json in the folder or below it."""
        return any(_is_trace(name) for name in folder.names)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the feedback scores of all traces."""
        if not file.is_folder:
            raise FormatError(f"{file.name}: expected a folder, got a file. Give the folder that opik export wrote.")
        grades = Grades(file.name, options)
        for number, name in enumerate(filter(_is_trace, file.folder.names), start=1):
            _add_trace(grades, _read_trace(file, name, number), number)
        return grades.crowd()


OPIK = OpikTraces()


def _is_trace(name: str) -> bool:
    path = PurePosixPath(name)
    return path.name.startswith("trace_") and path.suffix == ".json"


def _read_trace(file: InputFile, name: str, number: int) -> dict[str, Any]:
    trace = read_json_member(file, name, number).get("trace")
    if not isinstance(trace, dict) or not isinstance(trace.get("id"), str):
        raise FormatError(f"{file.name}, {name}: no trace with an id. Export the traces again.")
    return trace


def _add_trace(grades: Grades, trace: dict[str, Any], number: int) -> None:
    item, scores = grades.item(trace["id"], trace.get("output")), trace.get("feedback_scores")
    if not isinstance(scores, list) or not scores:
        grades.collector.leave_out("trace", "without feedback scores: left out", number)
        return
    for score in scores:
        if not isinstance(score, dict):
            grades.collector.leave_out("score", "without fields: left out", number)
            continue
        for author, said in _by_author(score):
            value = said.get("category_name") or said.get("value")
            kind = KINDS_BY_SOURCE.get(str(said.get("source", score.get("source"))), "")
            time = parse_time(said.get("last_updated_at"))
            grades.add(item, score.get("name"), value, judge=author, kind=kind, time=time, record=number)


def _by_author(score: dict[str, Any]) -> Iterator[AuthorScore]:
    """Yield the score of each author, or the score itself if it does not list authors."""
    authors = score.get("value_by_author")
    if isinstance(authors, dict) and any(isinstance(said, dict) for said in authors.values()):
        yield from ((str(author), said) for author, said in authors.items() if isinstance(said, dict))
    else:
        yield "", score
