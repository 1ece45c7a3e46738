"""The format of a file is recognised however long the first document is."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.extensions.tools.json_exports import outline_json


def label_studio_task(number: int, text: str) -> dict[str, Any]:
    result = {"type": "choices", "from_name": "sentiment", "to_name": "text", "value": {"choices": ["good"]}}
    annotation = {"id": number, "completed_by": 1, "result": [result]}
    return {"id": number, "data": {"text": text}, "annotations": [annotation, {**annotation, "completed_by": 2}]}


@pytest.mark.parametrize("length", [1_000, 65_000, 66_000, 200_000, 3_000_000])
@pytest.mark.parametrize("packed", [True, False])
def test_a_long_first_document_does_not_hide_the_format(tmp_path: Path, length: int, packed: bool) -> None:
    text = ('She said "no" \\ é ' * (length // 16))[:length]
    content = json.dumps([label_studio_task(i, text) for i in range(2)]).encode()
    path = tmp_path / ("tasks.json.gz" if packed else "tasks.json")
    path.write_bytes(gzip.compress(content) if packed else content)

    labels = read_crowd(path).labels

    assert detect_format(InputFile(path)).name == "label-studio"
    assert (labels.n_labels, labels.classes) == (4, ("good",))


def test_many_short_texts_before_the_annotations_do_not_hide_the_format(tmp_path: Path) -> None:
    task = label_studio_task(0, "")
    task["data"] = {"turns": [{"speaker": "a", "says": "hello there"} for _ in range(8_000)], "text": "x"}
    (tmp_path / "tasks.json").write_text(json.dumps([task]))

    assert detect_format(InputFile(tmp_path / "tasks.json")).name == "label-studio"


@pytest.mark.parametrize("filler", [b"x", b"\\\\", b'\\"', "é".encode(), b"\\u00e9"])
def test_cutting_texts_leaves_the_fields_whole_wherever_pieces_end(tmp_path: Path, filler: bytes) -> None:
    for shift in range(4):
        content = b'[{"data": "' + b"y" * shift + filler * 70_000 + b'", "after": {"inner": [{"deep": 1}]}}]'
        (tmp_path / "x.json").write_bytes(content)

        head = InputFile(tmp_path / "x.json").head()

        assert len(head) < 1_000
        assert outline_json(head).paths == {"data", "after", "after.inner", "after.inner[].deep"}


def test_recognising_a_large_file_takes_little_memory_and_time(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b'[{"text": "' + b"word " * 20_000_000 + b'", "label": "x"}]')

    tracemalloc.start()
    begun = time.process_time()
    head = InputFile(tmp_path / "x.json").head()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert json.loads(head)[0]["label"] == "x"
    assert most < 8 << 20
    assert time.process_time() - begun < 5
