"""The pass of `label_kernels.table_pass` where nothing is special: no weights, no known classes, one prior for all.

Most tables are so, and most time is spent here. The beliefs of a unit are a tuple, which the compiler keeps in
registers (an array might overlap the counts, so each of its numbers would go through memory), and a label is one code
of 16 bits where it fits: annotator * number of labels + label.

No module imports this one at its top: numba takes a third of a second to load.

Axes: i unit, j annotator, n given label, z latent state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.cpython.unsafe import tuple as numba_tuples

from crowdlogic.numerics.label_kernels import BLOCK, SAFE_MATH, SMALLEST, normalise_in_place

with_item: Any = numba_tuples.tuple_setitem
"""with_item(values, z, x): the tuple with x at z."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SAFE_MATH)
def plain_pass(zeros, starts, cells, table, factors, log_prior, counts, totals, q):  # type: ignore[no-untyped-def]
    """E-step with a table of log probabilities, and the expected counts of the M-step.

    Args:
        zeros: A tuple of as many zeros as there are states.
        starts: starts[i], the first row of unit i; one entry more than there are units.
        cells: cells[row] = annotator * number of labels + label.
        table: table[cell, z], log p(label n | state z) of annotator j.
        factors: exp(table). If a product of them underflows, the unit is computed again with the table.
        log_prior: log_prior[z].
        counts: counts[cell, z], increased by the beliefs.
        totals: totals[z], increased by the beliefs of the units that have labels.
        q: q[i, z], set to the beliefs; or without rows, if they are not needed.

    Returns:
        The sum of the log evidence of all units that have labels.
    """
    n_states, keep = len(zeros), q.shape[0] > 0
    prior, spare = np.exp(log_prior), np.empty(n_states)
    start, total_beliefs = zeros, zeros
    for z in range(n_states):
        start = with_item(start, z, prior[z])
    evidence, product = 0.0, 1.0
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        belief, total, least = start, 0.0, np.inf
        if end - begin <= BLOCK:
            for row in range(begin, end):
                cell = np.uintp(cells[row])
                for z in range(n_states):
                    belief = with_item(belief, z, belief[z] * factors[cell, z])
            for z in range(n_states):
                total += belief[z]
                least = min(least, belief[z])
        if total > 0.0 and least > SMALLEST:
            scale = 1.0 / total
            for z in range(n_states):
                belief = with_item(belief, z, belief[z] * scale)
            product *= total if begin < end else 1.0
            if product < SMALLEST:
                evidence += np.log(product)
                product = 1.0
        else:
            log_sum = _add_log_rows(begin, end, cells, table, log_prior, spare)
            evidence += log_sum if begin < end else 0.0
            for z in range(n_states):
                belief = with_item(belief, z, spare[z])
        if keep:
            for z in range(n_states):
                q[i, z] = belief[z]
        if begin == end:
            continue
        for z in range(n_states):
            total_beliefs = with_item(total_beliefs, z, total_beliefs[z] + belief[z])
        for row in range(begin, end):
            cell = np.uintp(cells[row])
            for z in range(n_states):
                counts[cell, z] += belief[z]
    for z in range(n_states):
        totals[z] += total_beliefs[z]
    return evidence + np.log(product)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_log_rows(begin, end, cells, table, log_prior, belief):  # type: ignore[no-untyped-def]
    """The beliefs of one unit from sums of logs; the log of their sum."""
    for z in range(belief.size):
        belief[z] = log_prior[z]
    for row in range(begin, end):
        for z in range(belief.size):
            belief[z] += table[np.uintp(cells[row]), z]
    return normalise_in_place((), belief)
