"""The pieces of the reader beside ours, from which they are independent."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from tests.extensions.networks.small_runs import new_sentences, new_texts

from crowdlogic.classifiers.features import document_features, token_features
from crowdlogic.classifiers.features import word_shape as our_shape
from crowdlogic.data.corpus import sentences
from crowdlogic.extensions.networks import runtime
from crowdlogic.extensions.networks.word_network import TOKENIZERS


def test_columns_of_texts_and_tokens_are_ours() -> None:
    texts, tagged = new_texts(50), new_sentences(20)

    ours = document_features(texts, max_ngram=2, hash_bits=10)
    tokens = token_features(sentences(range(20), tagged), hash_bits=10, name="linear")

    for i, text in enumerate(texts):
        assert runtime.ngram_columns(text, 2, 10) == sorted(ours[[i]].indices)
    flat = [(words, at) for words in tagged for at in range(len(words))]
    for i, (words, at) in enumerate(flat):
        assert runtime.token_columns(words, at, 10) == sorted(tokens[[i]].indices)


@pytest.mark.parametrize("name", ["kim", "plain"])
def test_tokens_are_ours(name: str) -> None:
    assert [runtime.SPLITTERS[name](text) for text in new_texts(100)] == [TOKENIZERS[name](t) for t in new_texts(100)]


def test_shapes_are_ours() -> None:
    words = [word for sentence in new_sentences(50) for word in sentence] + ["", "\x00", "aB", "ABC", "x1", "12", "..."]

    assert [runtime.word_shape(word) for word in words] == [our_shape(word) for word in words]


def test_marginals_by_enumeration() -> None:
    rng = np.random.default_rng(0)
    unary, start, transitions = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=(3, 3))
    transitions[0, 2] = -np.inf
    expected = np.zeros((4, 3))
    for path in product(range(3), repeat=4):
        score = start[path[0]] + sum(unary[t, k] for t, k in enumerate(path))
        score += sum(transitions[a, b] for a, b in pairwise(path))
        for t, k in enumerate(path):
            expected[t, k] += np.exp(score)

    found = runtime.chain_marginals(unary, start, transitions)

    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)


def test_null_is_minus_infinity() -> None:
    assert runtime.numbers([1.0, None]).tolist() == [[1.0, -np.inf]]
