"""Items from tables and frames."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from crowdlogic.data.frames import corpus_from_frame, texts_of_labels
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import CrowdLogicError


def test_a_frame_of_texts_is_a_corpus_with_its_gold() -> None:
    corpus = corpus_from_frame(
        pd.DataFrame({"ticket": [1, 2], "text": ["a", "b"], "label": ["x", None]}), columns={"item": "ticket"}
    )

    assert corpus.items.to_list() == [1, 2]
    assert corpus.texts == ("a", "b")
    assert corpus.classes == ("x",)
    assert corpus.gold is not None
    assert corpus.gold.tolist() == [0, -1]


def test_a_frame_of_tokens_is_a_corpus_of_sentences_with_tags_by_any_name() -> None:
    frame = pl.DataFrame({"item": ["s"], "tokens": [["EU", "."]], "gold_tags": [["B-ORG", "O"]]})

    corpus = corpus_from_frame(frame, columns={"tags": "gold_tags"})

    assert corpus.sentence(0) == ("EU", ".")
    assert corpus.classes == ("B-ORG", "O")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pl.DataFrame({"item": ["a"], "inhalt": ["b"], "datum": ["c"]}),
            "the table: no column for the text among item, inhalt, datum. A table of items needs: item, text. Rename the "
            'column (text, content, review, comment, ...) or name it: columns={"text": "NAME"}.',
        ),
        (
            pl.DataFrame({"item": ["a", "b"], "text": ["b", None]}),
            "the table, row 1: no text. Fill in the text, or remove the row.",
        ),
        (
            pl.DataFrame({"item": ["a", "a"], "text": ["b", "c"]}),
            "the table, row 1: item 'a' appears again. Give each item once.",
        ),
    ],
)
def test_each_problem_of_a_frame_is_one_line_that_speaks_of_python(frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(CrowdLogicError) as caught:
        corpus_from_frame(frame)

    assert str(caught.value) == message


def test_texts_beside_the_labels_are_those_of_the_items() -> None:
    table = pl.DataFrame(
        {"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["x", "y", "x"], "text": ["one", "one", "two"]}
    )

    corpus = texts_of_labels(table, TableSource("t"))

    assert corpus is not None
    assert (corpus.items.to_list(), corpus.texts) == (["u", "v"], ("one", "two"))


def test_comments_that_differ_between_the_labels_of_an_item_are_no_texts() -> None:
    table = pl.DataFrame(
        {"item": ["u", "u"], "annotator": ["a", "b"], "label": ["x", "y"], "comment": ["sure", "not sure"]}
    )

    assert texts_of_labels(table, TableSource("t")) is None


def test_of_two_columns_the_other_is_the_text() -> None:
    found = corpus_from_frame(pl.DataFrame({"Ticket": ["t1"], "item": ["u"]}).rename({"Ticket": "What they wrote"}))

    assert found.texts == ("t1",)
    with pytest.raises(CrowdLogicError, match="no column for the text among item, one, two"):
        corpus_from_frame(pl.DataFrame({"item": ["u"], "one": ["a"], "two": ["b"]}))
