"""Label Studio's own package accepts the tasks that we write, and we read what its converter makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.reading import read_labels, write_estimate, write_labels
from crowdlogic.truth.majority import MajorityVote

pytestmark = pytest.mark.heavy

CHOICES = """<View><Text name="text" value="$text"/><Choices name="label" toName="text">
<Choice value="x"/><Choice value="y"/></Choices></View>"""
SPANS = (
    """<View><Text name="text" value="$text"/><Labels name="label" toName="text"><Label value="PER"/></Labels></View>"""
)

VALIDATE = """
import json, sys
from label_studio_sdk.label_interface import LabelInterface
interface = LabelInterface(sys.argv[1])
for task in json.load(open("tasks.json")):
    for prediction in task["predictions"]:
        problems = interface.validate_prediction(prediction, return_errors=True)
        assert not problems, problems
print("fine")
"""

CONVERT = """
import sys
from label_studio_sdk.converter import Converter
converter = Converter(sys.argv[1], project_dir=None, download_resources=False)
for format in ("JSON_MIN", "CSV"):
    converter.convert("tasks.json", format, format, is_dir=False)
"""

LABELS = from_frame({"item": [1, 1, 2, 2], "annotator": ["ann", "bob", "ann", "bob"], "label": ["x", "x", "x", "y"]})
CORPUS = documents([1, 2], ["one", "two 😀 שלום"])
TAGS = from_sequences([(1, "ann", ["B-PER", "I-PER", "O"]), (1, "bob", ["B-PER", "O", "O"])])
SENTENCES = sentences([1], [["Ann", "Lee", "sings"]])


def test_consensus_is_a_valid_prediction(tools: Callable[..., str], tmp_path: Path) -> None:
    write_estimate(tmp_path / "tasks.json", MajorityVote().infer(LABELS), corpus=CORPUS, format="label-studio")
    assert tools(VALIDATE, CHOICES).strip() == "fine"

    write_estimate(tmp_path / "tasks.json", MajorityVote().infer(TAGS), corpus=SENTENCES, format="label-studio")
    assert tools(VALIDATE, SPANS).strip() == "fine"


def test_we_read_what_its_converter_writes(tools: Callable[..., str], tmp_path: Path) -> None:
    write_labels(tmp_path / "tasks.json", LABELS, corpus=CORPUS, format="label-studio")
    tools(CONVERT, CHOICES)

    for name in ("JSON_MIN/result.json", "CSV/result.csv"):
        assert read_labels(tmp_path / name).select(items=[1, 2]).to_frame()["label"].to_list() == ["x", "x", "x", "y"]


def test_marked_spans_come_back_through_its_converter(tools: Callable[..., str], tmp_path: Path) -> None:
    write_labels(tmp_path / "tasks.json", TAGS, corpus=SENTENCES, format="label-studio")
    tools(CONVERT, SPANS)

    found = read_labels(tmp_path / "JSON_MIN" / "result.json")

    assert json.loads((tmp_path / "JSON_MIN" / "result.json").read_text())[0]["annotator"] == "ann"
    assert found.to_frame().select("annotator", "label").rows() == TAGS.to_frame().select("annotator", "label").rows()
