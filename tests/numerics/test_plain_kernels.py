"""The pass over labels without weights: against the general pass, and where products underflow."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.numerics.label_kernels import plain_pass, table_pass


def run(
    labels_per_unit: list[int], floor: float, states: int
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, float]]:
    """Counts, totals, beliefs and log evidence by the plain pass and by the general one, which adds logarithms."""
    rng, annotators, codes = np.random.default_rng(0), 7, 3
    starts = np.concatenate([[0], np.cumsum(labels_per_unit)])
    annotator, label = (rng.integers(size, size=starts[-1]).astype(np.uint16) for size in (annotators, codes))
    table = np.log(rng.uniform(floor, 1.0, size=(annotators * codes, states)))
    log_prior, found = np.log(rng.dirichlet(np.ones(states))), []
    for plain in (True, False):
        counts, totals, q = np.zeros_like(table), np.zeros(states), np.empty((len(labels_per_unit), states))
        if plain:
            cells, zeros = (annotator * codes + label).astype(np.uint16), (0.0,) * states
            evidence = plain_pass(zeros, starts, cells, table, np.exp(table), log_prior, counts, totals, q)
        else:
            rows = (starts, annotator, label, np.ones(len(label)), np.empty(0, dtype=np.int32), np.empty(0))
            given = (codes, table, np.exp(table), log_prior[None], counts, totals, q)
            evidence = table_pass((), *rows, *given)
        found.append((counts, totals, q, evidence))
    return found


@pytest.mark.parametrize("states", [1, 3, 6])
@pytest.mark.parametrize("floor", [0.2, 1e-12], ids=["mild", "extreme"])
@pytest.mark.parametrize(
    "labels", [[3, 0, 5, 1], [64, 65, 400], [30] * 50], ids=["with an empty unit", "long units", "many units"]
)
def test_a_plain_pass_is_the_general_pass(labels: list[int], floor: float, states: int) -> None:
    ours, theirs = run(labels, floor, states)

    for found, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)
