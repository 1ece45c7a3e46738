"""Texts and tokens as the pieces of words that a transformer reads, with the marks it wants around them.

A text is one sequence, cut off where it is too long. A sentence of tokens that is too long is read in several parts,
cut between tokens, so that every token is seen; the unit of a token is at its first piece.

Axes: s sequence, i piece in the text of all sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from crowdlogic.classifiers.batches import NO_UNIT
from crowdlogic.classifiers.words import TokenStream
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Ints


class WordPieces:
    """A tokenizer by its description, and how many pieces may be read at once, marks and all."""

    def __init__(self, description: str, length: int) -> None:
        from tokenizers import Tokenizer

        self.description, self.length = description, length
        self._tokenizer: Any = Tokenizer.from_str(description)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.before, self.after = self._marks()
        self.room = length - len(self.before) - len(self.after)
        if self.room < 1:
            raise OptionError(f"length: {length} pieces leave no room for words between the marks. Allow more.")

    def encode_texts(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """rows[i] and offsets[s]: a sequence for each text."""
        found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return _joined([[*self.before, *text.ids[: self.room], *self.after] for text in found])

    def encode_tokens(self, said: TokenStream) -> tuple[Ints, Ints, Ints]:
        """rows[i], offsets[s] and units[i], NO_UNIT where a piece is not the first of a token."""
        pieces = self._of_words(said.words)
        parts, units = [], []
        for begin, end in zip(said.offsets[:-1].tolist(), said.offsets[1:].tolist(), strict=True):
            for first, last in self._cut([len(pieces[word]) for word in said.words[begin:end]]):
                part, unit = list(self.before), [NO_UNIT] * len(self.before)
                for i in range(begin + first, begin + last):
                    own = pieces[said.words[i]]
                    part += own
                    unit += [i] + [NO_UNIT] * (len(own) - 1)
                parts.append([*part, *self.after])
                units.append([*unit, *[NO_UNIT] * len(self.after)])
        rows, offsets = _joined(parts)
        return rows, offsets, _joined(units)[0]

    def _of_words(self, words: Sequence[str]) -> dict[str, list[int]]:
        """The pieces of every different word; one at least, since its first piece stands for it."""
        different = list(dict.fromkeys(words))
        found = self._tokenizer.encode_batch(
            [[word] for word in different], is_pretokenized=True, add_special_tokens=False
        )
        blank = [self._unknown()]
        return {word: (own.ids or blank)[: self.room] for word, own in zip(different, found, strict=True)}

    def _cut(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Where to cut a sentence with tokens of these sizes: (first, behind the last) of every part."""
        cuts, held = [0], 0
        for t, size in enumerate(sizes):
            if held + size > self.room:
                cuts.append(t)
                held = 0
            held += size
        return [(first, last) for first, last in zip(cuts, [*cuts[1:], len(sizes)], strict=True) if first < last]

    def _marks(self) -> tuple[list[int], list[int]]:
        """What stands before and after the pieces of a text."""
        sample = self._tokenizer.encode("a")
        own = [place for place, mark in enumerate(sample.special_tokens_mask) if not mark] or [len(sample.ids)]
        return sample.ids[: own[0]], sample.ids[own[-1] + 1 :]

    def _unknown(self) -> int:
        """The piece for a word that has none, such as an empty one."""
        name = getattr(self._tokenizer.model, "unk_token", None)
        found = None if name is None else self._tokenizer.token_to_id(name)
        return int([*self.before, *self.after, 0][0] if found is None else found)


def _joined(parts: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])
    return np.array([number for part in parts for number in part], dtype=np.int64), offsets
