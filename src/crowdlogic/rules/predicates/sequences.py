"""The structure of sequences: which token comes before which.

Axes: i unit, s sequence.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.tagging import sequence_starts
from crowdlogic.errors import RuleError
from crowdlogic.numerics.arrays import Bools, Ints
from crowdlogic.rules.predicates.definition import Facts, Kind, Predicate, Role, documented


def first_facts(corpus: Corpus, _: int) -> Facts:
    """Return the first unit of every sequence."""
    return Facts((np.flatnonzero(_starts(corpus)),))


def last_facts(corpus: Corpus, _: int) -> Facts:
    """Return the last unit of every sequence: the one before the start of the next."""
    ends = np.roll(_starts(corpus), -1) if corpus.n_units else np.zeros(0, dtype=bool)
    return Facts((np.flatnonzero(ends),))


def previous_facts(corpus: Corpus, _: int) -> Facts:
    """Return every unit that is not the first of its sequence, and the one before it."""
    later = np.flatnonzero(~_starts(corpus))
    return Facts((later, later - 1))


def next_facts(corpus: Corpus, _: int) -> Facts:
    """Return every unit that is not the last of its sequence, and the one after it."""
    later = np.flatnonzero(~_starts(corpus))
    return Facts((later - 1, later))


def same_sequence_facts(corpus: Corpus, max_rows: int) -> Facts:
    """Return every pair of different units of one sequence, in both orders."""
    offsets = _offsets(corpus)
    lengths = np.diff(offsets)
    rows = int((lengths * (lengths - 1)).sum())
    if rows > max_rows:
        raise RuleError(
            f"SameSequence has {rows:,} pairs of tokens, and the limit is {max_rows:,} (max_rows). Use Previous or "
            f"Next, or raise the limit."
        )
    others = np.repeat(lengths - 1, lengths)  # others[i], the number of partners of unit i
    one = np.repeat(np.arange(corpus.n_units), others)
    # rank[row] counts the partners of a unit from 0; they start at the start of the sequence, the unit itself left out.
    rank = np.arange(rows) - np.repeat(np.cumsum(others) - others, others)
    other = np.repeat(np.repeat(offsets[:-1], lengths), others) + rank
    return Facts((one, other + (other >= one)))


def _starts(corpus: Corpus) -> Bools:
    """Return starts[i], whether unit i is the first of its sequence."""
    return sequence_starts(corpus.n_units, _offsets(corpus))


def _offsets(corpus: Corpus) -> Ints:
    if corpus.offsets is None:
        raise RuleError("this predicate is about tokens, and the items are documents. Use another predicate.")
    return corpus.offsets


def _structure(example: str, meaning: str, function: Callable[..., Facts]) -> Predicate:
    """Return a predicate of the structure of sequences; every place of its example is a token."""
    kinds = (Kind.unit,) * (example.count(",") + 1)
    return documented(example, meaning, kinds, Role.structure, function, units="tokens")


PREVIOUS = _structure("Previous(T, P)", "P is the token before T", previous_facts)
NEXT = _structure("Next(T, N)", "N is the token after T", next_facts)
FIRST = _structure("First(T)", "T is the first token of its sequence", first_facts)
LAST = _structure("Last(T)", "T is the last token of its sequence", last_facts)
SAME_SEQUENCE = _structure("SameSequence(T, U)", "T and U are different tokens of one sequence", same_sequence_facts)
