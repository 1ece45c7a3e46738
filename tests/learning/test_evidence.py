"""Evidence as plain data: what is left over, and differences of beliefs in bits."""

from __future__ import annotations

import numpy as np

from crowdlogic.learning.explain import CrowdEvidence, difference, left_over


def test_the_residual_and_the_normaliser_make_up_what_is_not_explained() -> None:
    explained, q_b = np.log2([[0.2, 0.3, 0.4]]), np.array([[0.5, 0.25, 0.25]])

    residual, normaliser = left_over(explained, np.log2(q_b))

    np.testing.assert_allclose(explained + residual - normaliser[:, None], np.log2(q_b), rtol=0, atol=1e-12)
    np.testing.assert_allclose(residual.sum(), 0.0, rtol=0, atol=1e-12)


def test_a_class_that_is_impossible_has_no_residual() -> None:
    residual, _ = left_over(np.array([[-np.inf, -1.0, -1.0]]), np.array([[-np.inf, -0.5, -2.0]]))

    assert residual[0, 0] == 0.0


def test_a_difference_in_bits_is_a_ratio_of_beliefs_and_nothing_where_both_are_the_same() -> None:
    found = difference(np.array([[0.8, 0.2, 0.0]]), np.array([[0.4, 0.2, 0.0]]))

    np.testing.assert_allclose(found, [[1.0, 0.0, 0.0]])


def test_labels_of_a_unit_add_up() -> None:
    crowd = CrowdEvidence(
        unit=np.array([0, 2, 2]),
        annotator=("a", "a", "b"),
        label=np.array([0, 1, 1]),
        term=np.array([[1.0, 2.0], [3.0, 4.0], [10.0, 20.0]]),
    )

    assert crowd.total(3).tolist() == [[1.0, 2.0], [0.0, 0.0], [13.0, 24.0]]
