"""Compiled passes over a table of labels: the E-step together with the sufficient statistics of the next M-step.

Rows are sorted by unit; `starts[i]` to `starts[i + 1]` are the rows of unit i. The log-likelihood of each latent state
given a label is in a table with one row per (annotator, label) pair, so that the states of a pair are adjacent in
memory. `states` is a tuple whose length is the number of states: a length is part of a tuple's type, so the loops over
states are compiled for that number and unrolled (twice as fast for a handful of states). If it is empty, the number is
that of the table's columns.

No module imports this one at its top: numba takes a third of a second to load.

Axes: i unit, j annotator, k class, m true class, n given label, z latent state.
"""

from __future__ import annotations

import numpy as np
from numba import njit

UNROLLED = 16
"""Up to this many states, loops are compiled for the number of states."""

SAFE_MATH = {"reassoc", "contract", "arcp"}
"""Sums in any order, fused products, reciprocals; infinities and NaN keep their meaning."""

BLOCK = 64
"""Units with more labels than this are computed in log space."""

SMALLEST = 1e-150
"""Products must not be smaller, so that neither they nor the product of two units' sums underflow."""


def unrolled_states(count: int) -> tuple[int, ...]:
    """The argument `states` of the kernels for this number of states."""
    return (0,) * count if count <= UNROLLED else ()


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SAFE_MATH)
def table_pass(  # type: ignore[no-untyped-def]
    states, starts, annotator, label, weight, fixed, times, n_labels, table, factors, log_prior, counts, totals, q
):
    """E-step with a table of log probabilities, and the expected counts of the M-step.

    Args:
        states: See the module.
        starts: starts[i], the first row of unit i; one entry more than there are units.
        annotator: annotator[row].
        label: label[row].
        weight: weight[row], or empty when all are 1.
        fixed: fixed[i], the known class of unit i, -1 where it is unknown; or empty. State z belongs to class
            z // (number of states / number of classes).
        times: times[i], for how many units unit i stands; or empty when each is one.
        n_labels: Number of labels to choose from.
        table: table[j * n_labels + n, z], log p(label n | state z) of annotator j.
        factors: exp(table): without weights and known classes, beliefs are products of these, without logarithms. If
            a product underflows, the unit is computed again with the table.
        log_prior: log_prior[1 or i, z].
        counts: counts[j * n_labels + n, z], increased by the beliefs.
        totals: totals[z], increased by the beliefs of the units that have labels.
        q: q[i, z], set to the beliefs; or without rows, if they are not needed.

    Returns:
        The sum of the log evidence of all units that have labels.
    """
    n_states = table.shape[1] if len(states) == 0 else len(states)
    keep = q.shape[0] > 0
    plain = weight.size == 0 and fixed.size == 0 and times.size == 0 and log_prior.shape[0] == 1
    prior = np.exp(log_prior[0]) if plain else log_prior[0]
    belief = np.empty(n_states)
    evidence, product = 0.0, 1.0
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        total = 0.0
        if plain and end - begin <= BLOCK:
            total = _multiply_factors(states, begin, end, annotator, label, n_labels, factors, prior, belief)
        if total > 0.0:
            log_sum = 0.0
            product *= total if begin < end else 1.0
            if product < SMALLEST:
                evidence += np.log(product)
                product = 1.0
        else:
            log_sum = _add_logs(
                states, i, begin, end, annotator, label, weight, fixed, n_labels, table, log_prior, belief
            )
        if keep:
            for z in range(n_states):
                q[i, z] = belief[z]
        if begin == end:
            continue
        if times.size:
            log_sum *= times[i]
            for z in range(n_states):
                belief[z] *= times[i]
        evidence += log_sum
        for z in range(n_states):
            totals[z] += belief[z]
        for row in range(begin, end):
            cell = np.uintp(annotator[row]) * np.uintp(n_labels) + np.uintp(label[row])
            if weight.size:
                for z in range(n_states):
                    counts[cell, z] += weight[row] * belief[z]
            else:
                for z in range(n_states):
                    counts[cell, z] += belief[z]
    return evidence + np.log(product)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SAFE_MATH, inline="always")
def _multiply_factors(states, begin, end, annotator, label, n_labels, factors, prior, belief):  # type: ignore[no-untyped-def]
    """The beliefs of one unit as products of factors; their sum before scaling, or 0 on underflow.

    Codes are cast to unsigned integers, because signed indices are checked for counting from the end.
    """
    n_states = factors.shape[1] if len(states) == 0 else len(states)
    for z in range(n_states):
        belief[z] = prior[z]
    for row in range(begin, end):
        cell = np.uintp(annotator[row]) * np.uintp(n_labels) + np.uintp(label[row])
        for z in range(n_states):
            belief[z] *= factors[cell, z]
    total, least = 0.0, np.inf
    for z in range(n_states):
        total += belief[z]
        least = min(least, belief[z])
    if not least > SMALLEST:
        return 0.0
    scale = 1.0 / total
    for z in range(n_states):
        belief[z] *= scale
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _add_logs(  # type: ignore[no-untyped-def]
    states, i, begin, end, annotator, label, weight, fixed, n_labels, table, log_prior, belief
):
    """The beliefs of one unit from sums of logs; the log of their sum."""
    n_states = table.shape[1] if len(states) == 0 else len(states)
    per_class = max(n_states // max(n_labels, 1), 1)
    step = 1 if log_prior.shape[0] > 1 else 0
    for z in range(n_states):
        belief[z] = log_prior[i * step, z]
        if fixed.size and fixed[i] >= 0 and z // per_class != fixed[i]:
            belief[z] = -np.inf
    for row in range(begin, end):
        cell = np.uintp(annotator[row]) * np.uintp(n_labels) + np.uintp(label[row])
        scale = weight[row] if weight.size else 1.0
        if scale > 0.0:
            for z in range(n_states):
                belief[z] += scale * table[cell, z]
    return normalise_in_place(states, belief)


@njit(cache=True, nogil=True, error_model="numpy")
def normalise_in_place(states, belief):  # type: ignore[no-untyped-def]
    """Normalise log weights in place; the log of their sum. If all are -inf: uniform, and -inf."""
    n_states = belief.size if len(states) == 0 else len(states)
    peak = belief[0]
    for z in range(1, n_states):
        peak = max(peak, belief[z])
    if peak == -np.inf:
        belief[:] = 1.0 / n_states
        return peak
    total = 0.0
    for z in range(n_states):
        belief[z] = np.exp(belief[z] - peak)
        total += belief[z]
    for z in range(n_states):
        belief[z] /= total
    return peak + np.log(total)


@njit(cache=True, nogil=True, error_model="numpy")
def count_pass(states, starts, annotator, label, weight, n_labels, q, counts):  # type: ignore[no-untyped-def]
    """counts[j * n_labels + n, z] increased by the given beliefs q[i, z]: the statistics of an M-step."""
    n_states = q.shape[1] if len(states) == 0 else len(states)
    weighted = weight.size > 0
    for i in range(starts.size - 1):
        for row in range(starts[i], starts[i + 1]):
            cell = np.uintp(annotator[row]) * np.uintp(n_labels) + np.uintp(label[row])
            scale = weight[row] if weighted else 1.0
            for z in range(n_states):
                counts[cell, z] += scale * q[i, z]


@njit(cache=True, nogil=True, error_model="numpy")
def evidence_pass(states, starts, annotator, label, weight, n_labels, table, total):  # type: ignore[no-untyped-def]
    """total[i, z] increased by the evidence of the labels of unit i: the sum of table[j * n_labels + n, z]."""
    n_states = table.shape[1] if len(states) == 0 else len(states)
    weighted = weight.size > 0
    for i in range(starts.size - 1):
        for row in range(starts[i], starts[i + 1]):
            cell = np.uintp(annotator[row]) * np.uintp(n_labels) + np.uintp(label[row])
            scale = weight[row] if weighted else 1.0
            if scale > 0.0:
                for z in range(n_states):
                    total[i, z] += scale * table[cell, z]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SAFE_MATH)
def match_pass(  # type: ignore[no-untyped-def]
    states, starts, annotator, label, weight, fixed, times, agree, differ, log_prior, hits, totals, q
):
    """E-step of models that only distinguish right from wrong labels, and the expected number of right ones.

    Args:
        states: See the module; a state is a class here.
        starts: As in `table_pass`.
        annotator: As in `table_pass`.
        label: As in `table_pass`.
        weight: As in `table_pass`.
        fixed: As in `table_pass`.
        times: As in `table_pass`.
        agree: agree[j, n], log p(annotator j says n | the truth is n).
        differ: differ[j, n], log p(annotator j says n | the truth is another class).
        log_prior: log_prior[1 or i, k].
        hits: hits[j, n], increased by the belief in n of the units that j labelled n.
        totals: totals[k], increased by the beliefs of the units that have labels.
        q: As in `table_pass`.

    Returns:
        The sum of the log evidence of all units that have labels.
    """
    n_states = agree.shape[1] if len(states) == 0 else len(states)
    keep, weighted = q.shape[0] > 0, weight.size > 0
    plain = len(states) > 0 and not weighted and fixed.size + times.size == 0 and log_prior.shape[0] == 1
    prior = np.exp(log_prior[0]) if plain else log_prior[0]
    right, wrong = (np.exp(agree), np.exp(differ)) if plain else (agree, differ)
    belief = np.empty(n_states)
    evidence, product = 0.0, 1.0
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        total = 0.0
        if plain and end - begin <= BLOCK:
            total = _multiply_matches(states, begin, end, annotator, label, right, wrong, prior, belief)
        if total > 0.0:
            log_sum = 0.0
            product *= total if begin < end else 1.0
            if product < SMALLEST:
                evidence += np.log(product)
                product = 1.0
        else:
            log_sum = _add_matches(
                states, i, begin, end, annotator, label, weight, fixed, agree, differ, log_prior, belief
            )
        if keep:
            for z in range(n_states):
                q[i, z] = belief[z]
        if begin == end:
            continue
        if times.size:
            log_sum *= times[i]
            for z in range(n_states):
                belief[z] *= times[i]
        evidence += log_sum
        for z in range(n_states):
            totals[z] += belief[z]
        for row in range(begin, end):
            scale = weight[row] if weighted else 1.0
            hits[np.uintp(annotator[row]), np.uintp(label[row])] += scale * belief[np.uintp(label[row])]
    return evidence + np.log(product)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SAFE_MATH, inline="always")
def _multiply_matches(states, begin, end, annotator, label, right, wrong, prior, belief):  # type: ignore[no-untyped-def]
    """`_multiply_factors` for models that only distinguish right from wrong labels."""
    n_states = len(states)
    for z in range(n_states):
        belief[z] = prior[z]
    for row in range(begin, end):
        j, n = np.uintp(annotator[row]), np.uintp(label[row])
        own = belief[n] * right[j, n]
        other = wrong[j, n]
        for z in range(n_states):
            belief[z] *= other
        belief[n] = own
    total, least = 0.0, np.inf
    for z in range(n_states):
        total += belief[z]
        least = min(least, belief[z])
    if not least > SMALLEST:
        return 0.0
    scale = 1.0 / total
    for z in range(n_states):
        belief[z] *= scale
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _add_matches(  # type: ignore[no-untyped-def]
    states, i, begin, end, annotator, label, weight, fixed, agree, differ, log_prior, belief
):
    """`_add_logs` for models that only distinguish right from wrong labels."""
    n_states = agree.shape[1] if len(states) == 0 else len(states)
    step = 1 if log_prior.shape[0] > 1 else 0
    for z in range(n_states):
        belief[z] = log_prior[i * step, z]
        if fixed.size and fixed[i] >= 0 and z != fixed[i]:
            belief[z] = -np.inf
    base = 0.0
    for row in range(begin, end):
        scale = weight[row] if weight.size else 1.0
        if scale > 0.0:
            base += scale * differ[annotator[row], label[row]]
            belief[label[row]] += scale * (agree[annotator[row], label[row]] - differ[annotator[row], label[row]])
    return normalise_in_place(states, belief) + base
