"""Features for the classifiers without torch (numeric columns or hashed words), and vocabularies for neural networks.

A hashed feature is a short string (a word, an n-gram, a suffix, a neighbouring word); its column is a checksum of the
string, so there is no vocabulary to store.

Axes: i unit, f feature (column), v word, s sequence, d dimension.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
from scipy import sparse

from crowdlogic.classifiers.protocol import FIXED, Arrays, require_content, saved_array, saved_columns, saved_number
from crowdlogic.data.corpus import Corpus
from crowdlogic.errors import CorpusError, FormatError, OptionError
from crowdlogic.numerics.arrays import Floats, Ints

# Tokens of texts and sequences, and the shapes of words.

SHAPES = ("padding", "lower", "Title", "UPPER", "mIxed", "digits", "d1git", "marks", "other")
"""Word shapes: capitals, digits and punctuation, which vectors of lower-case words do not distinguish."""


def tokenize_plain(text: str) -> list[str]:
    """Return the words and punctuation marks of a text in any alphabet, in lower case."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


@dataclass(frozen=True, eq=False)
class TokenStream:
    """Tokens of all sequences, concatenated: words[i], and offsets[s], the first token of each sequence."""

    words: tuple[str, ...]
    offsets: Ints


def corpus_tokens(corpus: Corpus, name: str) -> TokenStream:
    """Return the tokens of a corpus of sequences, unchanged."""
    if corpus.tokens is None or corpus.offsets is None:
        raise CorpusError(
            f"{name} tags the tokens of sequences, but these items have none. Choose a model for documents."
        )
    return TokenStream(corpus.tokens, corpus.offsets)


def word_shape(word: str) -> int:
    """Return the code of a word's shape, an index into SHAPES. It is never 0 (padding)."""
    if word.isalpha():
        cases = ((word.islower(), 1), (word.isupper() and len(word) > 1, 3), (word.istitle(), 2), (True, 4))
        return next(code for holds, code in cases if holds)
    if any(c.isdigit() for c in word):
        return 6 if any(c.isalpha() for c in word) else 5
    return 8 if any(c.isalnum() for c in word) else 7


Features: TypeAlias = sparse.csr_array | Floats
"""Features features[i, f]: sparse if hashed, dense if numeric."""

FeatureExtractor: TypeAlias = Callable[[Corpus], Features]

COLUMNS, WIDTH, SCALE = FIXED + "columns", FIXED + "width", FIXED + "scale"
ROW_NORM = 2**0.5
"""Norm of a weighted row, chosen on dev data so that the default ridge of 1e-4 works for both texts and tokens."""
REACH = 2
"""Number of neighbours on either side that are features of a token."""
BEYOND = "\x00"
"""Placeholder for the neighbour beyond the end of a sentence."""


class FeatureColumns:
    """Feature columns that occur in the training corpus. Only these have weights; all others are ignored.

    Args:
        extract: Computes all features of a corpus.
        kept: The columns that occur in the training corpus.
        width: Number of all columns.
        scale: scale[f], the weight of each kept column; rows are then rescaled to ROW_NORM. None disables weighting.
    """

    def __init__(self, extract: FeatureExtractor, kept: Ints, width: int, scale: Floats | None = None) -> None:
        self.extract, self.kept, self.width, self.scale = extract, kept, width, scale
        self._extracted: WeakKeyDictionary[Corpus, Features] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self.kept)

    def __getstate__(self) -> dict[str, object]:
        return {"extract": self.extract, "kept": self.kept, "width": self.width, "scale": self.scale}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def select(self, corpus: Corpus) -> Features:
        """Return features[i, f] of a corpus for the kept columns. The result is cached."""
        if corpus not in self._extracted:
            found = self.extract(corpus)
            if found.shape[1] != self.width:
                raise CorpusError(
                    f"These items have {found.shape[1]:,} features, but the classifier was trained with "
                    f"{self.width:,}. Use items with the same features as the training data."
                )
            found = found if len(self.kept) == self.width else found[:, self.kept]
            self._extracted[corpus] = found if self.scale is None else weigh_columns(found, self.scale)
        return self._extracted[corpus]

    def arrays(self) -> Arrays:
        """Return the arrays that must be saved to select the same columns again."""
        scale = {} if self.scale is None else {SCALE: self.scale}
        return {COLUMNS: self.kept, WIDTH: np.array(self.width)} | scale


def weigh_columns(features: Features, scale: Floats) -> sparse.csr_array:
    """Multiply sparse columns by scale[f] and rescale the rows to ROW_NORM; a row without entries stays empty."""
    weighted = sparse.csr_array(features, copy=True)
    weighted.data *= scale[weighted.indices]
    # norm[i], the Euclidean norm of row i
    norm = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    weighted.data *= ROW_NORM / np.repeat(np.where(norm > 0, norm, 1.0), np.diff(weighted.indptr))
    return weighted


def find_weighted_columns(
    corpus: Corpus,
    extract: Callable[..., Features],
    *,
    max_ngram: int,
    idf_power: float,
    ngram_weight: float,
) -> FeatureColumns:
    """Return the n-gram columns of the documents in a corpus, weighted by rarity and length.

    An n-gram of n words that occurs in d of N documents has weight (log((1 + N) / (1 + d)) + 1)^idf_power *
    ngram_weight^(n - 1).

    Args:
        corpus: The training documents.
        extract: Computes the features of a corpus, with n-grams of up to a given length if one is given.
        max_ngram: The maximum length of the n-grams.
        idf_power: Exponent of the inverse document frequency; 0 ignores it.
        ngram_weight: Factor for each word of an n-gram after the first.
    """
    columns = find_columns(corpus, extract)
    found: Any = columns.select(corpus)
    document_frequency = np.bincount(found.indices, minlength=len(columns))
    scale = (np.log((1 + corpus.n_units) / (1 + document_frequency)) + 1.0) ** idf_power
    if ngram_weight != 1.0:
        length = np.full(len(columns), max_ngram)  # the shortest n-gram of each column
        for size in range(max_ngram - 1, 0, -1):
            grams: Any = extract(corpus, size)
            length[np.searchsorted(columns.kept, np.unique(grams.indices))] = size
        scale = scale * ngram_weight ** (length - 1)
    return FeatureColumns(columns.extract, columns.kept, columns.width, scale)


def find_columns(corpus: Corpus, extract: FeatureExtractor) -> FeatureColumns:
    """Return all numeric features, or the hashed features that occur in a corpus."""
    found = extract(corpus)
    kept = np.unique(found.indices) if isinstance(found, sparse.csr_array) else np.arange(found.shape[1])
    return FeatureColumns(extract, kept.astype(np.int64), found.shape[1])


def load_columns(arrays: Arrays, extract: FeatureExtractor) -> FeatureColumns:
    """Restore columns from a saved state."""
    if COLUMNS not in arrays or WIDTH not in arrays:
        raise FormatError(f"These arrays do not belong to a classifier with features: {COLUMNS} is missing.")
    width = saved_number(arrays, WIDTH, least=0, most=1 << 40)
    kept = saved_columns(arrays, COLUMNS, width=width)
    scale = saved_array(arrays, SCALE, (len(kept),)) if SCALE in arrays else None
    return FeatureColumns(extract, kept, width, scale)


def extract_features(corpus: Corpus, *, max_ngram: int, hash_bits: int, name: str) -> Features:
    """Return features[i, f] of every unit: numeric features if there are any, otherwise those of its words."""
    if sparse.issparse(corpus.features):
        held: Any = corpus.features
        return sparse.csr_array(held)
    if corpus.features is not None:
        return numeric_features(corpus, name)
    if corpus.is_sequential:
        return token_features(corpus, hash_bits=hash_bits, name=name)
    return document_features(require_content(corpus, "texts", name), max_ngram=max_ngram, hash_bits=hash_bits)


@dataclass(frozen=True)
class FeatureOptions:
    """Base class of the options of linear classifiers and CRFs: features, and the steps of an epoch.

    Attributes:
        ridge: Strength of the L2 penalty: half of it times the squared weights is added to the mean loss.
        steps: Number of L-BFGS steps in an epoch.
        max_ngram: The maximum length of the n-grams of a text.
        hash_bits: Features of words are hashed to 2^hash_bits columns.
    """

    ridge: float = 1e-4
    steps: int = 10
    max_ngram: int = 2
    hash_bits: int = 18

    name: ClassVar[str]

    def __post_init__(self) -> None:
        if not (0 <= self.ridge < math.inf and self.steps >= 1 and self.max_ngram >= 1 and 1 <= self.hash_bits <= 30):
            raise OptionError(
                f"{self.name}: ridge must be at least 0, steps and max_ngram at least 1, hash_bits from 1 to 30."
            )

    def features(self, corpus: Corpus, max_ngram: int | None = None) -> Features:
        """Return features[i, f] of every unit: numeric features if there are any, otherwise those of its words."""
        length = self.max_ngram if max_ngram is None else max_ngram
        return extract_features(corpus, max_ngram=length, hash_bits=self.hash_bits, name=self.name)


def numeric_features(corpus: Corpus, name: str) -> Floats:
    """Return the numeric features of a corpus: a table of finite numbers."""
    held: Any = require_content(corpus, "features", name)
    given = np.asarray(held.toarray() if hasattr(held, "toarray") else held, dtype=np.float64)
    if given.ndim != 2:
        raise CorpusError(f"The features have shape {given.shape}. Pass a table with one row per unit.")
    if not np.isfinite(given).all():
        row = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
        raise CorpusError(f"The features of unit {row} are not all finite numbers. Correct them, or remove the item.")
    return given


def hash_column(feature: str, hash_bits: int) -> int:
    """Return the column of a feature, which is the same on every machine."""
    return crc32(feature.encode(errors="surrogatepass")) & ((1 << hash_bits) - 1)


def document_features(texts: Sequence[str], *, max_ngram: int, hash_bits: int) -> sparse.csr_array:
    """Return features[i, f]: the n-grams of up to `max_ngram` words of each text. Rows have norm 1."""
    rows = []
    for words in map(tokenize_plain, texts):
        sizes = range(1, min(max_ngram, len(words)) + 1)
        ngrams = (" ".join(words[k : k + size]) for size in sizes for k in range(len(words) - size + 1))
        rows.append(sorted({hash_column(ngram, hash_bits) for ngram in ngrams}))
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    return _unit_rows(np.array([column for row in rows for column in row], dtype=np.int64), lengths, 1 << hash_bits)


def token_features(corpus: Corpus, *, hash_bits: int, name: str) -> sparse.csr_array:
    """Return features[i, f] of every token: the word, its shape, prefix and suffix, and its neighbours."""
    tokens = corpus_tokens(corpus, name)
    words = [BEYOND, *dict.fromkeys(tokens.words)]
    code = {word: v for v, word in enumerate(words)}
    here = np.array([code[word] for word in tokens.words], dtype=np.int64)
    position = np.arange(len(here))
    first, end = (np.repeat(ends, np.diff(tokens.offsets)) for ends in (tokens.offsets[:-1], tokens.offsets[1:]))

    def columns(features: Callable[[str], list[str]]) -> Ints:
        """Return columns[v, f] of every distinct word."""
        hashed = [[hash_column(feature, hash_bits) for feature in features(word)] for word in words]
        return np.array(hashed, dtype=np.int64)

    def own_features(word: str) -> list[str]:
        low = word.lower()
        return [f"w={low}", f"as={word}", f"shape={SHAPES[word_shape(word)]}", f"begins={low[:3]}", f"ends={low[-3:]}"]

    def neighbour_features(step: int, word: str) -> list[str]:
        return [f"{step}={word.lower()}", f"{step}shape={SHAPES[word_shape(word)]}"]

    parts = [columns(own_features)[here]]
    for step in (step for step in range(-REACH, REACH + 1) if step):
        # The word `step` positions further in the same sentence; BEYOND, which has code 0, beyond its ends
        inside = (position + step >= first) & (position + step < end)
        code_there = np.where(inside, np.roll(here, -step), 0)
        parts.append(columns(partial(neighbour_features, step))[code_there])
    table = np.sort(np.concatenate(parts, axis=1), axis=1)
    # Two features of a token may share a column, which then counts once.
    distinct = np.diff(table, axis=1, prepend=-1) != 0
    return _unit_rows(table[distinct], distinct.sum(axis=1), 1 << hash_bits)


def _unit_rows(columns: Ints, lengths: Ints, width: int) -> sparse.csr_array:
    """Return a sparse matrix with lengths[i] equal entries in row i, scaled to norm 1."""
    entries = np.repeat(1.0 / np.sqrt(np.maximum(lengths, 1)), lengths)
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    # Use 32-bit indices, because some of scikit-learn's estimators accept no others in sparse matrices.
    narrow = (entries, columns.astype(np.int32), pointers.astype(np.int32))
    return sparse.csr_array(narrow, shape=(len(lengths), width))
