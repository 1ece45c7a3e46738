"""Networks that read words: how their vocabulary and vectors are made for a corpus, kept, and found again.

What such a network looks like is its own business (kim_cnn, cnn_gru); it says so by being a WordArchitecture.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np

from crowdlogic.classifiers.crowd_heads import restore_classifier
from crowdlogic.classifiers.layers import Embedding
from crowdlogic.classifiers.network import Inputs, Network
from crowdlogic.classifiers.neural import NeuralClassifier, find_device, torch_seed
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays, decode_json, derive_seed, encode_json
from crowdlogic.classifiers.training import Training
from crowdlogic.classifiers.words import TokenStream, WordIndex, build_word_index, word_matrix
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import FormatError

WORDS = FIXED + "words"
EMBEDDING = "embedding."
RANDOM_SPREAD = 0.25
"""Without any vectors words start uniform within this, as in Kim's program."""


class WordArchitecture(Protocol):
    """The options of a network that reads words."""

    @property
    def vectors(self) -> WordVectors | None:
        """The word vectors, if there are any."""

    @property
    def vector_size(self) -> int:
        """The dimensions of a word when there are none."""

    @property
    def case_sensitive(self) -> bool:
        """Whether words are never looked up in lower case."""

    @property
    def training(self) -> Training:
        """How the network is trained."""

    @property
    def is_tuned(self) -> bool:
        """Whether the vectors of the corpus' own words are trained."""

    @property
    def unknown_spread(self) -> float:
        """Words that the vectors lack start uniform within this."""

    def said(self, corpus: Corpus) -> TokenStream:
        """The words of a corpus."""

    def inputs(self, said: TokenStream, index: WordIndex) -> Inputs:
        """What the network sees of them."""

    def network(self, embedding: Embedding, n_classes: int) -> Network:
        """A new network over word vectors; its attribute `embedding` is them."""


def build_classifier(options: WordArchitecture, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
    """A new network for the words of a corpus."""
    vectors = options.vectors
    index, n_own = build_word_index(options.said(corpus).words, vectors, case_sensitive=options.case_sensitive)
    rng = np.random.default_rng(derive_seed(seed, "words"))
    size, spread = (options.vector_size, RANDOM_SPREAD) if vectors is None else (vectors.size, options.unknown_spread)
    matrix = word_matrix(index, vectors, size=size, spread=spread, rng=rng)
    embedding = Embedding(matrix[:n_own], matrix[n_own:], tuned=options.is_tuned)
    return _classifier(options, index, embedding, len(classes), seed)


def load_classifier(options: WordArchitecture, arrays: Arrays, classes: Classes) -> NeuralClassifier:
    """The network that these arrays were taken from; whether its vectors were trained is seen from them."""
    tuned = MODEL + EMBEDDING + "own" in arrays
    names = (WORDS, (MODEL if tuned else FIXED + MODEL) + EMBEDDING + "own", FIXED + MODEL + EMBEDDING + "rest")
    absent = [name for name in names if name not in arrays]
    if absent:
        raise FormatError(f"These arrays are not of a network that reads words: {absent[0]} is missing.")
    index = WordIndex(decode_json(arrays[names[0]]), case_sensitive=options.case_sensitive)
    embedding = Embedding(np.asarray(arrays[names[1]]), np.asarray(arrays[names[2]]), tuned=tuned)
    return restore_classifier(_classifier(options, index, embedding, len(classes), seed=0), arrays)


def _classifier(
    options: WordArchitecture, index: WordIndex, embedding: Embedding, n_classes: int, seed: int
) -> NeuralClassifier:
    with torch_seed(derive_seed(seed, "weights"), find_device("cpu")):
        network = options.network(embedding, n_classes)
    read = partial(_read, options, index)
    return NeuralClassifier(network, read, options.training, seed=seed, fixed={WORDS: encode_json(index.words)})


def _read(options: WordArchitecture, index: WordIndex, corpus: Corpus) -> Inputs:
    return options.inputs(options.said(corpus), index)
