"""One-coin Dawid-Skene: EM written out, and planted accuracies recovered."""

from __future__ import annotations

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.data.frames import from_matrix
from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.one_coin import OneCoin


def test_one_coin_recovers_planted_accuracies() -> None:
    rng = np.random.default_rng(0)
    accuracy, truth = rng.uniform(0.4, 0.95, size=12), rng.integers(4, size=3000)
    wrong = (truth[:, None] + rng.integers(1, 4, size=(3000, 12))) % 4
    labels = from_matrix(np.where(rng.random((3000, 12)) < accuracy, truth[:, None], wrong))

    np.testing.assert_allclose(OneCoin().infer(labels).reliability, accuracy, rtol=0, atol=0.03)


def test_the_estimate_is_the_fixed_point_of_em_written_out() -> None:
    labels = planted(1, units=40, annotators=4, classes=3, given=0.7).labels
    votes = labels.votes()
    q = votes / votes.sum(axis=1, keepdims=True)
    rows = list(zip(labels.unit, labels.annotator, labels.label, strict=True))
    for _ in range(500):
        right, given = np.full(4, 0.2 + 0.5), np.full(4, 2 * 0.2 + 0.5)
        for unit, j, n in rows:
            right[j] += q[unit, n]
            given[j] += 1
        accuracy = right / given
        prior = (q.sum(axis=0) + 0.2) / (40 + 3 * 0.2)
        joint = np.tile(prior, (40, 1))
        for unit, j, n in rows:
            joint[unit] *= np.where(np.arange(3) == n, accuracy[j], (1 - accuracy[j]) / 2)
        q = joint / joint.sum(axis=1, keepdims=True)

    estimate = OneCoin(smoothing=0.2, trust=0.5, convergence=Convergence(tolerance=1e-12)).infer(labels)

    np.testing.assert_allclose(estimate.beliefs, q, rtol=0, atol=1e-4)
    np.testing.assert_allclose(estimate.reliability, accuracy, rtol=0, atol=1e-4)
    np.testing.assert_allclose(estimate.prior, prior, rtol=0, atol=1e-4)


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(OptionError) as refused:
        OneCoin(trust=-1.0)

    assert str(refused.value) == "one-coin: trust must be at least 0, got -1.0."
