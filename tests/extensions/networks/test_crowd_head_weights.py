"""The weights of heads, fitted to the labels of others."""

from __future__ import annotations

import numpy as np
import pytest
from tests.classifiers.planted_labels import label_task, symmetric_confusion
from tests.classifiers.planted_tasks import blob_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.extensions.networks import crowd_layer as crowd_head_weights  # noqa: E402
from crowdlogic.extensions.networks.crowd_layer import LabelPairs, fit_weight_logits, label_pairs  # noqa: E402


def test_pairs_are_the_shares_of_a_units_labels_and_fewer_when_they_are_too_many() -> None:
    task = blob_task(count=30)
    labels = label_task(task, np.stack([symmetric_confusion(0.5, 3)] * 4), share=0.7)

    pairs, some = label_pairs(labels, most=10**6), label_pairs(labels, most=20)

    for r, (i, k) in enumerate(zip(pairs.unit, pairs.label, strict=True)):
        rows = labels.unit == i
        np.testing.assert_allclose(pairs.target[r], (labels.label[rows] == k).mean(), rtol=1e-12)
        np.testing.assert_array_equal(pairs.owner[pairs.pair == r], labels.annotator[rows])
    np.testing.assert_allclose(pairs.target.sum(), len(np.unique(labels.unit)), rtol=1e-12)
    assert 0 < len(some.unit) < 0.6 * len(pairs.unit)
    assert set(zip(some.unit, some.label, some.target, strict=True)) < set(
        zip(pairs.unit, pairs.label, pairs.target, strict=True)
    )


def slow_loss(p: np.ndarray, pairs: LabelPairs, logits: np.ndarray, has_labels: np.ndarray) -> float:
    """[GUAN18]: the cross-entropy of the other heads' average to the distribution of a unit's labels."""
    weight = np.where(has_labels, np.exp(logits), 0.0)
    total, mass = 0.0, 0.0
    for r, target in enumerate(pairs.target):
        others = np.setdiff1d(np.flatnonzero(has_labels), pairs.owner[pairs.pair == r])
        if len(others):
            total -= target * np.log(weight[others] @ p[r, others] / weight[others].sum())
            mass += target
    return total / mass


def test_weights_minimise_the_cross_entropy_of_the_others_average(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they end, no logit can be moved by 0.05 to a lower loss; the head without labels has no part in it."""
    task, rng = blob_task(count=100), np.random.default_rng(0)
    labels = label_task(task, np.stack([symmetric_confusion(a, 3) for a in (0.9, 0.7, 0.5)]), share=0.5)
    pairs, has_labels = label_pairs(labels, most=10**6), np.array([True, True, True, False])
    is_true = task.truth[pairs.unit] == pairs.label
    knows = rng.random((len(is_true), 4)) < [0.8, 0.85, 0.75, 0.9]  # how often a head recognises a true class
    p = np.where(knows == is_true[:, None], 0.9, 0.05)
    monkeypatch.setattr(crowd_head_weights, "STEPS", 500)

    found = fit_weight_logits(torch.zeros(4), torch.from_numpy(has_labels), torch.from_numpy(p), pairs).numpy()

    lowest = slow_loss(p, pairs, found, has_labels)
    assert lowest < slow_loss(p, pairs, np.zeros(4), has_labels) - 1e-3
    assert found[3] == 0.0
    for step in 0.05 * np.concatenate([np.eye(4)[:3], -np.eye(4)[:3]]):
        assert slow_loss(p, pairs, found + step, has_labels) > lowest - 1e-7


def test_units_that_everybody_labelled_leave_the_weights_where_they_are() -> None:
    labels = label_task(blob_task(count=10), np.stack([symmetric_confusion(0.7, 3)] * 2))
    pairs = label_pairs(labels, most=10**6)
    p = torch.from_numpy(np.random.default_rng(0).random((len(pairs.unit), 2)))

    found = fit_weight_logits(torch.tensor([0.25, -1.0]), torch.tensor([True, True]), p, pairs)

    np.testing.assert_array_equal(found, [0.25, -1.0])
