"""Argilla's records, nested and flat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.exports import write_json, write_lines

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import ReadOptions, detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError


def record(name: str, text: str = "Ann sings", suggestion: Any = None, **responses: Any) -> dict[str, Any]:
    suggested = {} if suggestion is None else {"label": {"value": suggestion, "score": 0.8, "agent": "gpt-4o"}}
    given = [{"value": value, "user_id": user} for user, value in responses.items()]
    return {"id": name, "fields": {"text": text}, "metadata": {}, "suggestions": suggested, "responses": {"label": given} if given else {}, "vectors": {}, "status": "completed", "_server_id": None}  # fmt: skip


def flat(name: str, values: list[Any], users: list[str], status: list[str | None] | None = None) -> dict[str, Any]:
    columns = {"label.responses": values, "label.responses.users": users, "label.responses.status": status}
    return {"id": name, "status": "completed", "_server_id": None, "text": "Ann sings", **columns, "label.suggestion": "x", "label.suggestion.score": None, "label.suggestion.agent": "regex"}  # fmt: skip


def test_nested_records_with_suggestions(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", [record("r1", ann="x", bob="y", suggestion="x"), record("r2", ann="y")])

    crowd = read_crowd(path)

    assert detect_format(InputFile(path)).name == "argilla"
    assert crowd.labels.to_frame().select("item", "annotator", "label").rows() == [("r1", "ann", "x"), ("r1", "bob", "y"), ("r1", "gpt-4o", "x"), ("r2", "ann", "y")]  # fmt: skip
    assert crowd.labels.kind == ("human", "human", "llm")
    assert crowd.labels.weights.tolist() == [1.0, 1.0, 0.8, 1.0]
    assert crowd.corpus is not None
    assert crowd.corpus.texts == ("Ann sings", "Ann sings")


def test_flat_records_count_only_submitted_responses(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl", [flat("r1", ["x", "y", "z"], ["ann", "bob", "eve"], ["submitted", "discarded", "draft"])]
    )

    labels = read_crowd(path).labels

    assert detect_format(InputFile(path)).name == "argilla"
    assert labels.to_frame().select("annotator", "label").rows() == [("ann", "x"), ("regex", "x")]
    assert labels.kind == ("human", "code")
    assert [one.reason for one in labels.intake.left_out] == ["discarded: no label", "draft: no label"]


def test_spans_become_tags_and_several_labels_are_asked_for(tmp_path: Path) -> None:
    spans = write_json(tmp_path / "s.json", [record("r1", ann=[{"start": 0, "end": 3, "label": "PER"}], bob=[])])
    several = write_json(tmp_path / "m.json", [record("r1", ann=["x", "y"], bob=["x"])])

    assert read_crowd(spans).labels.to_frame()["label"].to_list() == ["B-PER", "O", "O", "O"]
    with pytest.raises(FormatError, match=r"record 1: 2 answers at once \(x, y\)\. .* --question label=x\."):
        read_crowd(several)
    assert read_crowd(several, ReadOptions(question="label=y")).labels.to_frame()["label"].to_list() == ["yes", "no"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"responses": [1]}, "record 2: responses and suggestions must be objects with questions as keys."),
        ({"responses": {"label": [{"value": "x"}]}}, "record 2: a response to 'label' without its user."),
        ({"suggestions": {"label": "x"}}, "record 2: the suggestion for 'label' is not an object."),
        ({"id": {}}, "record 2: the id is neither a number nor text."),
        ({"responses": {"label": [{"value": [{"start": 0, "label": "X"}], "user_id": "a"}]}}, "record 2: expected a span with start, end and label, found \"{'start': 0, 'label': 'X'}\"."),
    ],
)  # fmt: skip
def test_a_malformed_record_gets_one_line(wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
    sound = [{"start": 0, "end": 3, "label": "PER"}]
    path = write_json(tmp_path / "a.json", [record("r1", ann=sound), record("r2", ann=sound) | wrong])

    with pytest.raises(FormatError) as caught:
        read_crowd(path)

    assert str(caught.value).startswith(f"{path}, {message}")


def test_flat_lists_must_be_of_one_length(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", [flat("r1", ["x", "y"], ["ann"])])

    with pytest.raises(
        FormatError, match=r"record 1: label\.responses and label\.responses\.users must be lists of equal length"
    ):
        read_crowd(path)
