"""Potato's folders: annotations that come back as they were, and names that lead nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.data.formats.texts import CROWDS_OF_DOCUMENTS, CROWDS_OF_SENTENCES, same_labels
from tests.extensions.tools.test_label_studio_writing import CORPUS, LABELS, spans_of

from crowdlogic.data.corpus import documents
from crowdlogic.data.estimate import Answers, align_answers
from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.frames import from_frame
from crowdlogic.data.reading import read_answers, read_crowd, write_estimate, write_labels
from crowdlogic.extensions.tools.potato import POTATO
from crowdlogic.truth.majority import MajorityVote


def fresh(folder: Path) -> Path:
    """A name that no folder has yet."""
    return folder / f"p{len(list(folder.iterdir()))}"


def test_consensus_is_the_state_of_one_annotator_with_the_texts_beside_it(tmp_path: Path) -> None:
    write_estimate(tmp_path / "p", MajorityVote(seed=0).infer(LABELS), corpus=CORPUS, format="potato")

    state = json.loads((tmp_path / "p" / "annotation_output" / "crowdlogic" / "user_state.json").read_text())
    lines = (tmp_path / "p" / "data" / "items.jsonl").read_text().splitlines()

    assert state["user_id"] == "crowdlogic"
    assert state["instance_id_to_label_to_value"]["1"] == [[{"schema": "label", "name": "x"}, "true"]]
    assert [json.loads(line)["id"] for line in lines] == ["2", "1"]


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(CROWDS_OF_DOCUMENTS)
def test_labels_of_documents_come_back(tmp_path: Path, crowd: Crowd) -> None:
    place = fresh(tmp_path)
    write_labels(place, crowd.labels, corpus=crowd.corpus, format="potato")

    found = read_crowd(place)

    assert same_labels(found.labels, crowd.labels)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(CROWDS_OF_SENTENCES)
def test_marked_spans_come_back(tmp_path: Path, crowd: Crowd) -> None:
    place = fresh(tmp_path)
    write_labels(place, crowd.labels, corpus=crowd.corpus, format="potato")

    assert same_labels(read_crowd(place).labels, crowd.labels)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(CROWDS_OF_SENTENCES)
def test_consensus_reads_back_with_the_same_answers(tmp_path: Path, crowd: Crowd) -> None:
    estimate, place = MajorityVote(seed=0).infer(crowd.labels), fresh(tmp_path)
    assume(len(spans_of(estimate.answer, estimate.classes, estimate.offsets)))
    write_estimate(place, estimate, corpus=crowd.corpus, format="potato")

    answers = read_answers(place)

    again = align_answers(answers, Answers(estimate.items, estimate.classes, estimate.answer, offsets=estimate.offsets))
    assert spans_of(again.predicted, again.classes, again.offsets) == spans_of(again.gold, again.classes, again.offsets)


@given(st.sampled_from(["..", ".", "a/b", "../x", "c:\\d", "ann@x.org", "...", "a b"]))
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    labels = from_frame({"item": ["u"], "annotator": [name], "label": ["x"]})

    files = POTATO.encode_labels(labels, documents(["u"], ["text"]), "p")

    (place,) = [file for file in files if file.endswith("user_state.json")]
    folder = place.split("/")[1:-1]
    assert len(folder) == 1
    assert folder[0].strip(".")
    assert json.loads(files[place])["user_id"] == name
