"""Collector for the contents of an export: items, labels or marked spans, gold, and counts of what is skipped.

An importer iterates over its records once and passes on what it finds:

    collector = Collector(file.name, options)
    for number, record in iterate_records(file):
        item = collector.record_item(record, number, text=record["text"])
        collector.choice(item, record["user"], record["answers"], record=number, kind="human")
    return collector.crowd()

If an annotator annotated an item several times, the last annotation counts (by time if known), unless the options say
otherwise. Texts are tokenised once, and the spans of all annotators are aligned to these tokens
(`data/character_spans.py`).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, cast

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus, Question, align
from crowdlogic.data.estimate import Answers, answers_from_crowd
from crowdlogic.data.files import InputFile, MemberFile
from crowdlogic.data.formats.protocol import Crowd, FileFormat, ReadOptions
from crowdlogic.data.intake.building import LARGEST_NUMBER, build_labels, code_labels, odd_classes
from crowdlogic.data.intake.contract import Duplicates, Intake, LeftOut, TableSource
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, Names
from crowdlogic.data.text_tokens import TokenizedTexts, tokenize_texts
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, FormatError, name_list, parse_choice
from crowdlogic.extensions.tools.marked_spans import Annotations, MarkedSpan, TaggedTexts, tag_texts
from crowdlogic.numerics.arrays import Bools, Ints, stable_order

CHUNK_TOKENS = 1 << 16
"""Number of tokens converted to Python strings at a time."""


@dataclass
class CollectedRows:
    """Growing columns with one row per annotation. Arrays take a third of the memory of lists."""

    item: array[int] = field(default_factory=lambda: array("q"))
    annotator: array[int] = field(default_factory=lambda: array("i"))
    record: array[int] = field(default_factory=lambda: array("q"))
    time: array[float] = field(default_factory=lambda: array("d"))
    weight: array[float] = field(default_factory=lambda: array("d"))

    def add(self, item: int, annotator: int, *, record: int, time: float | None, weight: float | None) -> None:
        """Add a row."""
        self.item.append(item)
        self.annotator.append(annotator)
        self.record.append(record)
        self.time.append(np.nan if time is None else time)
        self.weight.append(1.0 if weight is None else weight)

    def __len__(self) -> int:
        return len(self.item)


def rows_that_count(rows: CollectedRows, policy: Duplicates, several: Bools | None = None) -> Ints:
    """Return the rows that count, in input order: the last or the first row of each (item, annotator).

    Args:
        rows: The rows.
        policy: What to do with several rows of one annotator on one item: last, first or keep.
        several: several[r] marks rows that may occur repeatedly per item and annotator, such as partial labels.
    """
    if policy is Duplicates.keep or not len(rows):
        return np.arange(len(rows))
    item, annotator = np.array(rows.item, dtype=np.int64), np.array(rows.annotator, dtype=np.int64)
    key = item * (annotator.max() + 1) + annotator
    if several is not None and several.any():
        key[several] = key.max() + 1 + np.arange(np.count_nonzero(several))  # a separate key for each
    time = np.nan_to_num(np.array(rows.time), nan=-np.inf)
    order = np.lexsort((np.arange(len(key)), time, key))
    if policy is Duplicates.last:
        return np.sort(order[np.append(np.flatnonzero(np.diff(key[order])), len(key) - 1)])
    return np.sort(order[np.diff(key[order], prepend=-1) != 0])


def shared_texts(tokens: Names) -> tuple[str, ...]:
    """Return the tokens as Python strings, storing each distinct token once."""
    known: dict[str, str] = {}
    found: list[str] = []
    for start in range(0, len(tokens), CHUNK_TOKENS):
        found += [known.setdefault(token, token) for token in tokens.slice(start, CHUNK_TOKENS).to_list()]
    return tuple(found)


def label_column(labels: Sequence[Any], kinds: set[type]) -> Names:
    """Return labels as numbers or booleans if `kinds`, the types of all labels, permits it, otherwise as text."""
    if kinds <= {int} or kinds <= {bool} or kinds <= {int, float}:
        try:
            return pl.Series("label", labels, dtype=pl.Boolean if kinds == {bool} else None, strict=False)
        except (OverflowError, TypeError, pl.exceptions.PolarsError):
            pass
    return pl.Series("label", [None if label is None else str(label) for label in labels], dtype=pl.String)


def split_question(question: str | None) -> tuple[str | None, str | None]:
    """Split `topic=sports` into the question and the answer asked for."""
    if question is None:
        return None, None
    name, equals, answer = question.partition("=")
    return (name, answer) if equals and answer else (question, None)


def require_question(found: Mapping[str, str], chosen: str | None, name: str) -> str:
    """Return the question to read: the chosen one, or the only one in the file.

    Args:
        found: Question -> kind of question, for all questions that can be read.
        chosen: The user's choice.
        name: Name of the file in messages.
    """
    listed = name_list(f"{question} ({kind})" for question, kind in found.items())
    if chosen is not None:
        if chosen not in found:
            raise FormatError(f"{name}: there is no question {chosen!r}. Found: {listed or 'no questions'}.")
        return chosen
    if not found:
        raise FormatError(f"{name}: no choices, marked spans, ratings or comparisons were found.")
    if len(found) > 1:
        raise FormatError(f"{name}: there are several questions: {listed}. Choose one with --question.")
    return next(iter(found))


REMEDY = "Export the project again."

LANGUAGE_MODELS = re.compile(
    r"gpt|chatgpt|\bo[134]\b|claude|gemini|gemma|llama|mi[sx]tral|qwen|deepseek|command-r|grok|\bphi-?\d|\bllm\b",
    re.IGNORECASE,
)
"""Pattern of the names of language models."""


def kind_of_model(name: str) -> str:
    """Return the kind of an annotator that is a program: llm for a language model, otherwise code."""
    return "llm" if LANGUAGE_MODELS.search(name) else "code"


def weight_of_score(score: Any) -> float | None:
    """Return a model's score as the weight of its label if it is above 0 and at most 1; otherwise None."""
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    return float(score) if is_number and 0 < score <= 1 else None


def main_text(fields: Mapping[str, Any], preferred: Sequence[str] = ("text",)) -> str | None:
    """Return the text among some fields: the first of the preferred ones that is not empty, otherwise the longest."""
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    named = next((texts[name] for name in preferred if texts.get(name)), None)
    return named or max(texts.values(), key=len, default=None)


YES, NO = "yes", "no"
"""Labels for a question about one of several possible answers (`--question topic=sports`)."""

Place = int | str


class Collector:
    """Collector of items, annotators and annotations, filled by an importer."""

    def __init__(self, name: str, options: ReadOptions) -> None:
        self.name, self.options = name, options
        self.member = ""  # the file being read, within a folder or zip file
        self.question, self.wanted = split_question(options.question)
        self.kind = self.target = self.field = ""  # the tool's names for the question's kind, its object, and the text
        self._items: dict[Any, int] = {}
        self._texts: list[str | None] = []
        self._tokens: dict[int, array[int]] = {}  # start, end, start, end...
        self._annotators: dict[str, int] = {}
        self._kinds: list[str] = []
        self._labels: list[Any] = []
        self._negated: list[bool] = []
        self._label_rows, self._span_rows = CollectedRows(), CollectedRows()
        self._spans: list[Sequence[MarkedSpan]] = []
        self._gold_labels: dict[int, Any] = {}
        self._gold_spans: dict[int, Sequence[MarkedSpan]] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], str] = {}

    def item(self, name: Any, *, text: str | None = None, tokens: Sequence[tuple[int, int]] | None = None) -> int:
        """Return the code of an item, adding it if it is new. A repeated item keeps its first text.

        Args:
            name: Name of the item, a string or an integer.
            text: Text of the item.
            tokens: Positions of the tokens in the text, if the export has tokens.
        """
        code = self._items.setdefault(name, len(self._items))
        if code == len(self._texts):
            self._texts.append(text)
        elif self._texts[code] is None:
            self._texts[code] = text
        if tokens is not None and code not in self._tokens:
            self._tokens[code] = array("q", chain.from_iterable(tokens))
        return code

    def record_item(self, record: Mapping[str, Any], number: int, *, text: str | None) -> int:
        """Return the code of the item of a record, which is named by its id, or by its number without an id."""
        name = number if record.get("id") is None else record["id"]
        if isinstance(name, bool) or not isinstance(name, int | str):
            raise self.error(number, "the id is neither a number nor text", REMEDY)
        return self.item(name, text=text)

    def parse_span(self, found: Any, record: int, keys: tuple[str, str, str] = ("start", "end", "label")) -> MarkedSpan:
        """Return the marked span in an object; `keys` are the names of its start, its end and its type."""
        start, end, kind = (found.get(key) if isinstance(found, dict) else None for key in keys)
        if type(start) is not int or type(end) is not int:
            what = f"expected a span with {keys[0]}, {keys[1]} and {keys[2]}, found {str(found)[:60]!r}"
            raise self.error(record, what, REMEDY)
        return start, end, cast("str", kind)  # a span without a type is refused when it is added

    def enter(self, file: InputFile) -> None:
        """Set the file that is being read, for messages, if it is a member of a folder or zip file."""
        self.member = file.member if isinstance(file, MemberFile) else ""

    def text(self, item: int) -> str | None:
        """Return the text of an item."""
        return self._texts[item]

    def annotator(self, name: Any, kind: str = "") -> int:
        """Return the code of an annotator, adding it if it is new. The first kind given counts."""
        code = self._annotators.setdefault(str(name), len(self._annotators))
        if code == len(self._kinds):
            self._kinds.append(kind)
        return code

    def label(
        self,
        item: int,
        annotator: Any,
        label: Any,
        *,
        record: int,
        kind: str = "",
        time: float | None = None,
        weight: float | None = None,
        negated: bool = False,
    ) -> None:
        """Add an annotator's label for an item; `negated` means that this label is excluded."""
        if isinstance(label, dict | list):
            raise self.error(
                record, f"the label {str(label)[:60]!r} is not a class", "Give one class as text or number."
            )
        self._labels.append(label)
        self._negated.append(negated)
        self._label_rows.add(item, self.annotator(annotator, kind), record=record, time=time, weight=weight)

    def choice(
        self,
        item: int,
        annotator: Any,
        answers: Sequence[Any],
        *,
        record: int,
        kind: str = "",
        time: float | None = None,
        weight: float | None = None,
    ) -> None:
        """Add an annotator's chosen answers: one is a label, none an abstention, several are an error.

        With `--question topic=sports`, the label is whether `sports` was chosen.
        """
        label = self._one_answer(answers, record)
        if label is None:
            self.leave_out("annotation", "without an answer: no label", record)
            return
        self.label(item, annotator, label, record=record, kind=kind, time=time, weight=weight)

    def _one_answer(self, answers: Sequence[Any], record: int) -> Any:
        """Return the only answer, or whether the wanted one was chosen; None without an answer."""
        if self.wanted is not None:
            return YES if self.wanted in map(str, answers) else NO
        if len(answers) > 1:
            asked = self.question or "topic"
            raise self.error(
                record,
                f"{len(answers)} answers at once ({name_list(answers)})",
                f"A label is one class; ask about one of them (yes or no): --question {asked}={answers[0]}.",
            )
        return answers[0] if answers else None

    def spans(
        self,
        item: int,
        annotator: Any,
        spans: Sequence[MarkedSpan],
        *,
        record: int,
        kind: str = "",
        time: float | None = None,
        weight: float | None = None,
    ) -> None:
        """Add the spans (start, end, type) that an annotator marked; an empty list means no entities."""
        self._check_spans(item, spans, record)
        self._spans.append(spans)
        self._span_rows.add(item, self.annotator(annotator, kind), record=record, time=time, weight=weight)

    def gold_label(self, item: int, label: Any, *, record: int) -> None:
        """Set the true label of an item; the last one counts."""
        if isinstance(label, dict | list):
            raise self.error(
                record, f"the label {str(label)[:60]!r} is not a class", "Give one class as text or number."
            )
        if self._gold_labels.get(item, label) != label:
            self.leave_out("gold label", "contradicting a later one of the same item: the later one was taken", record)
        self._gold_labels[item] = label

    def gold_choice(self, item: int, answers: Sequence[Any], *, record: int) -> None:
        """Set the true answer to a question, if there is one."""
        label = self._one_answer(answers, record)
        if label is not None:
            self.gold_label(item, label, record=record)

    def gold_spans(self, item: int, spans: Sequence[MarkedSpan], *, record: int) -> None:
        """Set the true spans of an item; the last ones count."""
        self._check_spans(item, spans, record)
        self._gold_spans[item] = spans

    def leave_out(self, what: str, reason: str, record: Place = "") -> None:
        """Count something that was skipped or changed, to report it to the user with its reason."""
        self._left_out[what, reason] += 1
        self._first.setdefault((what, reason), self._place(record).removeprefix(", "))

    def error(self, record: Place, what: str, remedy: str) -> FormatError:
        """Create the error for a record: where it is, what was found, and what to do."""
        return FormatError(f"{self.name}{self._place(record)}: {what}. {remedy}")

    def _place(self, record: Place) -> str:
        """Return the member and the record as a suffix to the file's name."""
        parts = [self.member, f"record {record}" if isinstance(record, int) else record]
        return "".join(f", {part}" for part in parts if part)

    def crowd(self) -> Crowd:
        """Return everything that was collected."""
        if not self._items:
            raise FormatError(f"{self.name}: no records. Export the project again.")
        has_labels, has_spans = bool(self._labels or self._gold_labels), bool(self._span_rows or self._gold_spans)
        if has_labels and has_spans:
            raise FormatError(
                f"{self.name}: the file has both labels of texts and marked spans. Choose with --question."
            )
        if not has_labels and not has_spans:
            left_out = "".join(f" {one}" for one in self._left_out_summary())
            raise FormatError(f"{self.name}: there are no annotations.{left_out} Export annotated tasks.")
        try:
            return self._tagged_crowd() if has_spans else self._labelled_crowd()
        except UnicodeEncodeError:
            raise FormatError(
                f"{self.name}: a text contains half of a character (a lone surrogate). Export the file again as UTF-8."
            ) from None

    def _left_out_summary(self) -> tuple[LeftOut, ...]:
        return tuple(
            LeftOut(count, what, reason, self._first[what, reason]) for (what, reason), count in self._left_out.items()
        )

    def _check_spans(self, item: int, spans: Sequence[MarkedSpan], record: int) -> None:
        text = self._texts[item]
        if text is None:
            raise self.error(record, "marked spans without a text", "Include the texts in the export.")
        for start, end, kind in spans:
            if not 0 <= start < end <= len(text):
                raise self.error(
                    record,
                    f"the span {start} to {end} lies outside the text of {pluralise(len(text), 'character')}",
                    "Export the file again; offsets are in characters and start at 0.",
                )
            if not isinstance(kind, str) or not kind.strip():
                raise self.error(record, f"the span {start} to {end} has no type", "Give each span a label.")

    def _labelled_crowd(self) -> Crowd:
        rows = self._last_rows(self._label_rows, np.array(self._negated, dtype=bool))
        names, people = self._item_names(), self._annotator_names
        item, annotator = (
            np.array(column, dtype=np.int64)[rows] for column in (self._label_rows.item, self._label_rows.annotator)
        )
        table = pl.DataFrame(
            {
                "item": names.gather(item),
                "annotator": people.gather(annotator),
                "label": label_column(self._labels, self._label_types()).gather(rows),
                **self._extra_columns(self._label_rows, rows),
            }
        )
        source = TableSource(self.name, word="record", numbers=np.array(self._label_rows.record, dtype=np.int64)[rows])
        # Only one row of each pair is left, except for partial labels
        policy = Duplicates.keep if self._policy is Duplicates.keep or any(self._negated) else Duplicates.error
        labels = build_labels(table, source, classes=self.options.classes, duplicates=policy)
        gold: Ints | None = None
        classes: Classes = ()
        if self._gold_labels:
            column = label_column([self._gold_labels.get(i) for i in range(len(self._items))], self._label_types())
            codes, classes = code_labels(column, TableSource(f"{self.name}: gold"), self.options.classes)
            gold = np.where(codes < 0, UNKNOWN, codes).astype(np.int32)
        texts = None if all(text is None for text in self._texts) else tuple(text or "" for text in self._texts)
        pl.Series(texts or (), dtype=pl.String)  # raises if a text is not valid Unicode
        corpus = Corpus(names, texts=texts, classes=classes, gold=gold, question=self._asked)
        labels, corpus = align(labels, corpus)
        return Crowd(self._with_intake(labels), corpus)

    def _label_types(self) -> set[type]:
        """Return the types of all labels and gold, which share classes; very large numbers count as text."""
        distinct = {label for label in chain(self._labels, self._gold_labels.values()) if label is not None}
        is_large = any(isinstance(label, int) and abs(label) >= LARGEST_NUMBER for label in distinct)
        return {type(label) for label in distinct} | ({str} if is_large else set())

    def _tagged_crowd(self) -> Crowd:
        rows = self._last_rows(self._span_rows)
        texts = [text or "" for text in self._texts]
        tokenized = self._tokenized(texts)
        tokens = shared_texts(tokenized.tokens)
        tokenized = replace(tokenized, tokens=tokenized.tokens.clear())  # the tags need only positions; free the tokens
        gold_items = sorted(self._gold_spans)
        annotations = Annotations(
            item=np.append(np.array(self._span_rows.item)[rows], np.array(gold_items, dtype=np.int64)),
            record=np.append(np.array(self._span_rows.record)[rows], np.zeros(len(gold_items), dtype=np.int64)),
            spans=[*(self._spans[r] for r in rows), *(self._gold_spans[item] for item in gold_items)],
        )
        tagged = tag_texts(annotations, tokenized, self.options, self)
        count = int(np.searchsorted(tagged.annotation, len(rows)))
        gold = np.full(int(tokenized.offsets[-1]), UNKNOWN, dtype=np.int32)
        gold[tagged.unit[count:]] = tagged.label[count:]  # the tags of gold come last
        tagged = self._sort_tags(tagged, rows, count)
        labels = self._tag_labels(tagged, rows, tokenized.offsets)
        corpus = Corpus(
            labels.items,
            texts=tuple(texts),
            tokens=tokens,
            offsets=tokenized.offsets,
            bounds=tokenized.bounds,
            classes=tagged.classes if gold_items else (),
            gold=gold if gold_items else None,
            question=self._asked,
        )
        return Crowd(self._with_intake(labels), corpus)

    def _sort_tags(self, tagged: TaggedTexts, rows: Ints, count: int) -> TaggedTexts:
        """Sort the first `count` tags by unit and annotator, so that CrowdLabels need not sort a copy."""
        annotator = np.array(self._span_rows.annotator, dtype=np.int64)[rows]
        key = tagged.unit[:count].astype(np.int64)
        key *= max(len(self._annotators), 1)
        key += annotator[tagged.annotation[:count]]
        order = stable_order(key)
        del key
        return replace(tagged, annotation=tagged.annotation[order], unit=tagged.unit[order], label=tagged.label[order])

    def _tag_labels(self, tagged: TaggedTexts, rows: Ints, offsets: Ints) -> CrowdLabels:
        """Return the tags of all annotations except gold."""
        annotator = np.array(self._span_rows.annotator, dtype=np.int32)[rows]
        weight, time = (np.array(column)[rows] for column in (self._span_rows.weight, self._span_rows.time))
        return CrowdLabels(
            unit=tagged.unit,
            annotator=annotator[tagged.annotation],
            label=tagged.label,
            items=self._item_names(),
            annotators=self._annotator_names,
            classes=tagged.classes,
            offsets=offsets,
            weight=None if (weight == 1.0).all() else weight[tagged.annotation],
            time=None if np.isnan(time).all() else time[tagged.annotation],
            kind=tuple(self._kinds) if any(self._kinds) else None,
            intake=Intake(rows=len(rows), notices=odd_classes(tagged.classes)),
        )

    def _tokenized(self, texts: list[str]) -> TokenizedTexts:
        """Return the tokens of all texts: those of the export if every text has them, otherwise tokenise."""
        if len(self._tokens) < len(texts):
            return tokenize_texts(texts, self.options.tokens)
        places = [self._tokens[item] for item in range(len(texts))]
        known: dict[str, str] = {}
        flat = [
            known.setdefault(text[start:end], text[start:end])
            for text, own in zip(texts, places, strict=True)
            for start, end in zip(own[::2], own[1::2], strict=True)
        ]
        bounds = np.concatenate([np.frombuffer(own, dtype=np.int64) for own in places]).reshape(-1, 2)
        offsets = np.concatenate([[0], np.cumsum([len(own) // 2 for own in places], dtype=np.int64)])
        return TokenizedTexts(pl.Series("token", flat, dtype=pl.String), bounds, offsets)

    @property
    def _asked(self) -> Question:
        """The question in the tool's terms; `topic=sports` has no kind, since its answers are yes and no."""
        kind = self.kind if self.wanted is None else ""
        return Question(name=self.question or "", kind=kind, target=self.target, field=self.field)

    @property
    def _policy(self) -> Duplicates:
        """Policy for repeated annotations of an item by one annotator: by default, the last counts."""
        policy = parse_choice(Duplicates, self.options.duplicates, "duplicates")
        return Duplicates.last if policy is Duplicates.error else policy

    def _last_rows(self, rows: CollectedRows, several: Bools | None = None) -> Ints:
        """Return the rows that count, in input order, and report the annotations that they replace.

        Args:
            rows: The rows.
            several: several[r] marks rows that may occur repeatedly per item and annotator, such as partial labels.
        """
        kept = rows_that_count(rows, self._policy, several)
        taken = "later" if self._policy is Duplicates.last else "earlier"
        for row in sorted(set(range(len(rows))) - set(kept.tolist())) if len(kept) < len(rows) else ():
            self.leave_out("annotation", f"replaced by a {taken} one of the same annotator", rows.record[row])
        return kept

    def _extra_columns(self, rows: CollectedRows, kept: Ints) -> dict[str, Any]:
        """Return the known columns among weight, time, negated and kind."""
        columns: dict[str, Any] = {}
        weight, time = np.array(rows.weight)[kept], np.array(rows.time)[kept]
        if not (weight == 1.0).all():
            columns["weight"] = weight
        if not np.isnan(time).all():
            columns["time"] = pl.Series(time).fill_nan(None)
        if any(self._negated):
            columns["negated"] = pl.Series(self._negated, dtype=pl.Boolean).gather(kept)
        if any(self._kinds):
            kinds = pl.Series(self._kinds, dtype=pl.String)
            columns["kind"] = kinds.gather(np.array(rows.annotator, dtype=np.int64)[kept])
        return columns

    def _item_names(self) -> Names:
        """Return the names as integers if all are integers, otherwise as text."""
        names = list(self._items)
        if all(isinstance(name, int) and not isinstance(name, bool) for name in names):
            try:
                return pl.Series("item", names, dtype=pl.Int64)
            except (OverflowError, TypeError, pl.exceptions.PolarsError):
                pass
        texts = pl.Series("item", [str(name) for name in names], dtype=pl.String)
        if texts.n_unique() != len(texts):
            twice = texts.filter(texts.is_duplicated())[0]
            raise FormatError(f"{self.name}: item {twice!r} occurs both as a number and as text. Use one of them.")
        return texts

    @property
    def _annotator_names(self) -> Names:
        return pl.Series("annotator", list(self._annotators), dtype=pl.String)

    def _with_intake(self, labels: CrowdLabels) -> CrowdLabels:
        return replace(labels, intake=replace(labels.intake, left_out=self._left_out_summary()))


class ToolExport(FileFormat):
    """Base class for exports of annotation tools. A subclass recognises its files and reads their labels."""

    is_tool_export = True

    def read_corpus(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Corpus:  # noqa: ARG002
        """Read the annotated items, with gold if the export marks it."""
        corpus = self.read_crowd(file, ReadOptions()).corpus
        if corpus is None or (corpus.texts is None and corpus.tokens is None and corpus.gold is None):
            raise CorpusError(
                f"{file.name}: {self.title} has neither texts nor gold here. Give the file of the items instead."
            )
        return corpus

    def read_answers(self, file: InputFile, columns: Mapping[str, str] | None = None) -> Answers:  # noqa: ARG002
        """Read the gold of the export, or without gold the labels of its only annotator, such as a consensus."""
        crowd = self.read_crowd(file, ReadOptions())
        if len(crowd.labels.annotators) != 1 and (crowd.corpus is None or crowd.corpus.gold is None):
            raise CorpusError(f"{file.name}: {self.title} contains no gold. Aggregate its labels first.")
        return answers_from_crowd(crowd.labels, crowd.corpus, file.name)


def parse_time(value: Any) -> float | None:
    """Parse a time in ISO 8601, or a number, to seconds since 1970; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if -LARGEST_NUMBER < value < LARGEST_NUMBER else None  # NaN fails both comparisons
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
