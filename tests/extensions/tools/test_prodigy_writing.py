"""Tasks for Prodigy: consensus in review order, and annotations that come back as they were."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from tests.data.formats.texts import CROWDS_OF_DOCUMENTS, CROWDS_OF_SENTENCES, same_labels
from tests.extensions.tools.test_label_studio_writing import CORPUS, LABELS, spans_of

from crowdlogic.data.corpus import sentences
from crowdlogic.data.estimate import Answers, align_answers
from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.reading import read_answers, read_crowd, write_estimate, write_labels
from crowdlogic.truth.majority import MajorityVote


def test_consensus_is_a_choice_and_the_least_sure_comes_first(tmp_path: Path) -> None:
    write_estimate(tmp_path / "t.jsonl", MajorityVote(seed=0).infer(LABELS), corpus=CORPUS, format="prodigy")

    tasks = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]

    assert [task["_input_hash"] for task in tasks] == [2, 1]
    assert tasks[1] == {
        "text": "one",
        "meta": {"item": 1, "confidence": 1.0},
        "options": [{"id": "x", "text": "x"}, {"id": "y", "text": "y"}],
        "accept": ["x"],
        "_view_id": "choice",
        "answer": "accept",
        "_input_hash": 1,
        "_task_hash": 1,
        "_annotator_id": "crowdlogic-majority",
        "_session_id": "crowdlogic-majority",
    }


def test_the_last_token_of_a_span_belongs_to_it(tmp_path: Path) -> None:
    labels = from_sequences([("s", "a", ["O", "B-PER", "I-PER"])])
    corpus = sentences(["s"], [["😀", "Ann", "Lee"]])
    write_labels(tmp_path / "t.jsonl", labels, corpus=corpus, format="prodigy")

    task = json.loads((tmp_path / "t.jsonl").read_text())

    assert task["spans"] == [{"start": 2, "end": 9, "token_start": 1, "token_end": 2, "label": "PER"}]
    assert task["tokens"][0] == {"text": "😀", "start": 0, "end": 1, "id": 0, "ws": True}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(CROWDS_OF_DOCUMENTS)
def test_labels_of_documents_come_back(tmp_path: Path, crowd: Crowd) -> None:
    write_labels(tmp_path / "t.jsonl", crowd.labels, corpus=crowd.corpus, format="prodigy")

    found = read_crowd(tmp_path / "t.jsonl")

    assert same_labels(found.labels, crowd.labels)
    assert (found.corpus and found.corpus.texts) == (crowd.corpus and crowd.corpus.texts)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(CROWDS_OF_SENTENCES)
def test_marked_spans_come_back(tmp_path: Path, crowd: Crowd) -> None:
    write_labels(tmp_path / "t.jsonl", crowd.labels, corpus=crowd.corpus, format="prodigy")

    assert same_labels(read_crowd(tmp_path / "t.jsonl").labels, crowd.labels)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(CROWDS_OF_SENTENCES)
def test_consensus_reads_back_with_the_same_answers(tmp_path: Path, crowd: Crowd) -> None:
    estimate = MajorityVote(seed=0).infer(crowd.labels)
    write_estimate(tmp_path / "t.jsonl", estimate, corpus=crowd.corpus, format="prodigy")

    answers = read_answers(tmp_path / "t.jsonl")

    again = align_answers(answers, Answers(estimate.items, estimate.classes, estimate.answer, offsets=estimate.offsets))
    assert spans_of(again.predicted, again.classes, again.offsets) == spans_of(again.gold, again.classes, again.offsets)
