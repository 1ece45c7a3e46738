"""Compiled passes over a table of labels: the E-step combined with the sufficient statistics of the next M-step.

Rows are sorted by unit; `starts[i]` to `starts[i + 1]` are the rows of unit i. The log-likelihood of each latent state
given a label is in a table with one row per (annotator, label) pair, so that the states of a pair are adjacent in
memory. `states` is a tuple whose length is the number of states. Since the length is part of the type, loops over
states are compiled for that number and unrolled (twice as fast for few states). If it is empty, the number of states is
the number of columns of the table.

Import this module inside functions only, because loading numba takes a third of a second.

Axes: i unit, j annotator, k class, m true class, n given label, z latent state.
"""

from __future__ import annotations

import numpy as np
from numba import njit

UNROLLED = 16
"""Maximum number of states for which loops are unrolled."""

SAFE_MATH = {"reassoc", "contract", "arcp"}
"""Options of fast math: reordered sums, fused products and reciprocals, but with infinities and NaN."""

BLOCK = 64
"""Units with more labels than this are computed in log space."""

SMALLEST = 1e-150
"""Minimum of products, so that neither they nor the product of two units' sums underflow."""


def unrolled_states(count: int) -> tuple[int, ...]:
    """Return the kernels' argument `states` for this number of states."""
    return (0,) * count if count <= UNROLLED else ()


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SAFE_MATH)
def table_pass(  # type: ignore[no-untyped-def]
    states, starts, annotator, label, weight, fixed, times, n_labels, table, factors, log_prior, counts, totals, q
):
    """Run the E-step with a table of log probabilities, and add up the expected counts of the M-step.

    Args:
        states: See the module docstring.
        starts: starts[i], the first row of unit i; one entry more than there are units.
        annotator: annotator[row].
        label: label[row].
        weight: weight[row]; empty if all are 1.
        fixed: fixed[i], the known class of unit i, -1 if unknown; empty if none is known. State z belongs to class
            z // (number of states / number of classes).
        times: times[i], the number of units that unit i represents; empty if all are 1.
        n_labels: Number of possible labels.
        table: table[j * n_labels + n, z], log p(label n | state z) of annotator j.
        factors: exp(table): without weights and known classes, beliefs are products of these. If a product underflows,
            the unit is recomputed with the table.
        log_prior: log_prior[1 or i, z].
        counts: counts[j * n_labels + n, z], increased by the beliefs.
        totals: totals[z], increased by the beliefs of the units with labels.
        q: q[i, z], set to the beliefs; without rows if they are not needed.

    Returns:
        The sum of the log evidence of all units with labels.
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
    """Set the beliefs of one unit to products of factors; return their sum before scaling, or 0 on underflow.

    Codes are cast to unsigned integers, because numba checks signed indices for negative values.
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
    """Set the beliefs of one unit from sums of logs; return the log of their sum."""
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
    """Normalise log weights in place and return the log of their sum; if all are -inf: uniform, and -inf."""
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
    """Increase counts[j * n_labels + n, z] by the given beliefs q[i, z]: the statistics of an M-step."""
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
    """Increase total[i, z] by the evidence of the labels of unit i: the sum of table[j * n_labels + n, z]."""
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
    """Run the E-step of models that only distinguish right from wrong labels, and count the expected right labels.

    Args:
        states: See the module docstring; a state is a class here.
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
        totals: totals[k], increased by the beliefs of the units with labels.
        q: As in `table_pass`.

    Returns:
        The sum of the log evidence of all units with labels.
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
    """Do the same as `_multiply_factors` for models that only distinguish right from wrong labels."""
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
    """Do the same as `_add_logs` for models that only distinguish right from wrong labels."""
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


@njit(cache=True, nogil=True, error_model="numpy")
def ability_pass(  # type: ignore[no-untyped-def]
    states,
    n_classes,
    starts,
    annotator,
    label,
    weight,
    fixed,
    times,
    ability,
    ease,
    q,
    given,
    pull,
    curvature,
    steps,
    halvings,
):
    """Run one pass of GLAD: the E-step, each unit's new ease, and the sums for the new abilities (`truth.glad_pass`).

    Args:
        states: As in `label_kernels`; a state is a class here.
        n_classes: Number of classes.
        starts: As in `label_kernels.table_pass`.
        annotator: As in `table_pass`.
        label: As in `table_pass`.
        weight: As in `table_pass`.
        fixed: As in `table_pass`.
        times: As in `table_pass`.
        ability: ability[j].
        ease: ease[i], updated in place.
        q: As in `table_pass`.
        given: given[i, k], beliefs that replace those of the E-step; without rows if there are none.
        pull: pull[j], increased.
        curvature: curvature[j], increased.
        steps: Number of Newton steps for the ease of a unit.
        halvings: Maximum number of times that a step is halved if it would lower the objective.

    Returns:
        The sum of the log evidence of all units with labels.
    """
    n_states = n_classes if len(states) == 0 else len(states)
    keep, known, weighted, replaced = q.shape[0] > 0, fixed.size > 0, weight.size > 0, given.shape[0] > 0
    belief = np.empty(n_states)
    log_prior, log_others = -np.log(n_states), np.log(max(n_states - 1, 1))
    evidence = 0.0
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        for z in range(n_states):
            belief[z] = -np.inf if known and fixed[i] >= 0 and z != fixed[i] else log_prior
        beta = np.exp(ease[i])
        base = 0.0
        for row in range(begin, end):
            scale = weight[row] if weighted else 1.0
            x = ability[annotator[row]] * beta
            wrong = -_softplus(x) - log_others
            base += scale * wrong
            belief[label[row]] += scale * (-_softplus(-x) - wrong)
        log_sum = normalise_in_place(states, belief)
        for z in range(n_states):
            if replaced:
                belief[z] = given[i, z]
            if keep:
                q[i, z] = belief[z]
        often = times[i] if times.size else 1.0
        if begin < end:
            evidence += often * (log_sum + base)
        lift, curve = 0.0, 0.0
        for row in range(begin, end):
            scale = weight[row] if weighted else 1.0
            alpha = ability[annotator[row]]
            lift += scale * (belief[label[row]] - 0.5) * alpha
            curve += scale * _bound_curvature(alpha * beta) * alpha**2
        ease[i] = _update_ease(lift, curve, ease[i], steps, halvings)
        beta = np.exp(ease[i])
        for row in range(begin, end):
            scale = often * (weight[row] if weighted else 1.0)
            j = annotator[row]
            pull[j] += scale * (belief[label[row]] - 0.5) * beta
            curvature[j] += 2.0 * scale * _bound_curvature(ability[j] * beta) * beta**2
    return evidence


@njit(cache=True, nogil=True, error_model="numpy")
def _softplus(x):  # type: ignore[no-untyped-def]
    """Return log(1 + e^x) without overflow."""
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@njit(cache=True, nogil=True, error_model="numpy")
def _bound_curvature(x):  # type: ignore[no-untyped-def]
    """Return tanh(x / 2) / (4 x), the curvature of the parabola that bounds log sigmoid from below at x."""
    if abs(x) < 1e-6:
        return 0.125
    shrunk = np.exp(-abs(x))
    return (1.0 - shrunk) / (1.0 + shrunk) / (4.0 * abs(x))


@njit(cache=True, nogil=True, error_model="numpy")
def _update_ease(lift, curve, ease, steps, halvings):  # type: ignore[no-untyped-def]
    """Return b after Newton steps that maximise lift e^b - curve e^(2b) - (b - 1)^2 / 2, none of which lowers it."""
    for _ in range(steps):
        beta = np.exp(ease)
        slope = lift * beta - 2.0 * curve * beta**2 - (ease - 1.0)
        bend = max(4.0 * curve * beta**2 - lift * beta + 1.0, 1.0)
        move = min(max(slope / bend, -1.0), 1.0)
        before = lift * beta - curve * beta**2 - 0.5 * (ease - 1.0) ** 2
        for _ in range(halvings):
            beta = np.exp(ease + move)
            if lift * beta - curve * beta**2 - 0.5 * (ease + move - 1.0) ** 2 >= before:
                ease += move
                break
            move /= 2.0
    return ease
