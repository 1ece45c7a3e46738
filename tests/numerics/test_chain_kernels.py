"""Compiled chains of many units: the same as in numpy, and exact where scaled probabilities underflow."""

from __future__ import annotations

import numpy as np
import pytest
from tests.numerics.planted_potentials import random_chain

from crowdlogic.numerics.chain import best_path, marginals


@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_the_kernels_and_numpy_agree_on_long_ragged_sequences(scale: float) -> None:
    lengths = tuple(np.random.default_rng(0).integers(0, 60, size=40).tolist())
    problem = random_chain(1, lengths=lengths, tags=7, tables=3, scale=scale, forbidden=0.02)

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
