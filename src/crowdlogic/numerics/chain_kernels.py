"""Compiled kernels of the linear chain: forward-backward and Viterbi for each sequence.

Forward-backward runs on probabilities scaled to sum to one at each unit, which is several times as fast as log space.
It is exact as long as no positive forward probability underflows. So underflow is checked: potentials and scaled
probabilities must be 0 or at least SMALLEST, because then no product of three of them underflows. A sequence that
violates this is recomputed in log space. Backward probabilities need no check: those that underflow belong to taggings
whose total probability is below the smallest float.

Import this module inside functions only, because loading numba takes a third of a second.

Axes: i unit, k tag (n the next one), s sequence, t table of pairwise potentials.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from crowdlogic.numerics.arrays import Floats, Ints

SMALLEST = 1e-100
LOG_SMALLEST = float(np.log(SMALLEST))


def forward_backward(
    unary: Floats, tables: Floats, table: Ints, offsets: Ints, *, slot: Ints | None = None, n_slots: int = 0
) -> tuple[Floats, Floats, Floats]:
    """Return q[i, k], the expected transitions and log_partition[s].

    Args:
        unary: unary[i, k].
        tables: tables[t, k, k'].
        table: table[i], the table of the transition into unit i.
        offsets: offsets[s].
        slot: slot[i], the index at which the transition into unit i is counted; by default its table.
        n_slots: Number of slots.
    """
    # Each table is scaled by its largest entry, which is added to the log partition again.
    peak = tables.max(axis=(1, 2), initial=-np.inf)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    scaled = np.exp(tables - peak[:, None, None])
    safe = bool((np.isneginf(tables) | (tables - peak[:, None, None] > LOG_SMALLEST)).all())
    slot, n_slots = (table, len(tables)) if slot is None else (slot, n_slots)
    counts = np.zeros((n_slots, *tables.shape[1:]))
    q, log_partition = np.zeros_like(unary), np.zeros(len(offsets) - 1)
    _all_sequences(unary, tables, scaled, peak, safe, table, slot, offsets, q, counts, log_partition)
    return q, counts, log_partition


def viterbi(unary: Floats, tables: Floats, table: Ints, offsets: Ints) -> Ints:
    """Return tags[i] of the best path; -1 for the units of a sequence whose taggings are all forbidden."""
    tags = np.full(len(unary), -1, dtype=np.int32)
    _best_paths(unary, tables, table, offsets, tags)
    return tags


@njit(cache=True, nogil=True)
def _all_sequences(unary, tables, scaled, peak, safe, table, slot, offsets, q, counts, log_partition):  # type: ignore[no-untyped-def]
    """Run forward-backward for every sequence: scaled if possible, otherwise in log space."""
    n_tags = unary.shape[1]
    longest = 0
    for s in range(offsets.size - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    local = np.empty((longest, n_tags))
    norm = np.empty(longest)
    back = np.empty((2, n_tags))
    for s in range(offsets.size - 1):
        begin, end = offsets[s], offsets[s + 1]
        if begin == end:
            continue
        done = safe and _scaled_pass(
            unary, scaled, peak, table, slot, begin, end, q, counts, log_partition, s, local, norm, back
        )
        if not done:
            _log_pass(unary, tables, table, slot, begin, end, q, counts, log_partition, s, local)


@njit(cache=True, nogil=True)
def _scaled_pass(unary, scaled, peak, table, slot, begin, end, q, counts, log_partition, s, local, norm, back):  # type: ignore[no-untyped-def]
    """Process one sequence with scaled probabilities; return False, with nothing counted, on underflow."""
    total = _scaled_forward(unary, scaled, peak, table, begin, end, q, local, norm)
    if not np.isfinite(total):
        return False
    log_partition[s] = total
    n_tags = unary.shape[1]
    now, before = back[0], back[1]
    now[:] = 1.0
    for i in range(end - 1, begin, -1):
        t = table[i]
        for k in range(n_tags):
            now[k] *= local[i - begin, k] / norm[i - begin]
            before[k] = 0.0
        for k in range(n_tags):
            into = q[i - 1, k]
            out = 0.0
            for n in range(n_tags):
                flow = scaled[t, k, n] * now[n]
                out += flow
                counts[slot[i], k, n] += into * flow
            before[k] = out
            q[i - 1, k] = into * out
        now, before = before, now
    return True


@njit(cache=True, nogil=True)
def _local_weights(unary, weight):  # type: ignore[no-untyped-def]
    """Set weight to exp(unary), scaled to a maximum of one; return the log of the scale, or NaN on underflow."""
    top = unary.max()
    if not np.isfinite(top):
        return np.nan
    for k in range(unary.size):
        gap = unary[k] - top
        if gap < LOG_SMALLEST and gap != -np.inf:
            return np.nan
        weight[k] = np.exp(gap)
    return top


@njit(cache=True, nogil=True)
def _scaled_forward(unary, scaled, peak, table, begin, end, q, local, norm):  # type: ignore[no-untyped-def]
    """Set q to the scaled forward probabilities; return the log partition, or NaN on underflow."""
    n_tags = unary.shape[1]
    total = 0.0
    for i in range(begin, end):
        top = _local_weights(unary[i], local[i - begin])
        weight = 0.0
        for n in range(n_tags):
            reach = 1.0
            if i > begin:
                reach = 0.0
                for k in range(n_tags):
                    reach += q[i - 1, k] * scaled[table[i], k, n]
            q[i, n] = reach * local[i - begin, n]
            weight += q[i, n]
        if weight < SMALLEST or np.isnan(top):
            return np.nan
        for n in range(n_tags):
            q[i, n] /= weight
            if q[i, n] != 0.0 and q[i, n] < SMALLEST:
                return np.nan
        norm[i - begin] = weight
        total += np.log(weight) + top
        if i > begin:
            total += peak[table[i]]
    return total


@njit(cache=True, nogil=True)
def _log_sum(values):  # type: ignore[no-untyped-def]
    """Return the log of the sum of exponentials."""
    peak = values.max()
    if peak == -np.inf:
        return peak
    total = 0.0
    for value in values:
        total += np.exp(value - peak)
    return peak + np.log(total)


@njit(cache=True, nogil=True)
def _log_forward(unary, tables, table, begin, end, forward, terms):  # type: ignore[no-untyped-def]
    """Set forward[i - begin, n] to the log of the sum over all taggings up to unit i that end with tag n."""
    n_tags = unary.shape[1]
    for i in range(begin, end):
        for n in range(n_tags):
            reach = 0.0
            if i > begin:
                for k in range(n_tags):
                    terms[k] = forward[i - 1 - begin, k] + tables[table[i], k, n]
                reach = _log_sum(terms)
            forward[i - begin, n] = unary[i, n] + reach


@njit(cache=True, nogil=True)
def _log_pass(unary, tables, table, slot, begin, end, q, counts, log_partition, s, forward):  # type: ignore[no-untyped-def]
    """Process one sequence in log space: q, expected transitions and log partition."""
    n_tags = unary.shape[1]
    terms = np.empty(n_tags)
    _log_forward(unary, tables, table, begin, end, forward, terms)
    total = _log_sum(forward[end - 1 - begin])
    log_partition[s] = total
    if total == -np.inf:
        q[begin:end] = 1.0 / n_tags
        return
    backward = np.zeros(n_tags)
    for i in range(end - 1, begin - 1, -1):
        for k in range(n_tags):
            q[i, k] = np.exp(forward[i - begin, k] + backward[k] - total)
        if i > begin:
            onward = unary[i] + backward
            for k in range(n_tags):
                for n in range(n_tags):
                    terms[n] = tables[table[i], k, n] + onward[n]
                    counts[slot[i], k, n] += np.exp(forward[i - 1 - begin, k] + terms[n] - total)
                backward[k] = _log_sum(terms)


@njit(cache=True, nogil=True)
def _best_paths(unary, tables, table, offsets, tags):  # type: ignore[no-untyped-def]
    """Run Viterbi for every sequence; ties go to the lowest tag."""
    n_tags = unary.shape[1]
    longest = 0
    for s in range(offsets.size - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    came_from = np.empty((longest, n_tags), np.int32)
    best, onward = np.empty(n_tags), np.empty(n_tags)
    for s in range(offsets.size - 1):
        begin, end = offsets[s], offsets[s + 1]
        if begin == end:
            continue
        best[:] = unary[begin]
        for i in range(begin + 1, end):
            for n in range(n_tags):
                top, at = best[0] + tables[table[i], 0, n], 0
                for k in range(1, n_tags):
                    score = best[k] + tables[table[i], k, n]
                    if score > top:
                        top, at = score, k
                onward[n] = top + unary[i, n]
                came_from[i - begin, n] = at
            best[:] = onward
        tag = np.argmax(best)
        if best[tag] == -np.inf:
            continue
        for i in range(end - 1, begin - 1, -1):
            tags[i] = tag
            tag = came_from[i - begin, tag]
