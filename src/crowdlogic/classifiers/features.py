"""Features of units for the classifiers that look at numbers: those given, else hashed ones of their words.

A hashed feature is a short string (a word, a run of words, how a token ends, what stands beside it); its column is a
checksum of it, so there is no vocabulary to keep and none to grow.

Axes: i unit, f feature (column), v word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
from scipy import sparse

from crowdlogic.classifiers.protocol import FIXED, Arrays, require_content
from crowdlogic.classifiers.words import SHAPES, corpus_tokens, tokenize_plain, word_shape
from crowdlogic.data.corpus import Corpus
from crowdlogic.errors import CorpusError, FormatError
from crowdlogic.numerics.arrays import Floats, Ints

Features: TypeAlias = sparse.csr_array | Floats
"""features[i, f]: sparse when hashed, a plain table when given."""

Look: TypeAlias = Callable[[Corpus], Features]

COLUMNS, WIDTH = FIXED + "columns", FIXED + "width"
REACH = 2
"""How many neighbours of a token are looked at on either side."""
BEYOND = "\x00"
"""The word beyond the end of a sentence."""


class FeatureColumns:
    """The features that the training corpus has. Only those get weights; others count for nothing."""

    def __init__(self, look: Look, kept: Ints, width: int) -> None:
        self.look, self.kept, self.width = look, kept, width
        self._seen: WeakKeyDictionary[Corpus, Features] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self.kept)

    def of(self, corpus: Corpus) -> Features:
        """features[i, f] of a corpus, computed once."""
        if corpus not in self._seen:
            found = self.look(corpus)
            if found.shape[1] != self.width:
                raise CorpusError(
                    f"These items have {found.shape[1]:,} features where the classifier learnt from {self.width:,}. "
                    f"Give it items of the kind that it learnt from."
                )
            self._seen[corpus] = found if len(self.kept) == self.width else found[:, self.kept]
        return self._seen[corpus]

    def arrays(self) -> Arrays:
        """What must be kept of it."""
        return {COLUMNS: self.kept, WIDTH: np.array(self.width)}


def find_columns(corpus: Corpus, look: Look) -> FeatureColumns:
    """All given features, or the hashed ones that occur in a corpus."""
    found = look(corpus)
    kept = np.unique(found.indices) if isinstance(found, sparse.csr_array) else np.arange(found.shape[1])
    return FeatureColumns(look, kept.astype(np.int64), found.shape[1])


def load_columns(arrays: Arrays, look: Look) -> FeatureColumns:
    """From what `arrays` gave."""
    if COLUMNS not in arrays or WIDTH not in arrays:
        raise FormatError(f"These arrays are not of a classifier that looks at features: {COLUMNS} is missing.")
    return FeatureColumns(look, np.asarray(arrays[COLUMNS]), int(arrays[WIDTH]))


def extract_features(corpus: Corpus, *, max_ngram: int, hash_bits: int, name: str) -> Features:
    """features[i, f] of every unit: those given, else those of its words."""
    if corpus.features is not None:
        return numeric_features(corpus, name)
    if corpus.is_sequential:
        return token_features(corpus, hash_bits=hash_bits, name=name)
    return document_features(require_content(corpus, "texts", name), max_ngram=max_ngram, hash_bits=hash_bits)


def numeric_features(corpus: Corpus, name: str) -> Floats:
    """The features that came with a corpus: a table of finite numbers."""
    given = np.asarray(require_content(corpus, "features", name), dtype=np.float64)
    if given.ndim != 2:
        raise CorpusError(f"The features are {given.shape}. Give a table: a row for each unit.")
    if not np.isfinite(given).all():
        row = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
        raise CorpusError(f"The features of unit {row} are not all finite numbers. Mend them, or leave the item out.")
    return given


def hash_column(feature: str, hash_bits: int) -> int:
    """The column of a feature, the same on every machine."""
    return crc32(feature.encode(errors="surrogatepass")) & ((1 << hash_bits) - 1)


def document_features(texts: Sequence[str], *, max_ngram: int, hash_bits: int) -> sparse.csr_array:
    """features[i, f]: which words and runs of up to `max_ngram` words a text has, each text of length 1."""
    rows = [_grams(tokenize_plain(text), max_ngram, hash_bits) for text in texts]
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    return _unit_rows(np.array([column for row in rows for column in row], dtype=np.int64), lengths, 1 << hash_bits)


def _grams(words: Sequence[str], max_ngram: int, hash_bits: int) -> list[int]:
    runs = (" ".join(words[k : k + size]) for size in range(1, max_ngram + 1) for k in range(len(words) - size + 1))
    return sorted({hash_column(run, hash_bits) for run in runs})


def token_features(corpus: Corpus, *, hash_bits: int, name: str) -> sparse.csr_array:
    """features[i, f] of every token: itself, its looks, its ends, and its neighbours."""
    said = corpus_tokens(corpus, name)
    words = [BEYOND, *dict.fromkeys(said.words)]
    code = {word: v for v, word in enumerate(words)}
    here = np.array([code[word] for word in said.words], dtype=np.int64)
    beside = [
        _columns_of(words, partial(_neighbour, step), hash_bits)[_shifted(here, said.offsets, step)]
        for step in range(-REACH, REACH + 1)
        if step
    ]
    table = np.sort(np.concatenate([_columns_of(words, _own, hash_bits)[here], *beside], axis=1), axis=1)
    # Two features of a token may share a column: it counts once.
    first = np.diff(table, axis=1, prepend=-1) != 0
    return _unit_rows(table[first], first.sum(axis=1), 1 << hash_bits)


def _own(word: str) -> list[str]:
    low = word.lower()
    return [f"w={low}", f"as={word}", f"shape={SHAPES[word_shape(word)]}", f"begins={low[:3]}", f"ends={low[-3:]}"]


def _neighbour(step: int, word: str) -> list[str]:
    return [f"{step}={word.lower()}", f"{step}shape={SHAPES[word_shape(word)]}"]


def _columns_of(words: Iterable[str], features: Callable[[str], list[str]], hash_bits: int) -> Ints:
    """columns[v, f] of every different word."""
    return np.array([[hash_column(feature, hash_bits) for feature in features(word)] for word in words], dtype=np.int64)


def _shifted(codes: Ints, offsets: Ints, step: int) -> Ints:
    """The code of the word `step` places on in the same sentence, 0 beyond its ends."""
    place = np.arange(len(codes)) + step
    first, last = (np.repeat(ends, np.diff(offsets)) for ends in (offsets[:-1], offsets[1:]))
    inside = (place >= first) & (place < last)
    return np.where(inside, codes[np.clip(place, 0, max(len(codes) - 1, 0))], 0) if len(codes) else codes


def _unit_rows(columns: Ints, lengths: Ints, width: int) -> sparse.csr_array:
    """A sparse matrix with lengths[i] equal entries in each row, whose squares add up to 1."""
    entries = np.repeat(1.0 / np.sqrt(np.maximum(lengths, 1)), lengths)
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    # 32 bits, since some of scikit-learn's estimators know no other sparse matrices.
    narrow = (entries, columns.astype(np.int32), pointers.astype(np.int32))
    return sparse.csr_array(narrow, shape=(len(lengths), width))
