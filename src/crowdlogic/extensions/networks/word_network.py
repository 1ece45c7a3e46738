"""Networks over words: building the vocabulary and the word vectors for a corpus, saving and loading.

The networks are in kim_cnn, cnn_gru and bilstm_crf; their options are subclasses of WordArchitecture.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdlogic.classifiers.features import SHAPES, TokenStream, tokenize_plain, word_shape
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays, derive_seed, encode_json, saved_array, saved_words
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import CorpusError, FormatError
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
from crowdlogic.numerics.arrays import Ints

# [KIM14] Kim, "Convolutional neural networks for sentence classification", 2014: its cleaning of English sentences.
#
# The vocabulary of a network consists of the words of its training corpus, followed by all other words that have a
# vector, so that new texts are covered as well. The vectors of training words may be trained; training never updates
# the others.

CLITICS = re.compile(r"('s|'ve|n't|'re|'d|'ll)")
OTHER = re.compile(r"[^a-z0-9(),!?'`]")
MARKS = re.compile(r"([,!()?])")

N_SHAPES = len(SHAPES)


def tokenize_kim(text: str) -> list[str]:
    """Return tokens as in [KIM14]: lower case, clitics and some punctuation split off, all other characters dropped."""
    kept = OTHER.sub(" ", text.lower())
    return MARKS.sub(r" \1 ", CLITICS.sub(r" \1", kept)).split()


TOKENIZERS = {"kim": tokenize_kim, "plain": tokenize_plain}
"""Tokenisers of texts, by name."""


def tokenize_texts(corpus: Corpus, name: str, *, tokenizer: str) -> TokenStream:
    """Return the tokens of a corpus of documents."""
    if corpus.texts is None or corpus.is_sequential:
        kind = "sequences of tokens" if corpus.is_sequential else "items without texts"
        raise CorpusError(f"{name} needs the texts of documents, but these are {kind}. Choose another model.")
    words = [TOKENIZERS[tokenizer](text) for text in corpus.texts]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in words], dtype=np.int64)])
    return TokenStream(tuple(word for text in words for word in text), offsets)


class WordIndex:
    """Vocabulary that assigns a row to each word. Row 0 is padding, row 1 stands for unknown words."""

    PADDING, UNKNOWN = 0, 1

    def __init__(self, words: Sequence[str], *, case_sensitive: bool = False) -> None:
        self.words = tuple(words)
        self.case_sensitive = case_sensitive
        self._row = {word: row for row, word in enumerate(self.words, start=2)}

    def __len__(self) -> int:
        return len(self.words) + 2

    def rows(self, words: Iterable[str]) -> Ints:
        """Return the row of each word, or of its lower case (unless case_sensitive), or UNKNOWN."""
        find = self._row.get
        if self.case_sensitive:
            return np.array([find(word, self.UNKNOWN) for word in words], dtype=np.int64)
        return np.array([find(word) or find(word.lower(), self.UNKNOWN) for word in words], dtype=np.int64)


def build_word_index(
    words: Iterable[str], vectors: WordVectors | None, *, case_sensitive: bool
) -> tuple[WordIndex, int]:
    """Index the corpus words, then all others with a vector; also return the number of rows of corpus words."""
    own = dict.fromkeys(words)
    more = () if vectors is None else (word for word in dict.fromkeys(vectors.words) if word not in own)
    return WordIndex((*own, *more), case_sensitive=case_sensitive), len(own) + 2


def initial_vectors(
    index: WordIndex, vectors: WordVectors | None, *, size: int, spread: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Return vectors[v, d]: given ones or uniform in [-spread, spread]; zero for padding and unknown words."""
    matrix = rng.uniform(-spread, spread, (len(index), size)).astype(np.float32)
    matrix[:2] = 0.0
    if vectors is not None:
        matrix[2:] = vectors.matrix(index.words, exact=index.case_sensitive, unknown=matrix[2:])
    return matrix


def shape_codes(words: Sequence[str]) -> Ints:
    """Return the code of each word's shape."""
    codes = {word: word_shape(word) for word in set(words)}
    return np.array([codes[word] for word in words], dtype=np.int64)


# Building, saving and loading a network over words.

WORDS = FIXED + "words"
EMBEDDING = "embedding."
RANDOM_SPREAD = 0.25
"""Without pretrained vectors, words start uniformly in [-RANDOM_SPREAD, RANDOM_SPREAD], as in Kim's program."""


class WordArchitecture:
    """Base class of the options of a network over words.

    Attributes:
        vectors: Pretrained word vectors, if any.
        vector_size: Size of the word vectors if they are not pretrained.
        tune_vectors: Whether the vectors of the words in the training corpus are trained. None: only if they are not
            pretrained.
        case_sensitive: Whether words are only looked up as written, never in lower case.
        training: The optimiser and its hyper-parameters.
        unknown_spread: Words without a pretrained vector are initialised uniformly in [-unknown_spread,
            unknown_spread].
    """

    vectors: WordVectors | None
    vector_size: int
    tune_vectors: bool | None
    case_sensitive: bool
    training: Training
    unknown_spread: ClassVar[float]

    def tokenize(self, corpus: Corpus) -> TokenStream:
        """Return the words of a corpus."""
        raise NotImplementedError

    def encode(self, tokens: TokenStream, index: WordIndex) -> Inputs:
        """Convert words to inputs of the network."""
        raise NotImplementedError

    def network(self, embedding: WordEmbedding, n_classes: int) -> Network:
        """Create a new network with the given embedding as attribute `embedding`."""
        raise NotImplementedError

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """Build a new network for the vocabulary of a corpus."""
        vectors = self.vectors
        index, n_own = build_word_index(self.tokenize(corpus).words, vectors, case_sensitive=self.case_sensitive)
        rng = np.random.default_rng(derive_seed(seed, "words"))
        size, spread = (self.vector_size, RANDOM_SPREAD) if vectors is None else (vectors.size, self.unknown_spread)
        matrix = initial_vectors(index, vectors, size=size, spread=spread, rng=rng)
        trained = vectors is None if self.tune_vectors is None else self.tune_vectors
        embedding = WordEmbedding(matrix[:n_own], matrix[n_own:], trained=trained)
        return self._make_classifier(index, embedding, n_classes=len(classes), seed=seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
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
        index = WordIndex(words, case_sensitive=self.case_sensitive)
        embedding = WordEmbedding(own, rest, trained=trained)
        return restore_classifier(self._make_classifier(index, embedding, n_classes=len(classes), seed=0), arrays)

    def _make_classifier(
        self, index: WordIndex, embedding: WordEmbedding, *, n_classes: int, seed: int
    ) -> NeuralClassifier:
        with torch_seed(derive_seed(seed, "weights"), find_device("cpu")):
            network = self.network(embedding, n_classes)
        encode = partial(_encode_corpus, self, index)
        kind = ChainNeuralClassifier if hasattr(network, "transitions") else NeuralClassifier
        return kind(network, encode, self.training, seed=seed, fixed={WORDS: encode_json(index.words)})


def _encode_corpus(options: WordArchitecture, index: WordIndex, corpus: Corpus) -> Inputs:
    return options.encode(options.tokenize(corpus), index)
