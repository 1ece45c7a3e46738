"""Word vectors from text files (GloVe, word2vec), word2vec binaries, or npz files with `words` and `vectors`.

Words are looked up as they are, and otherwise in lower case, unless `exact` is set.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdlogic.data.files import open_regular, read_bytes, read_npz
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Ints

UNKNOWN_WORD = -1


@dataclass(frozen=True, eq=False, repr=False)
class WordVectors:
    """Words and their vectors.

    Attributes:
        words: The words.
        vectors: vectors[v, d].
    """

    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    row_of: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):
            raise FormatError(
                f"{len(self.words)} words for vectors of shape {self.vectors.shape}. Give one vector per word."
            )
        first: dict[str, int] = {}
        for row, word in enumerate(self.words):
            first.setdefault(word, row)
        object.__setattr__(self, "row_of", first)

    @property
    def size(self) -> int:
        """Number of dimensions."""
        return int(self.vectors.shape[1])

    def rows(self, words: Iterable[str], *, exact: bool = False) -> Ints:
        """Return the row of each word, UNKNOWN_WORD if there is none; see the module docstring for `exact`."""
        find = self.row_of.get
        if exact:
            return np.array([find(word, UNKNOWN_WORD) for word in words], dtype=np.int64)
        return np.array([find(word, find(word.lower(), UNKNOWN_WORD)) for word in words], dtype=np.int64)

    def matrix(
        self, words: Sequence[str], *, exact: bool = False, unknown: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Return one vector per word. For unknown words, it is the row of `unknown`, or zeros by default."""
        rows = self.rows(words, exact=exact)
        filled = (
            np.zeros((len(words), self.size), dtype=np.float32)
            if unknown is None
            else unknown.astype(np.float32, copy=True)
        )
        if filled.shape != (len(words), self.size):
            raise OptionError(f"unknown: expected shape ({len(words)}, {self.size}), got {filled.shape}.")
        known = rows >= 0
        filled[known] = self.vectors[rows[known]]
        return filled

    def unit(self) -> WordVectors:
        """Return the same words with vectors of length 1; vectors of zeros are not changed."""
        length = np.sqrt(np.square(self.vectors).sum(axis=1, keepdims=True))
        return WordVectors(self.words, (self.vectors / np.where(length > 0, length, 1.0)).astype(np.float32))

    def coverage(self, words: Sequence[str], *, exact: bool = False) -> float:
        """Return the share of the words that have a vector."""
        return float((self.rows(words, exact=exact) >= 0).mean()) if len(words) else 0.0

    def __repr__(self) -> str:
        return f"WordVectors({len(self.words):,} words, {self.size} dimensions)"


def concatenate_vectors(*sets: WordVectors, unit: bool = True) -> WordVectors:
    """Concatenate the vectors of each word in several sets, with zeros for sets that lack the word.

    Args:
        sets: The sets.
        unit: Whether vectors are first scaled to length 1, so that all sets have equal weight. Without scaling, vectors
            of GloVe are five times as long as those of word2vec, which costs a sentence classifier 2% of accuracy.
    """
    words = tuple(dict.fromkeys(word for vectors in sets for word in vectors.words))
    parts = [(vectors.unit() if unit else vectors).matrix(words) for vectors in sets]
    return WordVectors(words, np.concatenate(parts, axis=1))


def read_vectors(path: str | Path, *, vocabulary: Iterable[str] | None = None) -> WordVectors:
    """Read word vectors; the format is detected by the content.

    Args:
        path: A text file (a word and its numbers per line, optionally after a line with two counts), a word2vec binary,
            or an npz file with `words` and `vectors`. Text and binary files may be gzipped.
        vocabulary: Words to keep, with their lower-case forms; None for all words of the file.
    """
    wanted = None if vocabulary is None else {form for word in vocabulary for form in (word, word.lower())}
    with open_regular(path) as file:
        zipped = file.read(4) == b"PK\x03\x04"
    if zipped:
        return _select_words(_read_npz(path), wanted)
    return _require_finite(path, _read_content(path, wanted))


def _read_content(path: str | Path, wanted: set[str] | None) -> WordVectors:
    """Return vectors from a text file or a word2vec binary."""
    content = read_bytes(path)
    if not content.strip():
        raise FormatError(f"{path}: the file is empty. Vectors have a word and its numbers on each line.")
    header = content.partition(b"\n")[0].split()
    counted = len(header) == 2 and all(count.isdigit() for count in header)
    if counted and max(map(len, header)) > 12:
        raise FormatError(
            f"{path}: the numbers of words and dimensions in the first line are too large. Fetch it again."
        )
    if counted and _is_binary(content):
        return _read_binary(path, content, count=int(header[0]), size=int(header[1]), wanted=wanted)
    if not counted:
        return _read_text(path, content, wanted, first_line=1)
    found = _read_text(path, content.partition(b"\n")[2], wanted, first_line=2)
    if wanted is None and len(found.words) != int(header[0]):
        raise FormatError(
            f"{path}: contains {len(found.words):,} words, but its first line says {int(header[0]):,}. Fetch it again."
        )
    return found


def _is_binary(content: bytes) -> bool:
    """Return whether the content has control characters, which raw floats contain, but numbers in text do not."""
    head = content[:4096].partition(b"\n")[2]
    return any(byte < 9 or 13 < byte < 32 for byte in head)


def _read_npz(path: str | Path) -> WordVectors:
    """Read word vectors from an npz file."""
    words, vectors = read_npz(path, ("words", "vectors")).values()
    if words.ndim != 1 or words.dtype.kind not in "US" or vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise FormatError(
            f"{path}: words are {words.dtype} {words.shape} and vectors {vectors.dtype} {vectors.shape}. Save a list "
            f"of texts, and a table of numbers with one row for each."
        )
    texts = (word.decode("utf-8", errors="replace") if isinstance(word, bytes) else str(word) for word in words)
    with np.errstate(over="ignore"):  # too large numbers become infinite, and are reported with their word
        return _require_finite(path, WordVectors(tuple(texts), vectors.astype(np.float32)))


def _require_finite(path: str | Path, vectors: WordVectors) -> WordVectors:
    """Return the vectors after checking that all numbers are finite, since one NaN would spoil a whole network."""
    wrong = np.flatnonzero(~np.isfinite(vectors.vectors).all(axis=1))
    if len(wrong):
        more = f" ({len(wrong) - 1:,} more such words)" if len(wrong) > 1 else ""
        raise FormatError(
            f"{path}: the vector of {vectors.words[wrong[0]]!r:.80} contains NaN or infinities.{more} "
            f"Remove such words."
        )
    return vectors


def _select_words(vectors: WordVectors, wanted: set[str] | None) -> WordVectors:
    if wanted is None:
        return vectors
    rows = [row for row, word in enumerate(vectors.words) if word in wanted]
    return WordVectors(tuple(vectors.words[row] for row in rows), vectors.vectors[rows])


def _read_text(path: str | Path, content: bytes, wanted: set[str] | None, *, first_line: int) -> WordVectors:
    """Parse lines with a word and its numbers. Words may contain spaces, so numbers are counted from the end."""
    lines = [line.rstrip(b" \r") for line in content.split(b"\n")]
    size = len(lines[0].split(b" ")) - 1
    if size < 1:
        raise FormatError(f"{path}, line {first_line}: a word without numbers. Add the vector of each word.")
    words, numbers = [], []
    for at, line in enumerate(lines):
        if not line:
            continue
        parts = line.rsplit(b" ", size)
        if len(parts) != size + 1:
            raise FormatError(
                f"{path}, line {at + first_line}: {pluralise(len(parts) - 1, 'number')}, but the first line has {size}."
            )
        word = parts[0].decode("utf-8", errors="replace")
        if wanted is None or word in wanted:
            words.append(word)
            numbers.append(line[len(parts[0]) :])
    return WordVectors(tuple(words), _parse_numbers(path, words, numbers, size))


def _parse_numbers(path: str | Path, words: list[str], numbers: list[bytes], size: int) -> NDArray[np.float32]:
    """Parse all numbers at once; if that fails, parse them line by line to report the word."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            flat = np.fromstring(b" ".join(numbers), dtype=np.float32, sep=" ")
        except (DeprecationWarning, ValueError):
            flat = np.empty(0, dtype=np.float32)
    if len(flat) == len(words) * size:
        return flat.reshape(len(words), size)
    for word, row in zip(words, numbers, strict=True):
        try:
            [float(number) for number in row.split()]
        except ValueError as problem:
            raise FormatError(
                f"{path}: the vector of {word!r} contains a value that is not a number ({problem})."
            ) from None
    raise FormatError(f"{path}: the numbers do not form {size} columns for {len(words)} words.")


def _read_binary(path: str | Path, content: bytes, count: int, size: int, wanted: set[str] | None) -> WordVectors:
    """Read word2vec's binary format: a word, a space, `size` little-endian floats, and optionally a line break."""
    at, width = content.index(b"\n") + 1, 4 * size
    words: list[str] = []
    vectors: list[bytes] = []
    for row in range(count):
        space = content.find(b" ", at)
        if space < 0 or space + 1 + width > len(content):
            raise FormatError(f"{path}: the file ends at word {row + 1:,} of {count:,}. Fetch it again.")
        word = content[at:space].decode("utf-8", errors="replace").lstrip("\n")
        if wanted is None or word in wanted:
            words.append(word)
            vectors.append(content[space + 1 : space + 1 + width])
        at = space + 1 + width
    return WordVectors(tuple(words), np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(words), size).copy())
