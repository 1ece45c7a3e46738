"""Measure a Dawid-Skene iteration in memory, on one thread: the current kernel and the previous one.

    python -m benchmarks.kernel_speed [--labels 1e7] [--annotators 1000] [--classes 5] [--repeats 7]

Both are run alternately in one process on the same labels, five per item; the best CPU time of the repeats counts.
`table_pass_before` is the previous kernel, with 32-bit codes and beliefs in an array.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numba import njit

from benchmarks.machine import describe_machine
from crowdlogic.annotators.label_sums import compiled_table_step
from crowdlogic.data.blocks import make_shard
from crowdlogic.numerics.arrays import Floats

BLOCK, SMALLEST = 64, 1e-150
SAFE_MATH = {"reassoc", "contract", "arcp"}


@njit(nogil=True, error_model="numpy", fastmath=SAFE_MATH)
def table_pass_before(  # type: ignore[no-untyped-def]
    states, starts, annotator, label, weight, fixed, n_labels, table, factors, log_prior, counts, totals, q
):
    """Run the E-step with a table of log probabilities, and sum the expected counts, in the previous way."""
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


@njit(nogil=True, error_model="numpy", fastmath=SAFE_MATH, inline="always")
def _multiply_factors(states, begin, end, annotator, label, n_labels, factors, prior, belief):  # type: ignore[no-untyped-def]
    """Write the beliefs of one unit as products of factors; return their sum before scaling, or 0 on underflow.

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


@njit(nogil=True, error_model="numpy")
def _add_logs(  # type: ignore[no-untyped-def]
    states, i, begin, end, annotator, label, weight, fixed, n_labels, table, log_prior, belief
):
    """Write the beliefs of one unit from sums of logs; return the log of their sum."""
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
    return normalise_in_place(states, belief)


@njit(nogil=True, error_model="numpy")
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


def best_seconds(work: Callable[[], object], others: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return the minimum CPU time of two functions, run alternately."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for kept, run in zip(times, (work, others), strict=True):
            begin = time.process_time()
            run()
            kept.append(time.process_time() - begin)
    return min(times[0]), min(times[1])


def main() -> None:
    """Measure both and print the ratio."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--labels", type=lambda text: int(float(text)), default=10**7)
    options.add_argument("--annotators", type=int, default=1000)
    options.add_argument("--classes", type=int, default=5)
    options.add_argument("--repeats", type=int, default=7)
    chosen = options.parse_args()
    rng, size, n_classes = np.random.default_rng(0), chosen.labels, chosen.classes
    unit = np.repeat(np.arange(size // 5), 5)
    annotator = rng.integers(chosen.annotators, size=len(unit)).astype(np.int32)
    label = rng.integers(n_classes, size=len(unit)).astype(np.int32)
    table = np.log(rng.dirichlet(np.full(n_classes, 2.0), size=chosen.annotators * n_classes))
    prior, states = np.full(n_classes, 1.0 / n_classes), (0,) * n_classes
    shard, factors = make_shard(unit, annotator, label, n_units=size // 5).narrow(), np.exp(table)
    parameters = {"log_table": table.reshape(-1, n_classes, n_classes), "log_prior": np.log(prior)}

    def before() -> tuple[Floats, float]:
        counts, totals = np.zeros_like(table), np.zeros(n_classes)
        rows = (states, shard.starts, annotator, label, np.empty(0), np.empty(0, dtype=np.int32), n_classes)
        kept = np.empty((0, n_classes))
        return counts, table_pass_before(*rows, table, factors, np.log(prior)[None], counts, totals, kept)

    old, new = before(), compiled_table_step(shard, parameters, {})[0]
    np.testing.assert_allclose(new["counts"].reshape(table.shape), old[0], rtol=1e-9)
    np.testing.assert_allclose(new["log_evidence"], old[1], rtol=1e-12)
    first, second = best_seconds(before, lambda: compiled_table_step(shard, parameters, {}), chosen.repeats)
    cells, each = shard.narrow_cells(n_classes), 1e9 / len(unit)
    read = cells.itemsize + shard.starts.nbytes / len(unit)
    print(
        f"before: {first * each:.2f} ns per label and iteration ({8 + shard.starts.nbytes / len(unit):.1f} bytes read)"
    )
    print(f"now:    {second * each:.2f} ns ({read:.1f} bytes read), {second / first:.2f} of it")
    print(describe_machine())


if __name__ == "__main__":
    main()
