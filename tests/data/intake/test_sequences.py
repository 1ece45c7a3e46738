from __future__ import annotations

import polars as pl
import pytest
from tests.data.test_labels import triples

from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.errors import LabelError


def test_tags_may_be_lists_or_text() -> None:
    as_lists = from_frame(pl.DataFrame({"sent": [0, 0], "annotator": ["a", "b"], "tags": [["O", "B-X"], ["O", "O"]]}))
    as_text = from_frame(pl.DataFrame({"sent": [0, 0], "annotator": ["a", "b"], "labels": ["O B-X", " O  O "]}))

    assert (
        triples(as_lists)
        == triples(as_text)
        == {((0, 0), "a", "O"), ((0, 1), "a", "B-X"), ((0, 0), "b", "O"), ((0, 1), "b", "O")}
    )


def test_annotators_of_a_sentence_must_agree_on_its_length() -> None:
    with pytest.raises(LabelError) as caught:
        from_sequences([("s", "ann", ["O", "O"]), ("s", "bob", ["O"])])

    assert str(caught.value) == (
        "the table, row 1: annotator 'bob' gives 1 tags to 's', but another annotator 2. Give one tag per token."
    )


def test_a_sentence_tagged_twice_follows_the_policy() -> None:
    twice = [("s", "ann", ["O", "O"]), ("t", "ann", ["O"]), ("s", "ann", ["O", "B-X"])]

    with pytest.raises(
        LabelError, match="row 2: annotator 'ann' labels item 's' again, with another label than in row 0"
    ):
        from_sequences(twice)
    last = from_sequences(twice, duplicates="last")

    assert triples(last) == {(("s", 0), "ann", "O"), (("s", 1), "ann", "B-X"), (("t", 0), "ann", "O")}


def test_a_token_not_seen_has_no_label() -> None:
    labels = from_sequences([("s", "a", ["O", "?"]), ("s", "b", ["O", "B-X"])])

    assert labels.classes == ("B-X", "O")
    assert triples(labels) == {(("s", 0), "a", "O"), (("s", 0), "b", "O"), (("s", 1), "b", "B-X")}


def test_a_sentence_without_tags_stays_without_an_answer() -> None:
    labels = from_frame(
        pl.DataFrame({"item": ["s", "t", "u"], "annotator": ["a", "a", "a"], "tags": [["O"], None, []]})
    )

    assert labels.items.to_list() == ["s", "t", "u"]
    assert labels.n_units == 1
    assert labels.intake.missing == 2


def test_weight_time_and_kind_of_a_sentence_go_to_its_tokens() -> None:
    table = pl.DataFrame(
        {
            "item": ["s", "s"],
            "annotator": ["a", "b"],
            "tags": [["O", "O"], ["B-X", "O"]],
            "weight": [1.0, 5.0],
            "time": [1, 2],
            "kind": ["llm", "human"],
        }
    )

    labels = from_frame(table)

    assert labels.votes().tolist() == [[5.0, 1.0], [0.0, 6.0]]
    assert labels.kind == ("llm", "human")
    assert labels.time is not None
    assert labels.time.tolist() == [1.0, 2.0, 1.0, 2.0]


def test_lists_written_as_text_are_refused() -> None:
    with pytest.raises(LabelError, match="row 1: the tags '\\[\"O\"\\]' are a list written as text"):
        from_frame(pl.DataFrame({"item": ["s", "t"], "annotator": ["a", "a"], "tags": ["O", '["O"]']}))


def test_a_problem_in_a_tag_is_told_by_its_row() -> None:
    with pytest.raises(LabelError, match="row 1: the label 'B-X' is not among the classes O"):
        from_sequences([("s", "a", ["O"] * 5), ("t", "a", ["O", "B-X"])], classes=["O"])
