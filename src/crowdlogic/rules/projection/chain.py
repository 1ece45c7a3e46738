"""Projection of chains: exact marginals by forward-backward, the best path by Viterbi.

Axes: i unit, k tag, s sequence, n distinct table.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.tagging import sequence_starts
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.chain import IMPOSSIBLE, best_path, marginals
from crowdlogic.numerics.logspace import LOG_ZERO
from crowdlogic.rules.potentials import Pairs
from crowdlogic.rules.transitions import TransitionTable


def is_chain(pairs: Pairs, corpus: Corpus) -> bool:
    """Return whether all pairs are neighbouring tokens of a sequence."""
    if corpus.offsets is None:
        return False
    begins = sequence_starts(corpus.n_units, corpus.offsets)
    return bool((pairs.second == pairs.first + 1).all() and not begins[pairs.second].any())


def chain_potentials(
    pairs: Pairs | None, transitions: TransitionTable | None, shape: tuple[int, ...], *, strength: float
) -> tuple[Floats, Ints | None]:
    """Return tables[n, k, k'] of log potentials, and which table applies to the transition into each unit.

    Args:
        pairs: The penalties of neighbouring tags; None without any.
        transitions: The table of transitions; None without one.
        shape: The numbers of units and of tags.
        strength: Strength of the rules, C.

    Returns:
        The tables, and table[i] for the transition into unit i; None if the first table applies to all units.
    """
    n_units, size = shape
    between = np.zeros((size, size)) if transitions is None else transitions.log_pairwise
    if pairs is None:
        return between[None], None
    tables = np.concatenate([np.zeros((1, size, size)), pairs.log_potential(strength)]) + between
    table = np.zeros(n_units, dtype=np.int32)  # table 0 has no penalties: no rule joins the unit to the one before
    table[pairs.second] = pairs.which + 1
    return tables, table


def project_marginals(
    log_unary: Floats, tables: Floats, table: Ints | None, *, offsets: Ints, start: Floats | None
) -> tuple[Floats, Bools]:
    """Return q[i, k], and impossible[s], whether every tagging of a sequence is forbidden."""
    pairwise, which = (tables[0], None) if table is None else (tables, table)
    found = marginals(log_unary, pairwise, offsets, start=start, table=which)
    return found.q, np.asarray(found.log_partition == LOG_ZERO)


def project_path(
    log_unary: Floats, tables: Floats, table: Ints | None, *, offsets: Ints, start: Floats | None
) -> tuple[Ints, Bools]:
    """Return the best path[i], and impossible[s], whether every tagging of a sequence is forbidden."""
    pairwise, which = (tables[0], None) if table is None else (tables, table)
    path = best_path(log_unary, pairwise, offsets, start=start, table=which)
    firsts = np.asarray(offsets[:-1])
    impossible = np.zeros(len(firsts), dtype=bool)
    filled = np.diff(offsets) > 0
    impossible[filled] = path[firsts[filled]] == IMPOSSIBLE
    return path, impossible
