"""Words, their rows and their vectors."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.classifiers.features import SHAPES, corpus_tokens, tokenize_plain, word_shape
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import CorpusError
from crowdlogic.extensions.networks.word_network import (
    WordIndex,
    build_word_index,
    initial_vectors,
    shape_codes,
    tokenize_kim,
    tokenize_texts,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the film's great, isn't it?", ["the", "film", "'s", "great", ",", "is", "n't", "it", "?"]),
        ("I'd say we've won; they'll cheer!", ["i", "'d", "say", "we", "'ve", "won", "they", "'ll", "cheer", "!"]),
        ("you're (almost) there", ["you", "'re", "(", "almost", ")", "there"]),
        ("re-make: 3 1/2 stars -- no. more...", ["re", "make", "3", "1", "2", "stars", "no", "more"]),
        ('"quoted" `ticks` & signs $5', ["quoted", "`ticks`", "signs", "5"]),
        ("o'donnell's 'score'", ["o", "'donnell", "'s", "'score'"]),  # clitics are split wherever they stand
        ("caf\u00e9 na\u00efve", ["caf", "na", "ve"]),
        ("", []),
        ("...", []),
    ],
)
def test_kim_words_splits_clitics_and_keeps_few_marks(text: str, words: list[str]) -> None:
    assert tokenize_kim(text) == words


def test_plain_words_keep_every_alphabet_and_every_mark() -> None:
    assert tokenize_plain("Caf\u00e9, 123 \u00e9t\u00e9s!") == ["caf\u00e9", ",", "123", "\u00e9t\u00e9s", "!"]


def test_texts_run_on_with_offsets_and_empty_texts_have_no_words() -> None:
    said = tokenize_texts(documents([1, 2, 3], ["a b", "", "c"]), "model", tokenizer="kim")

    assert said.words == ("a", "b", "c")
    np.testing.assert_array_equal(said.offsets, [0, 2, 2, 3])


def test_texts_of_sequences_are_refused() -> None:
    with pytest.raises(CorpusError) as caught:
        tokenize_texts(sentences([1], [["a"]]), "kim-cnn", tokenizer="kim")

    assert str(caught.value) == (
        "kim-cnn needs the texts of documents, but these are sequences of tokens. Choose another model."
    )


def test_tokens_of_documents_are_refused() -> None:
    with pytest.raises(CorpusError) as caught:
        corpus_tokens(documents([1], ["a"]), "cnn-gru")

    assert str(caught.value) == (
        "cnn-gru tags the tokens of sequences, but these items have none. Choose a model for documents."
    )


def test_rows_are_of_the_word_then_of_its_lower_case_then_unknown() -> None:
    rows = WordIndex(["apple", "Bob"]).rows(["apple", "APPLE", "Bob", "bob", "pear"])

    np.testing.assert_array_equal(rows, [2, 2, 3, 1, 1])


def test_exact_rows_are_of_the_word_as_it_stands() -> None:
    rows = WordIndex(["apple", "Bob"], case_sensitive=True).rows(["apple", "APPLE", "Bob", "bob"])

    np.testing.assert_array_equal(rows, [2, 1, 3, 1])


def test_the_corpus_words_come_first_and_other_words_with_vectors_follow() -> None:
    vectors = WordVectors(("pear", "fig", "plum"), np.eye(3, dtype=np.float32))

    index, n_own = build_word_index(["fig", "date", "fig"], vectors, case_sensitive=False)

    assert index.words == ("fig", "date", "pear", "plum")
    assert n_own == 4  # padding, the unknown, fig and date


def test_words_get_their_vectors_and_others_start_within_the_spread() -> None:
    vectors = WordVectors(("pear", "fig"), np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
    index, _ = build_word_index(["Fig", "date", "rose"], vectors, case_sensitive=False)

    matrix = initial_vectors(index, vectors, size=3, spread=0.5, rng=np.random.default_rng(0))

    found = dict(zip(("padding", "unknown", *index.words), matrix, strict=True))
    np.testing.assert_array_equal(found["padding"], 0)
    np.testing.assert_array_equal(found["unknown"], 0)
    np.testing.assert_array_equal(found["Fig"], [4, 5, 6])  # in lower case
    np.testing.assert_array_equal(found["pear"], [1, 2, 3])
    assert np.abs([found["date"], found["rose"]]).min() > 0
    assert np.abs([found["date"], found["rose"]]).max() <= 0.5


def test_exact_look_up_leaves_capitals_without_a_vector() -> None:
    vectors = WordVectors(("fig",), np.ones((1, 2), dtype=np.float32))
    index, _ = build_word_index(["Fig"], vectors, case_sensitive=True)

    matrix = initial_vectors(index, vectors, size=2, spread=0.0, rng=np.random.default_rng(0))

    np.testing.assert_array_equal(matrix[2], 0)  # Fig
    np.testing.assert_array_equal(matrix[3], 1)  # fig


@pytest.mark.parametrize(
    ("word", "looks"),
    [
        ("house", "lower"),
        ("London", "Title"),
        ("A", "Title"),
        ("NATO", "UPPER"),
        ("McDonald", "mIxed"),
        ("iPhone", "mIxed"),
        ("1996", "digits"),
        ("1,500", "digits"),
        ("F16", "d1git"),
        ("1996-08-22b", "d1git"),
        ("...", "marks"),
        ("", "marks"),
        ("U.S.", "other"),
        ("Al-Ain", "other"),
    ],
)
def test_shape_of_a_word(word: str, looks: str) -> None:
    assert SHAPES[word_shape(word)] == looks


def test_no_word_has_the_code_of_padding() -> None:
    codes = shape_codes(["a", "B", "3", "-", "", "a"])

    assert (codes > 0).all()
    np.testing.assert_array_equal(codes[0], codes[5])
