"""The plan as tasks of annotation tools, in the order in which they should be labelled, without any answer.

A pre-annotated task would lead its annotator, so tasks hold the text alone; what the label should gain and who should
give it stand beside it, where the tool can sort and filter by it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from crowdlogic.data.corpus import Corpus, Question
from crowdlogic.data.formats.annotated_texts import require_texts
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import as_text, find

Row = tuple[Any, str, float, list[str]]
"""An item's name, its text, what its labels should gain together, and who should give them."""


def rows(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str, *, tool: str) -> Iterator[Row]:
    """One row per item, in the order of the plan."""
    texts = require_texts(corpus, sequential=labels.is_sequential, target=target, tool=tool)
    named = plan.with_columns(as_text(plan["annotator"]).alias("annotator"))
    grouped = named.group_by("item", maintain_order=True).agg(pl.col("gain").sum(), "annotator")
    codes = find(grouped["item"], labels.items).tolist()
    for code, (name, gain, people) in zip(codes, grouped.iter_rows(), strict=True):
        yield name, texts[code], round(gain, 6), people


def label_studio_tasks(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """Tasks that Label Studio imports; `gain` and `annotators` are fields of their data."""
    question = Question() if corpus is None else corpus.question
    tasks = [
        {"id": name, "data": {question.field or "text": text, "gain": gain, "annotators": people}}
        for name, text, gain, people in rows(plan, labels, corpus, target, tool="Label Studio")
    ]
    return (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode()


def prodigy_tasks(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """A stream for Prodigy, a task a line; `gain` and `annotators` are in its meta."""
    options = {} if labels.is_sequential else {"options": [{"id": str(c), "text": str(c)} for c in labels.classes]}
    lines = [
        json.dumps(
            {"text": text, "meta": {"item": name, "gain": gain, "annotators": people}, **options}, ensure_ascii=False
        )
        for name, text, gain, people in rows(plan, labels, corpus, target, tool="Prodigy")
    ]
    return "".join(f"{line}\n" for line in lines).encode()


TASK_WRITERS: dict[str | None, Callable[[pl.DataFrame, CrowdLabels, Corpus | None, str], bytes]] = {
    "label-studio": label_studio_tasks,
    "prodigy": prodigy_tasks,
}
"""Formats whose tools take tasks to label, by name."""
