"""Reader and writer for Potato's annotations: a folder (or zip file) with one `user_state.json` per annotator.

Answers are stored as [{schema, name}, value] pairs. If the value is true, the name is the answer (radio buttons;
several for multiselect); for dropdown lists and sliders, the value is the answer. Spans have a schema, a name
and character offsets. The states do not contain the texts, which are looked up in the data files of the project if
its whole folder is given.

When writing, the schema is the question that was read, or `label`. The texts are written as a data file next to the
states. A consensus is the state of one annotator, `crowdlogic`, and its data file lists the items in review order, the
least confident first.

Layout as in potato-annotation 2.8 (potato/user_state_management.py).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import InputFile, member_file
from crowdlogic.data.folders import Folder
from crowdlogic.data.formats.delimited import CSV, TSV
from crowdlogic.data.formats.json_records import iterate_records
from crowdlogic.data.formats.protocol import Crowd, Encoded, ReadOptions
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names
from crowdlogic.errors import DataError, FormatError
from crowdlogic.extensions.tools.annotated_texts import Annotated, annotate
from crowdlogic.extensions.tools.collector import Collector, ToolExport, main_text, require_question
from crowdlogic.extensions.tools.json_exports import outline_json

TOOL = "Potato"
SCHEMA = "label"
CONSENSUS = "crowdlogic"
TICKED = "true"
ITEMS, ANNOTATIONS = "data/items.jsonl", "annotation_output"

Files = dict[str, bytes]


def _encode_files(
    corpus: Corpus, texts: tuple[str, ...], states: Mapping[str, list[Annotated]], *, order: Sequence[int]
) -> Files:
    """Return the data file, which lists the items in the given order, and the state of each annotator."""
    items, schema = corpus.items, corpus.question.name or SCHEMA
    lines = [json.dumps({"id": str(items[i]), "text": texts[i]}, ensure_ascii=False) + "\n" for i in order]
    files = {ITEMS: "".join(lines).encode()}
    for annotator, given in states.items():
        # Escape the name, so that it is a safe folder name, also if it is . or ..
        name = quote(annotator, safe="@ ") if annotator.strip(".") else annotator.replace(".", "%2E")
        place = f"{ANNOTATIONS}/{name}/{STATE_FILE}"
        files[place] = json.dumps(_state(annotator, given, items, schema), ensure_ascii=False, indent=1).encode()
    return files


def _state(annotator: str, annotations: Iterable[Annotated], items: Names, schema: str) -> dict[str, Any]:
    labels, spans = {}, {}
    for one in annotations:
        name = str(items[one.item])
        if one.label is not None:
            labels[name] = [[{"schema": schema, "name": str(one.label)}, TICKED]]
        else:
            spans[name] = [
                [
                    {"schema": schema, "name": span.kind, "title": span.kind, "start": span.start, "end": span.end},
                    TICKED,
                ]
                for span in one.spans
            ]
    return {
        "user_id": annotator,
        "instance_id_ordering": [*labels, *spans],
        "current_instance_index": 0,
        "instance_id_to_label_to_value": labels,
        "instance_id_to_span_to_value": spans,
        "instance_id_to_behavioral_data": {},
    }


TEXT_FIELDS = ("text", "content", "sentence", "review", "comment", "document")
"""Fields that contain the text, in order of preference; otherwise the longest text is used."""


def find_texts(folder: Folder, names: Iterable[str], items: set[str]) -> Mapping[str, str]:
    """Return item -> text from the first file in which all items have a text; empty if there is none.

    Args:
        folder: The folder or zip file.
        names: The members to search, in this order: JSON, JSONL, csv and tsv.
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
        text = main_text(record, TEXT_FIELDS)
        if key is not None and text is not None:
            yield str(key), text


def _records(file: InputFile) -> Iterator[dict[str, Any]]:
    suffix = PurePosixPath(str(file.path)).suffix.lower()
    if suffix in (".json", ".jsonl"):
        yield from (record for _, record in iterate_records(file))
    elif suffix in (".csv", ".tsv"):
        table, _ = (CSV if suffix == ".csv" else TSV).read_table(file)
        yield from table.iter_rows(named=True)


STATE_FILE = "user_state.json"
LABELS, SPAN_FIELD = "instance_id_to_label_to_value", "instance_id_to_span_to_value"
TRUE = ("true", "on", True)
FALSE = ("false", "", None, False)
FREE_TEXT = ("free_response", "text_box", "text")
"""Names of fields for free text, which is not a class."""

MAX_SHARED_ANSWERS = 10_000
"""Maximum number of distinct answers of an annotator that are kept for sharing."""

CHOICES, SPANS = "choices", "spans"
REMEDY = "Copy Potato's folder of annotations again."


class Potato(ToolExport):
    """Potato's annotations with one state per annotator."""

    name, title, suffixes = "potato", "Potato's annotations", (".json", ".zip")
    writes_folder = True

    def recognises(self, head: bytes) -> bool:
        """Return whether this is the state of an annotator."""
        return outline_json(head).has("user_id", "instance_id_ordering")

    def recognises_folder(self, folder: Folder) -> bool:
        """Return whether the folder contains the state of an annotator."""
        return any(map(_is_state, folder.names))

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the labels or tags of all annotators, and texts if the folder has the data files."""
        collector = Collector(file.name, options)
        files = [one for one in file.members(STATE_FILE) if not file.is_folder or _is_state(str(one.path))]
        if not files:
            raise FormatError(f"{file.name}: contains no {STATE_FILE}. {REMEDY}")
        states = [(one, _read_state(one, collector)) for one in files]
        collector.member = ""
        kinds = {schema: kind for _, state in states for schema, kind in _questions(state)}
        question = require_question(kinds, collector.question, file.name)
        collector.question = question
        texts = _texts(file, states)
        states.reverse()
        while states:  # free each state once it is read: it takes several times the memory of its answers
            one, state = states.pop()
            collector.enter(one)
            _read_answers(state, collector, question, kinds[question], texts)
            del state
        return collector.crowd()

    def encode_labels(self, labels: CrowdLabels, corpus: Corpus | None, target: str) -> Encoded:
        """Encode a folder with the states of all annotators and the texts."""
        corpus, texts, annotations = annotate(labels, corpus, target=target, tool=TOOL)
        states: dict[str, list[Annotated]] = defaultdict(list)
        for one in annotations:
            states[str(labels.annotators[one.annotator])].append(one)
        return _encode_files(corpus, texts, states, order=range(len(labels.items)))

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> Encoded:
        """Encode a folder with the answers as the state of one annotator, and the texts in review order."""
        corpus, texts, found = annotate(estimate, corpus, target=target, tool=TOOL)
        annotations = list(found)
        return _encode_files(corpus, texts, {CONSENSUS: annotations}, order=[one.item for one in annotations])


POTATO = Potato()

State = dict[str, Any]


def _is_state(name: str) -> bool:
    return PurePosixPath(name).name == STATE_FILE


def _read_state(file: InputFile, collector: Collector) -> State:
    """Read the state of one annotator and check its fields."""
    collector.enter(file)
    try:
        with file.open_unpacked() as opened:
            state = _compact(json.loads(opened.read().removeprefix(b"\xef\xbb\xbf"), object_hook=_name_once({})))
    except UnicodeDecodeError:
        raise collector.error("", "not UTF-8 text", "Save the file as UTF-8.") from None
    except (ValueError, RecursionError) as problem:
        raise collector.error("", f"not JSON ({problem})", REMEDY) from None
    if not isinstance(state, dict) or not isinstance(state.get("user_id"), str | int):
        raise collector.error("", "not the state of an annotator, since user_id is missing", REMEDY)
    for name in (LABELS, SPAN_FIELD):
        if not isinstance(state.get(name, {}), dict):
            raise collector.error("", f"{name} is not an object", REMEDY)
    return state


def _name_once(known: dict[tuple[str, str], dict[str, str]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a JSON object hook that shares equal {schema, name} objects, of which a state repeats a few."""

    def share(found: dict[str, Any]) -> dict[str, Any]:
        schema, name = found.get("schema"), found.get("name")
        if len(found) != 2 or not isinstance(schema, str) or not isinstance(name, str):
            return found
        return known.setdefault((schema, name), found)

    return share


def _compact(state: Any) -> Any:
    """Share equal answers and copy the instance names, so that the memory used for parsing can be freed.

    A name allocated between the answers would keep the memory around it in use.
    """
    known: dict[str, Any] = {}

    def share(said: Any) -> Any:
        """Return a known equal answer if there is one; the number of stored answers is limited."""
        return known.setdefault(repr(said), said) if len(known) < MAX_SHARED_ANSWERS else said

    for field in (LABELS, SPAN_FIELD):
        if isinstance(state, dict) and isinstance(state.get(field), dict):
            copied = ((name.encode("utf-8", "surrogatepass"), said) for name, said in state[field].items())
            state[field] = {name.decode("utf-8", "surrogatepass"): share(said) for name, said in copied}
    return state


def _pairs(answers: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield schema, name and value of each answer to an instance; malformed answers have an empty schema."""
    if isinstance(answers, dict):
        for schema, named in answers.items():
            inner = named.get("labels", named) if isinstance(named, dict) else {"": named}
            inner = inner if isinstance(inner, dict) else {"": inner}
            yield from ((str(schema), str(name), value) for name, value in inner.items())
        return
    for pair in answers if isinstance(answers, list) else (None,):
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict):
            yield str(pair[0].get("schema", "")), str(pair[0].get("name", "")), pair[1]
        else:
            yield "", "", pair


def _spans(spans: Any) -> Iterator[tuple[str, Any]]:
    """Yield schema and fields of each span of an instance."""
    if isinstance(spans, dict):
        for schema, listed in spans.items():
            yield from ((str(schema), one) for one in (listed if isinstance(listed, list) else [listed]))
        return
    for pair in spans if isinstance(spans, list) else (None,):
        one = pair[0] if isinstance(pair, list) and pair else pair
        yield (str(one.get("schema", "")), one) if isinstance(one, dict) else ("", one)


def _questions(state: State) -> Iterator[tuple[str, str]]:
    """Yield the schemas that a state answers, with their kinds."""
    for answers in state.get(LABELS, {}).values():
        yield from ((schema, CHOICES) for schema, name, _ in _pairs(answers) if schema and name not in FREE_TEXT)
    for spans in state.get(SPAN_FIELD, {}).values():
        yield from ((schema, SPANS) for schema, _ in _spans(spans) if schema)


def _texts(file: InputFile, states: list[tuple[InputFile, State]]) -> Mapping[str, str]:
    """Return the texts of the instances from the data files of the project."""
    if not file.is_folder:
        return {}
    skipped = {PurePosixPath(name).parent for name in filter(_is_state, file.folder.names)}
    names = [name for name in file.folder.names if PurePosixPath(name).parent not in skipped]
    if not names:
        return {}
    ids = {str(name) for _, state in states for field in (LABELS, SPAN_FIELD) for name in state.get(field, {})}
    return find_texts(file.folder, names, ids)


def _read_answers(state: State, collector: Collector, question: str, kind: str, texts: Mapping[str, str]) -> None:
    """Add one annotator's answers to the question for all instances."""
    labels, spans = state.get(LABELS, {}), state.get(SPAN_FIELD, {})
    for number, instance in enumerate(chain(labels, (one for one in spans if one not in labels)), start=1):
        item = collector.item(instance, text=texts.get(instance))
        if kind == SPANS:
            if texts.get(instance) is None:
                remedy = "Give the folder of the whole project, including its data files."
                raise collector.error(number, "marked spans, but the text of this instance is unknown", remedy)
            mine = [one for schema, one in _spans(spans.get(instance, [])) if schema == question]
            mine = [{"name": one.get("label"), **one} if isinstance(one, dict) else one for one in mine]
            found = [collector.parse_span(one, number, ("start", "end", "name")) for one in mine]
            collector.spans(item, state["user_id"], found, record=number, kind="human")
            continue
        answers = [
            one
            for schema, name, value in _pairs(labels.get(instance, []))
            for one in _answer(schema, name, value, collector, number)
            if schema == question
        ]
        collector.choice(item, state["user_id"], answers, record=number, kind="human")


def _answer(schema: str, name: str, value: Any, collector: Collector, number: int) -> list[Any]:
    """Return the answer of a pair: its name if ticked, otherwise its value."""
    if not schema or isinstance(value, dict | list):
        raise collector.error(number, "an answer without schema, name and a single value", REMEDY)
    if name in FREE_TEXT or value in FALSE:
        return []
    return [name] if value in TRUE or str(value) == name else [value]
