"""The linear chain, in numpy and compiled, against the enumeration of all tag sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.numerics.planted_potentials import enumerate_marginals, enumerate_taggings, random_chain

from crowdlogic.errors import OptionError
from crowdlogic.numerics.chain import best_path, marginals

BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "numba"])


@BOTH
@pytest.mark.parametrize("tables", [1, 3])
@pytest.mark.parametrize("scale", [1.0, 60.0], ids=["mild", "extreme"])
@pytest.mark.parametrize("seed", range(4))
def test_marginals_are_those_of_all_taggings(compiled: bool, tables: int, scale: float, seed: int) -> None:
    problem = random_chain(seed, tables=tables, scale=scale)
    q, counts, log_partition = enumerate_marginals(problem)

    found = marginals(**problem, compiled=compiled)

    np.testing.assert_allclose(found.q, q, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.transitions, counts, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.log_partition, log_partition, rtol=1e-12, atol=1e-12)


@BOTH
@pytest.mark.parametrize("tables", [1, 3])
@pytest.mark.parametrize("scale", [1.0, 60.0], ids=["mild", "extreme"])
def test_marginals_of_neighbours_are_those_of_all_taggings(compiled: bool, tables: int, scale: float) -> None:
    problem = random_chain(3, tables=tables, scale=scale)
    expected = np.zeros((len(problem["unary"]), 3, 3))
    for s, begin in enumerate(problem["offsets"][:-1]):
        found = enumerate_taggings(problem, s)
        total = np.logaddexp.reduce([score for _, score in found])
        for tags, score in found:
            for t in range(1, len(tags)):
                expected[begin + t, tags[t - 1], tags[t]] += np.exp(score - total)

    made = marginals(**problem, pairs=True, compiled=compiled)
    plain = marginals(**problem, compiled=compiled)

    assert made.pair is not None
    assert plain.pair is None
    np.testing.assert_allclose(made.pair, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(made.transitions, plain.transitions, rtol=1e-9, atol=1e-12)
    later = np.array([1, 2, 5, 6, 7, 8])
    np.testing.assert_allclose(made.pair[later].sum(axis=1), made.q[later], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(made.pair[later].sum(axis=2), made.q[later - 1], rtol=1e-9, atol=1e-12)


@BOTH
@pytest.mark.parametrize("seed", range(6))
def test_what_is_forbidden_is_exactly_zero(compiled: bool, seed: int) -> None:
    problem = random_chain(seed, lengths=(4, 4), forbidden=0.3)
    with np.errstate(invalid="ignore"):
        q, _, log_partition = enumerate_marginals(problem)
    possible = np.repeat(np.isfinite(log_partition), np.diff(problem["offsets"]))

    found = marginals(**problem, compiled=compiled)

    np.testing.assert_allclose(found.q[possible], q[possible], rtol=0, atol=1e-12)
    assert (found.q[np.isneginf(problem["unary"]) & possible[:, None]] == 0).all()
    assert (found.transitions[np.isneginf(problem["pairwise"])] == 0).all()
    np.testing.assert_allclose(found.log_partition, log_partition, rtol=1e-12)


@BOTH
def test_a_sequence_forbidden_throughout_is_reported_and_leaves_the_others_alone(compiled: bool) -> None:
    problem = random_chain(0, lengths=(2, 3, 2))
    problem["unary"][3] = -np.inf
    alone = random_chain(0, lengths=(2, 3, 2))

    found, whole = marginals(**problem, compiled=compiled), marginals(**alone, compiled=compiled)
    tags = best_path(**problem, compiled=compiled)

    assert np.isneginf(found.log_partition[1])
    np.testing.assert_array_equal(found.q[2:5], 1 / 3)
    np.testing.assert_allclose(found.q[[0, 1, 5, 6]], whole.q[[0, 1, 5, 6]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.transitions.sum(), 2.0, rtol=0, atol=1e-12)
    assert tags[2:5].tolist() == [-1, -1, -1]
    assert (tags[[0, 1, 5, 6]] >= 0).all()


@BOTH
@pytest.mark.parametrize("tables", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_path_scores_highest_of_all_taggings(compiled: bool, tables: int, seed: int) -> None:
    problem = random_chain(seed, tables=tables, forbidden=0.1)

    tags = best_path(**problem, compiled=compiled)

    for s, begin in enumerate(problem["offsets"][:-1]):
        best = max(enumerate_taggings(problem, s), key=lambda pair: pair[1])
        if np.isfinite(best[1]):
            assert tuple(tags[begin : problem["offsets"][s + 1]].tolist()) == best[0]


@BOTH
def test_ties_go_to_the_lowest_tag(compiled: bool) -> None:
    tags = best_path(np.zeros((4, 3)), np.zeros((3, 3)), np.array([0, 4]), compiled=compiled)

    assert tags.tolist() == [0, 0, 0, 0]


@BOTH
def test_no_sequences_at_all_give_nothing(compiled: bool) -> None:
    found = marginals(np.empty((0, 3)), np.zeros((3, 3)), np.array([0]), compiled=compiled)

    assert found.q.shape == (0, 3)
    assert found.log_partition.shape == (0,)
    assert found.transitions.sum() == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pairwise": np.zeros((2, 2))}, "pairwise potentials of shape (2, 2) do not fit 3 tags."),
        ({"offsets": np.array([0, 4])}, "offsets must increase from 0 to 9, the number of units."),
        ({"table": None}, "2 pairwise tables need table[i], the table of the transition into unit i."),
        ({"table": np.full(9, 2)}, "table must contain a number from 0 to 1 for each of 9 units."),
    ],
)
def test_potentials_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    problem = random_chain(0, tables=2) | change

    with pytest.raises(OptionError) as problem_raised:
        marginals(**problem)

    assert str(problem_raised.value) == message
