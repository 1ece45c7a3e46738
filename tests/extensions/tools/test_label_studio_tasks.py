"""Label Studio's JSON: who said what, what is gold, what is no vote, and which question is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.exports import annotation, choice, span, task, write_json

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError

EARLY, LATE = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"


def test_annotators_are_named_by_number_email_or_username(tmp_path: Path) -> None:
    people: list[Any] = [7, {"id": 8, "email": "b@x.org"}, {"id": 9, "username": "carl"}]
    path = write_json(tmp_path / "e.json", [task(1, "t", *(annotation(who, choice("x")) for who in people))])

    labels = read_crowd(path).labels

    assert labels.annotators.to_list() == ["7", "b@x.org", "carl"]
    assert labels.kind == ("human", "human", "human")


def test_a_skipped_annotation_is_an_abstention(tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "e.json", [task(1, "t", annotation(1, choice("x")), annotation(2, choice("y"), was_cancelled=True))]
    )

    labels = read_crowd(path).labels

    assert labels.n_labels == 1
    assert labels.intake.messages() == ["1 annotation skipped by the annotator: no label (first: record 1)."]


def test_ground_truth_is_gold_and_no_vote(tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "e.json", [task(1, "t", annotation(1, choice("x")), annotation(2, choice("y"), ground_truth=True))]
    )

    crowd = read_crowd(path)

    assert crowd.labels.annotators.to_list() == ["1"]
    assert crowd.corpus is not None
    assert crowd.corpus.gold is not None
    assert [crowd.corpus.classes[k] for k in crowd.corpus.gold] == ["y"]


def test_gold_spans_are_gold_tags(tmp_path: Path) -> None:
    text = "Ann sings."
    path = write_json(
        tmp_path / "e.json",
        [
            task(1, text, annotation(1), annotation(2, span(0, 3, "PER"), ground_truth=True)),
            task(2, "Nobody.", annotation(1)),
        ],
    )

    crowd = read_crowd(path)

    assert crowd.corpus is not None
    assert crowd.corpus.gold is not None
    known = [None if k < 0 else crowd.corpus.classes[k] for k in crowd.corpus.gold]
    assert known == ["B-PER", "O", "O", None, None]


def test_predictions_are_annotators_of_their_kind_with_their_score(tmp_path: Path) -> None:
    predictions = [
        {"model_version": "gpt-4o-mini", "score": 0.75, "result": [choice("y")]},
        {"model_version": "regex-2", "score": 17, "result": [choice("x")]},
    ]
    path = write_json(tmp_path / "e.json", [task(1, "t", annotation(1, choice("x")), predictions=predictions)])

    labels = read_crowd(path).labels

    assert labels.annotators.to_list() == ["1", "gpt-4o-mini", "regex-2"]
    assert labels.kind == ("human", "llm", "code")
    assert labels.weights.tolist() == [1.0, 0.75, 1.0]
    assert labels.intake.messages() == [
        "1 prediction with a score that is not above 0 and at most 1: the score was not used (first: record 1)."
    ]


@pytest.mark.parametrize(("duplicates", "expected"), [("error", "late"), ("last", "late"), ("first", "early")])
def test_the_last_of_several_annotations_by_one_user_counts(duplicates: str, expected: str, tmp_path: Path) -> None:
    late, early = annotation(1, choice("late"), at=LATE), annotation(1, choice("early"), at=EARLY)
    path = write_json(tmp_path / "e.json", [task(1, "t", late, early, annotation(2, choice("late")))])

    labels = read_crowd(path, ReadOptions(duplicates=duplicates)).labels

    assert labels.to_frame().filter(annotator="1")["label"].to_list() == [expected]
    assert len(labels.intake.left_out) == 1


def test_all_annotations_by_one_user_can_count(tmp_path: Path) -> None:
    path = write_json(tmp_path / "e.json", [task(1, "t", annotation(1, choice("a")), annotation(1, choice("b")))])

    assert read_crowd(path, ReadOptions(duplicates="keep")).labels.n_labels == 2


def test_several_questions_are_refused_until_one_is_chosen(tmp_path: Path) -> None:
    tasks = [task(1, "Ann.", annotation(1, choice("x"), span(0, 3, "PER")), annotation(2))]
    path = write_json(tmp_path / "e.json", tasks)

    with pytest.raises(FormatError) as caught:
        read_crowd(path)
    assert (
        str(caught.value)
        == f"{path}: there are several questions: sentiment (choices), ner (labels). Choose one with --question."
    )
    assert read_crowd(path, ReadOptions(question="sentiment")).labels.n_labels == 1
    assert read_crowd(path, ReadOptions(question="ner")).labels.n_labels == 4, (
        "two tokens, two annotators, one saw no entity"
    )
    with pytest.raises(
        FormatError, match=r"there is no question 'topic'. Found: sentiment \(choices\), ner \(labels\)."
    ):
        read_crowd(path, ReadOptions(question="topic"))


def test_of_several_answers_at_once_one_can_be_asked_for(tmp_path: Path) -> None:
    tasks = [task(1, "t", annotation(1, choice("a", "b")), annotation(2, choice("b")), annotation(3))]
    path = write_json(tmp_path / "e.json", tasks)

    with pytest.raises(FormatError) as caught:
        read_crowd(path)
    labels = read_crowd(path, ReadOptions(question="sentiment=a")).labels

    assert str(caught.value) == (
        f"{path}, record 1: 2 answers at once (a, b). A label is one class; ask about one of them (yes or no): "
        f"--question sentiment=a."
    )
    assert labels.to_frame()["label"].to_list() == ["yes", "no", "no"]


def test_the_text_is_the_one_that_is_quoted(tmp_path: Path) -> None:
    body = "Lee sings in Rome. " * 3
    one = task(
        1,
        "About Ann and her long, long way home, written by Lee.",
        annotation(1, span(13, 17, "LOC", "Rome")),
        body=body,
    )
    path = write_json(tmp_path / "e.json", [one])

    crowd = read_crowd(path)

    assert crowd.corpus is not None
    assert crowd.corpus.texts == (body,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: one.update(annotations={}) or one.update(annotations="x"), "record 1: annotations is not a list of objects. Export the project again."),
        (lambda one: one.update(annotations=[3]), "record 1: annotations is not a list of objects. Export the project again."),
        (lambda one: one.update(predictions=[None]), "record 1: predictions is not a list of objects. Export the project again."),
        (lambda one: one.update(id=[1]), "record 1: the id is neither a number nor text. Export the project again."),
        (lambda one: one["annotations"][0].update(completed_by=None), "record 1: an annotation that does not say who made it (completed_by). Export the project again."),
        (lambda one: one["annotations"][0].update(result="x"), "record 1: a result that is not a list. Export the project again."),
        (lambda one: one["annotations"][0].update(result=["x"]), "record 1: a result that is not an object. Export the project again."),
        (lambda one: one["annotations"][0]["result"][0].pop("from_name"), "record 1: a result without from_name. Export the project again."),
        (lambda one: one["annotations"][0]["result"][0].update(value={}), "record 1: a result whose value has no list of choices. Export the project again."),
        (lambda one: one["annotations"][0]["result"][0]["value"].update(choices=[{}]), "record 1: the label '{}' is not a class. Give one class as text or number."),
    ],
)  # fmt: skip
def test_a_malformed_task_gets_one_line_with_its_number(change: Any, message: str, tmp_path: Path) -> None:
    one = task(1, "t", annotation(1, choice("x")))
    change(one)
    path = write_json(tmp_path / "e.json", [one])

    with pytest.raises(FormatError) as caught:
        read_crowd(path, format="label-studio")

    assert str(caught.value) == f"{path}, {message}"


def test_an_export_without_annotations_says_so(tmp_path: Path) -> None:
    path = write_json(tmp_path / "e.json", [task(1, "t"), task(2, "u", annotation(1, was_cancelled=True))])

    with pytest.raises(FormatError) as caught:
        read_crowd(path)

    assert str(caught.value) == (
        f"{path}: there are no annotations. 1 annotation skipped by the annotator: no label (first: record 2). "
        f"Export annotated tasks."
    )


def test_a_cut_off_export_names_the_record(tmp_path: Path) -> None:
    whole = json.dumps([task(n, "t", annotation(1, choice("x"))) for n in range(3)])
    path = tmp_path / "e.json"
    path.write_text(whole[:-30])

    with pytest.raises(FormatError, match=r"e\.json, record 3: not JSON"):
        read_crowd(path)
