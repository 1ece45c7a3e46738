"""Networks over words: building the vocabulary and the word vectors for a corpus, saving and loading.

The networks are in kim_cnn, cnn_gru and bilstm_crf; their options implement WordArchitecture.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np

from crowdlogic.classifiers.features import TokenStream, WordIndex, build_word_index, initial_vectors
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays, derive_seed, encode_json, saved_array, saved_words
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import FormatError
from crowdlogic.extensions.networks.chain_networks import ChainNeuralClassifier
from crowdlogic.extensions.networks.crowd_layer import restore_classifier
from crowdlogic.extensions.networks.network import (
    Inputs,
    Network,
    NeuralClassifier,
    Training,
    WordEmbedding,
    find_device,
    torch_seed,
)

WORDS = FIXED + "words"
EMBEDDING = "embedding."
RANDOM_SPREAD = 0.25
"""Without pretrained vectors, words start uniformly in [-RANDOM_SPREAD, RANDOM_SPREAD], as in Kim's program."""


class WordArchitecture(Protocol):
    """Protocol for the options of a network over words."""

    @property
    def vectors(self) -> WordVectors | None:
        """Pretrained word vectors, if any."""

    @property
    def vector_size(self) -> int:
        """Size of the word vectors if they are not pretrained."""

    @property
    def case_sensitive(self) -> bool:
        """Whether words are only looked up as written, never in lower case."""

    @property
    def training(self) -> Training:
        """Optimiser and hyper-parameters."""

    @property
    def trains_vectors(self) -> bool:
        """Whether the vectors of the words in the training corpus are trained."""

    @property
    def unknown_spread(self) -> float:
        """Words without a pretrained vector are initialised uniformly in [-unknown_spread, unknown_spread]."""

    def tokenize(self, corpus: Corpus) -> TokenStream:
        """Return the words of a corpus."""

    def encode(self, tokens: TokenStream, index: WordIndex) -> Inputs:
        """Convert words to inputs of the network."""

    def network(self, embedding: WordEmbedding, n_classes: int) -> Network:
        """Create a new network with the given embedding as attribute `embedding`."""


def build_classifier(options: WordArchitecture, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
    """Build a new network for the vocabulary of a corpus."""
    vectors = options.vectors
    index, n_own = build_word_index(options.tokenize(corpus).words, vectors, case_sensitive=options.case_sensitive)
    rng = np.random.default_rng(derive_seed(seed, "words"))
    size, spread = (options.vector_size, RANDOM_SPREAD) if vectors is None else (vectors.size, options.unknown_spread)
    matrix = initial_vectors(index, vectors, size=size, spread=spread, rng=rng)
    embedding = WordEmbedding(matrix[:n_own], matrix[n_own:], trained=options.trains_vectors)
    return _make_classifier(options, index, embedding, n_classes=len(classes), seed=seed)


def load_classifier(options: WordArchitecture, arrays: Arrays, classes: Classes) -> NeuralClassifier:
    """Restore a network from a saved state, which also records whether its word vectors were trained."""
    trained = MODEL + EMBEDDING + "own" in arrays
    names = (WORDS, (MODEL if trained else FIXED + MODEL) + EMBEDDING + "own", FIXED + MODEL + EMBEDDING + "rest")
    absent = [name for name in names if name not in arrays]
    if absent:
        raise FormatError(f"These arrays do not belong to a network over words: {absent[0]} is missing.")
    words, own = saved_words(arrays, WORDS), saved_array(arrays, names[1], (None, None))
    rest = saved_array(arrays, names[2], (None, own.shape[1]))
    if len(words) + 2 != len(own) + len(rest):
        raise FormatError(f"These arrays are damaged: {len(own) + len(rest)} vectors for {len(words)} words.")
    index = WordIndex(words, case_sensitive=options.case_sensitive)
    embedding = WordEmbedding(own, rest, trained=trained)
    plain = _make_classifier(options, index, embedding, n_classes=len(classes), seed=0)
    return restore_classifier(plain, arrays)


def _make_classifier(
    options: WordArchitecture, index: WordIndex, embedding: WordEmbedding, *, n_classes: int, seed: int
) -> NeuralClassifier:
    with torch_seed(derive_seed(seed, "weights"), find_device("cpu")):
        network = options.network(embedding, n_classes)
    encode = partial(_encode_corpus, options, index)
    kind = ChainNeuralClassifier if hasattr(network, "transitions") else NeuralClassifier
    return kind(network, encode, options.training, seed=seed, fixed={WORDS: encode_json(index.words)})


def _encode_corpus(options: WordArchitecture, index: WordIndex, corpus: Corpus) -> Inputs:
    return options.encode(options.tokenize(corpus), index)
