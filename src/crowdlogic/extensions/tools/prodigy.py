"""Reader and writer for Prodigy's JSONL (`prodigy db-out`): one task per line, with its answer and its annotator.

- choice: `accept` lists the ids of the chosen options.
- ner_manual and spans_manual: `spans`, with positions in characters or in tokens, where `token_end` is the last token
  (inclusive). The `tokens` of the export are used if every task has them.
- Binary decisions about a `label`: accept means the label. Reject means "not this label": the opposite class if there
  is only one label overall, a partial label if there are several. Accepting one label of a text rejects the others.
- ignore is an abstention, and so is reject if the text as a whole was annotated.

Annotators are `_annotator_id` or `_session_id`; a folder or zip file may contain one file per annotator. Tasks with the
same `_input_hash` are the same item. Fields as in Prodigy's documentation (annotation interfaces, "classification",
"choice", "ner_manual"), whose samples the tests use, since Prodigy itself is not free software.

Files are written as `prodigy db-in` reads them: documents as choices (`options`, `accept`), sentences as spans with
their tokens. A consensus has its confidence in `meta`, and the least confident tasks come first, so that a stream from
the file is reviewed in that order. `meta.item` is the item's name; `_input_hash` is the name if it is a number,
otherwise a checksum of it.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from crowdlogic.data.character_spans import texts_and_bounds
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import InputFile, member_file
from crowdlogic.data.folders import Folder
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.tools.annotated_texts import Annotated, annotate
from crowdlogic.extensions.tools.collector import Collector, ToolExport, parse_time, require_question
from crowdlogic.extensions.tools.json_exports import outline_json
from crowdlogic.extensions.tools.marked_spans import MarkedSpan

TOOL = "Prodigy"
DIGITS = 6
"""Number of decimal places written for a confidence."""


class TaskWriter:
    """Writer for the tasks of a file.

    Args:
        content: The labels or answers to write.
        corpus: The items.
        texts: The text of each item.
    """

    def __init__(self, content: CrowdLabels | Estimate, corpus: Corpus, texts: tuple[str, ...]) -> None:
        self.items, self.classes, self.offsets, self.texts = content.items, content.classes, content.offsets, texts
        self.bounds = None if content.offsets is None else texts_and_bounds(corpus)[1]

    def line(self, one: Annotated, annotator: str) -> bytes:
        """Return the line of a task with one annotation."""
        name = self.items[one.item]
        number = name if isinstance(name, int) else zlib.crc32(str(name).encode()) & 0x7FFFFFFF  # 31 bits
        meta = {"item": name} | ({} if math.isnan(one.confidence) else {"confidence": round(one.confidence, DIGITS)})
        task: dict[str, Any] = {"text": self.texts[one.item], "meta": meta, **self._content(one), "answer": "accept"}
        task |= {"_input_hash": number, "_task_hash": number, "_annotator_id": annotator, "_session_id": annotator}
        if not math.isnan(one.time):
            task["_timestamp"] = one.time
        return (json.dumps(task, ensure_ascii=False) + "\n").encode()

    def _content(self, one: Annotated) -> dict[str, Any]:
        """Return the choice of a document, or the tokens and spans of a sentence."""
        if self.offsets is None or self.bounds is None:
            options = [{"id": str(name), "text": str(name)} for name in self.classes]
            return {"options": options, "accept": [str(one.label)], "_view_id": "choice"}
        places = self.bounds[self.offsets[one.item] : self.offsets[one.item + 1]].tolist()
        text, starts, ends = self.texts[one.item], [a for a, _ in places], [b for _, b in places]
        tokens = [
            {"text": text[a:b], "start": a, "end": b, "id": i, "ws": text[b : b + 1] == " "}
            for i, (a, b) in enumerate(places)
        ]
        spans = [
            {
                "start": span.start,
                "end": span.end,
                "token_start": starts.index(span.start),
                "token_end": ends.index(span.end),
                "label": span.kind,
            }
            for span in one.spans
        ]
        return {"tokens": tokens, "spans": spans, "_view_id": "ner_manual"}


ACCEPT, REJECT, IGNORE = "accept", "reject", "ignore"
ANSWERS = (ACCEPT, REJECT, IGNORE)
CHOICE, SPANS, BINARY = "choice", "spans", "label"
REMEDY = "Export the data set again with prodigy db-out."


class Prodigy(ToolExport):
    """Prodigy export with one task per line."""

    name, title, suffixes = "prodigy", "Prodigy's export", (".jsonl", ".ndjson")

    def recognises(self, head: bytes) -> bool:
        """Return whether the tasks have an answer and a hash."""
        found = outline_json(head)
        return found.has("answer", "_input_hash") or found.has("answer", "_task_hash")

    def recognises_folder(self, folder: Folder) -> bool:
        """Return whether every JSONL file in the folder is a Prodigy export."""
        names = [name for name in folder.names if name.endswith(self.suffixes)]
        return bool(names) and all(self.recognises(member_file(folder, name).head()) for name in names)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the labels or tags of all annotators, and the texts."""
        collector = Collector(file.name, options)
        kinds: dict[str, str] = {}
        for task in _tasks(file, collector):
            kinds.setdefault(task.question, task.question)
        known = collector.question if collector.question in kinds else None
        question = require_question(kinds, known, file.name)
        tasks = (task for task in _tasks(file, collector) if task.question == question)
        if question == BINARY:
            _read_binary(tasks, collector)
        else:
            for task in tasks:
                _read_task(task, collector)
        return collector.crowd()

    def encode_labels(self, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
        """Encode one task per annotation."""
        corpus, texts, annotations = annotate(labels, corpus, target=target, tool=TOOL)
        writer, names = TaskWriter(labels, corpus, texts), labels.annotators.to_list()
        return b"".join(writer.line(one, str(names[one.annotator])) for one in annotations)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
        """Encode one task per item with its answer, in review order."""
        corpus, texts, annotations = annotate(estimate, corpus, target=target, tool=TOOL)
        writer = TaskWriter(estimate, corpus, texts)
        return b"".join(writer.line(one, f"crowdlogic-{estimate.method}") for one in annotations)


PRODIGY = Prodigy()


@dataclass(frozen=True)
class _Task:
    """Task: its fields, record number, kind of question and annotator."""

    fields: dict[str, Any]
    record: int
    question: str
    annotator: str

    @property
    def answer(self) -> str:
        return str(self.fields.get("answer"))

    @property
    def time(self) -> float | None:
        return parse_time(self.fields.get("_timestamp"))


def _tasks(file: InputFile, collector: Collector) -> Iterator[_Task]:
    """Yield all tasks of a file, or of the files of a folder."""
    for one in file.members(*PRODIGY.suffixes):
        collector.enter(one)
        stem = PurePosixPath(str(one.path).replace("\\", "/")).name.split(".")[0]
        for number, record in iterate_records(one):
            yield _parse_task(record, number, collector, stem)
    collector.member = ""


def _parse_task(fields: dict[str, Any], number: int, collector: Collector, stem: str) -> _Task:
    if fields.get("answer") not in ANSWERS:
        raise collector.error(
            number, f"the answer must be one of {', '.join(ANSWERS)}; got {fields.get('answer')!r}", REMEDY
        )
    who = fields.get("_annotator_id") or fields.get("_session_id") or stem
    if not isinstance(who, str | int):
        raise collector.error(number, "the annotator is not a name (_annotator_id)", REMEDY)
    if fields.get("_view_id") == "ner":
        remedy = "Annotate with ner.manual or ner.correct."
        raise collector.error(number, "a decision about one span, which does not cover the rest of its text", remedy)
    is_manual = "spans" in fields or str(fields.get("_view_id", "")).endswith("_manual")
    is_manual = is_manual or ("tokens" in fields and "label" not in fields)
    question = CHOICE if "options" in fields or "accept" in fields else SPANS if is_manual else BINARY
    if question == BINARY and not isinstance(fields.get("label"), str):
        raise collector.error(number, "neither options, spans nor a label", "Export a data set of texts.")
    return _Task(fields, number, question, str(who))


def _item(task: _Task, collector: Collector) -> int:
    """Return the item of a task; tasks with the same input hash share an item."""
    fields = task.fields
    text = fields.get("text")
    if text is not None and not isinstance(text, str):
        raise collector.error(task.record, "the text is not a string", REMEDY)
    meta = fields.get("meta")
    named = meta.get("item") if isinstance(meta, dict) else None  # written by encode_consensus; Prodigy preserves meta
    name = fields.get("_input_hash", text) if named is None else named
    if isinstance(name, bool) or not isinstance(name, int | str):
        raise collector.error(task.record, "neither an input hash nor a text", REMEDY)
    return collector.item(name, text=text, tokens=_token_places(task, collector))


def _token_places(task: _Task, collector: Collector) -> Sequence[tuple[int, int]] | None:
    """Return the positions of the task's tokens, which must be in order; None without tokens."""
    tokens, text = task.fields.get("tokens"), task.fields.get("text")
    if not isinstance(tokens, list) or not isinstance(text, str):
        return None
    places, at = [], 0
    for token in tokens:
        start, end = (token.get("start"), token.get("end")) if isinstance(token, dict) else (None, None)
        if type(start) is not int or type(end) is not int or not at <= start < end <= len(text):
            raise collector.error(
                task.record, f"the token {str(token)[:60]!r} lies outside the text or out of order", REMEDY
            )
        places.append((start, end))
        at = end
    return places


def _read_task(task: _Task, collector: Collector) -> None:
    """Add a choice or manually marked spans."""
    item = _item(task, collector)
    if task.answer != ACCEPT:
        done = "ignored" if task.answer == IGNORE else "rejected as a whole"
        collector.leave_out("task", f"{done}: no label", task.record)
        return
    if task.question == CHOICE:
        accepted = task.fields.get("accept", [])
        if not isinstance(accepted, list):
            raise collector.error(task.record, "accept is not a list of options", REMEDY)
        collector.question = collector.question or CHOICE
        collector.choice(item, task.annotator, accepted, record=task.record, kind="human", time=task.time)
        return
    spans = task.fields.get("spans") or []
    if not isinstance(spans, list):
        raise collector.error(task.record, "spans is not a list", REMEDY)
    places = _token_places(task, collector) or ()
    found = [_parse_span(span, places, task, collector) for span in spans]
    collector.spans(item, task.annotator, found, record=task.record, kind="human", time=task.time)


def _parse_span(span: Any, tokens: Sequence[tuple[int, int]], task: _Task, collector: Collector) -> MarkedSpan:
    """Parse a span given by characters, or by tokens (the last one inclusive)."""
    fields: Any = span if isinstance(span, dict) else {}
    first, last, label = fields.get("token_start"), fields.get("token_end"), fields.get("label")
    by_tokens = isinstance(first, int) and isinstance(last, int) and isinstance(label, str)
    if "start" not in fields and by_tokens and 0 <= first <= last < len(tokens):
        return tokens[first][0], tokens[last][1], label
    return collector.parse_span(span, task.record)


def _read_binary(tasks: Iterator[_Task], collector: Collector) -> None:
    """Add binary decisions; the last one of an annotator on each text and label counts."""
    decisions: dict[tuple[int, str], dict[str, _Task]] = {}
    labels: set[str] = set()
    for task in tasks:
        item = _item(task, collector)
        if task.answer == IGNORE:
            collector.leave_out("task", "ignored: no label", task.record)
            continue
        label = str(task.fields["label"])
        labels.add(label)
        mine = decisions.setdefault((item, task.annotator), {})
        known = mine.get(label)
        if known is None or (task.time or 0) >= (known.time or 0):
            mine[label] = task
    for (item, annotator), mine in decisions.items():
        _add_decisions(item, annotator, mine, labels, collector)


def _add_decisions(item: int, annotator: str, mine: dict[str, _Task], labels: set[str], collector: Collector) -> None:
    """Add what an annotator decided about the labels that were suggested for a text."""
    first = next(iter(mine.values()))
    accepted = [label for label, task in mine.items() if task.answer == ACCEPT]
    if collector.wanted is not None:
        if collector.wanted in mine:
            collector.choice(item, annotator, accepted, record=first.record, kind="human", time=first.time)
        return
    if accepted or len(labels) == 1:
        answers = accepted or [f"not {label}" for label in labels]
        collector.question = BINARY
        collector.choice(item, annotator, answers, record=first.record, kind="human", time=first.time)
        return
    left = labels - set(mine)
    if len(left) == 1:  # all other labels were rejected
        collector.label(item, annotator, left.pop(), record=first.record, kind="human", time=first.time)
        return
    for label, task in mine.items():
        collector.label(item, annotator, label, record=task.record, kind="human", time=task.time, negated=True)
