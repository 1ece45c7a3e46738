"""Label Studio's tasks, written: consensus as predictions, in review order, or the annotations of all annotators.

The tasks are what Label Studio imports. A prediction pre-annotates its task; its `score` is the confidence, by which
the project's data manager can sort; tasks stand in review order, the least sure first. Places of spans count
characters, as in the pre-annotations of Label Studio's own guides. The names of the question, of what it is about and
of the text are those of the export that the labels came from; from elsewhere, they are `label`, `text` and `data.text`,
and the labelling configuration of the project must have them.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

from crowdlogic.data.corpus import Corpus, Question
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.formats.annotated_texts import (
    Annotated,
    consensus_annotations,
    crowd_annotations,
    require_spans,
    require_texts,
    review_order,
)
from crowdlogic.data.formats.label_studio_results import VALUE_FIELDS
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import ClassName, Names

FROM_NAME, TO_NAME, TEXT_FIELD = "label", "text", "text"
"""The names where the items come from elsewhere than Label Studio."""
TOOL = "Label Studio"
DIGITS = 6
"""How many digits of a confidence are written."""


def encode_predictions(estimate: Estimate, corpus: Corpus | None, target: str) -> bytes:
    """Tasks with the consensus as their prediction, in review order."""
    texts = require_texts(corpus, sequential=estimate.offsets is not None, target=target, tool=TOOL)
    require_spans(estimate, target=target, tool=TOOL)
    if corpus is None:  # refused above
        return b""
    version, question = f"crowdlogic {estimate.method}", corpus.question
    tasks = []
    for one in review_order(consensus_annotations(estimate, corpus)):
        prediction = {
            "model_version": version,
            "score": round(one.confidence, DIGITS),
            "result": _results(one, question),
        }
        tasks.append(_task(estimate.items, texts, one.item, question) | {"predictions": [prediction]})
    return _to_json(tasks)


def encode_annotations(labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """Tasks with the annotations of people, and those of models and programs as predictions."""
    texts = require_texts(corpus, sequential=labels.is_sequential, target=target, tool=TOOL)
    require_spans(labels, target=target, tool=TOOL)
    question = Question() if corpus is None else corpus.question
    tasks = [
        _task(labels.items, texts, s, question) | {"annotations": [], "predictions": []}
        for s in range(len(labels.items))
    ]
    for number, one in enumerate(crowd_annotations(labels, corpus), start=1):
        name = str(labels.annotators[one.annotator])
        is_person = labels.kind is None or labels.kind[one.annotator] in ("human", "")
        if is_person:
            author: dict[str, Any] = {"id": number, "completed_by": {"email": name}}
            author |= {"was_cancelled": False, "ground_truth": False}
        else:
            author = {"id": number, "model_version": name}
        if not math.isnan(one.time):
            author["created_at"] = datetime.fromtimestamp(one.time, UTC).isoformat()
        tasks[one.item]["annotations" if is_person else "predictions"].append(
            author | {"result": _results(one, question)}
        )
    return _to_json(tasks)


def _task(items: Names, texts: tuple[str, ...], item: int, question: Question) -> dict[str, Any]:
    return {"id": items[item], "data": {question.field or TEXT_FIELD: texts[item]}}


def _results(one: Annotated, question: Question) -> list[dict[str, Any]]:
    """The results of one annotation: a choice, or a result for each span."""
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
    """A class as the value of an answer, by kind of question."""
    if kind == "choices":
        return [str(label)]
    if kind == "taxonomy":
        return [str(label).split(" / ")]
    return label if kind in ("rating", "number") and isinstance(label, int) else str(label)


def _to_json(tasks: list[dict[str, Any]]) -> bytes:
    return (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode()
