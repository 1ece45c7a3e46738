"""Label Studio's JSON_MIN and CSV: one flat record per annotation, with the task's data and the answers side by side.

Which field is a question is not said. Fields with spans, ratings or several choices show it themselves; of fields with
plain text, those that differ between annotations of one task are questions. `--question` names the field where this is
not enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.collector import Collector
from crowdlogic.data.formats.delimited import CSV
from crowdlogic.data.formats.json_outline import outline_json
from crowdlogic.data.formats.json_records import iterate_records, require_object
from crowdlogic.data.formats.label_studio_results import SPANS, VALUE_FIELDS, parse_answers, parse_spans
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.formats.questions import require_question
from crowdlogic.data.formats.times import parse_time
from crowdlogic.errors import FormatError, name_list

ABOUT_ANNOTATION = {
    "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history",
}  # fmt: skip
"""Fields that are neither data nor answers."""

Rows = Callable[[], Iterator[tuple[int, dict[str, Any]]]]


@dataclass
class _FieldFacts:
    """What is known of a field: the kind of its answers if they show it, and whether it differs within a task."""

    kind: str | None = None
    differs: bool = False
    longest: int = 0
    by_task: dict[Any, Any] = field(default_factory=dict)


def read_rows(file: InputFile, options: ReadOptions) -> Crowd:
    """The labels or tags of a file with a record per annotation."""
    rows: Rows = _json_rows(file) if outline_json(file.head()).root else _csv_rows(file)
    collector = Collector(file.name, options)
    facts = _survey(rows)
    question = _choose_question(facts, collector)
    kind = facts[question].kind or "choices"
    text_field = _text_field(facts, question)
    for number, row in rows():
        _read_row(row, number, collector, question=question, kind=kind, text_field=text_field)
    return collector.crowd()


def _json_rows(file: InputFile) -> Rows:
    return lambda: ((number, require_object(record, number, file)) for number, record in iterate_records(file))


def _csv_rows(file: InputFile) -> Rows:
    """Rows of a table; a cell that holds JSON is parsed."""
    table, source = CSV.read_table(file)

    def iterate() -> Iterator[tuple[int, dict[str, Any]]]:
        for at, row in enumerate(table.iter_rows(named=True)):
            yield source.number(at), {name: _parse_cell(cell) for name, cell in row.items() if cell is not None}

    return iterate


def _parse_cell(cell: str) -> Any:
    if cell[:1] not in "[{" or not cell:
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _survey(rows: Rows) -> dict[str, _FieldFacts]:
    """What the fields hold, over all records."""
    facts: dict[str, _FieldFacts] = {}
    for number, row in rows():
        task = row.get("id", number)
        task = task if isinstance(task, int | str) else str(task)
        for name, value in row.items():
            if name in ABOUT_ANNOTATION or value is None:
                continue
            known = facts.setdefault(name, _FieldFacts())
            known.kind = known.kind or _answer_kind(value)
            if isinstance(value, str | int | float):
                known.longest = max(known.longest, len(str(value)))
                known.differs = known.differs or known.by_task.setdefault(task, value) != value
    return facts


def _answer_kind(value: Any) -> str | None:
    """What kind of question a value answers, where it shows."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return None
    if "labels" in first or "hypertextlabels" in first:
        return SPANS
    return next((kind for kind, inner in VALUE_FIELDS.items() if inner in first), None)


def _choose_question(facts: dict[str, _FieldFacts], collector: Collector) -> str:
    """The field that holds the answers."""
    if collector.question is not None and collector.question in facts:
        return collector.question
    shown = {name: one.kind for name, one in facts.items() if one.kind is not None}
    found = shown | {name: "choices" for name, one in facts.items() if one.differs and one.kind is None}
    if not found and len(facts) > 1:
        others = [name for name in facts if name != _text_field(facts, None)]
        found = {others[0]: "choices"} if len(others) == 1 else {}
    if not found and collector.question is None:
        raise FormatError(
            f"{collector.name}: it does not show which of {name_list(facts)} is the question. Name it: --question."
        )
    return require_question(found, collector.question, collector.name)


def _text_field(facts: dict[str, _FieldFacts], question: str | None) -> str | None:
    """The field that holds the text: the one called text, else the longest plain one."""
    plain = {name: one.longest for name, one in facts.items() if name != question and one.kind is None and one.longest}
    named = next((name for name in ("text", "_data_text") if name in plain), None)
    return named or max(plain, key=lambda name: plain[name], default=None)


def _read_row(
    row: dict[str, Any], number: int, collector: Collector, *, question: str, kind: str, text_field: str | None
) -> None:
    name = row.get("id", number)
    text = row.get(text_field) if text_field is not None else None
    item = collector.item(
        name if isinstance(name, int | str) else str(name), text=text if isinstance(text, str) else None
    )
    if row.get("annotation_id") in (None, ""):
        collector.leave_out("task", "without an annotation", number)
        return
    who = row.get("annotator")
    if who in (None, "") or isinstance(who, dict | list | bool):
        raise collector.error(number, "an annotation that does not say who made it (annotator)", "Export again.")
    found = _answers(row.get(question), kind, collector, number, item)
    add = collector.spans if kind == SPANS else collector.choice
    time = parse_time(row.get("updated_at") or row.get("created_at"))
    add(item, who, found, record=number, kind="human", time=time)


def _answers(value: Any, kind: str, collector: Collector, number: int, item: int) -> list[Any]:
    """The spans or answers in a field; none where it is missing."""
    if value is None:
        return []
    values = value if isinstance(value, list) else [value]
    if kind == SPANS:
        return [span for one in values for span in parse_spans(one, collector.text(item), collector, number)]
    found: list[Any] = []
    for one in values:
        found += parse_answers(one, kind, collector, number) if isinstance(one, dict) else [one]
    return found
