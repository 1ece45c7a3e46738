"""Words as a network sees them: tokens, a vocabulary, and a vector for each word.

[KIM14] Kim, "Convolutional neural networks for sentence classification", 2014: its cleaning of English sentences.

The vocabulary of a network is the words of its training corpus, first, and behind them every other word that has a
vector, so that words of new texts are known too. The words of the training corpus may be trained; the rest have their
given vectors for good, as they would have anyway, since nothing ever moves the vector of a word that is not seen.

Axes: s sequence, i place in the text of all sequences, v word, d dimension.
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


def tokenize_kim(text: str) -> list[str]:
    """The words of a sentence as [KIM14] cleans them: lower case, clitics and marks apart, the rest dropped."""
    kept = OTHER.sub(" ", text.lower())
    return MARKS.sub(r" \1 ", CLITICS.sub(r" \1", kept)).split()


def tokenize_plain(text: str) -> list[str]:
    """Words and marks of a text in any alphabet, in lower case."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


TOKENIZERS = {"kim": tokenize_kim, "plain": tokenize_plain}
"""The ways to cut a text into words."""


@dataclass(frozen=True, eq=False)
class TokenStream:
    """TokenStream text as words: words[i] of all sequences one after the other, and where each begins."""

    words: tuple[str, ...]
    offsets: Ints


def corpus_tokens(corpus: Corpus, name: str) -> TokenStream:
    """The tokens of a corpus of sequences, as they are."""
    if corpus.tokens is None or corpus.offsets is None:
        raise CorpusError(f"{name} tags the tokens of sequences; these items have none. Choose a model for documents.")
    return TokenStream(corpus.tokens, corpus.offsets)


def tokenize_texts(corpus: Corpus, name: str, *, tokenizer: str) -> TokenStream:
    """The texts of a corpus of documents, cut into words."""
    if corpus.texts is None or corpus.is_sequential:
        kind = "sequences of tokens" if corpus.is_sequential else "items without texts"
        raise CorpusError(f"{name} looks at the texts of documents; these are {kind}. Choose another model.")
    words = [TOKENIZERS[tokenizer](text) for text in corpus.texts]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in words], dtype=np.int64)])
    return TokenStream(tuple(word for text in words for word in text), offsets)


class WordIndex:
    """Words and their rows. Row 0 is padding, row 1 a word that nobody knows."""

    PADDING, UNKNOWN = 0, 1

    def __init__(self, words: Sequence[str], *, case_sensitive: bool = False) -> None:
        self.words = tuple(words)
        self.case_sensitive = case_sensitive
        self._row = {word: row for row, word in enumerate(self.words, start=2)}

    def __len__(self) -> int:
        return len(self.words) + 2

    def rows(self, words: Iterable[str]) -> Ints:
        """The row of each word: as it is, then in lower case (unless look-up is case_sensitive), then UNKNOWN."""
        find = self._row.get
        if self.case_sensitive:
            return np.array([find(word, self.UNKNOWN) for word in words], dtype=np.int64)
        return np.array([find(word) or find(word.lower(), self.UNKNOWN) for word in words], dtype=np.int64)


def build_word_index(
    words: Iterable[str], vectors: WordVectors | None, *, case_sensitive: bool
) -> tuple[WordIndex, int]:
    """The corpus' words, then all others with a vector; and how many rows are the corpus' own, padding and all."""
    own = dict.fromkeys(words)
    more = () if vectors is None else (word for word in dict.fromkeys(vectors.words) if word not in own)
    return WordIndex((*own, *more), case_sensitive=case_sensitive), len(own) + 2


def word_matrix(
    index: WordIndex, vectors: WordVectors | None, *, size: int, spread: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """vectors[v, d]: given ones where there are, else uniform within the spread; zeros for padding and the unknown."""
    matrix = rng.uniform(-spread, spread, (len(index), size)).astype(np.float32)
    matrix[:2] = 0.0
    if vectors is not None:
        matrix[2:] = vectors.matrix(index.words, exact=index.case_sensitive, unknown=matrix[2:])
    return matrix


SHAPES = ("padding", "lower", "Title", "UPPER", "mIxed", "digits", "d1git", "marks", "other")
N_SHAPES = len(SHAPES)


def word_shape(word: str) -> int:
    """The code of a word's looks; never 0, which is padding."""
    if word.isalpha():
        cases = ((word.islower(), 1), (word.isupper() and len(word) > 1, 3), (word.istitle(), 2), (True, 4))
        return next(code for holds, code in cases if holds)
    if any(c.isdigit() for c in word):
        return 6 if any(c.isalpha() for c in word) else 5
    return 8 if any(c.isalnum() for c in word) else 7


def shape_codes(words: Sequence[str]) -> Ints:
    """The code of each word's looks."""
    known = {word: word_shape(word) for word in set(words)}
    return np.array([known[word] for word in words], dtype=np.int64)
