"""Ranges: they hold for independent teams, follow exact distributions, and are withheld where sharing shows."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from scipy.stats import binomtest
from tests.confidence.planted_crowds import crowd, judges

from crowdlogic.confidence.assessment import assess, fit_without_gold
from crowdlogic.confidence.ranges import (
    binomial_interval,
    checked_range,
    mistakes_in_first,
    mistakes_range,
    order_by_doubt,
    shared_beliefs,
)


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
            covered += found.low <= wrong - seen <= found.high
        assert covered / comb(items, checked) >= level


def test_shared_beliefs_of_one_label_are_its_own() -> None:
    q = np.array([[0.9, 0.1], [0.99, 0.01]])

    shared = shared_beliefs(q, np.array([1, 4]), correlation=1.0)

    np.testing.assert_allclose(shared[0], q[0])
    odds = (0.99 / 0.01) ** 0.25
    np.testing.assert_allclose(shared[1], [odds / (1 + odds), 1 / (1 + odds)])


def test_the_range_spans_both_ends() -> None:
    independent, shared = np.array([[0.99, 0.01]] * 100), np.array([[0.7, 0.3]] * 100)

    found = mistakes_range(independent, shared, np.zeros(100, dtype=int))

    assert found.low < 1.0
    assert 30.0 < found.high < 45.0


def test_the_doubtful_items_come_first() -> None:
    beliefs = np.array([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.99, 0.01]])
    order = order_by_doubt(beliefs)

    assert order.tolist() == [1, 2, 0, 3]
    [(size, share, _)] = mistakes_in_first(order, beliefs.argmax(axis=1), beliefs, beliefs, first=(2, 50))
    assert size == 2
    np.testing.assert_allclose(share, 0.8 / 0.91)


def test_ranges_hold_for_independent_teams() -> None:
    held, people = [], []
    for seed in range(12):
        skills = np.random.default_rng(seed).uniform(0.65, 0.95, 5)
        table, truth = judges(seed, skills=skills.tolist(), items=400)

        found = assess(crowd(table, 3))

        wrong = np.count_nonzero(found.estimate.answer != truth)
        held.append(found.mistakes is not None and found.mistakes.low <= wrong <= found.mistakes.high)
        people.extend((found.reliability_low <= skills) & (skills <= found.reliability_high))

    assert np.mean(held) >= 0.9
    assert np.mean(people) >= 0.9


def test_no_range_is_given_for_judges_who_share_mistakes() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=2000)
    shared = [np.where(rng.random(2000) < 0.75, truth, 1 - truth) for _ in range(2)]  # two schools
    table = np.stack([np.where(rng.random(2000) < 0.85, shared[j % 2], 1 - shared[j % 2]) for j in range(8)], axis=1)

    found = assess(crowd(table, 2))

    assert found.mistakes is None
    assert "agree" in str(found.unknown)
    assert found.effective_votes < 7


def test_no_range_is_given_for_labelling_functions() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=1000)
    fires = rng.random((1000, 6)) < np.where(truth[:, None] == np.arange(6) % 2, 0.5, 0.1)
    table = np.where(fires, np.arange(6) % 2, -1)

    assert "only ever give one class" in str(assess(crowd(table, 2)).unknown)


def test_random_gold_gives_an_interval_and_chosen_gold_does_not() -> None:
    table, truth = judges(2, skills=[0.7, 0.8, 0.75, 0.6], items=500)
    labels, gold = crowd(table, 3), np.full(500, -1)
    gold[:100] = truth[:100]
    fit = fit_without_gold(labels)

    drawn, chosen = assess(labels, fit=fit, gold=gold), assess(labels, fit=fit, gold=gold, random_gold=False)

    assert drawn.mistakes is not None
    assert drawn.mistakes.source == "gold"
    assert chosen.mistakes is None or chosen.mistakes.source == "labels"
