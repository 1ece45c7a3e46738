"""EBCC: subtypes where annotators err together, none where they do not."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import digamma
from tests.truth.planted import planted

from crowdlogic.data.frames import from_arrays, from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.ebcc import EBCC


def test_without_subtypes_it_is_variational_bayes_written_out() -> None:
    labels = planted(3, units=50, annotators=4, classes=3, given=0.7).labels
    votes = labels.votes()
    q = votes / votes.sum(axis=1, keepdims=True)
    class_prior = q.sum(axis=0)
    for _ in range(3000):
        counts = np.full((4, 3, 3), 1.0) + 3.0 * np.eye(3)
        np.add.at(counts.transpose(0, 2, 1), (labels.annotator, labels.label), q[labels.unit])
        log_confusion = digamma(counts) - digamma(counts.sum(axis=2, keepdims=True))
        log_q = np.tile(digamma(q.sum(axis=0) + class_prior), (50, 1))
        np.add.at(log_q, labels.unit, log_confusion[labels.annotator, :, labels.label])
        q = np.exp(log_q - log_q.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)

    estimate = EBCC(subtypes=1, restarts=1, convergence=Convergence(tolerance=1e-12, max_iterations=5000)).infer(labels)

    np.testing.assert_allclose(estimate.beliefs, q, rtol=0, atol=1e-4)
    np.testing.assert_allclose(estimate.confusion, counts / counts.sum(axis=2, keepdims=True), rtol=0, atol=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_a_rare_class_survives_on_a_handful_of_labels(seed: int) -> None:
    labels = from_arrays(["u", "v", "w"], ["a", "a", "a"], ["y", "x", "y"])

    assert EBCC(seed=seed).infer(labels).answer_names() == ["y", "x", "y"]


def test_subtypes_are_used_where_annotators_err_together() -> None:
    """Three annotators copy one source that is wrong on three items in ten; five work alone."""
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=400)
    copied = np.where(rng.random(400) < 0.3, 1 - truth, truth)
    group = np.where(rng.random((400, 3)) < 0.98, copied[:, None], 1 - copied[:, None])
    alone = np.where(rng.random((400, 5)) < 0.75, truth[:, None], 1 - truth[:, None])
    together = from_matrix(np.concatenate([group, alone], axis=1))
    independent = planted(3, units=400, annotators=8, classes=2, right=0.7, given=1.0).labels

    def gain(labels: CrowdLabels) -> float:
        one, four = (EBCC(subtypes=size, restarts=3).infer(labels).trace[-1] for size in (1, 4))
        return float(four - one)

    assert gain(together) > 20
    assert gain(independent) < 5


def test_starts_do_not_depend_on_the_order_of_annotators() -> None:
    labels = planted(5, units=40, annotators=5, classes=3).labels
    order = np.random.default_rng(0).permutation(5).astype(np.int32)
    method = EBCC(restarts=2)

    permuted = method.infer(replace(labels, annotator=order[labels.annotator]))

    np.testing.assert_allclose(permuted.beliefs, method.infer(labels).beliefs, rtol=0, atol=1e-7)


def test_a_random_start_must_gain_more_than_naming_its_subtypes_can() -> None:
    """K log M nats is what a bound can gain by giving up classes; only more than that is taken for subtypes."""
    method = EBCC(subtypes=4)
    least = 3 * np.log(4)

    def fit(bound: float) -> Any:
        return SimpleNamespace(trace=np.array([-200.0, bound]))

    below, above = (method._best([fit(-100), fit(-150), fit(-100 + least + by)], 3) for by in (-0.01, 0.01))

    assert below.trace[-1] == -100
    assert above.trace[-1] == -100 + least + 0.01


def test_a_thousand_classes_are_refused() -> None:
    labels = from_matrix(np.arange(1000)[:, None].repeat(10, axis=1), classes=tuple(range(1000)))

    with pytest.raises(OptionError) as refused:
        EBCC().infer(labels)

    assert str(refused.value) == (
        "ebcc keeps a 1,000 x 1,000 confusion matrix for each of 100 annotators, 0.8 GB. Use one-coin or mace, "
        "which need little memory per annotator, or merge classes."
    )


@pytest.mark.parametrize("option", ["diagonal", "off_diagonal", "subtype_count"])
def test_prior_counts_must_be_positive(option: str) -> None:
    with pytest.raises(OptionError) as refused:
        EBCC(**{option: 0.0})  # type: ignore[arg-type]

    assert str(refused.value) == f"ebcc: {option} must be greater than 0, got 0.0."


@pytest.mark.parametrize("option", ["subtypes", "restarts"])
def test_there_is_at_least_one_subtype_and_one_random_start(option: str) -> None:
    with pytest.raises(OptionError, match=r"^ebcc: subtypes and restarts must be at least 1\.$"):
        EBCC(**{option: 0})  # type: ignore[arg-type]
