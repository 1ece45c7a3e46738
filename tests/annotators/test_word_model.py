"""The words of sentences as evidence for their tags."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.frames import from_sequences
from crowdlogic.errors import CorpusError
from crowdlogic.numerics.logspace import expected_log
from crowdlogic.truth.word_hmm import NO_WORDS, code_words

LABELS = from_sequences([("s0", "a", ["B", "O", "O"]), ("s1", "a", ["B", "O"])])
CORPUS = sentences(["s0", "s1"], [["Ann", "has", "2"], ["Ann", "sleeps"]])


def test_words_and_their_shapes_are_coded() -> None:
    words = code_words(LABELS, CORPUS, shapes=True)

    assert [codes.tolist() for codes in words.codes] == [[0, 1, 2, 0, 3], [1, 0, 2, 1, 0]]
    assert words.sizes == (4, 3)
    assert len(code_words(LABELS, CORPUS, shapes=False).codes) == 1


def test_concentrations_count_words_by_tag() -> None:
    words = code_words(LABELS, CORPUS, shapes=True)
    q = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.5, 0.5], [0.0, 1.0]])

    state = words.concentrations(q, 0.1)

    np.testing.assert_allclose(state["feature0"], [[1.6, 0.6], [0.1, 1.1], [0.1, 1.1], [0.1, 1.1]])
    np.testing.assert_allclose(state["feature1"], [[0.1, 2.1], [1.6, 0.6], [0.1, 1.1]])
    expected = sum(expected_log(state[f"feature{at}"], axis=0)[codes] for at, codes in enumerate(words.codes))
    np.testing.assert_allclose(words.log_likelihood(state), expected, rtol=1e-12)
    assert words.divergence(state, 0.1) > 0.1
    assert words.divergence(words.concentrations(np.zeros_like(q), 0.1), 0.1) == pytest.approx(0.0, abs=1e-9)


def test_without_tokens_there_are_no_words() -> None:
    assert code_words(LABELS, None, shapes=True) is NO_WORDS
    assert code_words(LABELS, documents(["s0", "s1"], ["x", "y"]), shapes=True) is NO_WORDS


def test_another_corpus_is_refused() -> None:
    with pytest.raises(CorpusError) as refused:
        code_words(LABELS, sentences(["s0"], [["Ann"]]), shapes=True)

    assert str(refused.value) == (
        "The corpus has 1 token, but the labels have 5 units. Call align(labels, corpus) first."
    )
