"""What a word looks like: its capitals, digits and marks, which vectors of lower-case words do not know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdlogic.numerics.arrays import Ints

SHAPES = ("padding", "lower", "Title", "UPPER", "mIxed", "digits", "d1git", "marks", "other")
N_SHAPES = len(SHAPES)


def shape_of(word: str) -> int:
    """The code of a word's looks; never 0, which is padding."""
    if word.isalpha():
        cases = ((word.islower(), 1), (word.isupper() and len(word) > 1, 3), (word.istitle(), 2), (True, 4))
        return next(code for holds, code in cases if holds)
    if any(c.isdigit() for c in word):
        return 6 if any(c.isalpha() for c in word) else 5
    return 8 if any(c.isalnum() for c in word) else 7


def shape_codes(words: Sequence[str]) -> Ints:
    """The code of each word's looks."""
    known = {word: shape_of(word) for word in set(words)}
    return np.array([known[word] for word in words], dtype=np.int64)
