from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.data.test_labels import triples

from crowdlogic.data.reading import read_crowd, read_labels
from crowdlogic.errors import CrowdLogicError


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_jsonl_records_with_a_crowd_hold_labels_and_tokens(tmp_path: Path) -> None:
    lines = [
        {"doc": "d1", "tokens": ["Ann", "Lee"], "crowd": {"w1": ["B-PER", "I-PER"], "w2": ["O", "O"]}},
        {"doc": "d2", "tokens": ["Hi"], "crowd": {"w2": ["O"], "w3": None}},
    ]
    crowd = read_crowd(write(tmp_path, "c.jsonl", "\n".join(map(json.dumps, lines))))

    assert triples(crowd.labels) == {
        (("d1", 0), "w1", "B-PER"),
        (("d1", 1), "w1", "I-PER"),
        (("d1", 0), "w2", "O"),
        (("d1", 1), "w2", "O"),
        (("d2", 0), "w2", "O"),
    }
    assert crowd.corpus is not None
    assert crowd.corpus.sentence(0) == ("Ann", "Lee")


def test_a_crowd_record_with_too_few_tags_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "c.jsonl", json.dumps({"doc": "d", "tokens": ["a", "b"], "crowd": {"w": ["O"]}}))

    with pytest.raises(CrowdLogicError) as caught:
        read_crowd(path)

    assert str(caught.value) == "Sequence 'd' has 1 tag and 2 tokens (1 such sequence). Give one tag per token."


def test_a_record_with_tokens_not_seen_is_read_like_conll(tmp_path: Path) -> None:
    record = {"item": "s", "tokens": ["a", "b"], "crowd": {"x": ["O", "B-X"], "y": ["O", "?"]}}

    labels = read_labels(write(tmp_path, "c.jsonl", json.dumps(record)))

    assert triples(labels) == {(("s", 0), "x", "O"), (("s", 1), "x", "B-X"), (("s", 0), "y", "O")}
