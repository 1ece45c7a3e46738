"""Words, their rows and their vectors."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.classifiers.words import (
    Lexicon,
    kim_words,
    lexicon_of,
    plain_words,
    running_texts,
    running_tokens,
    word_matrix,
)
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import CorpusError


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
    assert kim_words(text) == words


def test_plain_words_keep_every_alphabet_and_every_mark() -> None:
    assert plain_words("Caf\u00e9, 123 \u00e9t\u00e9s!") == ["caf\u00e9", ",", "123", "\u00e9t\u00e9s", "!"]


def test_texts_run_on_with_offsets_and_empty_texts_have_no_words() -> None:
    said = running_texts(documents([1, 2, 3], ["a b", "", "c"]), "model", cut="kim")

    assert said.words == ("a", "b", "c")
    np.testing.assert_array_equal(said.offsets, [0, 2, 2, 3])


def test_texts_of_sequences_are_refused() -> None:
    with pytest.raises(CorpusError) as caught:
        running_texts(sentences([1], [["a"]]), "kim-cnn", cut="kim")

    assert str(caught.value) == (
        "kim-cnn looks at the texts of documents; these are sequences of tokens. Choose another model."
    )


def test_tokens_of_documents_are_refused() -> None:
    with pytest.raises(CorpusError) as caught:
        running_tokens(documents([1], ["a"]), "cnn-gru")

    assert str(caught.value) == (
        "cnn-gru tags the tokens of sequences; these items have none. Choose a model for documents."
    )


def test_rows_are_of_the_word_then_of_its_lower_case_then_unknown() -> None:
    rows = Lexicon(["apple", "Bob"]).rows(["apple", "APPLE", "Bob", "bob", "pear"])

    np.testing.assert_array_equal(rows, [2, 2, 3, 1, 1])


def test_exact_rows_are_of_the_word_as_it_stands() -> None:
    rows = Lexicon(["apple", "Bob"], exact=True).rows(["apple", "APPLE", "Bob", "bob"])

    np.testing.assert_array_equal(rows, [2, 1, 3, 1])


def test_the_corpus_words_come_first_and_other_words_with_vectors_follow() -> None:
    vectors = WordVectors(("pear", "fig", "plum"), np.eye(3, dtype=np.float32))

    lexicon, n_own = lexicon_of(["fig", "date", "fig"], vectors, exact=False)

    assert lexicon.words == ("fig", "date", "pear", "plum")
    assert n_own == 4  # padding, the unknown, fig and date


def test_words_get_their_vectors_and_others_start_within_the_spread() -> None:
    vectors = WordVectors(("pear", "fig"), np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
    lexicon, _ = lexicon_of(["Fig", "date", "rose"], vectors, exact=False)

    matrix = word_matrix(lexicon, vectors, size=3, spread=0.5, rng=np.random.default_rng(0))

    found = dict(zip(("padding", "unknown", *lexicon.words), matrix, strict=True))
    np.testing.assert_array_equal(found["padding"], 0)
    np.testing.assert_array_equal(found["unknown"], 0)
    np.testing.assert_array_equal(found["Fig"], [4, 5, 6])  # in lower case
    np.testing.assert_array_equal(found["pear"], [1, 2, 3])
    assert np.abs([found["date"], found["rose"]]).min() > 0
    assert np.abs([found["date"], found["rose"]]).max() <= 0.5


def test_exact_look_up_leaves_capitals_without_a_vector() -> None:
    vectors = WordVectors(("fig",), np.ones((1, 2), dtype=np.float32))
    lexicon, _ = lexicon_of(["Fig"], vectors, exact=True)

    matrix = word_matrix(lexicon, vectors, size=2, spread=0.0, rng=np.random.default_rng(0))

    np.testing.assert_array_equal(matrix[2], 0)  # Fig
    np.testing.assert_array_equal(matrix[3], 1)  # fig
