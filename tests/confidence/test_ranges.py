"""Ranges: they hold for independent teams, follow exact distributions, and are withheld where sharing shows."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.confidence.planted_crowds import crowd, judges

from crowdlogic.confidence.calibration import assess, fit_without_gold
from crowdlogic.confidence.expected_accuracy import (
    binomial_interval,
    checked_range,
    mistakes_in_first,
    order_by_doubt,
)
from crowdlogic.data.estimate import Calibration
from crowdlogic.truth.dependence import probability_wrong, with_range


def test_the_binomial_interval_is_that_of_scipy() -> None:
    for count, n in ((0, 30), (3, 30), (30, 30), (47, 100)):
        exact = binomtest(count, n).proportion_ci(0.95, method="exact")

        np.testing.assert_allclose(binomial_interval(count, n, level=0.95), [exact.low, exact.high], atol=1e-9)


def test_the_checked_range_covers_every_population() -> None:
    level, items, checked = 0.9, 12, 5

    for wrong in range(items + 1):
        covered = 0
        for sample in combinations(range(items), checked):
            seen = sum(i < wrong for i in sample)
            found = checked_range(seen, checked, items - checked, level=level)
            covered += found[0] <= wrong - seen <= found[1]
        assert covered / comb(items, checked) >= level


def test_one_label_is_the_same_evidence_at_both_ends() -> None:
    q = np.array([[0.9, 0.1], [0.99, 0.01]])

    wrong = probability_wrong(q, np.array([1, 4]), np.array([0, 0]))

    odds = (0.99 / 0.01) ** 0.25  # four labels that are worth one
    np.testing.assert_allclose(wrong, [[0.1, 0.1], [0.01, 1 / (1 + odds)]])


def test_the_range_spans_both_ends() -> None:
    calibration = Calibration(source="x", correlation=0.5, doubt=0.02)

    found = with_range(calibration, np.tile([0.01, 0.3], (100, 1)))
    twice = with_range(calibration, np.tile([0.01, 0.3], (50, 1)), np.full(50, 2.0))

    assert found.fewest_wrong is not None
    assert found.most_wrong is not None
    assert found.fewest_wrong < 1.0
    assert 30.0 < found.most_wrong < 45.0
    assert twice.most_wrong == pytest.approx(found.most_wrong)


def test_the_doubtful_items_come_first() -> None:
    beliefs = np.array([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.99, 0.01]])
    order = order_by_doubt(beliefs)

    assert order.tolist() == [1, 2, 0, 3]
    wrong = np.tile(1.0 - beliefs[order].max(axis=1)[:, None], (1, 2))
    [(size, share, _)] = mistakes_in_first(wrong, first=(2, 50))
    assert size == 2
    np.testing.assert_allclose(share, 0.8 / 0.91)


def test_ranges_hold_for_independent_teams() -> None:
    held, people = [], []
    for seed in range(12):
        skills = np.random.default_rng(seed).uniform(0.65, 0.95, 5)
        table, truth = judges(seed, skills=skills.tolist(), items=400)

        found = assess(crowd(table, 3))

        wrong = np.count_nonzero(found.estimate.answer != truth)
        low, high = found.reliability_range
        held.append(found.mistakes is not None and found.mistakes[0] <= wrong <= found.mistakes[1])
        people.extend((low <= skills) & (skills <= high))

    assert np.mean(held) >= 0.9
    assert np.mean(people) >= 0.9


def test_no_range_is_given_for_judges_who_share_mistakes() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=2000)
    shared = [np.where(rng.random(2000) < 0.75, truth, 1 - truth) for _ in range(2)]  # two schools
    table = np.stack([np.where(rng.random(2000) < 0.85, shared[j % 2], 1 - shared[j % 2]) for j in range(8)], axis=1)

    found = assess(crowd(table, 2))

    assert found.mistakes is None
    assert "agree" in found.calibration.unknown
    assert (found.calibration.effective_votes or 8.0) < 7


def test_no_range_is_given_for_labelling_functions() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=1000)
    fires = rng.random((1000, 6)) < np.where(truth[:, None] == np.arange(6) % 2, 0.5, 0.1)
    table = np.where(fires, np.arange(6) % 2, -1)

    assert "only give one class" in assess(crowd(table, 2)).calibration.unknown


def test_random_gold_gives_an_interval_and_chosen_gold_does_not() -> None:
    table, truth = judges(2, skills=[0.7, 0.8, 0.75, 0.6], items=500)
    labels, gold = crowd(table, 3), np.full(500, -1)
    gold[:100] = truth[:100]
    fit = fit_without_gold(labels)

    drawn, chosen = assess(labels, fit=fit, gold=gold), assess(labels, fit=fit, gold=gold, random_gold=False)

    assert drawn.mistakes is not None
    assert drawn.calibration.checked == 100
    assert chosen.calibration.checked == 0
    assert chosen.mistakes != drawn.mistakes
