"""Potato's annotations: a state per annotator, and texts from the data files of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.exports import write_json, write_lines

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import ReadOptions, detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError


def answer(schema: str, name: str, value: Any = "true") -> list[Any]:
    return [{"schema": schema, "name": name}, value]


def mark(start: int, end: int, name: str) -> list[Any]:
    span = {"schema": "ner", "name": name, "start": start, "end": end, "title": name, "id": f"span_{start}"}
    return [span, f"{start}-{end}"]


def write_state(folder: Path, who: str, labels: dict[str, Any], spans: dict[str, Any] | None = None) -> None:
    (folder / who).mkdir(parents=True)
    state = {"user_id": who, "instance_id_ordering": list(labels), "current_instance_index": 0}
    state |= {"instance_id_to_label_to_value": labels, "instance_id_to_span_to_value": spans or {}}
    write_json(folder / who / "user_state.json", state)


def test_radio_buttons_of_several_annotators(tmp_path: Path) -> None:
    write_state(
        tmp_path / "out", "alice", {"r1": [answer("sentiment", "positive")], "r2": [answer("sentiment", "negative")]}
    )
    write_state(tmp_path / "out", "bob", {"r1": [answer("sentiment", "negative")], "r2": []})

    crowd = read_crowd(tmp_path / "out")

    assert detect_format(InputFile(tmp_path / "out")).name == "potato"
    assert crowd.labels.to_frame().select("item", "annotator", "label").rows() == [
        ("r1", "alice", "positive"),
        ("r1", "bob", "negative"),
        ("r2", "alice", "negative"),
    ]
    assert crowd.labels.intake.messages() == [
        "1 annotation without an answer: no label (first: bob/user_state.json, record 2)."
    ]


def test_one_state_is_one_annotator(tmp_path: Path) -> None:
    write_state(tmp_path, "alice", {"r1": [answer("sentiment", "positive")]})

    assert read_crowd(tmp_path / "alice" / "user_state.json").labels.annotators.to_list() == ["alice"]


@pytest.mark.parametrize(
    ("pairs", "label"),
    [
        ([answer("q", "3", "3")], "3"),
        ([answer("q", "select-one", "blue")], "blue"),
        ([answer("q", "slider", "42")], "42"),
        ([answer("q", "yes", True), answer("q", "no", "false")], "yes"),
        ([answer("q", "yes"), answer("q", "free_response", "because")], "yes"),
    ],
)
def test_answers_of_other_kinds_of_questions(pairs: list[Any], label: str, tmp_path: Path) -> None:
    write_state(tmp_path, "alice", {"r1": pairs})

    assert read_crowd(tmp_path).labels.classes == (label,)


def test_answers_may_be_stored_by_schema(tmp_path: Path) -> None:
    write_state(
        tmp_path,
        "alice",
        {"r1": {"sentiment": {"labels": {"positive": True}}}, "r2": {"sentiment": {"negative": "true"}}},
    )

    assert read_crowd(tmp_path).labels.to_frame()["label"].to_list() == ["positive", "negative"]


def test_several_schemas_are_several_questions(tmp_path: Path) -> None:
    write_state(
        tmp_path,
        "alice",
        {"r1": [answer("sentiment", "positive"), answer("aspects", "plot"), answer("aspects", "music")]},
    )

    with pytest.raises(FormatError, match=r"there are several questions: sentiment \(choices\), aspects \(choices\)"):
        read_crowd(tmp_path)
    with pytest.raises(FormatError, match=r"2 answers at once \(plot, music\).*--question aspects=plot"):
        read_crowd(tmp_path, ReadOptions(question="aspects"))
    assert read_crowd(tmp_path, ReadOptions(question="sentiment")).labels.classes == ("positive",)
    assert read_crowd(tmp_path, ReadOptions(question="aspects=plot")).labels.classes == ("yes",)


def write_project(folder: Path) -> None:
    write_lines(
        folder / "data.jsonl",
        [{"id": "r1", "text": "Ann sings in Rome", "source": "web"}, {"id": "r2", "text": "Nobody."}],
    )
    write_json(folder / "config.json", {"task": "ner"})
    write_state(folder / "out", "alice", {}, {"r1": [mark(0, 3, "PER"), mark(13, 17, "LOC")], "r2": []})
    write_state(folder / "out", "bob", {}, {"r1": [mark(0, 3, "PER")]})


def test_spans_need_the_texts_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    write_project(tmp_path / "p")

    crowd = read_crowd(tmp_path / "p")

    tags = crowd.labels.to_frame().partition_by("annotator", as_dict=True)
    assert tags["alice",]["label"].to_list() == ["B-PER", "O", "O", "B-LOC", "O", "O"]
    assert tags["bob",]["label"].to_list() == ["B-PER", "O", "O", "O"]
    with pytest.raises(
        FormatError, match=r"alice/user_state\.json, record 1: marked spans, but the text of this instance is unknown"
    ):
        read_crowd(tmp_path / "p" / "out")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "alice/user_state.json: not JSON"),
        ("[]", "alice/user_state.json: not the state of an annotator, since user_id is missing."),
        ('{"user_id": "a", "instance_id_to_label_to_value": []}', "alice/user_state.json: instance_id_to_label_to_value is not an object."),
        ('{"user_id": "a", "instance_id_to_label_to_value": {"r1": [[{"schema": "q", "name": "x"}, "true"], 7]}}', "alice/user_state.json, record 1: an answer without schema, name and a single value."),
        ('{"user_id": "a", "instance_id_to_label_to_value": {"r1": [[{"schema": "q", "name": "x"}, {}]]}}', "alice/user_state.json, record 1: an answer without schema, name and a single value."),
        ('{"user_id": "a", "instance_id_to_label_to_value": {}}', "no choices, marked spans, ratings or comparisons were found"),
    ],
)  # fmt: skip
def test_a_malformed_state_gets_one_line(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice" / "user_state.json").write_text(content)

    with pytest.raises(FormatError) as caught:
        read_crowd(tmp_path, format="potato")

    assert message in str(caught.value)


def test_a_malformed_span_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    write_project(tmp_path / "p")
    write_state(
        tmp_path / "p" / "out", "eve", {}, {"r1": [[{"schema": "ner", "name": "PER", "start": "0", "end": 3}, "x"]]}
    )

    with pytest.raises(FormatError, match=r"eve/user_state\.json, record 1: expected a span with start, end and name"):
        read_crowd(tmp_path / "p")
