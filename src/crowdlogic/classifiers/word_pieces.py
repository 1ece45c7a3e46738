"""Word pieces, the input of a transformer, with the special tokens that it expects around them.

A text is one sequence, truncated at the maximum length. A sentence of tokens that is too long is split between tokens
into several sequences, so that every token is seen; the unit of a token is at its first piece.

Axes: s sequence, i piece in the concatenation of all sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from crowdlogic.classifiers.batches import NO_UNIT
from crowdlogic.classifiers.words import TokenStream
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Ints


class WordPieces:
    """A tokenizer, from its JSON description, and the maximum length of a sequence, special tokens included."""

    def __init__(self, description: str, length: int) -> None:
        self.description, self.length = description, length
        self._tokenizer: Any = _read_tokenizer(description)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.before, self.after = self._special_tokens()
        self.room = length - len(self.before) - len(self.after)
        if self.room < 1:
            raise OptionError(f"length: {length} pieces leave no room for words between the marks. Allow more.")

    @property
    def size(self) -> int:
        """One more than the largest number of a piece."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    def encode_texts(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """rows[i] and offsets[s]: one sequence for each text."""
        found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return _concatenate([[*self.before, *text.ids[: self.room], *self.after] for text in found])

    def encode_tokens(self, tokens: TokenStream) -> tuple[Ints, Ints, Ints]:
        """rows[i], offsets[s] and units[i], which is NO_UNIT except at the first piece of a token."""
        pieces = self._pieces_by_word(tokens.words)
        rows, units = [], []
        for begin, end in zip(tokens.offsets[:-1].tolist(), tokens.offsets[1:].tolist(), strict=True):
            for first, last in self._split_sentence([len(pieces[word]) for word in tokens.words[begin:end]]):
                part, unit = list(self.before), [NO_UNIT] * len(self.before)
                for i in range(begin + first, begin + last):
                    own = pieces[tokens.words[i]]
                    part += own
                    unit += [i] + [NO_UNIT] * (len(own) - 1)
                rows.append([*part, *self.after])
                units.append([*unit, *[NO_UNIT] * len(self.after)])
        all_rows, offsets = _concatenate(rows)
        return all_rows, offsets, _concatenate(units)[0]

    def _pieces_by_word(self, words: Sequence[str]) -> dict[str, list[int]]:
        """The pieces of every distinct word; at least one, because the first piece carries the unit."""
        distinct = list(dict.fromkeys(words))
        found = self._tokenizer.encode_batch(
            [[word] for word in distinct], is_pretokenized=True, add_special_tokens=False
        )
        blank = [self._unknown_piece()]
        return {word: (own.ids or blank)[: self.room] for word, own in zip(distinct, found, strict=True)}

    def _split_sentence(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Split a sentence whose tokens have these numbers of pieces: the range (first, end) of each part."""
        cuts, held = [0], 0
        for t, size in enumerate(sizes):
            if held + size > self.room:
                cuts.append(t)
                held = 0
            held += size
        return [(first, last) for first, last in zip(cuts, [*cuts[1:], len(sizes)], strict=True) if first < last]

    def _special_tokens(self) -> tuple[list[int], list[int]]:
        """The special tokens before and after the pieces of a text."""
        sample = self._tokenizer.encode("a")
        own = [place for place, mark in enumerate(sample.special_tokens_mask) if not mark] or [len(sample.ids)]
        return sample.ids[: own[0]], sample.ids[own[-1] + 1 :]

    def _unknown_piece(self) -> int:
        """The piece for a word that has none, such as an empty one."""
        name = getattr(self._tokenizer.model, "unk_token", None)
        found = None if name is None else self._tokenizer.token_to_id(name)
        return int([*self.before, *self.after, 0][0] if found is None else found)


def _read_tokenizer(description: str) -> Any:
    """A tokenizer from its JSON description."""
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_str(description)
    except Exception as problem:  # tokenizers raises Exception itself
        raise FormatError(f"These arrays hold no tokenizer ({problem!s:.200}).") from problem


def _concatenate(parts: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """All numbers in one array, and offsets[s], where each part begins."""
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])
    return np.array([number for part in parts for number in part], dtype=np.int64), offsets
