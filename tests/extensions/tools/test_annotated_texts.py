"""Labels and answers as annotation tools keep them: a label or marked spans of a text."""

from __future__ import annotations

import pytest

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.estimate import Estimate, estimate_from_gold
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.extensions.tools.annotated_texts import Annotated, annotate
from crowdlogic.truth.majority import MajorityVote

CORPUS = sentences(["s", "t"], [["Ann", "Lee", "sings"], ["hi"]])


def annotations(content: CrowdLabels | Estimate, corpus: Corpus = CORPUS) -> list[Annotated]:
    return list(annotate(content, corpus, target="f", tool="Tool")[2])


def test_documents_have_labels_and_the_least_sure_come_first() -> None:
    labels = from_frame(
        {"item": ["u", "u", "v", "w"], "annotator": ["a", "b", "a", "a"], "label": ["x", "y", "x", None]}
    )
    estimate = MajorityVote(seed=0).infer(labels)

    found = annotations(estimate, documents(["u", "v", "w"], ["1", "2", "3"]))

    assert [(one.item, one.confidence) for one in found] == [(0, 0.5), (1, 1.0)]
    assert found[1].label == "x"


def test_sentences_have_spans_in_characters() -> None:
    labels = from_sequences([("s", "a", ["B-PER", "I-PER", "O"]), ("t", "a", ["O"])])

    found = annotations(MajorityVote().infer(labels))

    assert [[(one.start, one.end, one.kind, one.text) for one in each.spans] for each in found] == [
        [(0, 7, "PER", "Ann Lee")],
        [],
    ]


def test_a_sentence_is_as_sure_as_its_least_sure_token() -> None:
    labels = from_sequences([("s", "a", ["O", "O", "O"]), ("s", "b", ["O", "B-X", "O"]), ("t", "a", ["?"])])

    found = annotations(MajorityVote().infer(labels))  # nobody saw "t", so it has no annotation

    assert [(one.item, one.confidence) for one in found] == [(0, 0.5)]


def test_every_annotators_spans_are_found() -> None:
    labels = from_sequences([("s", "a", ["O", "B-X", "O"]), ("s", "b", ["B-X", "B-X", "I-X"])])

    found = {one.annotator: [span.text for span in one.spans] for one in annotations(labels)}

    assert found == {0: ["Lee"], 1: ["Ann", "Lee sings"]}


def test_a_sentence_seen_in_part_cannot_be_marked() -> None:
    labels = from_sequences([("s", "a", ["O", "?", "O"])])

    with pytest.raises(OptionError, match="Annotator 'a' tagged only a part of sentence 's'"):
        annotations(labels)


def test_texts_and_span_tags_are_required() -> None:
    parts = sentences(["s"], [["dogs"]], gold=[["NOUN"]])

    with pytest.raises(OptionError, match="f: Tool needs the texts, which are unknown"):
        annotate(estimate_from_gold(parts), None, target="f", tool="Tool")
    with pytest.raises(OptionError, match="f: Tool only supports span tags"):
        annotations(estimate_from_gold(parts), parts)
