"""What is stated where labels of one item depend on each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.data.frames import from_arrays
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.errors import OptionError
from crowdlogic.metrics.agreement import agreement
from crowdlogic.metrics.calibration import calibration_error
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import (
    PUBLIC_CROWDS,
    alpha_of_pairs,
    gives_shares,
    label_sharpness,
    pair_sums,
    state_confidence,
)
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.majority import MajorityVote


def krippendorff(votes: np.ndarray) -> float:
    return alpha_of_pairs(pair_sums(votes))


def crowd(seed: int = 0, **options: float) -> CrowdLabels:
    return simulate_crowd(np.random.default_rng(seed), units=300, annotators=12, labels_per_unit=5, **options).labels


def test_alpha_is_krippendorffs() -> None:
    for seed in range(3):
        labels = crowd(seed)
        expected = next(one.value for one in agreement(labels, replicates=0) if one.name == "alpha")

        assert krippendorff(labels.votes()) == pytest.approx(expected, rel=1e-12)


def test_alpha_is_0_where_it_is_undefined() -> None:
    assert krippendorff(np.array([[2.0, 0.0], [3.0, 0.0]])) == 0.0
    assert krippendorff(np.array([[1.0, 0.0], [0.0, 1.0]])) == 0.0


def test_the_log_posterior_is_divided_by_the_design_effect_and_mixed_with_doubt() -> None:
    labels = crowd()
    found = DawidSkene().infer(labels)

    stated = state_confidence(labels, found)

    rho = 0.83 * np.sqrt(krippendorff(labels.votes()))
    assert stated.calibration is not None
    assert stated.calibration.correlation == pytest.approx(rho)
    pairs = labels.n_labels - len(np.unique(labels.unit))
    doubt = 0.02 + 0.28 * 5 / (5 + pairs)  # a little more where few items have two labels
    for i in range(20):
        n = int((labels.unit == i).sum())
        weights = found.beliefs[i] ** (1 / (1 + rho * (n - 1)))
        np.testing.assert_allclose(stated.beliefs[i], (1 - doubt) * weights / weights.sum() + doubt / 3, rtol=1e-9)


def test_answers_stay_and_a_second_statement_changes_nothing() -> None:
    labels = crowd(1)
    found = DawidSkene().infer(labels)

    once = state_confidence(labels, found)
    twice = state_confidence(labels, once)

    np.testing.assert_array_equal(once.beliefs.argmax(axis=1), found.beliefs.argmax(axis=1))
    assert twice is once


def test_a_single_label_is_not_discounted() -> None:
    assert label_sharpness(np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 1.0]]), 0.5).tolist() == [1.0, 1.0, 0.5]


def test_shares_of_votes_become_a_posterior_first() -> None:
    labels = crowd(2)
    shares = MajorityVote(ties="first").infer(labels)

    stated = state_confidence(labels, shares)

    assert gives_shares("majority")
    assert not gives_shares("dawid-skene")
    assert not gives_shares("a method of another package that is gone")
    untied = np.sort(shares.beliefs, axis=1)[:, -1] > np.sort(shares.beliefs, axis=1)[:, -2]
    np.testing.assert_array_equal(stated.beliefs.argmax(axis=1)[untied], shares.answer[untied])
    assert stated.beliefs[shares.beliefs.max(axis=1) == 1.0].max() < 1.0  # unanimous is not certain


def test_a_known_truth_is_the_answer_of_a_method_that_does_not_heed_it() -> None:
    labels = crowd()
    found = DawidSkene().infer(labels)
    other = (int(found.answer[3]) + 1) % labels.n_classes

    stated = state_confidence(labels, found, anchors={labels.items[3]: labels.classes[other]})

    assert stated.answer[3] == other == stated.beliefs[3].argmax()
    np.testing.assert_array_equal(np.delete(stated.answer, 3), np.delete(found.answer, 3))


def test_a_known_truth_stays_certain() -> None:
    labels = crowd(3)
    anchors = {labels.items[0]: labels.classes[2]}
    found = DawidSkene().infer(labels, fitting=Fitting(anchors=anchors))

    stated = state_confidence(labels, found, anchors=anchors)

    assert stated.beliefs[0].tolist() == [0.0, 0.0, 1.0]
    assert stated.beliefs[1:].max() < 1.0


def test_labels_that_depend_on_each_other_are_stated_with_less_than_half_the_error() -> None:
    """Four labels in ten are copied from the first label of the item."""
    classical, stated = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        drawn = simulate_crowd(rng, units=1000, annotators=40, labels_per_unit=7)
        labels = drawn.labels
        first = labels.label[np.searchsorted(labels.unit, np.arange(labels.n_units))]
        copied = rng.random(labels.n_labels) < 0.4
        labels = replace(labels, label=np.where(copied, first[labels.unit], labels.label).astype(np.int32))
        found = DawidSkene().infer(labels)
        classical.append(calibration_error(drawn.truth, found.beliefs))
        stated.append(calibration_error(drawn.truth, state_confidence(labels, found).beliefs))

    assert np.mean(classical) > 0.15
    assert np.mean(stated) < np.mean(classical) / 2


def test_no_labels_have_nothing_to_state() -> None:
    labels = from_arrays([], [], [], classes=["x", "y"])
    found = DawidSkene().infer(labels)

    assert state_confidence(labels, found) is found


@pytest.mark.parametrize("name", ["strength", "doubt"])
def test_shares_beyond_1_are_refused(name: str) -> None:
    with pytest.raises(OptionError, match=f"{name} must be between 0 and 1, got 1.5"):
        replace(PUBLIC_CROWDS, **{name: 1.5})
