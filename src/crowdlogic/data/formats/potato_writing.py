"""Potato's folder, written: a `user_state.json` for each annotator, and the texts as a data file beside them.

The schema is the question that was read, or `label`. A consensus is the state of one annotator, `crowdlogic`; its data
file has the items in review order, the least sure first. Layout as in potato-annotation 2.8.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

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
from crowdlogic.data.names import Names

TOOL = "Potato"
SCHEMA = "label"
CONSENSUS = "crowdlogic"
TICKED = "true"
ITEMS, ANNOTATIONS = "data/items.jsonl", "annotation_output"

Files = dict[str, bytes]


def encode_consensus(estimate: Estimate, corpus: Corpus | None, target: str) -> Files:
    """The answers as the state of one annotator."""
    require_spans(estimate, target=target, tool=TOOL)
    texts = require_texts(corpus, sequential=estimate.offsets is not None, target=target, tool=TOOL)
    annotations = [] if corpus is None else review_order(consensus_annotations(estimate, corpus))
    states = {CONSENSUS: annotations}
    order = [one.item for one in annotations]
    return _encode_files(estimate.items, texts, states, order=order, schema=_schema(corpus))


def encode_annotations(labels: CrowdLabels, corpus: Corpus | None, target: str) -> Files:
    """The annotations of every annotator as a state."""
    require_spans(labels, target=target, tool=TOOL)
    texts = require_texts(corpus, sequential=labels.is_sequential, target=target, tool=TOOL)
    states: dict[str, list[Annotated]] = defaultdict(list)
    for one in crowd_annotations(labels, corpus):
        states[str(labels.annotators[one.annotator])].append(one)
    return _encode_files(labels.items, texts, states, order=range(len(labels.items)), schema=_schema(corpus))


def _encode_files(
    items: Names, texts: tuple[str, ...], states: dict[str, list[Annotated]], *, order: Sequence[int], schema: str
) -> Files:
    lines = [json.dumps({"id": str(items[i]), "text": texts[i]}, ensure_ascii=False) + "\n" for i in order]
    files = {ITEMS: "".join(lines).encode()}
    for annotator, given in states.items():
        place = f"{ANNOTATIONS}/{_folder_name(annotator)}/user_state.json"
        files[place] = json.dumps(_state(annotator, given, items, schema), ensure_ascii=False, indent=1).encode()
    return files


def _schema(corpus: Corpus | None) -> str:
    return (corpus.question.name if corpus is not None else "") or SCHEMA


def _folder_name(annotator: str) -> str:
    """The annotator's name as the name of a folder: nothing in it may lead elsewhere."""
    return quote(annotator, safe="@ ").replace(".", "%2E") if not annotator.strip(".") else quote(annotator, safe="@ ")


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
