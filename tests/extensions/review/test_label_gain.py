"""What further labels gain, against the enumeration of every sequence of labels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdlogic.extensions.review.next import (
    SHARED_DOUBT,
    Skills,
    concave_gains,
    expected_accuracy_after,
    label_counts,
    look_ahead,
    marginal_gains,
)
from crowdlogic.numerics.arrays import Floats


def skills_of(table: Floats, correlation: float = 0.0) -> Skills:
    classes = len(table)
    return Skills(
        confusion=table[None],
        typical=table,
        activity=np.ones(1),
        share=np.ones(1),
        information=np.ones(1),
        prior=np.full(classes, 1 / classes),
        correlation=correlation,
    )


TABLE = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.25, 0.15, 0.6]])


def enumerate_accuracy(q: Floats, table: Floats, d: int) -> float:
    total = 0.0
    for labels in product(range(len(q)), repeat=d):
        total += max(q[k] * np.prod([table[k, n] for n in labels]) for k in range(len(q)))
    return total


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_expected_accuracy_is_that_of_every_sequence_of_labels(d: int) -> None:
    q = np.random.default_rng(0).dirichlet(np.ones(3), 5)

    found = expected_accuracy_after(q, np.zeros(5, dtype=np.int64), skills_of(TABLE))

    np.testing.assert_allclose(found[:, d], [enumerate_accuracy(row, TABLE, d) for row in q], rtol=1e-12)


def test_dependent_labels_are_tempered_by_all_labels_of_the_unit() -> None:
    q = np.array([[0.5, 0.3, 0.2]])
    flat = TABLE ** ((1 + 0.5 * 5) ** -SHARED_DOUBT)
    flat /= flat.sum(axis=1, keepdims=True)

    found = expected_accuracy_after(q, np.array([4]), skills_of(TABLE, 0.5))

    assert found[0, 2] == pytest.approx(enumerate_accuracy(q[0], flat, 2))


def test_gains_never_rise_and_their_sum_is_the_whole_gain() -> None:
    q = np.random.default_rng(1).dirichlet(np.ones(3) * 0.5, 200)
    n = np.zeros(200, dtype=np.int64)

    accuracy, gains = expected_accuracy_after(q, n, skills_of(TABLE)), marginal_gains(q, n, skills_of(TABLE))

    assert (np.diff(gains, axis=1) < 1e-12).all()
    assert (gains >= 0).all()
    np.testing.assert_allclose(gains.sum(axis=1), accuracy[:, -1] - accuracy[:, 0], atol=1e-12)


def test_an_answer_that_one_label_cannot_turn_is_judged_by_several() -> None:
    """At 80 % a label of an annotator with 70 % changes nothing; three labels may."""
    table = np.array([[0.7, 0.3], [0.3, 0.7]])
    q, n = np.array([[0.8, 0.2]]), np.zeros(1, dtype=np.int64)

    accuracy = expected_accuracy_after(q, n, skills_of(table))[0]

    assert accuracy[1] == pytest.approx(accuracy[0])
    assert marginal_gains(q, n, skills_of(table))[0, 0] > 0.01


def test_the_hull_goes_through_the_corners() -> None:
    curve = np.array([[0.5, 0.5, 0.7, 0.72, 0.73]])

    np.testing.assert_allclose(concave_gains(curve), [[0.1, 0.1, 0.02, 0.01]])


def test_sure_answers_gain_nothing() -> None:
    q = np.array([[1.0, 0.0, 0.0]])

    assert marginal_gains(q, np.array([2]), skills_of(TABLE)).max() == pytest.approx(0.0, abs=1e-12)


def test_every_way_to_share_labels_is_counted_once() -> None:
    counts, ways = label_counts(3, 4)

    assert len(counts) == 15
    assert ways.sum() == pytest.approx(3**4)
    assert look_ahead(2) == 9
    assert look_ahead(200) == 1
