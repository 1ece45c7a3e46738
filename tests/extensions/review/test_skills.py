"""Skills: what a label of each annotator says, with planted matrices as the measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.simulate.crowds import SimulatedCrowd, simulate_crowd
from crowdlogic.errors import OptionError
from crowdlogic.extensions.review.next import (
    SHARED_DOUBT,
    Skills,
    added_sharpness,
    annotator_skills,
    fill_shares,
    mutual_information,
    typical_annotator,
)
from crowdlogic.truth.dawid_skene import DawidSkene


def crowd() -> SimulatedCrowd:
    return simulate_crowd(np.random.default_rng(5), units=1500, annotators=15, classes=3, labels_per_unit=6, tail=0.3)


def skills(drawn: SimulatedCrowd) -> Skills:
    return annotator_skills(drawn.labels, infer_calibrated(DawidSkene(), drawn.labels))


def test_planted_matrices_are_found() -> None:
    drawn = crowd()

    found = skills(drawn)

    assert np.abs(found.confusion - drawn.confusion).mean() < 0.04
    np.testing.assert_allclose(found.confusion.sum(axis=2), 1.0, atol=1e-9)


def test_who_says_most_is_found() -> None:
    drawn = crowd()
    planted = mutual_information(drawn.confusion, np.full(3, 1 / 3))

    found = skills(drawn).information

    assert np.corrcoef(found, planted)[0, 1] > 0.95


def test_an_annotator_without_labels_is_like_the_crowd() -> None:
    drawn = crowd()
    labels = drawn.labels.take(drawn.labels.annotator != 3)
    estimate = infer_calibrated(DawidSkene(), labels)

    found = annotator_skills(labels, estimate)

    crowd_mean = np.einsum("j,jmn->mn", found.activity, found.confusion)
    assert np.abs(found.confusion[3] - crowd_mean).max() < 0.06
    assert found.activity[3] == 0.0


def test_a_typical_annotator_says_as_much_as_a_label_does_on_average() -> None:
    drawn = crowd()
    prior, activity = np.full(3, 1 / 3), drawn.activity

    typical = typical_annotator(drawn.confusion, prior, activity)

    wanted = activity @ mutual_information(drawn.confusion, prior)
    assert mutual_information(typical[None], prior)[0] == pytest.approx(wanted, rel=1e-3)
    mean = np.einsum("j,jmn->mn", activity, drawn.confusion)
    assert mutual_information(mean[None], prior)[0] < 0.9 * wanted


def test_those_who_say_most_get_as_much_as_they_can_take() -> None:
    weight = fill_shares(np.array([0.1, 0.9, 0.5]), np.array([0.5, 0.6, 0.7]))

    np.testing.assert_allclose(weight, [0.0, 0.6, 0.4])


def test_a_load_that_is_none_is_refused() -> None:
    drawn = crowd()

    with pytest.raises(OptionError) as caught:
        annotator_skills(drawn.labels, DawidSkene().infer(drawn.labels), load=0.0)

    assert str(caught.value) == "The load must be greater than 0, got 0."


def test_information_is_that_of_the_definition() -> None:
    confusion = np.array([[[0.9, 0.1], [0.2, 0.8]]])
    prior = np.array([0.3, 0.7])
    joint = prior[:, None] * confusion[0]
    label = joint.sum(axis=0)

    expected = sum(joint[m, n] * np.log(joint[m, n] / (prior[m] * label[n])) for m in range(2) for n in range(2))

    assert mutual_information(confusion, prior)[0] == pytest.approx(expected)


def test_a_label_among_dependent_ones_counts_for_less() -> None:
    drawn = crowd()
    skills = replace(annotator_skills(drawn.labels, DawidSkene().infer(drawn.labels)), correlation=0.5)

    assert added_sharpness(7, replace(skills, correlation=0.0)).item() == 1.0
    assert added_sharpness(0, skills).item() == 1.0
    assert added_sharpness(4, skills).item() == pytest.approx(3**-SHARED_DOUBT)
    assert added_sharpness(4, skills, 3).item() == pytest.approx(4**-SHARED_DOUBT)
    assert added_sharpness(4, replace(skills, shared=1.0), 3).item() == pytest.approx(1 / 4)


def test_without_a_calibration_labels_are_independent() -> None:
    drawn = crowd()
    estimate = replace(DawidSkene().infer(drawn.labels), calibration=None)

    assert annotator_skills(drawn.labels, estimate).correlation == 0.0
