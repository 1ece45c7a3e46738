"""Units with the same votes: what depends on the votes alone is computed once for all of them.

Axes: i unit, k class, p pattern.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.first_appearance import SCATTER, code_hashes
from crowdlogic.numerics.sums import sum_by

MANY_UNITS = 20_000
"""With fewer units there is little to save."""

MOST_BITS = 53
"""Whole numbers of so many bits are floats without rounding."""


@dataclass(frozen=True, eq=False)
class VotePatterns:
    """Patterns of votes.

    Attributes:
        pattern: pattern[i], that of each unit.
        first: first[p], the first unit of each pattern.
        times: times[p], how many units have it.
    """

    pattern: Ints
    first: Ints
    times: Floats

    def expand(self, table: Floats) -> Floats:
        """table[i, k] from table[p, k]."""
        return np.take(table, self.pattern, axis=0)

    def determine(self, table: Floats) -> bool:
        """Whether units of one pattern have the same row of table[i, k]."""
        return bool((self.expand(table[self.first]) == table).all())


def find_vote_patterns(votes: Floats) -> VotePatterns | None:
    """The patterns of votes[i, k]; None where there are few units, many patterns, or fractions of votes."""
    if len(votes) < MANY_UNITS or not votes.shape[1]:
        return None
    base = votes.max() + 1.0
    if votes.shape[1] * np.log2(base) > MOST_BITS or (votes != np.floor(votes)).any():
        return None
    code = votes @ base ** np.arange(votes.shape[1])  # the votes of a unit as the digits of one number
    pattern, first = code_hashes(code.astype(np.uint64) * SCATTER)
    if len(first) > len(votes) // 8:
        return None
    return VotePatterns(pattern=pattern, first=first, times=sum_by(pattern, len(first)))
