"""Label Studio's JSON_MIN and CSV: which field is the question, which the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.exports import write_json

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError


def row(number: int, who: Any, text: str, **answers: Any) -> dict[str, Any]:
    times = {"created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z", "lead_time": 1.5}
    return {"text": text, "id": number, **answers, "annotator": who, "annotation_id": 10 * number, **times}


def test_spans_show_themselves(tmp_path: Path) -> None:
    marks = [{"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}]
    path = write_json(tmp_path / "m.json", [row(1, 1, "Ann sings", label=marks), row(1, 2, "Ann sings")])

    crowd = read_crowd(path)

    assert crowd.labels.to_frame()["label"].to_list() == ["B-PER", "O", "O", "O"]


def test_ratings_and_several_choices_show_themselves(tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "m.json", [row(1, 1, "t", stars=[{"rating": 3}]), row(1, 2, "t", stars=[{"rating": 4}])]
    )
    several = write_json(
        tmp_path / "n.json", [row(1, 1, "t", topic={"choices": ["a", "b"]}), row(1, 2, "t", topic="a")]
    )

    assert read_crowd(path).labels.classes == (3, 4)
    assert read_crowd(several, ReadOptions(question="topic=b")).labels.to_frame()["label"].to_list() == ["yes", "no"]


def test_a_plain_field_that_differs_within_a_task_is_the_question(tmp_path: Path) -> None:
    rows = [row(1, 1, "A long text.", source="web", mood="good"), row(1, 2, "A long text.", source="web", mood="bad")]
    path = write_json(tmp_path / "m.json", rows)

    crowd = read_crowd(path)

    assert crowd.labels.classes == ("bad", "good")
    assert crowd.corpus is not None
    assert crowd.corpus.texts == ("A long text.",)


def test_where_nothing_shows_the_question_it_must_be_named(tmp_path: Path) -> None:
    path = write_json(tmp_path / "m.json", [row(1, 1, "A text.", source="web", mood="good")])

    with pytest.raises(FormatError) as caught:
        read_crowd(path)

    assert str(caught.value) == (
        f"{path}: cannot tell which of text, source, mood is the question. Name it with --question."
    )
    assert read_crowd(path, ReadOptions(question="mood")).labels.classes == ("good",)


def test_a_csv_cell_with_json_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(
        "annotation_id,annotator,created_at,id,label,lead_time,text,updated_at\n"
        '1,ann@x.org,2024-01-01,7,"[{""start"": 0, ""end"": 3, ""text"": ""Ann"", ""labels"": [""PER""]}]",1,Ann sings,2024-01-01\n'
        "2,bob@x.org,2024-01-01,7,,1,Ann sings,2024-01-01\n"
    )

    crowd = read_crowd(path)

    assert crowd.labels.annotators.to_list() == ["ann@x.org", "bob@x.org"]
    assert crowd.labels.to_frame()["label"].to_list() == ["B-PER", "O", "O", "O"]


def test_a_task_without_annotation_stays_without_labels(tmp_path: Path) -> None:
    bare = row(2, None, "u") | {"annotation_id": None}
    path = write_json(tmp_path / "m.json", [row(1, 1, "t", mood="good"), bare])

    labels = read_crowd(path, ReadOptions(question="mood")).labels

    assert labels.items.to_list() == [1, 2]
    assert labels.labels_per_unit().tolist() == [1, 0]


def test_a_record_that_does_not_say_who_is_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path / "m.json", [row(1, 1, "t", mood="good"), row(2, None, "u", mood="bad")])

    with pytest.raises(FormatError) as caught:
        read_crowd(path)

    assert (
        str(caught.value) == f"{path}, record 2: an annotation that does not say who made it (annotator). Export again."
    )
