"""Traces of Opik: score names and their authors are judges, traces are items."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.data.formats.evaluation_exports import opik_trace, write_json, write_opik

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError

BOTH = {
    "name": "helpful",
    "value": 0.5,
    "source": "ui",
    "value_by_author": {
        "ann": {"value": 1.0, "source": "ui", "last_updated_at": "2026-11-17T22:00:00Z"},
        "bob": {"value": 0.0, "source": "ui"},
    },
}


def test_scores_and_their_authors_are_judges(tmp_path: Path) -> None:
    judged = {"name": "correct", "value": 1.0, "category_name": None, "source": "online_scoring"}
    folder = write_opik(
        tmp_path / "export", opik_trace("t1", BOTH, judged), opik_trace("t2", judged, output={"a": "😀"})
    )

    crowd = read_crowd(folder)

    assert detect_format(InputFile(folder)).name == "opik"
    assert crowd.labels.to_frame().select("item", "annotator", "label").rows() == [
        ("t1", "helpful (ann)", "pass"),
        ("t1", "helpful (bob)", "fail"),
        ("t1", "correct", "pass"),
        ("t2", "correct", "pass"),
    ]
    assert crowd.labels.kind == ("human", "human", "llm")
    assert crowd.corpus is not None
    assert crowd.corpus.texts == ("an answer", '{"a": "😀"}')


def test_categories_are_classes_and_traces_without_scores_are_counted(tmp_path: Path) -> None:
    tone = {"name": "tone", "value": 2.0, "category_name": "warm", "source": "sdk"}
    folder = write_opik(tmp_path / "export", opik_trace("t1", tone), opik_trace("t2"))

    labels = read_crowd(folder).labels

    assert labels.to_frame()["label"].to_list() == ["warm"]
    assert labels.intake.messages() == ["1 trace without feedback scores: left out (first: record 2)."]


def test_malformed_traces_are_named(tmp_path: Path) -> None:
    folder = write_opik(tmp_path / "export", opik_trace("t1", BOTH))
    place = folder / "default" / "projects" / "p1"
    name = "default/projects/p1/trace_t0.json"

    write_json(place / "trace_t0.json", {"spans": []})
    with pytest.raises(FormatError) as raised:
        read_crowd(folder)
    assert str(raised.value) == f"{folder}, {name}: no trace with an id. Export the traces again."

    (place / "trace_t0.json").write_text("{")
    with pytest.raises(FormatError, match=r"trace_t0\.json: not JSON"):
        read_crowd(folder)


def test_a_single_file_is_no_export(tmp_path: Path) -> None:
    path = write_json(tmp_path / "t.json", {})

    with pytest.raises(FormatError, match=r"expected a folder, got a file\. Give the folder that opik export wrote"):
        read_crowd(path, format="opik")
