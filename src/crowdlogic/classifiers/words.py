"""Words as input of a network: tokenisation, a vocabulary, a vector for each word, and the shape of a word.

[KIM14] Kim, "Convolutional neural networks for sentence classification", 2014: its cleaning of English sentences.

The vocabulary of a network is the words of its training corpus followed by all other words that have a vector, so that
new texts are covered, too. The vectors of the training words may be trained; the others keep the vectors they were
given, as they would anyway: training never updates the vector of a word that does not occur.

Axes: s sequence, i position in the concatenation of all sequences, v word, d dimension.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import CorpusError
from crowdlogic.numerics.arrays import Ints

CLITICS = re.compile(r"('s|'ve|n't|'re|'d|'ll)")
OTHER = re.compile(r"[^a-z0-9(),!?'`]")
MARKS = re.compile(r"([,!()?])")

SHAPES = ("padding", "lower", "Title", "UPPER", "mIxed", "digits", "d1git", "marks", "other")
"""The shapes of words: capitals, digits and punctuation, which vectors of lower-case words do not distinguish."""
N_SHAPES = len(SHAPES)


def tokenize_kim(text: str) -> list[str]:
    """Tokens as in [KIM14]: lower case, clitics and some punctuation split off, all other characters dropped."""
    kept = OTHER.sub(" ", text.lower())
    return MARKS.sub(r" \1 ", CLITICS.sub(r" \1", kept)).split()


def tokenize_plain(text: str) -> list[str]:
    """Words and punctuation marks of a text in any alphabet, in lower case."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


TOKENIZERS = {"kim": tokenize_kim, "plain": tokenize_plain}
"""Tokenisers of texts, by name."""


@dataclass(frozen=True, eq=False)
class TokenStream:
    """The tokens of all sequences, concatenated: words[i], and offsets[s], the first token of each sequence."""

    words: tuple[str, ...]
    offsets: Ints


def corpus_tokens(corpus: Corpus, name: str) -> TokenStream:
    """The tokens of a corpus of sequences, unchanged."""
    if corpus.tokens is None or corpus.offsets is None:
        raise CorpusError(f"{name} tags the tokens of sequences; these items have none. Choose a model for documents.")
    return TokenStream(corpus.tokens, corpus.offsets)


def tokenize_texts(corpus: Corpus, name: str, *, tokenizer: str) -> TokenStream:
    """The tokens of a corpus of documents."""
    if corpus.texts is None or corpus.is_sequential:
        kind = "sequences of tokens" if corpus.is_sequential else "items without texts"
        raise CorpusError(f"{name} looks at the texts of documents; these are {kind}. Choose another model.")
    words = [TOKENIZERS[tokenizer](text) for text in corpus.texts]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in words], dtype=np.int64)])
    return TokenStream(tuple(word for text in words for word in text), offsets)


class WordIndex:
    """The vocabulary: a row number for each word. Row 0 is padding, row 1 unknown words."""

    PADDING, UNKNOWN = 0, 1

    def __init__(self, words: Sequence[str], *, case_sensitive: bool = False) -> None:
        self.words = tuple(words)
        self.case_sensitive = case_sensitive
        self._row = {word: row for row, word in enumerate(self.words, start=2)}

    def __len__(self) -> int:
        return len(self.words) + 2

    def rows(self, words: Iterable[str]) -> Ints:
        """The row of each word as written, else of its lower case (unless case_sensitive), else UNKNOWN."""
        find = self._row.get
        if self.case_sensitive:
            return np.array([find(word, self.UNKNOWN) for word in words], dtype=np.int64)
        return np.array([find(word) or find(word.lower(), self.UNKNOWN) for word in words], dtype=np.int64)


def build_word_index(
    words: Iterable[str], vectors: WordVectors | None, *, case_sensitive: bool
) -> tuple[WordIndex, int]:
    """The words of a corpus, then all others with a vector; and the number of rows up to the last corpus word."""
    own = dict.fromkeys(words)
    more = () if vectors is None else (word for word in dict.fromkeys(vectors.words) if word not in own)
    return WordIndex((*own, *more), case_sensitive=case_sensitive), len(own) + 2


def initial_vectors(
    index: WordIndex, vectors: WordVectors | None, *, size: int, spread: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """vectors[v, d]: the given ones, else uniform in [-spread, spread]; zero for padding and unknown words."""
    matrix = rng.uniform(-spread, spread, (len(index), size)).astype(np.float32)
    matrix[:2] = 0.0
    if vectors is not None:
        matrix[2:] = vectors.matrix(index.words, exact=index.case_sensitive, unknown=matrix[2:])
    return matrix


def word_shape(word: str) -> int:
    """The code of a word's shape, an index into SHAPES; never 0, which is padding."""
    if word.isalpha():
        cases = ((word.islower(), 1), (word.isupper() and len(word) > 1, 3), (word.istitle(), 2), (True, 4))
        return next(code for holds, code in cases if holds)
    if any(c.isdigit() for c in word):
        return 6 if any(c.isalpha() for c in word) else 5
    return 8 if any(c.isalnum() for c in word) else 7


def shape_codes(words: Sequence[str]) -> Ints:
    """The code of each word's shape."""
    codes = {word: word_shape(word) for word in set(words)}
    return np.array([codes[word] for word in words], dtype=np.int64)
