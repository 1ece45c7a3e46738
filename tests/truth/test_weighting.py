"""Weighted votes: PM, CATD and Wawa."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2
from tests.truth.planted import planted

from crowdlogic.data.frames import from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.weighting import CATD, PM, Wawa


def test_wawa_is_two_rounds_of_voting() -> None:
    labels = from_matrix(np.array([[0, 0, 1, -1], [1, 1, 0, -1], [0, 0, 0, -1], [-1, -1, 1, 0]]))

    estimate = Wawa().infer(labels)

    np.testing.assert_allclose(estimate.reliability, [1.0, 1.0, (0 + 0 + 1 + 0.5) / 4, 0.5], rtol=1e-12)
    np.testing.assert_allclose(estimate.beliefs[3], [0.5 / 0.875, 0.375 / 0.875], rtol=1e-12)


@pytest.mark.parametrize("method", [PM(), CATD()], ids=lambda m: m.name)
def test_weights_follow_agreement(method: TruthMethod) -> None:
    rng = np.random.default_rng(0)
    accuracy, truth = np.array([0.95, 0.8, 0.65, 0.5, 0.35]), rng.integers(3, size=2000)
    given = np.where(rng.random((2000, 5)) < accuracy, truth[:, None], rng.integers(3, size=(2000, 5)))

    weight = method.infer(from_matrix(given)).reliability

    assert (np.diff(weight) < 0).all()


def test_catd_trusts_many_labels_more_than_few_at_the_same_rate() -> None:
    weight = CATD()._weigh(np.array([1.0, 10.0]), np.array([10.0, 100.0]))

    np.testing.assert_allclose(weight, [20.483 / 1.5, 129.561 / 10.5], rtol=1e-4)


def weights_by_hand(labels: CrowdLabels, method: PM | CATD, rounds: int) -> np.ndarray:
    """weight[j] after some rounds of weighting and voting, label by label; no ties occur."""
    weight = np.ones(len(labels.annotators))
    for _ in range(rounds):
        votes = np.zeros((labels.n_units, labels.n_classes))
        for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
            votes[unit, n] += weight[j]
        distance, given = np.zeros_like(weight), np.zeros_like(weight)
        for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
            distance[j] += votes[unit].argmax() != n
            given[j] += 1
        if isinstance(method, PM):
            weight = -np.log(distance / distance.max() + 1e-7)
        else:
            weight = np.array([chi2.ppf(0.975, n) for n in given]) / (distance + 0.5)
    return weight


@pytest.mark.parametrize("method", [PM(), CATD()], ids=lambda m: m.name)
def test_weights_are_those_of_a_loop_over_labels(method: PM | CATD) -> None:
    labels = planted(2, units=50, annotators=5, classes=3, right=0.6, given=1.0).labels

    estimate = method.infer(labels)

    expected = weights_by_hand(labels, method, len(estimate.trace))
    np.testing.assert_allclose(estimate.reliability, expected / expected.sum(), rtol=0, atol=1e-5)


def changing_labels() -> CrowdLabels:
    """A crowd whose weighted answers change more than once."""
    return planted(4, units=60, annotators=8, classes=4, right=0.3, given=0.7).labels


@pytest.mark.parametrize("method", [PM, CATD], ids=lambda m: m.name)
@pytest.mark.parametrize("tolerance", [None, 1e-7])
def test_stopping_early_warns_without_advice_on_a_tolerance_that_does_not_exist(
    method: type[PM | CATD], tolerance: float | None
) -> None:
    early = method(convergence=Convergence(max_iterations=1, tolerance=tolerance))

    with pytest.warns(ConvergenceWarning) as caught:
        estimate = early.infer(changing_labels())

    assert [str(one.message) for one in caught] == [
        f"{method.name} stopped after 1 iterations while answers still changed. Raise max_iterations."
    ]
    assert caught[0].filename == __file__
    assert not estimate.converged
    assert len(estimate.trace) == 1


@pytest.mark.parametrize("method", [PM(), CATD()], ids=lambda m: m.name)
def test_it_converges_when_no_answer_changes(method: PM | CATD) -> None:
    labels = changing_labels()

    estimate = method.infer(labels)
    further = method.infer(labels, fitting=Fitting(start=estimate))

    assert estimate.converged
    assert 1 < len(estimate.trace) < method.convergence.max_iterations
    np.testing.assert_array_equal(further.answer, estimate.answer)


def test_at_most_a_hundred_rounds() -> None:
    assert PM().convergence == CATD().convergence == Convergence(max_iterations=100, tolerance=None)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_confidence_level_lies_between_0_and_1(alpha: float) -> None:
    with pytest.raises(OptionError) as refused:
        CATD(alpha=alpha)

    assert str(refused.value) == f"catd: alpha must be between 0 and 1, got {alpha}."
