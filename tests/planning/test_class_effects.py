"""What decisions say of whole classes of answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.planning.class_effects import LEAST, SPREAD, add_effects, class_effects, log_odds


def decisions(seed: int = 0) -> tuple[Floats, Ints, Ints]:
    """Answers of three classes, of which those of class 2 are wrong far more often than was believed."""
    rng = np.random.default_rng(seed)
    answer = rng.integers(3, size=400).astype(np.int32)
    right = rng.uniform(0.4, 0.95, size=400)
    is_right = rng.random(400) < np.where(answer == 2, 0.3 * right, right)
    decided = np.where(is_right, answer, (answer + 1) % 3).astype(np.int32)
    decided[200:] = -1
    return right, answer, decided


def test_the_effects_maximise_the_posterior() -> None:
    right, answer, decided = decisions()
    known = decided >= 0
    is_right = (decided == answer)[known]

    def cost(effect: Floats) -> float:
        z = log_odds(right[known], LEAST) + effect[answer[known]]
        return float(np.logaddexp(0.0, np.where(is_right, -z, z)).sum() + 0.5 * (effect**2).sum() / SPREAD**2)

    found = class_effects(right, answer, decided, 3)

    np.testing.assert_allclose(found, minimize(cost, np.zeros(3)).x, atol=1e-4)
    assert found[2] < -1.0 < -0.5 < min(found[:2])


def test_without_decisions_nothing_changes() -> None:
    right, answer, decided = decisions()

    effect = class_effects(right, answer, np.full_like(decided, -1), 3)

    assert effect.tolist() == [0, 0, 0]
    np.testing.assert_allclose(add_effects(right, answer, effect), right)


def test_an_effect_keeps_the_order_within_a_class() -> None:
    right = np.array([0.999, 0.9995, 0.5])

    changed = add_effects(right, np.array([0, 0, 1]), np.array([-1.0, 0.0]))

    assert changed[0] < changed[1] < 0.9995
    assert changed[2] == pytest.approx(0.5)
