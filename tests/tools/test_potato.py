"""We read the states that Potato itself saves, and it loads those that we write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.reading import read_labels, write_labels

pytestmark = pytest.mark.heavy

SAVE = """
from potato.item_state_management import Label, SpanAnnotation
from potato.user_state_management import InMemoryUserState
for name, first in (("ann@x.org", "sports"), ("bob", "news")):
    state = InMemoryUserState(name)
    state.instance_id_ordering = ["u", "v"]
    state.instance_id_to_label_to_value["u"][Label("topic", first)] = "true"
    state.instance_id_to_label_to_value["v"][Label("topic", "news")] = "true"
    state.save(f"annotations/{name}")
"""

LOAD = """
import json, sys
from potato.user_state_management import InMemoryUserState
state = InMemoryUserState.load(sys.argv[1])
labels = {item: [label.get_name() for label in given] for item, given in state.instance_id_to_label_to_value.items()}
spans = {item: [[s.get_name(), s.get_start(), s.get_end()] for s in given] for item, given in state.instance_id_to_span_to_value.items()}
print(json.dumps({"user": state.user_id, "labels": labels, "spans": spans}))
"""


def test_we_read_what_potato_saves(tools: Callable[..., str], tmp_path: Path) -> None:
    tools(SAVE)

    assert sorted(read_labels(tmp_path / "annotations").to_frame().select("item", "annotator", "label").rows()) == [
        ("u", "ann@x.org", "sports"),
        ("u", "bob", "news"),
        ("v", "ann@x.org", "news"),
        ("v", "bob", "news"),
    ]


def test_potato_loads_what_we_write(tools: Callable[..., str], tmp_path: Path) -> None:
    labels = from_frame({"item": ["u", "v"], "annotator": ["ann", "ann"], "label": ["x", "y"]})
    write_labels(tmp_path / "labels", labels, corpus=documents(["u", "v"], ["one", "two"]), format="potato")
    tags = from_sequences([("s", "ann", ["B-PER", "I-PER", "O"])])
    write_labels(tmp_path / "tags", tags, corpus=sentences(["s"], [["Ann", "Lee", "sings"]]), format="potato")

    documents_again = json.loads(tools(LOAD, "labels/annotation_output/ann").splitlines()[-1])
    spans_again = json.loads(tools(LOAD, "tags/annotation_output/ann").splitlines()[-1])

    assert documents_again["labels"] == {"u": ["x"], "v": ["y"]}
    assert (spans_again["user"], spans_again["spans"]) == ("ann", {"s": [["PER", 0, 7]]})
