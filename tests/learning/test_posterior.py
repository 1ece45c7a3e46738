"""What is true, given classifier and annotators: against products made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.annotators.confusion import Confusion, ConfusionMatrices
from crowdlogic.data.frames import from_arrays
from crowdlogic.learning.posterior import FixedPosterior, crowd_posterior

LABELS = from_arrays(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1])
CROWD = ConfusionMatrices().observe(LABELS)
# confusion[j, m, n] of x and y; a table has the given label before the true class
ANNOTATORS = Confusion(np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4], [0.2, 0.8]]]).transpose(0, 2, 1))
P = np.array([[0.25, 0.75], [0.5, 0.5]])


def test_q_a_is_the_product_of_classifier_and_annotators() -> None:
    q_a, objective = crowd_posterior(P, ANNOTATORS, CROWD)

    a = np.array([0.25 * 0.9 * 0.4, 0.75 * 0.3 * 0.8])
    b = np.array([0.5 * 0.1, 0.5 * 0.7])
    np.testing.assert_allclose(q_a, [a / a.sum(), b / b.sum()], rtol=1e-12)
    assert objective == pytest.approx((np.log(a.sum()) + np.log(b.sum())) / 3, rel=1e-12)


def test_what_the_classifier_rules_out_stays_ruled_out() -> None:
    q_a, _ = crowd_posterior(np.array([[0.0, 1.0], [1.0, 0.0]]), ANNOTATORS, CROWD)

    np.testing.assert_array_equal(q_a, [[0, 1], [1, 0]])


def test_fixed_beliefs_stay_and_the_classifier_answers_where_there_are_none() -> None:
    fixed = np.array([[0.9, 0.1], [0.5, 0.5]])

    q_a, objective = FixedPosterior(fixed, np.array([True, False]))(
        np.array([[0.2, 0.8], [0.3, 0.7]]), ANNOTATORS, CROWD
    )

    assert q_a.tolist() == [[0.9, 0.1], [0.3, 0.7]]
    assert np.isnan(objective)
