"""Linear chains: exact marginals and the best path of tag sequences of different lengths.

The score of a tag sequence y is sum_t unary[t, y_t] + pairwise[y_(t-1), y_t]: the log probabilities of an HMM, the
scores of a CRF or the penalties of rules. Everything is in log space; LOG_ZERO (minus infinity) forbids a tag or a
transition, which then has probability zero exactly. Forward-backward and Viterbi as in Rabiner, "A tutorial on hidden
Markov models" [RAB89].

There are two implementations. The one in numpy needs no compilation; each step processes the t-th units of all
sequences. For large inputs, the kernels of `chain_kernels` process one sequence after the other.

Axes: i unit, k tag (and k' the next tag), s sequence, t table of pairwise potentials.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import LOG_ZERO, log_sum_exp

LARGE = 100_000
"""Minimum number of unary potentials for which loading (and once compiling) the kernels pays off."""

IMPOSSIBLE = -1
"""Tag in the best path if all taggings of the sequence are forbidden."""


@dataclass(frozen=True, eq=False)
class ChainMarginals:
    """Result of forward-backward.

    Attributes:
        q: q[i, k], the probability of tag k at unit i.
        transitions: The expected number of transitions from k to k' [k, k'], or per table [t, k, k'].
        log_partition: log_partition[s], the log of the sum over all taggings of sequence s. If all taggings are
            forbidden, it is LOG_ZERO, q is uniform and no transition is counted. It is 0 for an empty sequence.
        pair: pair[i, k, k'], the probability of tag k at the previous unit and k' at unit i; zero for the first unit
            of a sequence. None unless requested.
    """

    q: Floats
    transitions: Floats
    log_partition: Floats
    pair: Floats | None = None


def marginals(
    unary: Floats,
    pairwise: Floats,
    offsets: Ints,
    *,
    start: Floats | None = None,
    table: Ints | None = None,
    pairs: bool = False,
    compiled: bool | None = None,
) -> ChainMarginals:
    """Return the marginals of every unit and the expected transitions, computed by forward-backward.

    Args:
        unary: unary[i, k], the log potential of tag k at unit i.
        pairwise: pairwise[k, k'], the log potential of tag k followed by k'; or several tables, pairwise[t, k, k'].
        offsets: offsets[s] is the first unit of sequence s, offsets[-1] the number of units.
        start: start[k], the log potential of tag k at the first unit of a sequence; 0 by default.
        table: table[i], the table of the transition into unit i (ignored for the first unit of a sequence). Required
            with several tables.
        pairs: Whether to return the marginals of all pairs of neighbours as well.
        compiled: Whether to use the kernels; by default, they are used for large inputs.
    """
    chain = _check_potentials(unary, pairwise, offsets, start=start, table=table)
    # Count transitions per table, or each one separately, which yields the marginals of pairs.
    slot, n_slots = (np.arange(len(unary), dtype=np.int32), len(unary)) if pairs else (chain.table, len(chain.tables))
    if _is_large(unary) if compiled is None else compiled:
        from crowdlogic.numerics.chain_kernels import forward_backward

        q, counts, log_partition = forward_backward(
            chain.unary, chain.tables, chain.table, chain.offsets, slot=slot, n_slots=n_slots
        )
    else:
        q, counts, log_partition = _forward_backward(chain, slot, n_slots)
    if not pairs:
        return ChainMarginals(q, counts if pairwise.ndim == 3 else counts[0], log_partition)
    by_table = _sum_by_table(counts, chain)
    return ChainMarginals(q, by_table if pairwise.ndim == 3 else by_table[0], log_partition, counts)


def _sum_by_table(pair: Floats, chain: _Chain) -> Floats:
    """Return the expected transitions [t, k, k'] from the marginals of all pairs of neighbours."""
    if len(chain.tables) == 1:
        return np.asarray(pair.sum(axis=0, keepdims=True))
    total = np.zeros_like(chain.tables)
    np.add.at(total, chain.table, pair)
    return total


def best_path(
    unary: Floats,
    pairwise: Floats,
    offsets: Ints,
    *,
    start: Floats | None = None,
    table: Ints | None = None,
    compiled: bool | None = None,
) -> Ints:
    """Return tags[i], the most probable tagging of each sequence (Viterbi). The arguments are those of `marginals`.

    Ties go to the lowest tag, from the last unit backwards. If all taggings are forbidden, the tags are IMPOSSIBLE.
    """
    chain = _check_potentials(unary, pairwise, offsets, start=start, table=table)
    if _is_large(unary) if compiled is None else compiled:
        from crowdlogic.numerics.chain_kernels import viterbi

        return viterbi(chain.unary, chain.tables, chain.table, chain.offsets)
    return _viterbi(chain)


@dataclass(frozen=True, eq=False)
class _Chain:
    """Validated potentials: `start` is added to the unary potentials, and tables[t, k, k'] always has three axes."""

    unary: Floats
    tables: Floats
    table: Ints
    offsets: Ints


def _is_large(unary: Floats) -> bool:
    return unary.size >= LARGE


def _check_potentials(
    unary: Floats, pairwise: Floats, offsets: Ints, *, start: Floats | None, table: Ints | None
) -> _Chain:
    n_units, n_tags = unary.shape
    tables = pairwise if pairwise.ndim == 3 else pairwise[None]
    if tables.shape[1:] != (n_tags, n_tags):
        raise OptionError(f"pairwise potentials of shape {pairwise.shape} do not fit {n_tags} tags.")
    if offsets[0] != 0 or offsets[-1] != n_units or (np.diff(offsets) < 0).any():
        raise OptionError(f"offsets must increase from 0 to {n_units}, the number of units.")
    first = np.asarray(offsets[:-1])[np.diff(offsets) > 0]
    potentials = np.array(unary, dtype=np.float64, order="C")
    if start is not None:
        potentials[first] += start
    return _Chain(
        unary=potentials,
        tables=np.ascontiguousarray(tables, dtype=np.float64),
        table=_transition_tables(table, tables, first, n_units),
        offsets=np.ascontiguousarray(offsets, dtype=np.int64),
    )


def _transition_tables(table: Ints | None, tables: Floats, first: Ints, n_units: int) -> Ints:
    """Return table[i] for every unit, 0 for the first units of sequences."""
    if table is None:
        if len(tables) > 1:
            raise OptionError(f"{len(tables)} pairwise tables need table[i], the table of the transition into unit i.")
        return np.zeros(n_units, dtype=np.int32)
    chosen = np.array(table, dtype=np.int32)
    chosen[first] = 0
    if len(chosen) != n_units or (n_units and (chosen.min() < 0 or chosen.max() >= len(tables))):
        raise OptionError(f"table must contain a number from 0 to {len(tables) - 1} for each of {n_units} units.")
    return chosen


def _steps(offsets: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield, for t = 1, 2, ..., the t-th units (from 0) of all sequences longer than t, and the units before them."""
    lengths = np.diff(offsets)
    by_length = np.argsort(-lengths, kind="stable")  # longest first, so that those longer than t are at the beginning
    starts = np.asarray(offsets[:-1])[by_length]
    falling = -lengths[by_length]
    for t in range(1, int(lengths.max(initial=0))):
        now = starts[: np.searchsorted(falling, -t)] + t
        yield now, now - 1


def _forward_backward(chain: _Chain, slot: Ints, n_slots: int) -> tuple[Floats, Floats, Floats]:
    """Return q[i, k], the expected transitions by slot[i], and log_partition[s], in numpy."""
    lengths = np.diff(chain.offsets)
    full = lengths > 0
    steps = list(_steps(chain.offsets))
    forward = _forward(chain, steps)
    log_partition = np.zeros(len(lengths))
    log_partition[full] = log_sum_exp(forward[chain.offsets[1:][full] - 1], axis=1)
    # possible[i] and centre[i]: whether the unit's sequence has a tagging, and its log partition
    possible = np.repeat(np.isfinite(log_partition), lengths)
    centre = np.repeat(np.where(np.isfinite(log_partition), log_partition, 0.0), lengths)
    backward = np.zeros_like(forward)
    counts = np.zeros((n_slots, *chain.tables.shape[1:]))
    for now, before in reversed(steps):
        onward = chain.unary[now] + backward[now]
        scores = chain.tables[chain.table[now]] + onward[:, None, :]  # [unit, k before, k' now]
        backward[before] = log_sum_exp(scores, axis=2)
        # expected[unit, k, k'], the probability of each transition into the units `now`
        expected = np.exp(scores + forward[before][:, :, None] - centre[now][:, None, None])
        expected = expected[possible[now]]
        if len(counts) == 1:
            counts[0] += expected.sum(axis=0)
        else:
            np.add.at(counts, slot[now[possible[now]]], expected)
    q = np.where(possible[:, None], np.exp(forward + backward - centre[:, None]), 1.0 / max(forward.shape[1], 1))
    return q, counts, log_partition


def _forward(chain: _Chain, steps: list[tuple[Ints, Ints]]) -> Floats:
    """Return forward[i, k], the log of the sum over all taggings that reach tag k at unit i."""
    forward = chain.unary.copy()
    for now, before in steps:
        # sum over k, the tag of the previous unit
        forward[now] += log_sum_exp(forward[before][:, :, None] + chain.tables[chain.table[now]], axis=1)
    return forward


def _viterbi(chain: _Chain) -> Ints:
    """Return tags[i] of the best path, by the Viterbi algorithm."""
    steps = list(_steps(chain.offsets))
    best = chain.unary.copy()
    came_from = np.zeros(best.shape, dtype=np.int32)
    for now, before in steps:
        scores = best[before][:, :, None] + chain.tables[chain.table[now]]
        came_from[now] = scores.argmax(axis=1)
        best[now] += scores.max(axis=1)
    tags = best.argmax(axis=1).astype(np.int32) if best.shape[1] else np.zeros(len(best), dtype=np.int32)
    for now, before in reversed(steps):
        tags[before] = came_from[now, tags[now]]
    lengths = np.diff(chain.offsets)
    reached = np.full(len(lengths), LOG_ZERO)
    reached[lengths > 0] = best[chain.offsets[1:][lengths > 0] - 1].max(axis=1, initial=LOG_ZERO)
    tags[np.repeat(reached == LOG_ZERO, lengths)] = IMPOSSIBLE
    return tags
