from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from crowdlogic.metrics.calibration import (
    brier,
    calibration_error,
    log_loss,
    tie_credit,
)
from crowdlogic.metrics.scores import accuracy, accuracy_ties_half, score
from crowdlogic.numerics.arrays import Floats, Ints


def beliefs(seed: int, *, units: int = 60, classes: int = 4) -> tuple[Ints, Floats]:
    """Gold and beliefs that lean towards it, so that calibration has something to find."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(classes, size=units)
    return gold, rng.dirichlet(np.ones(classes), size=units) * 0.6 + 0.4 * np.eye(classes)[gold]


@pytest.mark.parametrize("seed", range(5))
def test_log_loss_and_brier_equal_scikit_learns(seed: int) -> None:
    gold, q = beliefs(seed)

    assert log_loss(gold, q) == pytest.approx(sk.log_loss(gold, q, labels=range(4)), abs=1e-12)
    assert brier(gold, q) == pytest.approx(
        sk.brier_score_loss(gold, q, labels=range(4), scale_by_half=False), abs=1e-12
    )


def test_a_certain_mistake_costs_as_much_as_in_scikit_learn() -> None:
    gold, q = np.array([0, 1]), np.array([[0.0, 1.0], [0.25, 0.75]])

    assert log_loss(gold, q) == pytest.approx(sk.log_loss(gold, q, labels=[0, 1]), rel=1e-12)


@pytest.mark.parametrize("bins", [1, 2, 10, 15])
@pytest.mark.parametrize("seed", range(3))
def test_calibration_error_is_the_sum_over_bins(seed: int, bins: int) -> None:
    gold, q = beliefs(seed)
    confidence, right = q.max(axis=1), q.argmax(axis=1) == gold
    expected = 0.0
    for b in range(bins):
        inside = (confidence > b / bins) & (confidence <= (b + 1) / bins)
        if inside.any():
            expected += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())

    assert calibration_error(gold, q, bins=bins) == pytest.approx(expected, abs=1e-12)


def test_a_confidence_on_an_edge_belongs_to_the_bin_below() -> None:
    gold = np.array([0, 1])
    q = np.array([[0.5, 0.3, 0.2], [0.1, 0.51, 0.39]])

    assert calibration_error(gold, q, bins=2) == pytest.approx((0.5 + 0.49) / 2, abs=1e-12)
    assert calibration_error(np.array([0, 0]), q, bins=2) == pytest.approx((0.5 + 0.51) / 2, abs=1e-12)
    assert calibration_error(np.array([0, 0]), q, bins=1) == pytest.approx(0.01 / 2, abs=1e-12)


def test_calibrated_beliefs_have_a_small_error_and_boasting_ones_a_large_one() -> None:
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(3), size=50_000)
    gold = (rng.random(len(q))[:, None] > q.cumsum(axis=1)).sum(axis=1)
    boasting = q**4 / (q**4).sum(axis=1, keepdims=True)

    assert calibration_error(gold, q) < 0.01
    assert calibration_error(gold, boasting) > 0.15


def test_a_tie_of_t_classes_is_worth_one_over_t_when_it_holds_the_gold() -> None:
    q = np.array([[0.5, 0.5, 0.0], [0.5, 0.5 - 1e-12, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0], [0.2, 0.2, 0.6]])
    gold = np.array([1, 1, 2, 2, 2])

    np.testing.assert_allclose(tie_credit(gold, q), [0.5, 0.5, 1 / 3, 0, 1], rtol=0, atol=1e-12)
    assert accuracy_ties_half(gold, q.argmax(axis=1), q) == pytest.approx((0.5 + 0.5 + 1 / 3 + 1) / 5)
    assert accuracy(gold, q.argmax(axis=1)) == pytest.approx(1 / 5)


def test_scores_of_beliefs_do_not_depend_on_the_order_of_the_classes() -> None:
    gold, q = beliefs(3)
    q[:10] = 0.25
    order = np.array([2, 0, 3, 1])
    moved = np.argsort(order)[gold]

    ours = score(gold, gold, q)
    turned = score(moved, moved, q[:, order])

    np.testing.assert_allclose(list(vars(turned).values()), list(vars(ours).values()), rtol=0, atol=1e-12)


def test_there_are_fifteen_bins() -> None:
    rng = np.random.default_rng(0)
    first = rng.random(500)
    beliefs, gold = np.stack([first, 1 - first], axis=1), rng.integers(2, size=500)

    assert calibration_error(gold, beliefs) == calibration_error(gold, beliefs, bins=15)
    assert calibration_error(gold, beliefs) != calibration_error(gold, beliefs, bins=14)


@pytest.mark.parametrize(("gap", "credit"), [(1e-10, 0.5), (1e-8, 0.0)])
def test_beliefs_that_differ_by_a_billionth_are_tied(gap: float, credit: float) -> None:
    beliefs = np.array([[0.5 + gap / 2, 0.5 - gap / 2]])

    assert tie_credit(np.array([1]), beliefs).tolist() == [credit]
