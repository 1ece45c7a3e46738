"""IBCC: variational Bayes written out, and planted confusion matrices recovered."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma
from tests.truth.planted import planted

from crowdlogic.data.frames import from_arrays
from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.ibcc import IBCC


def test_the_estimate_is_the_fixed_point_of_the_updates_written_out() -> None:
    """[SRPS13] eq. 12 to 20, label by label."""
    labels = planted(3, units=40, annotators=4, classes=3, given=0.7).labels
    method = IBCC(diagonal=3.0, off_diagonal=0.7, class_count=2.0, convergence=Convergence(tolerance=1e-12))
    votes = labels.votes()
    q = votes / votes.sum(axis=1, keepdims=True)
    for _ in range(500):
        counts = np.full((4, 3, 3), 0.7) + 2.3 * np.eye(3)  # [j, m, n]
        for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
            counts[j, :, n] += q[unit]
        log_confusion = digamma(counts) - digamma(counts.sum(axis=2, keepdims=True))
        classes = q.sum(axis=0) + 2.0
        log_q = np.tile(digamma(classes) - digamma(classes.sum()), (40, 1))
        for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
            log_q[unit] += log_confusion[j, :, n]
        q = np.exp(log_q - log_q.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)

    estimate = method.infer(labels)

    np.testing.assert_allclose(estimate.beliefs, q, rtol=0, atol=1e-4)
    np.testing.assert_allclose(estimate.confusion, counts / counts.sum(axis=2, keepdims=True), rtol=0, atol=1e-4)
    np.testing.assert_allclose(estimate.prior, classes / classes.sum(), rtol=0, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_planted_confusion_is_recovered_with_a_thousand_labels_per_annotator_and_class(seed: int) -> None:
    """20 annotators, so that the truth is nearly certain; each labels about 1,000 units of each class."""
    crowd = planted(seed, units=3000, annotators=20, classes=3, right=0.7, given=1.0)

    confusion = IBCC().infer(crowd.labels).confusion

    np.testing.assert_allclose(confusion, crowd.counted_confusion, rtol=0, atol=0.005)
    assert np.abs(confusion - crowd.confusion).mean() < 0.02
    assert np.abs(confusion - crowd.confusion).max() < 0.05


def test_an_annotator_with_few_labels_is_trusted_less_than_by_maximum_likelihood() -> None:
    rows = [(f"i{i}", f"w{j}", "ab"[i % 2]) for i in range(40) for j in range(3)]
    items, annotators, given = zip(*rows, strict=True)
    labels = from_arrays([*items, "i0"], [*annotators, "once"], [*given, "a"])

    bayes, likelihood = (m.infer(labels).confusion[-1, 0, 0] for m in (IBCC(), DawidSkene(smoothing=0, trust=0)))

    assert bayes == pytest.approx((2.0 + 1.0) / (2.0 + 0.5 + 1.0), abs=1e-3)
    assert likelihood == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("option", ["diagonal", "off_diagonal", "class_count"])
def test_prior_counts_must_be_positive(option: str) -> None:
    with pytest.raises(OptionError) as refused:
        IBCC(**{option: 0.0})  # type: ignore[arg-type]

    assert str(refused.value) == f"ibcc: {option} must be greater than 0, got 0.0."
