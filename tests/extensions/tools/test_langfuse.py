"""Scores of Langfuse: names and people are judges, traces are items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.evaluation_exports import langfuse_score, write_json, write_lines

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError

SCORES = [
    langfuse_score("helpful", 1, type="BOOLEAN", stringValue="True"),
    langfuse_score("helpful", 0, type="BOOLEAN", source="ANNOTATION", authorUserId="ann"),
    langfuse_score("correct", False, type="BOOLEAN", source="API", subject={"kind": "trace", "id": "t2"}),
]


@pytest.mark.parametrize("shape", ["page", "array", "lines"])
def test_scores_are_read_in_every_shape(tmp_path: Path, shape: str) -> None:
    path = tmp_path / ("scores.jsonl" if shape == "lines" else "scores.json")
    if shape == "lines":
        write_lines(path, SCORES)
    else:
        write_json(path, SCORES if shape == "array" else {"data": SCORES, "meta": {"page": 1}})

    labels = read_crowd(path).labels

    assert detect_format(InputFile(path)).name == "langfuse"
    assert labels.to_frame().select("item", "annotator", "label").rows() == [
        ("t1", "helpful", "pass"),
        ("t1", "helpful (ann)", "fail"),
        ("t2", "correct", "fail"),
    ]
    assert labels.kind == ("llm", "human", "code")
    assert labels.time is not None
    assert labels.time[0] == 1794952800.0


def test_categories_are_classes_and_observations_are_more_precise_than_traces(tmp_path: Path) -> None:
    scores = [
        langfuse_score("tone", 0, type="CATEGORICAL", stringValue="warm", observationId="o1"),
        langfuse_score("tone", "cold", type="CATEGORICAL"),
        langfuse_score("note", "a text", type="TEXT"),
        langfuse_score("tone", 1, traceId=None),
    ]

    labels = read_crowd(write_json(tmp_path / "s.json", scores)).labels

    assert labels.to_frame().select("item", "label").rows() == [("o1", "warm"), ("t1", "cold")]
    assert labels.intake.messages() == [
        "1 grade without a single value: left out (first: record 3).",
        "1 score without the id of a scored object: left out (first: record 4).",
    ]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([SCORES[0], 1], ", record 2: expected an object, got a JSON int. Export the file again."),
        ([langfuse_score("", 1)], ", record 1: a grade whose judge has no name. Export the evaluation again."),
        ({"data": {}}, ": no array at 'data'. Export the file again."),
    ],
)
def test_malformed_scores_are_named(tmp_path: Path, value: Any, problem: str) -> None:
    path = write_json(tmp_path / "s.json", value)

    with pytest.raises(FormatError) as raised:
        read_crowd(path, format="langfuse")

    assert str(raised.value) == f"{path}{problem}"
