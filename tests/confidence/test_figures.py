"""The figures of annotators; those that need beliefs are in test_summary.py."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.confidence.annotator_figures import informativeness


@pytest.mark.parametrize(
    ("confusion", "score"),
    [
        (np.eye(3), 1.0),
        (np.eye(3)[[1, 2, 0]], 1.0),
        (np.full((3, 3), 1 / 3), 0.0),
        (np.tile([0.7, 0.2, 0.1], (3, 1)), 0.0),
    ],
    ids=["perfect", "permuted", "uniform", "biased"],
)
def test_who_answers_the_same_whatever_the_truth_informs_of_nothing(confusion: np.ndarray, score: float) -> None:
    np.testing.assert_allclose(informativeness(confusion[None]), [score], rtol=0, atol=1e-12)


def test_binary_informativeness_is_the_squared_youden_index() -> None:
    confusion = np.array([[0.9, 0.1], [0.25, 0.75]])

    np.testing.assert_allclose(informativeness(confusion[None]), [(0.9 + 0.75 - 1) ** 2], rtol=1e-12)
