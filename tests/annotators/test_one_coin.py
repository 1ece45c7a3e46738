"""One accuracy per annotator."""

from __future__ import annotations

import numpy as np

from crowdlogic.annotators.one_coin import Coin
from crowdlogic.data.frames import from_matrix
from crowdlogic.numerics.logspace import normalise


def test_the_accuracy_is_the_share_of_labels_that_are_expected_to_be_right() -> None:
    labels = from_matrix(np.array([[0], [1], [2], [0]]), classes=("a", "b", "c"))
    q = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0], [0.2, 0.4, 0.4]])
    model = Coin(smoothing=0.5, trust=2.0)

    found = model.m_step(model.observe(labels), q)

    right = 0.5 + 0.8 + 1.0 + 0.2
    np.testing.assert_allclose(found.accuracy, [(right + 2.5) / (4 + 2.5 + 0.5)])


def test_evidence_is_that_of_a_matrix_with_alike_errors() -> None:
    rng = np.random.default_rng(0)
    labels = from_matrix(rng.integers(-1, 4, size=(30, 5)), classes=tuple("abcd"))
    model = Coin()
    shards = model.observe(labels)
    coins = model.m_step(shards, rng.dirichlet(np.ones(4), size=30))

    by_matrix = np.zeros((30, 4))
    np.add.at(by_matrix, labels.unit, np.log(coins.confusion[labels.annotator, :, labels.label]))

    np.testing.assert_allclose(normalise(coins.evidence(shards))[0], normalise(by_matrix)[0], atol=1e-12)
    np.testing.assert_allclose(coins.confusion.sum(axis=2), 1.0)
