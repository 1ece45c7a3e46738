"""The linear chain against the enumeration of all tag sequences, and the compiled path against the other one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from crowdlogic.errors import OptionError
from crowdlogic.numerics.chain import best_path, marginals

BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "numba"])


def chain(
    seed: int,
    *,
    lengths: tuple[int, ...] = (3, 1, 0, 5),
    tags: int = 3,
    tables: int = 1,
    scale: float = 1.0,
    forbidden: float = 0.0,
) -> dict[str, Any]:
    """Random potentials, some of them forbidden."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    unary = rng.normal(size=(offsets[-1], tags)) * scale
    pairwise = rng.normal(size=(tables, tags, tags)) * scale
    pairwise[rng.random(pairwise.shape) < forbidden] = -np.inf
    unary[rng.random(unary.shape) < forbidden / 2] = -np.inf
    return {
        "unary": unary,
        "pairwise": pairwise if tables > 1 else pairwise[0],
        "offsets": offsets,
        "start": rng.normal(size=tags) * scale,
        "table": rng.integers(tables, size=offsets[-1]) if tables > 1 else None,
    }


def scores(problem: dict[str, Any], s: int) -> list[tuple[tuple[int, ...], float]]:
    """Every tagging of sequence s and its score."""
    begin, end = problem["offsets"][s], problem["offsets"][s + 1]
    tables = problem["pairwise"] if problem["pairwise"].ndim == 3 else problem["pairwise"][None]
    table = np.zeros(end, dtype=int) if problem["table"] is None else problem["table"]
    found = []
    for tags in itertools.product(range(problem["unary"].shape[1]), repeat=int(end - begin)):
        score = sum(problem["unary"][begin + t, k] for t, k in enumerate(tags))
        score += sum(tables[table[begin + t], tags[t - 1], tags[t]] for t in range(1, len(tags)))
        score += problem["start"][tags[0]] if tags and problem["start"] is not None else 0.0
        found.append((tags, float(score)))
    return found


def enumerated(problem: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = np.zeros_like(problem["unary"])
    counts = np.zeros_like(problem["pairwise"] if problem["pairwise"].ndim == 3 else problem["pairwise"][None])
    table = np.zeros(len(q), dtype=int) if problem["table"] is None else problem["table"]
    log_partition = np.zeros(len(problem["offsets"]) - 1)
    for s, begin in enumerate(problem["offsets"][:-1]):
        found = scores(problem, s)
        log_partition[s] = np.logaddexp.reduce([score for _, score in found])
        for tags, score in found:
            weight = np.exp(score - log_partition[s])
            for t, k in enumerate(tags):
                q[begin + t, k] += weight
                if t:
                    counts[table[begin + t], tags[t - 1], k] += weight
    return q, counts if problem["pairwise"].ndim == 3 else counts[0], log_partition


@BOTH
@pytest.mark.parametrize("tables", [1, 3])
@pytest.mark.parametrize("scale", [1.0, 60.0], ids=["mild", "extreme"])
@pytest.mark.parametrize("seed", range(4))
def test_marginals_are_those_of_all_taggings(compiled: bool, tables: int, scale: float, seed: int) -> None:
    problem = chain(seed, tables=tables, scale=scale)
    q, counts, log_partition = enumerated(problem)

    found = marginals(**problem, compiled=compiled)

    np.testing.assert_allclose(found.q, q, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.transitions, counts, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.log_partition, log_partition, rtol=1e-12, atol=1e-12)


@BOTH
@pytest.mark.parametrize("seed", range(6))
def test_what_is_forbidden_is_exactly_zero(compiled: bool, seed: int) -> None:
    problem = chain(seed, lengths=(4, 4), forbidden=0.3)
    with np.errstate(invalid="ignore"):
        q, _, log_partition = enumerated(problem)
    possible = np.repeat(np.isfinite(log_partition), np.diff(problem["offsets"]))

    found = marginals(**problem, compiled=compiled)

    np.testing.assert_allclose(found.q[possible], q[possible], rtol=0, atol=1e-12)
    assert (found.q[np.isneginf(problem["unary"]) & possible[:, None]] == 0).all()
    assert (found.transitions[np.isneginf(problem["pairwise"])] == 0).all()
    np.testing.assert_allclose(found.log_partition, log_partition, rtol=1e-12)


@BOTH
def test_a_sequence_forbidden_throughout_is_reported_and_leaves_the_others_alone(compiled: bool) -> None:
    problem = chain(0, lengths=(2, 3, 2))
    problem["unary"][3] = -np.inf
    alone = chain(0, lengths=(2, 3, 2))

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
    problem = chain(seed, tables=tables, forbidden=0.1)

    tags = best_path(**problem, compiled=compiled)

    for s, begin in enumerate(problem["offsets"][:-1]):
        best = max(scores(problem, s), key=lambda pair: pair[1])
        if np.isfinite(best[1]):
            assert tuple(tags[begin : problem["offsets"][s + 1]].tolist()) == best[0]


@BOTH
def test_ties_go_to_the_lowest_tag(compiled: bool) -> None:
    tags = best_path(np.zeros((4, 3)), np.zeros((3, 3)), np.array([0, 4]), compiled=compiled)

    assert tags.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_the_kernels_and_numpy_agree_on_long_ragged_sequences(scale: float) -> None:
    lengths = tuple(np.random.default_rng(0).integers(0, 60, size=40).tolist())
    problem = chain(1, lengths=lengths, tags=7, tables=3, scale=scale, forbidden=0.02)

    ours, theirs = (marginals(**problem, compiled=compiled) for compiled in (False, True))

    np.testing.assert_allclose(ours.q, theirs.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.transitions, theirs.transitions, rtol=0, atol=1e-8)
    np.testing.assert_allclose(ours.log_partition, theirs.log_partition, rtol=1e-12)
    np.testing.assert_array_equal(best_path(**problem, compiled=False), best_path(**problem, compiled=True))


def test_numbers_too_small_for_scaling_are_not_lost() -> None:
    """State 1 starts with e^-800 of the weight, and each of the next units prefers it by e^300."""
    unary = np.array([[0.0, -800.0], [-300.0, 0.0], [-300.0, 0.0], [-300.0, 0.0]])
    stay = np.array([[0.0, -np.inf], [-np.inf, 0.0]])

    found = marginals(unary, stay, np.array([0, 4]), compiled=True)

    np.testing.assert_allclose(found.q[:, 1], 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.log_partition, -800.0, rtol=1e-12)


def test_a_state_that_starts_below_the_smallest_number_comes_back_in_small_steps() -> None:
    """State 1 starts with e^-800 of the weight, and each of five units prefers it by e^200."""
    unary = np.array([[0.0, -800.0], *[[-200.0, 0.0]] * 5])
    stay = np.array([[0.0, -np.inf], [-np.inf, 0.0]])

    found = marginals(unary, stay, np.array([0, 6]), compiled=True)

    np.testing.assert_allclose(found.q[:, 1], 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.log_partition, -800.0, rtol=1e-12)


def test_a_state_that_is_lost_in_small_steps_comes_back_in_small_steps() -> None:
    """Five units prefer state 0 by e^200 each, which no float can hold together, then six prefer state 1."""
    unary = np.array([[0.0, -200.0]] * 5 + [[-200.0, 0.0]] * 6)
    stay = np.array([[0.0, -np.inf], [-np.inf, 0.0]])

    found = marginals(unary, stay, np.array([0, 11]), compiled=True)

    np.testing.assert_allclose(found.q[:, 1], 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.log_partition, -1000.0, rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_backward_numbers_may_be_lost_without_harm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unary = rng.choice([0.0, -190.0, -60.0], size=(40, 3))
    pairwise = rng.choice([0.0, -50.0, -np.inf], size=(3, 3), p=[0.5, 0.3, 0.2])
    ours, theirs = (marginals(unary, pairwise, np.array([0, 15, 40]), compiled=way) for way in (False, True))

    np.testing.assert_allclose(theirs.q, ours.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(theirs.transitions, ours.transitions, rtol=0, atol=1e-10)
    np.testing.assert_allclose(theirs.log_partition, ours.log_partition, rtol=1e-12)


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
        ({"offsets": np.array([0, 4])}, "offsets must rise from 0 to 9, the number of units."),
        ({"table": None}, "2 pairwise tables need table[i], which says where each applies."),
        ({"table": np.full(9, 2)}, "table must give one of 2 pairwise tables for each of 9 units."),
    ],
)
def test_potentials_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    problem = chain(0, tables=2) | change

    with pytest.raises(OptionError) as problem_raised:
        marginals(**problem)

    assert str(problem_raised.value) == message
