"""Label Studio's JSON: a list of tasks, each with its data, the annotations of several people, and predictions.

- An annotation that was skipped (`was_cancelled`) is an abstention; one with an empty result was seen and holds no
  entity.
- An annotation marked as `ground_truth` is gold, and no vote.
- A prediction is an annotator named after its `model_version`, of kind llm where that names a language model, else
  code; a score above 0 and up to 1 is the weight of its label.
- `completed_by` is a number, or an object with an email, a username or an id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.collector import Collector
from crowdlogic.data.formats.json_records import iterate_records, require_object
from crowdlogic.data.formats.label_studio_results import (
    QUESTION_KINDS,
    REMEDY,
    SPANS,
    parse_answers,
    parse_spans,
)
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.formats.questions import require_question
from crowdlogic.data.formats.times import parse_time

LANGUAGE_MODELS = re.compile(
    r"gpt|chatgpt|\bo[134]\b|claude|gemini|gemma|llama|mi[sx]tral|qwen|deepseek|command-r|grok|\bphi-?\d|\bllm\b",
    re.IGNORECASE,
)
"""Model versions that name a language model."""

SKIPPED = "skipped by the annotator: no label"
MARKED_AS_GOLD = "marked as ground truth: taken as gold, not as a vote"


@dataclass(frozen=True)
class _Author:
    """Whose annotation it is, where it stands and how much it counts."""

    item: int
    annotator: str
    record: int
    kind: str
    time: float | None = None
    weight: float | None = None
    is_gold: bool = False


@dataclass
class _TaskReader:
    """The state of reading tasks: which questions were met, and annotations met before the first of them."""

    collector: Collector
    chosen: str | None
    questions: dict[str, str] = field(default_factory=dict)
    pending: list[_Author] = field(default_factory=list)

    def read_task(self, task: dict[str, Any], record: int) -> None:
        """Take in a task's annotations and predictions."""
        annotations = self._objects(task, "annotations" if "annotations" in task else "completions", record)
        predictions = self._objects(task, "predictions", record)
        data = task.get("data")
        text = _find_text(data, [*annotations, *predictions]) if isinstance(data, dict) else None
        name = task.get("id", record)
        if isinstance(name, bool) or not isinstance(name, int | str):
            raise self.collector.error(record, "the task's id is neither a number nor text", REMEDY)
        if isinstance(data, dict) and text is not None and not self.collector.field:
            self.collector.field = next(str(key) for key, value in data.items() if value == text)
        item = self.collector.item(name, text=text)
        for annotation in annotations:
            self._read_annotation(annotation, item, record)
        for prediction in predictions:
            self._read_result(prediction, _prediction_author(prediction, item, record, self.collector))

    def _objects(self, task: dict[str, Any], name: str, record: int) -> list[dict[str, Any]]:
        found = task.get(name) or []
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.collector.error(record, f"{name} is not a list of objects", REMEDY)
        return found

    def _read_annotation(self, annotation: dict[str, Any], item: int, record: int) -> None:
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            self.collector.leave_out("annotation", SKIPPED, record)
            return
        is_gold = bool(annotation.get("ground_truth"))
        if is_gold:
            self.collector.leave_out("annotation", MARKED_AS_GOLD, record)
        time = parse_time(annotation.get("updated_at") or annotation.get("created_at"))
        who = annotator_name(annotation.get("completed_by"), self.collector, record)
        self._read_result(annotation, _Author(item, who, record, "human", time=time, is_gold=is_gold))

    def _read_result(self, annotation: dict[str, Any], author: _Author) -> None:
        """Take in the results of one annotation that answer the chosen question."""
        results = annotation.get("result") or []
        if not isinstance(results, list):
            raise self.collector.error(author.record, "a result that is not a list", REMEDY)
        mine = [result for result in results if self._question(result, author.record) == self.chosen]
        if self.chosen not in self.questions:
            self.pending.append(author)
            return
        self._flush()
        text = self.collector.text(author.item)
        kind = self.questions[self.chosen]
        found: list[Any] = []
        for result in mine:
            value = result.get("value")
            found += (
                parse_spans(value, text, self.collector, author.record)
                if kind == SPANS
                else parse_answers(value, kind, self.collector, author.record)
            )
        self._add(author, found)

    def _question(self, result: Any, record: int) -> str | None:
        """The question that a result answers; the first one that is met is read if none was chosen."""
        if not isinstance(result, dict):
            raise self.collector.error(record, "a result that is not an object", REMEDY)
        kind, name = QUESTION_KINDS.get(str(result.get("type"))), result.get("from_name")
        if kind is None:
            return None
        if not isinstance(name, str):
            raise self.collector.error(record, "a result without from_name", REMEDY)
        self.questions.setdefault(name, kind)
        if self.chosen is None:
            self.chosen = self.collector.question = name
        if name == self.chosen and not self.collector.kind:
            self.collector.kind, self.collector.target = kind, str(result.get("to_name") or "")
        return name

    def _flush(self) -> None:
        """Add the annotations that were met before the question was known: they have no answer to it."""
        waiting, self.pending = self.pending, []
        for author in waiting:
            self._add(author, [])

    def _add(self, author: _Author, found: list[Any]) -> None:
        collector, kind = self.collector, self.questions.get(self.chosen or "")
        if author.is_gold:
            if kind == SPANS:
                collector.gold_spans(author.item, found, record=author.record)
            elif found:
                collector.gold_choice(author.item, found, record=author.record)
            return
        add = collector.spans if kind == SPANS else collector.choice
        add(
            author.item,
            author.annotator,
            found,
            record=author.record,
            kind=author.kind,
            time=author.time,
            weight=author.weight,
        )

    def finish(self, chosen: str | None) -> Crowd:
        """What was read, if the question was clear."""
        if self.questions or chosen is not None:
            require_question(self.questions, chosen, self.collector.name)
        self._flush()
        return self.collector.crowd()


def read_tasks(file: InputFile, options: ReadOptions) -> Crowd:
    """The labels or tags of a list of tasks."""
    collector = Collector(file.name, options)
    chosen = collector.question
    reader = _TaskReader(collector, chosen)
    for number, record in iterate_records(file):
        reader.read_task(require_object(record, number, file), number)
    return reader.finish(chosen)


def annotator_name(completed_by: Any, collector: Collector, record: int) -> str:
    """Who made an annotation: the email, username or id of a person."""
    if isinstance(completed_by, dict):
        completed_by = next((completed_by[key] for key in ("email", "username", "id") if completed_by.get(key)), None)
    if isinstance(completed_by, bool) or not isinstance(completed_by, int | str) or completed_by == "":
        raise collector.error(record, "an annotation that does not say who made it (completed_by)", REMEDY)
    return str(completed_by)


def _prediction_author(prediction: dict[str, Any], item: int, record: int, collector: Collector) -> _Author:
    version = str(prediction.get("model_version") or "prediction")
    kind = "llm" if LANGUAGE_MODELS.search(version) else "code"
    score = prediction.get("score")
    weight = float(score) if isinstance(score, int | float) and not isinstance(score, bool) and 0 < score <= 1 else None
    if score is not None and weight is None:
        collector.leave_out(
            "prediction", "with a score that is no number above 0 and up to 1: the score was not used", record
        )
    return _Author(item, version, record, kind, time=parse_time(prediction.get("created_at")), weight=weight)


def _find_text(data: dict[str, Any], annotations: list[dict[str, Any]]) -> str | None:
    """The text of a task: its only text, the one that quotes come from, the one called text, or the longest."""
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    if len(texts) <= 1:
        return next(iter(texts.values()), None)
    quote = _first_quote(annotations)
    if quote is not None:
        start, words = quote
        quoted = [text for text in texts.values() if words in text]
        if quoted:
            return min(quoted, key=lambda text: abs(text.find(words) - start))
    return texts.get("text") or max(texts.values(), key=len)


def _first_quote(annotations: list[dict[str, Any]]) -> tuple[int, str] | None:
    """Start and text of the first span that quotes its text."""
    for annotation in annotations:
        results = annotation.get("result")
        for result in results if isinstance(results, list) else ():
            value = result.get("value") if isinstance(result, dict) else None
            if isinstance(value, dict) and isinstance(value.get("text"), str) and isinstance(value.get("start"), int):
                return value["start"], value["text"]
    return None
