"""Hashed features for the linear classifier: words and pairs of words of a text, or a token and its neighbourhood.

A feature is a short string; its column is a checksum of it, so there is no vocabulary to keep and none to grow.

Axes: i unit, f feature (column).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from zlib import crc32

import numpy as np
from scipy import sparse

from crowdlogic.classifiers.shapes import SHAPES, shape_of
from crowdlogic.classifiers.words import plain_words, running
from crowdlogic.data.corpus import Corpus
from crowdlogic.numerics.arrays import Ints

REACH = 2
"""How many neighbours of a token are looked at on either side."""
BEYOND = "\x00"
"""The word beyond the end of a sentence."""


def column_of(feature: str, bits: int) -> int:
    """The column of a feature, the same on every machine."""
    return crc32(feature.encode()) & ((1 << bits) - 1)


def document_features(corpus: Corpus, *, grams: int, bits: int) -> sparse.csr_array:
    """features[i, f]: which words and runs of up to `grams` words a text has, each text of length 1."""
    rows = [_grams(plain_words(text), grams, bits) for text in corpus.texts or ()]
    return _unit_rows(rows, 1 << bits)


def _grams(words: Sequence[str], grams: int, bits: int) -> list[int]:
    found = {column_of(word, bits) for word in words}
    for size in range(2, grams + 1):
        found |= {column_of(" ".join(words[k : k + size]), bits) for k in range(len(words) - size + 1)}
    return sorted(found)


def token_features(corpus: Corpus, *, bits: int) -> sparse.csr_array:
    """features[i, f] of every token: itself, its looks, its ends, and its neighbours."""
    said = running(corpus)
    words = np.array([BEYOND, *dict.fromkeys(said.words)], dtype=object)
    code = {word: place for place, word in enumerate(words)}
    here = np.array([code[word] for word in said.words], dtype=np.int64)
    columns = [_columns_of(words, lambda word: _own(word), bits)[here]]
    for step in [step for step in range(-REACH, REACH + 1) if step]:
        beside = _shifted(here, said.offsets, step)
        columns.append(_columns_of(words, lambda word, step=step: _neighbour(word, step), bits)[beside])  # type: ignore[misc]
    table = np.concatenate(columns, axis=1) if columns else np.zeros((0, 0), dtype=np.int64)
    return _unit_rows([np.unique(row) for row in table], 1 << bits)


def _own(word: str) -> list[str]:
    low = word.lower()
    return [f"w={low}", f"as={word}", f"shape={SHAPES[shape_of(word)]}", f"begins={low[:3]}", f"ends={low[-3:]}", ""]


def _neighbour(word: str, step: int) -> list[str]:
    looks = SHAPES[shape_of(word)] if abs(step) == 1 else ""
    return [f"{step}={word.lower()}", f"{step}shape={looks}"]


def _columns_of(words: Iterable[str], features: Callable[[str], list[str]], bits: int) -> Ints:
    """columns[v, f] of every different word."""
    return np.array([[column_of(feature, bits) for feature in features(word)] for word in words], dtype=np.int64)


def _shifted(codes: Ints, offsets: Ints, step: int) -> Ints:
    """The code of the word `step` places on in the same sentence, 0 beyond its ends."""
    place = np.arange(len(codes)) + step
    first = np.repeat(offsets[:-1], np.diff(offsets))
    last = np.repeat(offsets[1:], np.diff(offsets))
    inside = (place >= first) & (place < last)
    return np.where(inside, codes[np.clip(place, 0, max(len(codes) - 1, 0))], 0)


def _unit_rows(rows: Sequence[Sequence[int] | Ints], width: int) -> sparse.csr_array:
    """A sparse matrix with equal entries in each row, whose squares add up to 1."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    columns = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows]) if len(rows) else np.zeros(0, np.int64)
    entries = np.repeat(1.0 / np.sqrt(np.maximum(lengths, 1)), lengths)
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_array((entries, columns, pointers), shape=(len(rows), width))
