"""Reader and writer for Label Studio: JSON (whole tasks), JSON_MIN and CSV (one record per annotation).

Choices, text labels (spans), ratings, numbers, pairwise comparisons and taxonomies are supported; regions of images and
audio are not. Formats as written by label-studio-sdk (label_studio_sdk.converter).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from crowdlogic.data.corpus import Corpus, Question
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.delimited import CSV
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import ClassName, Names
from crowdlogic.errors import FormatError, name_list
from crowdlogic.extensions.tools.annotated_texts import Annotated, annotate
from crowdlogic.extensions.tools.collector import (
    REMEDY,
    Collector,
    ToolExport,
    kind_of_model,
    main_text,
    parse_time,
    require_question,
    split_question,
    weight_of_score,
)
from crowdlogic.extensions.tools.json_exports import outline_json
from crowdlogic.extensions.tools.marked_spans import MarkedSpan

ROW_FIELDS = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
"""Fields present in every record of JSON_MIN and every row of CSV."""

TASK_FIELDS = (
    ("data", "annotations"),
    ("data", "completions"),
    ("data", "predictions"),
    ("annotations[].result",),
    ("completions[].result",),
    ("predictions[].result",),
)
"""Groups of fields; a task has at least one group."""


class LabelStudio(ToolExport):
    """Label Studio export: tasks with annotations, or one record per annotation."""

    name, title, suffixes = "label-studio", "Label Studio's export", (".json", ".csv", ".tsv")

    def recognises(self, head: bytes) -> bool:
        """Return whether these are tasks (data, annotations) or records (annotator, annotation id, times)."""
        found = outline_json(head)
        if found.root:
            return any(found.has(*fields) for fields in (*TASK_FIELDS, ROW_FIELDS))
        return _is_row_header(head)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read labels or tags of all annotators, texts, and gold from annotations marked as ground truth."""
        found = outline_json(file.head())
        if not found.root or found.has(*ROW_FIELDS):
            return read_rows(file, options)
        collector = Collector(file.name, options)
        reader = _TaskReader(collector, collector.question)
        for number, task in iterate_records(file):
            reader.read_task(task, number)
        return reader.finish(split_question(options.question)[0])

    def encode_labels(self, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
        """Encode tasks with people's annotations, and the labels of models and programs as predictions."""
        corpus, texts, annotations = annotate(labels, corpus, target=target, tool=TOOL)
        items, question = range(len(labels.items)), corpus.question
        tasks = [_task(labels.items, texts, s, question) | {"annotations": [], "predictions": []} for s in items]
        for number, one in enumerate(annotations, start=1):
            name = str(labels.annotators[one.annotator])
            is_person = labels.kind is None or labels.kind[one.annotator] in ("human", "")
            author: dict[str, Any] = {"id": number}
            if is_person:
                author |= {"completed_by": {"email": name}, "was_cancelled": False, "ground_truth": False}
            else:
                author["model_version"] = name
            if not math.isnan(one.time):
                author["created_at"] = datetime.fromtimestamp(one.time, UTC).isoformat()
            given = tasks[one.item]["annotations" if is_person else "predictions"]
            given.append(author | {"result": _results(one, question)})
        return _to_json(tasks)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Encode tasks with the consensus as prediction, in review order."""
        corpus, texts, annotations = annotate(estimate, corpus, target=target, tool=TOOL)
        tasks = []
        for one in annotations:
            result = _results(one, corpus.question)
            score = round(one.confidence, DIGITS)
            prediction = {"model_version": f"crowdlogic {estimate.method}", "score": score, "result": result}
            tasks.append(_task(estimate.items, texts, one.item, corpus.question) | {"predictions": [prediction]})
        return _to_json(tasks)


LABEL_STUDIO = LabelStudio()


def _is_row_header(head: bytes) -> bool:
    """Return whether the first line of a csv or tsv file has all fields of a row."""
    line = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode("utf-8", errors="replace").strip()
    try:
        columns = next(csv.reader(io.StringIO(line), delimiter="\t" if "\t" in line else ","), [])
    except csv.Error:
        return False
    return set(ROW_FIELDS) <= set(columns)


SPANS = "labels"
QUESTION_KINDS = {
    "choices": "choices",
    "labels": SPANS,
    "hypertextlabels": SPANS,
    "rating": "rating",
    "number": "number",
    "pairwise": "pairwise",
    "taxonomy": "taxonomy",
}
"""Supported types of results -> kind of question."""

VALUE_FIELDS = {
    "choices": "choices",
    "rating": "rating",
    "number": "number",
    "pairwise": "selected",
    "taxonomy": "taxonomy",
}
"""Kind of question -> field of a result's value that contains the answer."""


def parse_answers(value: Any, kind: str, collector: Collector, record: int) -> list[Any]:
    """Return the answers in a result's value: any number for choices and taxonomies, otherwise one."""
    field = VALUE_FIELDS[kind]
    found = value.get(field) if isinstance(value, dict) else None
    if kind in ("choices", "taxonomy"):
        if not isinstance(found, list):
            raise collector.error(record, f"a result whose value has no list of {field}", REMEDY)
        return [" / ".join(map(str, one)) if isinstance(one, list) else one for one in found]
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        raise collector.error(record, f"a result whose value has no {field}", REMEDY)
    return [int(found) if isinstance(found, float) and found.is_integer() else found]


def parse_spans(value: Any, text: str | None, collector: Collector, record: int) -> list[MarkedSpan]:
    """Return the span in a result's value, once for each of its labels."""
    if not isinstance(value, dict):
        raise collector.error(record, "a result without a value", REMEDY)
    labels = value.get("labels", value.get("hypertextlabels"))
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise collector.error(record, "a span without a list of labels", REMEDY)
    # Prefer offsets into the whole text to those into an element
    overall = value.get("globalOffsets")
    where = overall if isinstance(overall, dict) else value
    start, end = _whole_number(where.get("start")), _whole_number(where.get("end"))
    if start is None or end is None:
        collector.leave_out("span", "without character offsets (not a region of text): left out", record)
        return []
    if text is None:
        raise collector.error(record, "a marked span without a text", "Include the texts in the export.")
    repaired = _repair((start, end), value.get("text"), text, collector, record)
    return [] if repaired is None else [(*repaired, label) for label in labels]


def _whole_number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:18])
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _repair(place: tuple[int, int], quote: Any, text: str, collector: Collector, record: int) -> tuple[int, int] | None:
    """Return the place in characters; offsets in UTF-16 units are detected by comparing with the quote."""
    if not isinstance(quote, str) or not quote or _same(text[max(place[0], 0) : max(place[1], 0)], quote):
        return place
    units = text.encode("utf-16-le", errors="surrogatepass")
    start, end = (len(units[: 2 * max(at, 0)].decode("utf-16-le", errors="replace")) for at in place)
    if _same(text[start:end], quote):
        collector.leave_out("span", "with offsets in UTF-16 units: repaired by the quoted text", record)
        return start, end
    collector.leave_out("span", "whose quoted text is not at the given offsets: left out", record)
    return None


def _same(found: str, quote: str) -> bool:
    """Return whether two texts are equal except for white space, which browsers change."""
    return found == quote or "".join(found.split()) == "".join(quote.replace("\\n", " ").split())


# JSON_MIN and CSV: one flat record per annotation, with the task's data and the answers side by side. The format does
# not say which fields are questions. Fields with spans, ratings or several choices are recognised by their values; a
# field with plain text is a question if it differs between annotations of a task. Otherwise `--question` names it.
ABOUT_ANNOTATION = {
    "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history",
}  # fmt: skip
"""Fields of the annotation itself, neither data nor answers."""

Rows = Callable[[], Iterator[tuple[int, dict[str, Any]]]]


@dataclass
class _FieldFacts:
    """Facts about a field: the kind of its answers if known, and whether it differs within a task."""

    kind: str | None = None
    differs: bool = False
    longest: int = 0
    by_task: dict[Any, Any] = field(default_factory=dict)


def read_rows(file: InputFile, options: ReadOptions) -> Crowd:
    """Read the labels or tags of a file with one record per annotation."""
    rows: Rows = (lambda: iterate_records(file)) if outline_json(file.head()).root else _csv_rows(file)
    collector = Collector(file.name, options)
    facts = _survey(rows)
    question = _choose_question(facts, collector)
    kind = facts[question].kind or "choices"
    text_field = _text_field(facts, question)
    for number, row in rows():
        _read_row(row, number, collector, question=question, kind=kind, text_field=text_field)
    return collector.crowd()


def _csv_rows(file: InputFile) -> Rows:
    """Return an iterator over the rows of a table; cells that contain JSON are parsed."""
    table, source = CSV.read_table(file)

    def parse(cell: str) -> Any:
        if cell.startswith(("[", "{")):
            with suppress(ValueError, RecursionError):
                return json.loads(cell)
        return cell

    def iterate() -> Iterator[tuple[int, dict[str, Any]]]:
        for at, row in enumerate(table.iter_rows(named=True)):
            yield source.number(at), {name: parse(cell) for name, cell in row.items() if cell is not None}

    return iterate


def _survey(rows: Rows) -> dict[str, _FieldFacts]:
    """Collect facts about the fields over all records."""
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
    """Return the kind of question that a value answers; None if unknown."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return None
    if "labels" in first or "hypertextlabels" in first:
        return SPANS
    return next((kind for kind, inner in VALUE_FIELDS.items() if inner in first), None)


def _choose_question(facts: dict[str, _FieldFacts], collector: Collector) -> str:
    """Return the field that contains the answers."""
    if collector.question is not None and collector.question in facts:
        return collector.question
    shown = {name: one.kind for name, one in facts.items() if one.kind is not None}
    found = shown | {name: "choices" for name, one in facts.items() if one.differs and one.kind is None}
    if not found and len(facts) > 1:
        others = [name for name in facts if name != _text_field(facts, None)]
        found = {others[0]: "choices"} if len(others) == 1 else {}
    if not found and collector.question is None:
        raise FormatError(
            f"{collector.name}: cannot tell which of {name_list(facts)} is the question. Name it with --question."
        )
    return require_question(found, collector.question, collector.name)


def _text_field(facts: dict[str, _FieldFacts], question: str | None) -> str | None:
    """Return the field that contains the text: the one named text, otherwise the longest plain field."""
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
    """Return the spans or answers in a field; empty if it is missing."""
    if value is None:
        return []
    values = value if isinstance(value, list) else [value]
    if kind == SPANS:
        return [span for one in values for span in parse_spans(one, collector.text(item), collector, number)]
    found: list[Any] = []
    for one in values:
        found += parse_answers(one, kind, collector, number) if isinstance(one, dict) else [one]
    return found


# JSON: a list of tasks, each with its data, the annotations of several people, and predictions.
#
# - A skipped annotation (`was_cancelled`) is an abstention; one with an empty result means that there are no entities.
# - An annotation marked as `ground_truth` is gold, not a vote.
# - A prediction becomes an annotator named after its `model_version`, of kind llm if that is the name of a language
#   model, otherwise code. A score above 0 and at most 1 is the weight of its label.
# - `completed_by` is a number, or an object with an email, a username or an id.

SKIPPED = "skipped by the annotator: no label"
MARKED_AS_GOLD = "marked as ground truth: taken as gold, not as a vote"


@dataclass(frozen=True)
class _Author:
    """Author, record and weight of an annotation."""

    item: int
    annotator: str
    record: int
    kind: str
    time: float | None = None
    weight: float | None = None
    is_gold: bool = False


@dataclass
class _TaskReader:
    """Reader state: the questions found so far, and annotations read before the question was known."""

    collector: Collector
    chosen: str | None
    questions: dict[str, str] = field(default_factory=dict)
    pending: list[_Author] = field(default_factory=list)

    def read_task(self, task: dict[str, Any], record: int) -> None:
        """Read a task's annotations and predictions."""
        annotations = self._objects(task, "annotations" if "annotations" in task else "completions", record)
        predictions = self._objects(task, "predictions", record)
        data = task.get("data")
        text = _find_text(data, [*annotations, *predictions]) if isinstance(data, dict) else None
        if isinstance(data, dict) and text is not None and not self.collector.field:
            self.collector.field = next(str(key) for key, value in data.items() if value == text)
        item = self.collector.record_item(task, record, text=text)
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
        """Read the results of one annotation that answer the chosen question."""
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
        """Return the question that a result answers; if none was chosen, the first question is read."""
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
        """Add the annotations read before the question was known, which have no answer to it."""
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
        """Return what was read after checking that the question is unambiguous."""
        if self.questions or chosen is not None:
            require_question(self.questions, chosen, self.collector.name)
        self._flush()
        return self.collector.crowd()


def annotator_name(completed_by: Any, collector: Collector, record: int) -> str:
    """Return the author of an annotation: a person's email, username or id."""
    if isinstance(completed_by, dict):
        completed_by = next((completed_by[key] for key in ("email", "username", "id") if completed_by.get(key)), None)
    if isinstance(completed_by, bool) or not isinstance(completed_by, int | str) or completed_by == "":
        raise collector.error(record, "an annotation that does not say who made it (completed_by)", REMEDY)
    return str(completed_by)


def _prediction_author(prediction: dict[str, Any], item: int, record: int, collector: Collector) -> _Author:
    version = str(prediction.get("model_version") or "prediction")
    weight = weight_of_score(prediction.get("score"))
    if prediction.get("score") is not None and weight is None:
        collector.leave_out(
            "prediction", "with a score that is not above 0 and at most 1: the score was not used", record
        )
    return _Author(
        item, version, record, kind_of_model(version), time=parse_time(prediction.get("created_at")), weight=weight
    )


def _find_text(data: dict[str, Any], annotations: list[dict[str, Any]]) -> str | None:
    """Return the text of a task: its only text, the one quoted by spans, the one named text, or the longest."""
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    if len(texts) <= 1:
        return next(iter(texts.values()), None)
    quote = _first_quote(annotations)
    if quote is not None:
        start, words = quote
        quoted = [text for text in texts.values() if words in text]
        if quoted:
            return min(quoted, key=lambda text: abs(text.find(words) - start))
    return main_text(texts)


def _first_quote(annotations: list[dict[str, Any]]) -> tuple[int, str] | None:
    """Return start and text of the first span that quotes its text."""
    for annotation in annotations:
        results = annotation.get("result")
        for result in results if isinstance(results, list) else ():
            value = result.get("value") if isinstance(result, dict) else None
            if isinstance(value, dict) and isinstance(value.get("text"), str) and isinstance(value.get("start"), int):
                return value["start"], value["text"]
    return None


# Writing: tasks as Label Studio imports them. A consensus becomes the prediction of its task; its `score` is the
# confidence, by which the data manager can sort, and tasks are in review order, the least confident first. Offsets of
# spans are in characters, as in the pre-annotations of Label Studio's guides. The names of the question, its object and
# the text field come from the export that was read; otherwise they are `label`, `text` and `data.text`, and the
# project's labelling configuration must use them.

FROM_NAME, TO_NAME, TEXT_FIELD = "label", "text", "text"
"""Names for items that do not come from Label Studio."""
TOOL = "Label Studio"
DIGITS = 6
"""Number of decimal places written for a confidence."""


def _task(items: Names, texts: tuple[str, ...], item: int, question: Question) -> dict[str, Any]:
    return {"id": items[item], "data": {question.field or TEXT_FIELD: texts[item]}}


def _results(one: Annotated, question: Question) -> list[dict[str, Any]]:
    """Return the results of one annotation: a choice, or one result per span."""
    names = {"from_name": question.name or FROM_NAME, "to_name": question.target or TO_NAME}
    if one.label is not None:
        kind = question.kind if question.kind in VALUE_FIELDS else "choices"
        return [names | {"type": kind, "value": {VALUE_FIELDS[kind]: _answer(one.label, kind)}}]
    results = []
    for number, span in enumerate(one.spans):
        value = {"start": span.start, "end": span.end, "text": span.text, "labels": [span.kind]}
        score = {} if math.isnan(span.confidence) else {"score": round(span.confidence, DIGITS)}
        results.append(names | {"id": f"span{number}", "type": "labels", "value": value} | score)
    return results


def _answer(label: ClassName, kind: str) -> Any:
    """Return a class as the value of an answer to this kind of question."""
    if kind == "choices":
        return [str(label)]
    if kind == "taxonomy":
        return [str(label).split(" / ")]
    return label if kind in ("rating", "number") and isinstance(label, int) else str(label)


def _to_json(tasks: list[dict[str, Any]]) -> bytes:
    return (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode()
