"""Tasks to label, in the shape of annotation tools."""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.extensions.review.next import label_studio_tasks, prodigy_tasks

LABELS = simulate_crowd(np.random.default_rng(0), units=3, annotators=3, classes=("no", "yes")).labels
CORPUS = Corpus(LABELS.items, texts=("one", "two", "three"))
PLAN = pl.DataFrame(
    {
        "item": [LABELS.items[2], LABELS.items[0], LABELS.items[2]],
        "annotator": ["ann", "bob", "cid"],
        "gain": [0.25, 0.125, 0.25],
    }
)


def test_an_item_is_one_task_with_all_who_should_label_it() -> None:
    tasks = json.loads(label_studio_tasks(PLAN, LABELS, CORPUS, "t.json"))

    assert tasks == [
        {"id": LABELS.items[2], "data": {"text": "three", "gain": 0.5, "annotators": ["ann", "cid"]}},
        {"id": LABELS.items[0], "data": {"text": "one", "gain": 0.125, "annotators": ["bob"]}},
    ]


def test_prodigy_asks_for_a_choice_and_shows_no_answer() -> None:
    lines = [json.loads(line) for line in prodigy_tasks(PLAN, LABELS, CORPUS, "t.jsonl").decode().splitlines()]

    assert lines[1] == {
        "text": "one",
        "meta": {"item": LABELS.items[0], "gain": 0.125, "annotators": ["bob"]},
        "options": [{"id": "no", "text": "no"}, {"id": "yes", "text": "yes"}],
    }
