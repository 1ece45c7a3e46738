"""Beliefs about tags that form chains: scores of a chain, and marginals of units and of neighbours.

`ChainScores` are log potentials, returned by classifiers with a CRF. The evidence of annotators and rules is added to
them, and forward-backward converts them to `ChainBeliefs`. A mixture of chains is not a chain, but its marginals are
the mixture of the marginals, so beliefs can be mixed like arrays: `(1 - k) * q_a + k * q_b`.

Axes: i unit, k tag (and k' the next tag), s sequence, t table of pairwise potentials.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.tagging import sequence_starts
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.chain import best_path, marginals
from crowdlogic.numerics.logspace import safe_log


@dataclass(frozen=True, eq=False, kw_only=True)
class ChainScores:
    """Log potentials of sequences of tags.

    Attributes:
        unary: unary[i, k], the score of tag k at unit i.
        transitions: transitions[k, k'], the score of tag k followed by k'; or several tables, transitions[t, k, k'].
        start: start[k], the score of tag k at the first unit of a sequence.
        offsets: offsets[s] is the first unit of sequence s, offsets[-1] the number of units.
        table: table[i], the table of the transition into unit i, if there are several tables.
    """

    unary: Floats
    transitions: Floats
    start: Floats
    offsets: Ints
    table: Ints | None = None

    def add(self, evidence: Floats) -> ChainScores:
        """Return the chain with evidence[i, k] added to its unary scores."""
        return replace(self, unary=self.unary + evidence)

    def join(self, unary: Floats, tables: Floats, table: Ints | None, *, start: Floats | None) -> ChainScores:
        """Return the chain with other unary scores, and with potentials of neighbours added to its transitions.

        Args:
            unary: unary[i, k], which replace the unary scores of the chain.
            tables: tables[t, k, k'], the potentials to add.
            table: table[i], the table to add at unit i; None for the first table at all units.
            start: start[k], the potentials to add at the first unit of a sequence.
        """
        if self.table is not None:
            raise OptionError("This chain already has potentials of neighbours.")
        return replace(
            self,
            unary=unary,
            transitions=self.transitions + (tables[0] if table is None else tables),
            start=self.start if start is None else self.start + start,
            table=table,
        )

    def scale(self, power: float) -> ChainScores:
        """Return the chain with all scores multiplied by a number."""
        return replace(self, unary=self.unary * power, transitions=self.transitions * power, start=self.start * power)

    def beliefs(self, *, pairs: bool = True) -> ChainBeliefs:
        """Return the marginals of units and, with `pairs`, of neighbours, by forward-backward."""
        found = marginals(self.unary, self.transitions, self.offsets, start=self.start, table=self.table, pairs=pairs)
        none = np.empty((0, *self.transitions.shape[-2:]))
        return ChainBeliefs(found.q, none if found.pair is None else found.pair, found.log_partition, self)

    def marginals(self) -> Beliefs:
        """Return only q[i, k]."""
        return marginals(self.unary, self.transitions, self.offsets, start=self.start, table=self.table).q

    def best_path(self) -> Ints:
        """Return tags[i] of the most probable tagging of each sequence (Viterbi)."""
        return best_path(self.unary, self.transitions, self.offsets, start=self.start, table=self.table)


@dataclass(frozen=True, eq=False)
class ChainBeliefs:
    """Marginals of sequences of tags.

    Attributes:
        q: q[i, k].
        pair: pair[i, k, k'], the probability of tag k at the previous unit and k' at unit i; zero at the first unit
            of a sequence. Empty if not computed.
        log_partition: log_partition[s] of the chain; None for a mixture.
        scores: The chain; None for a mixture.
    """

    q: Beliefs
    pair: NDArray[Any]
    log_partition: Floats | None = None
    scores: ChainScores | None = None

    def best_path(self, offsets: Ints) -> Ints:
        """Return tags[i] of the most probable tagging; for a mixture, of the chain with its marginals."""
        if self.scores is not None:
            return self.scores.best_path()
        before = np.concatenate([np.ones((1, self.q.shape[1])), self.q[:-1]])
        given = safe_log(self.pair) - safe_log(np.where(before > 0, before, 1.0))[:, :, None]
        first = np.where(sequence_starts(len(self.q), offsets)[:, None], safe_log(self.q), 0.0)
        return best_path(first, given, offsets, table=np.arange(len(self.q)))

    def __rmul__(self, share: float) -> ChainBeliefs:
        """Return the beliefs multiplied by their share of a mixture."""
        return ChainBeliefs(share * self.q, share * self.pair)

    def __add__(self, other: ChainBeliefs) -> ChainBeliefs:
        """Return the sum of two shares of a mixture."""
        return ChainBeliefs(self.q + other.q, self.pair + other.pair)


AnyBeliefs: TypeAlias = Beliefs | ChainBeliefs
"""Beliefs of units alone, or of chains."""


def answers(beliefs: AnyBeliefs, offsets: Ints | None) -> Ints:
    """Return answer[i]: the most probable class of each unit, or for chains the most probable tagging."""
    if not isinstance(beliefs, ChainBeliefs) or offsets is None:
        return np.asarray(unit_beliefs(beliefs).argmax(axis=1), dtype=np.int32)
    return beliefs.best_path(offsets)


def unit_beliefs(beliefs: AnyBeliefs) -> Beliefs:
    """Return q[i, k]."""
    return beliefs.q if isinstance(beliefs, ChainBeliefs) else beliefs


def independent_pairs(q: Beliefs, offsets: Ints) -> Floats:
    """Return pair[i, k, k'] of independent neighbours, which is exact if beliefs are certain."""
    pair = np.zeros((*q.shape, q.shape[1]))
    later = np.flatnonzero(~sequence_starts(len(q), offsets))
    pair[later] = q[later - 1][:, :, None] * q[later][:, None, :]
    return pair
