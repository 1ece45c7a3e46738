"""The package datasets loads the folders that we write, and we read those that it saves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.reading import read_corpus, read_labels, write_estimate, write_labels
from crowdlogic.truth.majority import MajorityVote

pytestmark = pytest.mark.heavy

LOAD = """
import json, sys
from datasets import load_from_disk
data = load_from_disk(sys.argv[1])
names = getattr(data.features["label"], "names", None) if "label" in data.features else None
print(json.dumps({"rows": data.to_list(), "names": names}))
"""

SAVE = """
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value
rows = {"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": [1, 0, -1], "text": ["one 😀", "one 😀", "two"]}
kinds = Features({"item": Value("string"), "annotator": Value("string"), "label": ClassLabel(names=["neg", "pos"]), "text": Value("string")})
data = Dataset.from_dict(rows, features=kinds)
data.save_to_disk("shards", num_shards=2)
DatasetDict({"train": data}).save_to_disk("splits")
tagged = {"id": ["s"], "tokens": [["Ann", "sings"]], "ner_tags": [["B-PER", "O"]]}
Dataset.from_dict(tagged).save_to_disk("tagged")
"""


def test_datasets_loads_what_we_write(tools: Callable[..., str], tmp_path: Path) -> None:
    labels = from_frame({"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["pos", "neg", "pos"]})
    write_labels(tmp_path / "labels", labels, corpus=documents(["u", "v"], ["one 😀", "two"]), format="huggingface")
    tags = from_sequences([("s", "a", ["B-PER", "O"])])
    corpus = sentences(["s"], [["Ann", "sings"]])
    write_estimate(tmp_path / "tags", MajorityVote().infer(tags), corpus=corpus, format="huggingface")

    found = json.loads(tools(LOAD, "labels").splitlines()[-1])
    tagged = json.loads(tools(LOAD, "tags").splitlines()[-1])

    assert found["names"] == ["neg", "pos"]
    assert found["rows"][1] == {"item": "u", "text": "one 😀", "annotator": "b", "label": 0}
    assert tagged["rows"] == [{"item": "s", "tokens": ["Ann", "sings"], "tags": [0, 1], "confidence": [1.0, 1.0]}]


def test_we_read_what_datasets_saves(tools: Callable[..., str], tmp_path: Path) -> None:
    tools(SAVE)

    for name in ("shards", "splits"):
        labels = read_labels(tmp_path / name)
        assert labels.to_frame().rows() == [("u", "a", "pos"), ("u", "b", "neg")]
        assert labels.intake.missing == 1
    assert read_corpus(tmp_path / "tagged").tokens == ("Ann", "sings")
