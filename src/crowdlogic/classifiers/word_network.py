"""Networks that read words: how their vocabulary and vectors are made for a corpus, kept, and found again.

What such a network looks like is its own business (kim_cnn, cnn_gru); it says so by being a WordArchitecture.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np

from crowdlogic.classifiers.annotator_heads import restored
from crowdlogic.classifiers.embedding import Embedding
from crowdlogic.classifiers.network import Inputs, Network
from crowdlogic.classifiers.neural import NeuralClassifier, device_named, seeded
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays, packed, seed_of, unpacked
from crowdlogic.classifiers.training import Training
from crowdlogic.classifiers.words import Lexicon, Running, lexicon_of, word_matrix
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
    def size(self) -> int:
        """The dimensions of a word when there are none."""

    @property
    def exact(self) -> bool:
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

    def said(self, corpus: Corpus) -> Running:
        """The words of a corpus."""

    def inputs(self, said: Running, lexicon: Lexicon) -> Inputs:
        """What the network sees of them."""

    def network(self, embedding: Embedding, n_classes: int) -> Network:
        """A new network over word vectors; its attribute `embedding` is them."""


def built(options: WordArchitecture, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
    """A new network for the words of a corpus."""
    vectors = options.vectors
    lexicon, n_own = lexicon_of(options.said(corpus).words, vectors, exact=options.exact)
    rng = np.random.default_rng(seed_of(seed, "words"))
    size, spread = (options.size, RANDOM_SPREAD) if vectors is None else (vectors.size, options.unknown_spread)
    matrix = word_matrix(lexicon, vectors, size=size, spread=spread, rng=rng)
    embedding = Embedding(matrix[:n_own], matrix[n_own:], tuned=options.is_tuned)
    return _classifier(options, lexicon, embedding, len(classes), seed)


def loaded(options: WordArchitecture, arrays: Arrays, classes: Classes) -> NeuralClassifier:
    """The network that these arrays were taken from; whether its vectors were trained is seen from them."""
    tuned = MODEL + EMBEDDING + "own" in arrays
    names = (WORDS, (MODEL if tuned else FIXED + MODEL) + EMBEDDING + "own", FIXED + MODEL + EMBEDDING + "rest")
    absent = [name for name in names if name not in arrays]
    if absent:
        raise FormatError(f"These arrays are not of a network that reads words: {absent[0]} is missing.")
    lexicon = Lexicon(unpacked(arrays[names[0]]), exact=options.exact)
    embedding = Embedding(np.asarray(arrays[names[1]]), np.asarray(arrays[names[2]]), tuned=tuned)
    return restored(_classifier(options, lexicon, embedding, len(classes), seed=0), arrays)


def _classifier(
    options: WordArchitecture, lexicon: Lexicon, embedding: Embedding, n_classes: int, seed: int
) -> NeuralClassifier:
    with seeded(seed_of(seed, "weights"), device_named("cpu")):
        network = options.network(embedding, n_classes)
    read = partial(_read, options, lexicon)
    return NeuralClassifier(network, read, options.training, seed=seed, fixed={WORDS: packed(lexicon.words)})


def _read(options: WordArchitecture, lexicon: Lexicon, corpus: Corpus) -> Inputs:
    return options.inputs(options.said(corpus), lexicon)
