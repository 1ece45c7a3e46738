"""Sums over labels, compiled: one pass over a table of labels is an E-step and the statistics of the next M-step.

Rows are sorted by unit; `starts[i]` to `starts[i + 1]` are the rows of unit i. What a label says about each latent
state stands in a table with one row per (annotator, label) pair, so that the states of a pair lie side by side in
memory. `states` is a tuple whose length is the number of states: a length is part of a tuple's type, so the loops
over states are compiled for that number and unrolled (twice as quick for a handful of states). Empty means that the
table says it.

Nothing imports this module at the top: numba takes a third of a second to load.

Axes: i unit, j annotator, k class, m true class, n given label, z latent state.
"""

from __future__ import annotations

import numpy as np
from numba import njit

UNROLLED = 16
"""Up to this many states the loops are compiled for the number of states."""

SAFE_MATH = {"reassoc", "contract", "arcp"}
"""Sums in any order, fused products, reciprocals; infinities and NaN keep their meaning."""

BLOCK = 64
"""Units with more labels than this are done with logarithms, of which they need few."""

SMALLEST = 1e-150
"""A product must not get smaller, so that nothing is lost; nor does the product of two units' sums leave the range."""


def unrolled_states(count: int) -> tuple[int, ...]:
    """The tuple that tells the kernels how many states there are."""
    return (0,) * count if count <= UNROLLED else ()


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SAFE_MATH)
def table_pass(  # type: ignore[no-untyped-def]
    states, starts, annotator, label, weight, fixed, n_labels, table, factors, log_prior, counts, totals, q
):
    """E-step with a table of log probabilities, and the expected counts.

    Args:
        states: See above.
        starts: starts[i], the first row of unit i; one entry more than there are units.
        annotator: annotator[row].
        label: label[row].
        weight: weight[row], or empty when all are 1.
        fixed: fixed[i], the class that unit i is known to be of, -1 where it is not; or empty. State z is of the class
            z // (number of states / number of classes).
        n_labels: How many labels there are to give.
        table: table[j * n_labels + n, z], log p(label n | state z) of annotator j.
        factors: exp(table): where there are neither weights nor known classes, beliefs are products of these, which
            takes no logarithms. Should a product get too small to be kept, the unit is done again with the table.
        log_prior: log_prior[1 or i, z].
        counts: counts[j * n_labels + n, z], increased by the beliefs.
        totals: totals[z], increased by the beliefs of the units that have labels.
        q: q[i, z], set to the beliefs; or without rows, when nobody needs them.

    Returns:
        The sum of the log evidence of all units that have labels.
    """
    n_states = table.shape[1] if len(states) == 0 else len(states)
    keep = q.shape[0] > 0
    plain = weight.size == 0 and fixed.size == 0 and log_prior.shape[0] == 1
    prior = np.exp(log_prior[0]) if plain else log_prior[0]
    belief = np.empty(n_states)
    evidence, product = 0.0, 1.0
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        total = 0.0
        if plain and end - begin <= BLOCK:
            total = _multiplied(states, begin, end, annotator, label, n_labels, factors, prior, belief)
        if total > 0.0:
            log_sum = 0.0
            product *= total if begin < end else 1.0
            if product < SMALLEST:
                evidence += np.log(product)
                product = 1.0
        else:
            log_sum = _added(states, i, begin, end, annotator, label, weight, fixed, n_labels, table, log_prior, belief)
        if keep:
            for z in range(n_states):
                q[i, z] = belief[z]
        if begin == end:
            continue
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
def _multiplied(states, begin, end, annotator, label, n_labels, factors, prior, belief):  # type: ignore[no-untyped-def]
    """The beliefs of one unit as a product; their sum before scaling, or 0 when a product got too small.

    Codes become unsigned: a signed index is first asked whether it counts from the end, and that costs.
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
def _added(  # type: ignore[no-untyped-def]
    states, i, begin, end, annotator, label, weight, fixed, n_labels, table, log_prior, belief
):
    """The beliefs of one unit as a sum of logs; the log of their sum."""
    n_states = table.shape[1] if len(states) == 0 else len(states)
    per_class = max(n_states // max(n_labels, 1), 1)
    step = 1 if log_prior.shape[0] > 1 else 0
    for z in range(n_states):
        belief[z] = log_prior[i * step, z]
        if fixed.size and fixed[i] >= 0 and z // per_class != fixed[i]:
            belief[z] = -np.inf
    for row in range(begin, end):
        cell = annotator[row] * n_labels + label[row]
        scale = weight[row] if weight.size else 1.0
        if scale > 0.0:
            for z in range(n_states):
                belief[z] += scale * table[cell, z]
    return _normalise(states, belief)


@njit(cache=True, nogil=True, error_model="numpy")
def _normalise(states, belief):  # type: ignore[no-untyped-def]
    """Turn log weights into a distribution; the log of their sum. Impossible throughout: uniform, and -inf."""
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
            cell = annotator[row] * n_labels + label[row]
            scale = weight[row] if weighted else 1.0
            for z in range(n_states):
                counts[cell, z] += scale * q[i, z]


@njit(cache=True, nogil=True, error_model="numpy")
def evidence_pass(states, starts, annotator, label, weight, n_labels, table, total):  # type: ignore[no-untyped-def]
    """total[i, z] increased by what the labels of unit i say: the sum of table[j * n_labels + n, z]."""
    n_states = table.shape[1] if len(states) == 0 else len(states)
    weighted = weight.size > 0
    for i in range(starts.size - 1):
        for row in range(starts[i], starts[i + 1]):
            cell = annotator[row] * n_labels + label[row]
            scale = weight[row] if weighted else 1.0
            if scale > 0.0:
                for z in range(n_states):
                    total[i, z] += scale * table[cell, z]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SAFE_MATH)
def match_pass(states, starts, annotator, label, weight, fixed, agree, differ, log_prior, hits, totals, q):  # type: ignore[no-untyped-def]
    """E-step of the models in which a label says only "this class" or "another", and how often annotators were right.

    Args:
        states: See above; a state is a class here.
        starts: As in `table_pass`, and so are annotator, label, weight, fixed and q.
        annotator: See there.
        label: See there.
        weight: See there.
        fixed: See there.
        agree: agree[j, n], log p(annotator j says n | the truth is n).
        differ: differ[j, n], log p(annotator j says n | the truth is another class).
        log_prior: log_prior[1 or i, k].
        hits: hits[j, n], increased by the belief in n of the units that j labelled n.
        totals: totals[k], increased by the beliefs of the units that have labels.
        q: See there.

    Returns:
        The sum of the log evidence of all units that have labels.
    """
    n_states = agree.shape[1] if len(states) == 0 else len(states)
    keep, weighted = q.shape[0] > 0, weight.size > 0
    plain = len(states) > 0 and not weighted and fixed.size == 0 and log_prior.shape[0] == 1
    prior = np.exp(log_prior[0]) if plain else log_prior[0]
    right, wrong = (np.exp(agree), np.exp(differ)) if plain else (agree, differ)
    belief = np.empty(n_states)
    evidence, product = 0.0, 1.0
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        total = 0.0
        if plain and end - begin <= BLOCK:
            total = _matched(states, begin, end, annotator, label, right, wrong, prior, belief)
        if total > 0.0:
            log_sum = 0.0
            product *= total if begin < end else 1.0
            if product < SMALLEST:
                evidence += np.log(product)
                product = 1.0
        else:
            log_sum = _compared(
                states, i, begin, end, annotator, label, weight, fixed, agree, differ, log_prior, belief
            )
        if keep:
            for z in range(n_states):
                q[i, z] = belief[z]
        if begin == end:
            continue
        evidence += log_sum
        for z in range(n_states):
            totals[z] += belief[z]
        for row in range(begin, end):
            scale = weight[row] if weighted else 1.0
            hits[np.uintp(annotator[row]), np.uintp(label[row])] += scale * belief[np.uintp(label[row])]
    return evidence + np.log(product)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=SAFE_MATH, inline="always")
def _matched(states, begin, end, annotator, label, right, wrong, prior, belief):  # type: ignore[no-untyped-def]
    """`_multiplied` for labels that say only "this class" or "another"."""
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
def _compared(  # type: ignore[no-untyped-def]
    states, i, begin, end, annotator, label, weight, fixed, agree, differ, log_prior, belief
):
    """`_added` for labels that say only "this class" or "another"."""
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
    return _normalise(states, belief) + base


@njit(cache=True, nogil=True, error_model="numpy")
def ability_pass(  # type: ignore[no-untyped-def]
    states,
    n_classes,
    starts,
    annotator,
    label,
    weight,
    fixed,
    ability,
    ease,
    q,
    given,
    pull,
    curvature,
    steps,
    halvings,
):
    """One pass of GLAD: the E-step, each unit's new ease, and the sums for the new abilities (`truth.difficulty_pass`).

    Args:
        states: See above; a state is a class here.
        n_classes: How many classes there are.
        starts: As in `table_pass`, and so are annotator, label, weight, fixed and q.
        annotator: See there.
        label: See there.
        weight: See there.
        fixed: See there.
        ability: ability[j].
        ease: ease[i], changed.
        q: See there.
        given: given[i, k], beliefs to use instead of those of the E-step; or without rows.
        pull: pull[j], increased.
        curvature: curvature[j], increased.
        steps: How many Newton steps for the ease of a unit.
        halvings: How often a step that would lose is halved.

    Returns:
        The sum of the log evidence of all units that have labels.
    """
    n_states = n_classes if len(states) == 0 else len(states)
    keep, known, weighted, told = q.shape[0] > 0, fixed.size > 0, weight.size > 0, given.shape[0] > 0
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
        log_sum = _normalise(states, belief)
        for z in range(n_states):
            if told:
                belief[z] = given[i, z]
            if keep:
                q[i, z] = belief[z]
        if begin < end:
            evidence += log_sum + base
        lift, curve = 0.0, 0.0
        for row in range(begin, end):
            scale = weight[row] if weighted else 1.0
            alpha = ability[annotator[row]]
            lift += scale * (belief[label[row]] - 0.5) * alpha
            curve += scale * _parabola(alpha * beta) * alpha**2
        ease[i] = _climbed(lift, curve, ease[i], steps, halvings)
        beta = np.exp(ease[i])
        for row in range(begin, end):
            scale = weight[row] if weighted else 1.0
            j = annotator[row]
            pull[j] += scale * (belief[label[row]] - 0.5) * beta
            curvature[j] += 2.0 * scale * _parabola(ability[j] * beta) * beta**2
    return evidence


@njit(cache=True, nogil=True, error_model="numpy")
def _softplus(x):  # type: ignore[no-untyped-def]
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@njit(cache=True, nogil=True, error_model="numpy")
def _parabola(x):  # type: ignore[no-untyped-def]
    """tanh(x / 2) / (4 x): how bent the parabola under log sigmoid at x is."""
    if abs(x) < 1e-6:
        return 0.125
    shrunk = np.exp(-abs(x))
    return (1.0 - shrunk) / (1.0 + shrunk) / (4.0 * abs(x))


@njit(cache=True, nogil=True, error_model="numpy")
def _climbed(lift, curve, ease, steps, halvings):  # type: ignore[no-untyped-def]
    """Newton steps up lift e^b - curve e^(2b) - (b - 1)^2 / 2 from b = ease, none of which may lose."""
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
