"""One accuracy per annotator and class."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.annotators.class_accuracy import ClassAccuracy, accuracy_table
from crowdlogic.data.frames import from_matrix
from crowdlogic.errors import OptionError


def test_accuracies_are_shares_of_right_labels_by_hand() -> None:
    labels = from_matrix(np.array([[0], [0], [1], [2]]), classes=("a", "b", "c"))
    q = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    model = ClassAccuracy(smoothing=0.1, trust=1.0)

    found = model.m_step(model.observe(labels), q)

    right, given = np.array([1.5, 1.0, 1.0]), np.array([1.5, 1.5, 1.0])
    np.testing.assert_allclose(found.accuracy[0], (right + 1.1) / (given + 1.2), rtol=1e-12)


def test_an_error_is_any_of_the_other_classes_alike() -> None:
    table = accuracy_table(np.array([[0.9, 0.6, 0.5]]))

    np.testing.assert_allclose(table[0], [[0.9, 0.2, 0.25], [0.05, 0.6, 0.25], [0.05, 0.2, 0.5]], rtol=1e-12)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=1e-12)


def test_the_m_step_is_the_mode_of_its_posterior() -> None:
    """The expected log-likelihood and the log prior together fall wherever one goes from there."""
    rng = np.random.default_rng(0)
    labels = from_matrix(rng.integers(3, size=(40, 2)), classes=("a", "b", "c"))
    model, q = ClassAccuracy(smoothing=0.5, trust=2.0), rng.dirichlet(np.ones(3), size=40)
    shards = model.observe(labels)
    best = model.m_step(shards, q)

    def objective(accuracy: np.ndarray) -> float:
        found = model.load({"accuracy": accuracy})
        likelihood = float((q[labels.unit] * found.terms(shards)).sum())
        return likelihood + model.log_prior(shards, found.arrays())

    for _ in range(20):
        other = np.clip(best.accuracy + rng.normal(scale=0.02, size=best.accuracy.shape), 0.01, 0.99)
        assert objective(other) < objective(best.accuracy)


def test_senseless_counts_are_refused() -> None:
    with pytest.raises(OptionError, match=r"^class-accuracy: trust must be at least 0"):
        ClassAccuracy(trust=-1.0)
