"""The compiled pass of GLAD over a table of labels, laid out as in `label_kernels`.

No module imports this one at its top: numba takes a third of a second to load.

Axes: i unit, j annotator, k class, n given label, z latent state (here a class).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from crowdlogic.numerics.label_kernels import normalise_in_place


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
    """One pass of GLAD: the E-step, each unit's new ease, and the sums for the new abilities (`truth.glad_pass`).

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
        given: given[i, k], beliefs to use in place of those of the E-step; or without rows.
        pull: pull[j], increased.
        curvature: curvature[j], increased.
        steps: Number of Newton steps for the ease of a unit.
        halvings: Maximum number of times that a step is halved which would lower the objective.

    Returns:
        The sum of the log evidence of all units that have labels.
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
    """log(1 + e^x), without overflow."""
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@njit(cache=True, nogil=True, error_model="numpy")
def _bound_curvature(x):  # type: ignore[no-untyped-def]
    """tanh(x / 2) / (4 x), the curvature of the parabola that bounds log sigmoid from below at x."""
    if abs(x) < 1e-6:
        return 0.125
    shrunk = np.exp(-abs(x))
    return (1.0 - shrunk) / (1.0 + shrunk) / (4.0 * abs(x))


@njit(cache=True, nogil=True, error_model="numpy")
def _update_ease(lift, curve, ease, steps, halvings):  # type: ignore[no-untyped-def]
    """Newton steps from b = ease that maximise lift e^b - curve e^(2b) - (b - 1)^2 / 2; none may lower it."""
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
