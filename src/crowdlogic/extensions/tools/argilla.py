"""Reader for Argilla records (version 2), nested (`dataset.records.to_json`) or flat (`to_list(flatten=True)`).

- Labels, multiple labels, ratings and spans are read; rankings are not. Free-text questions look like label questions:
  choose the question with `--question`.
- A response belongs to the user with its user id. For flat records, which include the status, only submitted responses
  count.
- A suggestion becomes an annotator named after its agent, of kind llm if the agent is a language model, otherwise code.
  A score above 0 and at most 1 is the weight of its label.
Layout as in argilla 2 (argilla/records/_io).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.extensions.tools.collector import (
    Collector,
    ToolExport,
    kind_of_model,
    main_text,
    require_question,
    weight_of_score,
)
from crowdlogic.extensions.tools.json_exports import outline_json

CHOICES, SPANS = "choices", "spans"
SUBMITTED = ("submitted", None)
REMEDY = "Export the records again."
NOT_FIELDS = ("id", "status", "_server_id")
"""Columns of flat records that do not contain texts."""


class Argilla(ToolExport):
    """Argilla records with responses of users and suggestions of agents."""

    name, title, suffixes = "argilla", "Argilla's records", (".json", ".jsonl")

    def recognises(self, head: bytes) -> bool:
        """Return whether records have fields, responses and suggestions, or, if flat, the users of responses."""
        found = outline_json(head)
        nested = found.has("fields", "responses", "suggestions")
        return nested or any(path.endswith(".responses.users") for path in found.paths)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the labels or tags of all users and agents, and the texts."""
        collector = Collector(file.name, options)
        kinds: dict[str, str] = {}
        for number, record in iterate_records(file):
            for answer in _answers(record, number, collector):
                kind = _kind(answer.value)
                if kind is not None and kinds.get(answer.question) != SPANS:
                    kinds[answer.question] = kind
        question = collector.question = require_question(kinds, collector.question, file.name)
        for number, record in iterate_records(file):
            _read_record(record, number, collector, question, kinds[question])
        return collector.crowd()


ARGILLA = Argilla()


@dataclass(frozen=True)
class _Answer:
    """Answer of a user or an agent to a question."""

    question: str
    value: Any
    who: str
    kind: str = "human"
    weight: float | None = None
    status: str | None = None


def _answers(record: dict[str, Any], number: int, collector: Collector) -> Iterator[_Answer]:
    """Yield the responses and suggestions of a record."""
    if "responses" in record or "suggestions" in record:
        yield from _nested_answers(record, number, collector)
    else:
        yield from _flat_answers(record, number, collector)


def _nested_answers(record: dict[str, Any], number: int, collector: Collector) -> Iterator[_Answer]:
    responses, suggestions = record.get("responses") or {}, record.get("suggestions") or {}
    if not isinstance(responses, dict) or not isinstance(suggestions, dict):
        raise collector.error(number, "responses and suggestions must be objects with questions as keys", REMEDY)
    for question, given in responses.items():
        for one in given if isinstance(given, list) else (given,):
            if not isinstance(one, dict) or not isinstance(one.get("user_id"), str | int):
                raise collector.error(number, f"a response to {question!r} without its user", REMEDY)
            yield _Answer(question, one.get("value"), str(one["user_id"]), status=one.get("status"))
    for question, one in suggestions.items():
        if not isinstance(one, dict):
            raise collector.error(number, f"the suggestion for {question!r} is not an object", REMEDY)
        yield _suggestion(question, one.get("value"), one.get("agent"), one.get("score"))


def _flat_answers(record: dict[str, Any], number: int, collector: Collector) -> Iterator[_Answer]:
    for column, values in record.items():
        question, _, tail = column.rpartition(".")
        if tail == "responses" and values is not None:
            users, statuses = record.get(f"{column}.users"), record.get(f"{column}.status")
            if not isinstance(values, list) or not isinstance(users, list) or len(users) != len(values):
                raise collector.error(number, f"{column} and {column}.users must be lists of equal length", REMEDY)
            known = statuses if isinstance(statuses, list) and len(statuses) == len(values) else [None] * len(values)
            for value, user, status in zip(values, users, known, strict=True):
                yield _Answer(question, value, str(user), status=status)
        elif tail == "suggestion":
            yield _suggestion(question, values, record.get(f"{column}.agent"), record.get(f"{column}.score"))


def _suggestion(question: str, value: Any, agent: Any, score: Any) -> _Answer:
    name = str(agent or "suggestion")
    return _Answer(question, value, name, kind_of_model(name), weight_of_score(score))


def _kind(value: Any) -> str | None:
    """Return the kind of question that a value answers; None if unknown."""
    if isinstance(value, str | int):
        return CHOICES
    if isinstance(value, list) and value:
        if isinstance(value[0], dict):
            return SPANS if "start" in value[0] else None
        return CHOICES
    return None


def _read_record(record: dict[str, Any], number: int, collector: Collector, question: str, kind: str) -> None:
    fields = record.get("fields")
    if not isinstance(fields, dict):
        fields = {name: value for name, value in record.items() if name not in NOT_FIELDS and "." not in name}
    item = collector.record_item(record, number, text=main_text(fields))
    for answer in _answers(record, number, collector):
        if answer.question != question or answer.value is None:
            continue
        if answer.status not in SUBMITTED:
            collector.leave_out("response", f"{answer.status}: no label", number)
        elif kind == SPANS:
            spans = [collector.parse_span(one, number) for one in _listed(answer.value)]
            collector.spans(item, answer.who, spans, record=number, kind=answer.kind, weight=answer.weight)
        else:
            values = _listed(answer.value)
            collector.choice(item, answer.who, values, record=number, kind=answer.kind, weight=answer.weight)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
