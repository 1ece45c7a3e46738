from __future__ import annotations

import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.estimate import make_estimate, vote_shares
from crowdlogic.data.formats.tables import answer_tags, corpus_table, labels_table, sentence_answers_table
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.errors import OptionError


def test_tags_are_lists_or_text_separated_by_spaces() -> None:
    labels = from_sequences([("s", "a", ["B-X", "O"]), ("t", "a", ["O"])])

    assert labels_table(labels)["tags"].to_list() == [["B-X", "O"], ["O"]]
    assert labels_table(labels, only_text=True)["tags"].to_list() == ["B-X O", "O"]


def test_booleans_are_written_as_python_prints_them_where_all_is_text() -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], [True, False])

    assert labels_table(labels, only_text=True)["label"].to_list() == ["True", "False"]
    assert labels_table(labels)["label"].to_list() == [True, False]


def test_gold_that_is_not_known_is_an_empty_cell_or_a_question_mark() -> None:
    texts = documents(["d", "e"], ["one", "two"], gold=["x", None])
    tokens = sentences(["s"], [["a", "b"]], gold=[["O", None]])

    assert corpus_table(texts)["label"].to_list() == ["x", None]
    assert corpus_table(tokens)["tags"].to_list() == [["O", "?"]]


def test_answers_for_sentences_are_lists_and_empty_sentences_empty_lists() -> None:
    labels = from_sequences([("s", "a", ["B-X", "?"]), ("t", "a", [])])
    estimate = make_estimate(labels, "m", vote_shares(labels.votes()))

    table = sentence_answers_table(estimate, sentences(["s", "t"], [["New", "York"], []]))

    assert answer_tags(estimate) == ["B-X", "?"]
    assert table.to_dicts() == [
        {"item": "s", "tokens": ["New", "York"], "tags": ["B-X", "?"], "confidence": [1.0, None]},
        {"item": "t", "tokens": [], "tags": [], "confidence": []},
    ]


def test_answers_for_documents_have_no_tags() -> None:
    labels = from_arrays(["u"], ["a"], ["x"])

    with pytest.raises(OptionError, match="about documents, not sentences"):
        sentence_answers_table(make_estimate(labels, "m", vote_shares(labels.votes())), None)
