"""Reader for WRENCH data sets: an object of examples, each with gold and the labels of every labelling function.

For classification, labels are numbers, -1 is an abstention, and a `label.json` in the same folder names the classes.
For sequences, labels are tags and `weak_labels` has a row per token. The functions are named by a `meta.json` in the
same folder, otherwise lf_0, lf_1, .... If a folder is given, its train.json is read.

Layout as in wrench (wrench/dataset/basedataset.py, seqdataset.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.files import InputFile, MemberFile, member_file
from crowdlogic.data.folders import Folder, require_parsable
from crowdlogic.data.formats.json_records import require_object
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.intake.building import code_labels
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import DataError, FormatError
from crowdlogic.extensions.tools.collector import Collector, ToolExport
from crowdlogic.extensions.tools.json_exports import iterate_members, outline_json

ABSTAIN = -1
TRAINING = "train.json"
REMEDY = "Fetch the data set again."


class Wrench(ToolExport):
    """Examples labelled by labelling functions."""

    name, title, suffixes = "wrench", "WRENCH's data set", (".json",)

    def recognises(self, head: bytes) -> bool:
        """Return whether the examples have weak labels."""
        found = outline_json(head)
        return found.root == "object" and any(path.endswith(".weak_labels") for path in found.paths)

    def recognises_folder(self, folder: Folder) -> bool:
        """Return whether the folder contains a training set in WRENCH's format."""
        return TRAINING in folder.names and self.recognises(member_file(folder, TRAINING).head())

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the labels or tags of all functions, texts or tokens, and gold."""
        opened: InputFile = member_file(file.folder, TRAINING) if file.is_folder else file
        examples = _Examples(opened)
        return examples.tags(options) if examples.are_sequences else examples.labels(options)


WRENCH = Wrench()


class _Examples:
    """Examples of a file, with the names of its labelling functions."""

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.names: list[str] = []
        self.numbers: list[int] = []
        self.records: list[dict[str, Any]] = []
        for number, name, record in iterate_members(file):
            self.names.append(name)
            self.numbers.append(number)
            self.records.append(self._check(require_object(record, number, file), number))
        if not self.records:
            raise FormatError(f"{file.name}: no examples. {REMEDY}")
        named = _beside(file, "meta.json").get("lf")
        width = len(self._rows(self.records[0])[0]) if self._rows(self.records[0]) else 0
        functions = [str(name) for name in named] if isinstance(named, list) else []
        is_named = len(functions) == width and len(set(functions)) == width
        require_parsable(file.name, rows=len(self.records), columns=width)
        self.functions = functions if is_named else [f"lf_{j}" for j in range(width)]

    @property
    def are_sequences(self) -> bool:
        """Whether weak labels have a row per token (sequence labelling)."""
        weak = self.records[0]["weak_labels"]
        return bool(weak) and isinstance(weak[0], list)

    def labels(self, options: ReadOptions) -> Crowd:
        """Return the labels of documents."""
        classes = {str(code): str(name) for code, name in _beside(self.file, "label.json").items()}
        collector = Collector(self.file.name, options)
        for number, name, record in zip(self.numbers, self.names, self.records, strict=True):
            data = record.get("data")
            text = data.get("text") if isinstance(data, dict) else data
            item = collector.item(name, text=text if isinstance(text, str) else None)
            for function, label in zip(self.functions, record["weak_labels"], strict=True):
                if label != ABSTAIN and label is not None:
                    collector.label(item, function, classes.get(str(label), label), record=number, kind="code")
            if record.get("label") not in (None, ABSTAIN):
                gold = record["label"]
                collector.gold_label(item, classes.get(str(gold), gold), record=number)
        return collector.crowd()

    def tags(self, options: ReadOptions) -> Crowd:
        """Return the tags of sentences."""
        rows = [
            (name, function, [str(row[j]) for row in self._rows(record)])
            for name, record in zip(self.names, self.records, strict=True)
            for j, function in enumerate(self.functions)
        ]
        source = TableSource(self.file.name, word="record", numbers=np.repeat(self.numbers, len(self.functions)))
        labels = from_sequences(rows, classes=options.classes, source=source)
        return Crowd(*align(labels, self._sentences()))

    def _sentences(self) -> Corpus:
        tokens = [self._tokens(record, number) for number, record in zip(self.numbers, self.records, strict=True)]
        lengths = np.array([len(sentence) for sentence in tokens], dtype=np.int64)
        gold: list[str | None] = []
        for record, length in zip(self.records, lengths.tolist(), strict=True):
            tags = [str(tag) for tag in record["label"]] if isinstance(record.get("label"), list) else []
            gold += tags if len(tags) == length else [None] * length
        source = TableSource(self.file.name, word="record", numbers=np.repeat(self.numbers, lengths))
        codes, classes = code_labels(pl.Series(gold, dtype=pl.String), source)
        return Corpus(
            pl.Series("item", self.names, dtype=pl.String),
            tokens=tuple(token for sentence in tokens for token in sentence),
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
            classes=classes,
            gold=np.where(codes < 0, UNKNOWN, codes),
        )

    def _tokens(self, record: dict[str, Any], number: int) -> Sequence[str]:
        data = record.get("data")
        found = data.get("text") if isinstance(data, dict) else data
        if not isinstance(found, list) or not all(isinstance(token, str) for token in found):
            raise FormatError(f"{self.file.name}, record {number}: no list of tokens. {REMEDY}")
        if len(found) != len(record["weak_labels"]):
            what = f"{pluralise(len(record['weak_labels']), 'row')} of weak labels for {pluralise(len(found), 'token')}"
            raise FormatError(f"{self.file.name}, record {number}: {what}. {REMEDY}")
        return found

    def _rows(self, record: dict[str, Any]) -> list[list[Any]]:
        """Return the weak labels of each token; a document counts as one token."""
        weak: list[Any] = record["weak_labels"]
        return weak if self.are_sequences else [weak]

    def _check(self, record: dict[str, Any], number: int) -> dict[str, Any]:
        """Return the record after checking that it has as many weak labels as the first record."""
        weak = record.get("weak_labels")
        if not isinstance(weak, list):
            raise FormatError(f"{self.file.name}, record {number}: no list of weak labels. {REMEDY}")
        shape = [len(row) if isinstance(row, list) else -1 for row in weak]
        first = self.records[0]["weak_labels"] if self.records else weak
        kind = len(first[0]) if first and isinstance(first[0], list) else -1
        if any(width != kind for width in shape) or (kind == -1 and len(weak) != len(first)):
            what = "the number of weak labels differs from the first record"
            raise FormatError(f"{self.file.name}, record {number}: {what}. {REMEDY}")
        return record


def _beside(file: InputFile, name: str) -> dict[str, Any]:
    """Read a JSON object from another file in the same folder; empty if there is none."""
    try:
        if isinstance(file, MemberFile):
            raw = file.parent.read(name) if name in file.parent.names else b"{}"
        else:
            path = Path(file.path).parent / name
            raw = InputFile(path).content if not file.is_standard_input and path.is_file() else b"{}"
        found = json.loads(raw)
    except (DataError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
