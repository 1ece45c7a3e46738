"""Texts as sentences of tokens."""

from __future__ import annotations

import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.data.text_tokens import tokenize_corpus
from crowdlogic.errors import CorpusError


def test_texts_become_sentences_and_their_own_labels_stay_behind() -> None:
    corpus = tokenize_corpus(documents(["a", "b", "c"], ["Hello, EU", "no", " "], gold=["x", "y", "x"]))

    assert corpus.items.to_list() == ["a", "b", "c"]
    assert [corpus.sentence(s) for s in range(3)] == [("Hello", ",", "EU"), ("no",), ()]
    assert corpus.gold is None


def test_texts_may_be_split_in_another_way() -> None:
    corpus = tokenize_corpus(documents(["a"], ["Hello, EU"]), "whitespace")

    assert corpus.sentence(0) == ("Hello,", "EU")


def test_items_without_texts_cannot_be_split() -> None:
    with pytest.raises(CorpusError) as caught:
        tokenize_corpus(documents(["a"]))

    assert (
        str(caught.value)
        == "A tagger needs sentences or texts, but these items have neither. Add the tokens or the texts."
    )
