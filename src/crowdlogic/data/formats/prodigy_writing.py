"""Prodigy's JSONL, written: a task a line, as `prodigy db-in` takes them, for one annotator or for each of several.

Documents are choices (`options`, `accept`), sentences spans with their tokens; `token_end` is the last token of a span.
A consensus has its confidence in `meta`, and the least sure tasks come first, so that a stream made from the file is
reviewed in that order. Items keep their name in `meta.item`; `_input_hash` is that name where it is a number, and else
a checksum of it.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.character_spans import texts_and_bounds
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.formats.annotated_texts import (
    Annotated,
    consensus_annotations,
    crowd_annotations,
    require_spans,
    require_texts,
    review_order,
)
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, Names
from crowdlogic.numerics.arrays import Ints

TOOL = "Prodigy"
DIGITS = 6
"""How many digits of a confidence are written."""

Place = tuple[int, int]


@dataclass(frozen=True, eq=False)
class TaskWriter:
    """What all tasks of a file share.

    Attributes:
        items: The name of each item.
        texts: The text of each item.
        classes: The classes.
        offsets: Where the tokens of each item begin; None for documents.
        bounds: The place of each token in its item's text.
    """

    items: Names
    texts: tuple[str, ...]
    classes: Classes
    offsets: Ints | None = None
    bounds: Ints | None = None

    def line(self, one: Annotated, annotator: str) -> bytes:
        """A task with one annotation."""
        name = self.items[one.item]
        number = name if isinstance(name, int) else _checksum(str(name))
        meta = {"item": name} | ({} if math.isnan(one.confidence) else {"confidence": round(one.confidence, DIGITS)})
        content = self._choice(one) if self.offsets is None else self._spans(one)
        task: dict[str, Any] = {"text": self.texts[one.item], "meta": meta, **content, "answer": "accept"}
        task |= {"_input_hash": number, "_task_hash": number, "_annotator_id": annotator, "_session_id": annotator}
        if not math.isnan(one.time):
            task["_timestamp"] = one.time
        return (json.dumps(task, ensure_ascii=False) + "\n").encode()

    def _choice(self, one: Annotated) -> dict[str, Any]:
        options = [{"id": str(name), "text": str(name)} for name in self.classes]
        return {"options": options, "accept": [str(one.label)], "_view_id": "choice"}

    def _spans(self, one: Annotated) -> dict[str, Any]:
        places = self._places(one.item)
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

    def _places(self, item: int) -> list[Place]:
        if self.offsets is None or self.bounds is None:
            return []
        rows = self.bounds[self.offsets[item] : self.offsets[item + 1]]
        return [(int(a), int(b)) for a, b in rows]


def encode_consensus(estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
    """A task for each item with its answer, in review order."""
    require_spans(estimate, target=target, tool=TOOL)
    writer = _make_writer(estimate, corpus, target)
    annotations = review_order(consensus_annotations(estimate, corpus)) if corpus is not None else []
    return b"".join(writer.line(one, f"crowdlogic-{estimate.method}") for one in annotations)


def encode_annotations(labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """A task for each annotation of each annotator."""
    require_spans(labels, target=target, tool=TOOL)
    writer, annotators = _make_writer(labels, corpus, target), labels.annotators.to_list()
    annotations: Iterable[Annotated] = crowd_annotations(labels, corpus)
    return b"".join(writer.line(one, str(annotators[one.annotator])) for one in annotations)


def _make_writer(content: CrowdLabels | Estimate, corpus: Corpus | None, target: str) -> TaskWriter:
    texts = require_texts(corpus, sequential=content.offsets is not None, target=target, tool=TOOL)
    if content.offsets is None or corpus is None:
        return TaskWriter(content.items, texts, content.classes)
    return TaskWriter(content.items, texts, content.classes, content.offsets, np.asarray(texts_and_bounds(corpus)[1]))


def _checksum(name: str) -> int:
    """A number for a name, of 31 bits."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF
