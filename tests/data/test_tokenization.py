"""Texts split into tokens."""

from __future__ import annotations

import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.data.tokenization import tokenize, tokenize_corpus
from crowdlogic.errors import CorpusError


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("EU rejects German call.", ["EU", "rejects", "German", "call", "."]),
        ("U.S. firms, 3.5 %", ["U.S", ".", "firms", ",", "3.5", "%"]),
        ("don't use state-of-the-art", ["don't", "use", "state-of-the-art"]),
        ("Zürich—Genève", ["Zürich", "—", "Genève"]),
        (" \n ", []),
    ],
)
def test_words_and_marks_are_tokens_as_they_are_written(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


def test_texts_become_sentences_and_their_own_labels_stay_behind() -> None:
    corpus = tokenize_corpus(documents(["a", "b"], ["Hello, EU", "no"], gold=["x", "y"]))

    assert corpus.items.to_list() == ["a", "b"]
    assert [corpus.sentence(0), corpus.sentence(1)] == [("Hello", ",", "EU"), ("no",)]
    assert corpus.gold is None


def test_items_without_texts_cannot_be_split() -> None:
    with pytest.raises(CorpusError) as caught:
        tokenize_corpus(documents(["a"]))

    assert str(caught.value) == ("These items have neither tokens nor texts. Give a tagger sentences, or texts.")
