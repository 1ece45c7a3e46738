"""Tasks for Label Studio: consensus as predictions in review order, and annotations that come back as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.data.formats.texts import CROWDS_OF_DOCUMENTS, CROWDS_OF_SENTENCES, same_labels

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.estimate import Answers, align_answers
from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.reading import read_answers, read_crowd, write_estimate, write_labels
from crowdlogic.data.tagging import parse_tags, tags_to_spans
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Ints
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.workflows.aggregate import AggregateOptions, aggregate_files

LABELS = from_frame(
    {"item": [1, 1, 1, 2, 2], "annotator": ["a", "b", "c", "a", "b"], "label": ["x", "x", "x", "x", "y"]}
)
CORPUS = documents([1, 2], ["one", "two 😀"])


def test_consensus_is_a_prediction_and_the_least_sure_task_is_first(tmp_path: Path) -> None:
    write_estimate(tmp_path / "t.json", MajorityVote(seed=0).infer(LABELS), corpus=CORPUS, format="label-studio")

    tasks = json.loads((tmp_path / "t.json").read_text())

    assert [task["id"] for task in tasks] == [2, 1]
    assert tasks[1] == {
        "id": 1,
        "data": {"text": "one"},
        "predictions": [
            {
                "model_version": "crowdlogic majority",
                "score": 1.0,
                "result": [
                    {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["x"]}},
                ],
            }
        ],
    }


def test_spans_have_places_in_characters_and_a_score(tmp_path: Path) -> None:
    labels = from_sequences([("s", "a", ["O", "B-PER", "I-PER"]), ("s", "b", ["O", "B-PER", "O"])])
    corpus = sentences(["s"], [["😀", "Ann", "Lee"]])

    write_estimate(tmp_path / "t.json", MajorityVote(seed=3).infer(labels), corpus=corpus, format="label-studio")
    (span,) = json.loads((tmp_path / "t.json").read_text())[0]["predictions"][0]["result"]

    assert span["type"] == "labels"
    assert span["value"]["start"] == 2
    assert span["value"]["text"].startswith("Ann")
    assert 0 < span["score"] <= 1


def test_people_annotate_and_programs_predict(tmp_path: Path) -> None:
    labels = from_frame(
        {
            "item": ["u", "u"],
            "annotator": ["ann", "gpt-5"],
            "label": ["x", "y"],
            "kind": ["human", "llm"],
            "time": [0, 60],
        }
    )
    write_labels(tmp_path / "t.json", labels, corpus=documents(["u"], ["text"]), format="label-studio")

    found = read_crowd(tmp_path / "t.json").labels

    assert found.to_frame().rows() == labels.to_frame().rows()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(CROWDS_OF_DOCUMENTS)
def test_labels_of_documents_come_back(tmp_path: Path, crowd: Crowd) -> None:
    write_labels(tmp_path / "t.json", crowd.labels, corpus=crowd.corpus, format="label-studio")

    found = read_crowd(tmp_path / "t.json", format="label-studio")

    assert same_labels(found.labels, crowd.labels)
    assert found.corpus is not None
    assert crowd.corpus is not None
    assert found.corpus.texts == crowd.corpus.texts


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(CROWDS_OF_SENTENCES)
def test_marked_spans_come_back(tmp_path: Path, crowd: Crowd) -> None:
    write_labels(tmp_path / "t.json", crowd.labels, corpus=crowd.corpus, format="label-studio")

    found = read_crowd(tmp_path / "t.json", format="label-studio")

    assert same_labels(found.labels, crowd.labels)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(CROWDS_OF_SENTENCES)
def test_consensus_reads_back_with_the_same_answers(tmp_path: Path, crowd: Crowd) -> None:
    estimate = MajorityVote(seed=0).infer(crowd.labels)
    write_estimate(tmp_path / "t.json", estimate, corpus=crowd.corpus, format="label-studio")
    assume(len(spans_of(estimate.answer, estimate.classes, estimate.offsets)))
    answers = read_answers(tmp_path / "t.json", format="label-studio")

    again = align_answers(answers, Answers(estimate.items, estimate.classes, estimate.answer, offsets=estimate.offsets))
    assert spans_of(again.predicted, again.classes, again.offsets) == spans_of(again.gold, again.classes, again.offsets)


def spans_of(tags: Ints, classes: Any, offsets: Any) -> list[tuple[int, int, str]]:
    """The spans that tags mean: an I- tag that opens a span means the same as a B- tag."""
    tag_set = parse_tags(classes)
    found = tags_to_spans(tags, offsets, tag_set)
    return [(int(a), int(b), tag_set.types[k]) for a, b, k in zip(found.start, found.end, found.kind, strict=True)]


def test_an_export_comes_back_in_its_own_shape(tmp_path: Path) -> None:
    write_labels(tmp_path / "export.json", LABELS, corpus=CORPUS, format="label-studio")
    aggregate_files(AggregateOptions(labels=str(tmp_path / "export.json"), out=str(tmp_path / "consensus.json")))

    tasks = json.loads((tmp_path / "consensus.json").read_text())

    assert {task["id"] for task in tasks} == {1, 2}
    assert all(task["predictions"] for task in tasks)
    assert (
        read_answers(tmp_path / "consensus.json").classes
        == ("x", "y")[: len(read_answers(tmp_path / "consensus.json").classes)]
    )


def test_tags_that_are_no_spans_are_refused(tmp_path: Path) -> None:
    labels = from_sequences([("s", "a", ["NOUN"])])

    with pytest.raises(OptionError, match="Label Studio only supports span tags"):
        write_labels(tmp_path / "t.json", labels, corpus=sentences(["s"], [["dogs"]]), format="label-studio")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("choices", {"choices": ["good"]}),
        ("rating", {"rating": 4}),
        ("number", {"number": 7}),
        ("pairwise", {"selected": "left"}),
        ("taxonomy", {"taxonomy": [["a", "b"]]}),
    ],
)
def test_a_consensus_goes_back_under_the_names_of_the_export(tmp_path: Path, kind: str, value: dict[str, Any]) -> None:
    result = {"from_name": "quality", "to_name": "review", "type": kind, "value": value}
    tasks = [
        {
            "id": n,
            "data": {"body": f"text {n}"},
            "annotations": [{"completed_by": who, "result": [result]} for who in (1, 2)],
        }
        for n in (1, 2)
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks))

    aggregate_files(AggregateOptions(labels=str(tmp_path / "export.json"), out=str(tmp_path / "consensus.json")))
    (first, _) = json.loads((tmp_path / "consensus.json").read_text())

    assert first["data"] == {"body": f"text {first['id']}"}
    assert first["predictions"][0]["result"] == [result]
