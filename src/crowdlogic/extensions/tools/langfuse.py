"""Reader for Langfuse scores as returned by its public API, versions 2 and 3: `{"data": [...]}`, an array, or lines.

The scored object becomes an item: an observation, a trace, a session or a dataset run. Each score name becomes a
judge; for annotations, the judge's name includes the author. The sources ANNOTATION, EVAL and API become the kinds
human, llm and code. Boolean scores become pass and fail, categorical scores their category, and numeric scores
numbers. Based on the types of langfuse 5.0.4. The csv export of the web application could not be verified and is not
supported.
"""

from __future__ import annotations

from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.extensions.tools.collector import ToolExport, parse_time
from crowdlogic.extensions.tools.grades import Grades
from crowdlogic.extensions.tools.json_exports import iterate_array, outline_json

KINDS_BY_SOURCE = {"ANNOTATION": "human", "EVAL": "llm", "API": "code"}
SCORED = ("observationId", "traceId", "sessionId", "datasetRunId")
"""Fields that identify the scored object, most specific first."""


class LangfuseScores(ToolExport):
    """Scores exported from Langfuse."""

    name, title, suffixes = "langfuse", "scores of Langfuse", (".json", ".jsonl")

    def recognises(self, head: bytes) -> bool:
        """Return whether the records have a dataType, a source and a value."""
        paths = outline_json(head).paths
        return any({f"{at}{name}" for name in ("dataType", "source", "value")} <= paths for at in ("", "data[]."))

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read all scores."""
        grades = Grades(file.name, options)
        found = outline_json(file.head())
        is_nested = found.root == "object" and "data" in found.paths
        for number, score in iterate_array(file, "data") if is_nested else iterate_records(file):
            _add_score(grades, score, number)
        return grades.crowd()


LANGFUSE = LangfuseScores()


def _add_score(grades: Grades, score: dict[str, Any], number: int) -> None:
    subject = score.get("subject")
    names = [subject.get("id")] if isinstance(subject, dict) else [score.get(field) for field in SCORED]
    name = next((one for one in names if isinstance(one, str) and one), None)
    if name is None:
        grades.collector.leave_out("score", "without the id of a scored object: left out", number)
        return
    source, value = score.get("source"), _value(score)
    author = score.get("authorUserId") if source == "ANNOTATION" else ""
    kind = KINDS_BY_SOURCE.get(source, "") if isinstance(source, str) else ""
    item, time = grades.item(name), parse_time(score.get("timestamp"))
    grades.add(item, score.get("name"), value, judge=author, kind=kind, time=time, record=number)


def _value(score: dict[str, Any]) -> Any:
    """Return the value as a boolean, category or number; None for texts and corrections, which are not grades."""
    kind, value, text = score.get("dataType"), score.get("value"), score.get("stringValue")
    if kind == "BOOLEAN":
        return bool(value) if isinstance(value, bool | int | float) else None
    if kind == "CATEGORICAL":
        return text if isinstance(text, str) else value if isinstance(value, str) else None
    return value if kind == "NUMERIC" else None
