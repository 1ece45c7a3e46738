"""What people hand to a trained classifier, as a corpus."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.frames import from_dict, to_corpus
from crowdlogic.errors import CorpusError


def contents(corpus: Corpus) -> list[Any]:
    if corpus.is_sequential:
        return [corpus.sentence(s) for s in range(len(corpus.items))]
    return list(corpus.texts or ())


@pytest.mark.parametrize(
    "items",
    [
        ["Good, bad", "ugly"],
        ("Good, bad", "ugly"),
        documents(["a", "b"], ["Good, bad", "ugly"]),
        pd.DataFrame({"id": ["a", "b"], "text": ["Good, bad", "ugly"]}),
        pl.DataFrame({"item": ["a", "b"], "text": ["Good, bad", "ugly"]}),
    ],
)
def test_texts_are_documents_for_a_classifier_and_sentences_for_a_tagger(items: Any) -> None:
    assert contents(to_corpus(items, sequential=False)) == ["Good, bad", "ugly"]
    assert contents(to_corpus(items, sequential=True)) == [("Good", ",", "bad"), ("ugly",)]


def test_token_lists_are_sentences() -> None:
    assert contents(to_corpus([["Good", "bad"], ["x"]], sequential=True)) == [("Good", "bad"), ("x",)]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (
            sentences(["s"], [["a", "b"]]),
            "These items are tokenised sentences, but the classifier was trained on documents. Give texts.",
        ),
        ("one text", "Expected a list of items, got the text 'one text'. Write [text]."),
        (
            from_dict({"u": {"a": "x"}}),
            "Expected items, got labels. Give a Corpus, a frame of items, a dictionary item -> text, a "
            "list of texts or a list of "
            "token lists.",
        ),
        (
            7,
            "Expected items, got int. Give a Corpus, a frame of items, a dictionary item -> text, a list of texts or a list of token lists.",
        ),
        (
            ["text", 7],
            "Expected items, got a list of neither texts nor token lists. Give a Corpus, a frame of items, a "
            "dictionary item -> text, a list of texts or a list of token lists.",
        ),
    ],
)
def test_what_is_no_items_is_refused_in_one_sentence(items: Any, message: str) -> None:
    with pytest.raises(CorpusError) as caught:
        to_corpus(items, sequential=False)

    assert str(caught.value) == message


def test_a_frame_of_texts_alone_is_numbered() -> None:
    made = to_corpus(pl.DataFrame({"text": ["one", "two"]}), sequential=False)

    assert (made.items.to_list(), made.texts) == ([0, 1], ("one", "two"))
