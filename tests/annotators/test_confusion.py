"""Confusion matrices, at their mode and with their posterior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma
from tests.truth.planted import planted

from crowdlogic.annotators.confusion import Confusion, ConfusionMatrices, VariationalConfusion, confusion_table
from crowdlogic.data.frames import from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.logspace import normalise


def small() -> tuple[CrowdLabels, np.ndarray]:
    labels = from_matrix(np.array([[0, 1], [1, 1], [0, -1], [1, 0]]), classes=("a", "b"))
    return labels, np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.4, 0.6]])


def counts_by_hand(labels: CrowdLabels, q: np.ndarray) -> np.ndarray:
    """counts[j, n, m], label by label."""
    counts = np.zeros((2, 2, 2))
    for unit, annotator, label in zip(labels.unit, labels.annotator, labels.label, strict=True):
        counts[annotator, label] += q[unit]
    return counts


@pytest.mark.parametrize(("smoothing", "trust"), [(0.0, 0.0), (0.01, 1.0), (2.0, 0.5)])
def test_the_mode_is_the_share_of_expected_labels(smoothing: float, trust: float) -> None:
    labels, q = small()
    model = ConfusionMatrices(smoothing, trust)

    found = model.m_step(model.observe(labels), q).confusion

    padded = counts_by_hand(labels, q) + smoothing + trust * np.eye(2)
    np.testing.assert_allclose(found, (padded / padded.sum(axis=1, keepdims=True)).transpose(0, 2, 1), rtol=1e-9)


def test_evidence_is_the_log_probability_of_the_labels_label_by_label() -> None:
    labels, q = small()
    model = ConfusionMatrices()
    shards = model.observe(labels)
    annotators = model.m_step(shards, q)

    expected = np.zeros((4, 2))
    for unit, annotator, label in zip(labels.unit, labels.annotator, labels.label, strict=True):
        expected[unit] += np.log(annotators.confusion[annotator, :, label])

    np.testing.assert_allclose(annotators.evidence(shards), expected, rtol=1e-12)


def test_variational_evidence_is_the_expected_log_probability() -> None:
    labels, q = small()
    model = VariationalConfusion(diagonal=3.0, off_diagonal=0.5)
    shards = model.observe(labels)

    posterior = counts_by_hand(labels, q) + np.where(np.eye(2, dtype=bool), 3.0, 0.5)
    log_table = digamma(posterior) - digamma(posterior.sum(axis=1, keepdims=True))
    expected = np.zeros((4, 2))
    for unit, annotator, label in zip(labels.unit, labels.annotator, labels.label, strict=True):
        expected[unit] += log_table[annotator, label]

    np.testing.assert_allclose(model.m_step(shards, q).evidence(shards), expected, rtol=1e-12)


def test_an_empty_row_without_smoothing_is_uniform() -> None:
    np.testing.assert_allclose(confusion_table(np.zeros((1, 4, 4))), 0.25)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: ConfusionMatrices(smoothing=-1), "confusion: smoothing must be at least 0, got -1."),
        (lambda: ConfusionMatrices(trust=np.inf), "confusion: trust must be at least 0, got inf."),
        (lambda: VariationalConfusion(diagonal=0), "variational: diagonal must be greater than 0, got 0."),
    ],
)
def test_counts_that_make_no_sense_are_refused(made: object, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        made()  # type: ignore[operator]

    assert str(caught.value) == message


def test_matrices_that_would_not_fit_into_memory_are_refused() -> None:
    many = from_matrix(np.arange(8000)[None, :] % 8000)

    with pytest.raises(
        OptionError, match="Use one-coin or mace, which need little memory per annotator, or merge classes"
    ):
        ConfusionMatrices().observe(many)


def test_the_steps_are_each_others_fixed_point_on_separable_labels() -> None:
    crowd = planted(0, right=1.0, given=1.0)
    model = ConfusionMatrices(smoothing=0.0, trust=0.0)
    shards = model.observe(crowd.labels)
    good = Confusion(np.broadcast_to(np.eye(3) * 0.9 + 0.1 / 3, (5, 3, 3)))
    q, _ = normalise(good.evidence(shards))

    confusion = model.m_step(shards, np.round(q)).confusion

    np.testing.assert_array_equal(q.argmax(axis=1), crowd.truth)
    np.testing.assert_allclose(confusion, np.broadcast_to(np.eye(3), (5, 3, 3)), rtol=0, atol=1e-9)
