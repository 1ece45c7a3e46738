"""The pass down the loss: what differs between epochs, what dropout and clipping do, what counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.classifiers.planted_tasks import review_task, tag_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.data.corpus import sentences  # noqa: E402
from crowdlogic.extensions.networks.cnn_gru import CNNGRU  # noqa: E402
from crowdlogic.extensions.networks.kim_cnn import KimCNN  # noqa: E402
from crowdlogic.extensions.networks.network import (  # noqa: E402
    Training,
    smooth_targets,
    soft_cross_entropy,
)

CPU = torch.device("cpu")


def test_the_loss_is_the_weighted_mean_over_the_units_that_count() -> None:
    rng = np.random.default_rng(0)
    targets, weights = rng.dirichlet(np.ones(3), size=6), np.array([1.0, 0, 2, 0.5, 0, 3])
    logits, units = rng.normal(size=(4, 3)), np.array([5, 1, 0, 3])

    mean, counted = soft_cross_entropy(targets, weights, CPU)(torch.from_numpy(logits), units)

    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    each = -(targets[units] * log_p).sum(axis=1)
    assert counted == 3
    np.testing.assert_allclose(float(mean), (weights[units] * each).sum() / 3, rtol=1e-6)


def test_smoothed_targets_bound_what_a_network_believes() -> None:
    """Trained for long on certain targets, it ends at the smoothed ones and no further."""
    corpus, targets = sentences([0], [["a", "of", "the", "film"]]), np.eye(2)[[0, 1, 0, 1]]
    training = Training(learning_rate=0.05, label_smoothing=0.2)
    options = CNNGRU(vector_size=8, filters=8, hidden_size=8, dropout=0.0, training=training)
    made = options.build(corpus, ("O", "X"), seed=0)

    for _ in range(60):
        made.fit_epoch(corpus, targets)

    np.testing.assert_allclose(made.predict_proba(corpus), smooth_targets(targets, 0.2), atol=0.02)
    np.testing.assert_allclose(smooth_targets(np.array([[1.0, 0.0, 0.0]]), 0.3), [[0.8, 0.1, 0.1]])


def test_tokens_of_weight_zero_do_not_thin_the_loss_of_the_others() -> None:
    corpus = sentences([0], [["a", "of", "the", "film"]])
    options = CNNGRU(vector_size=4, filters=3, hidden_size=3, dropout=0.0)
    targets = np.eye(2)[[0, 1, 0, 1]]
    made = options.build(corpus, ("O", "X"), seed=0)
    expected = -np.log(made.predict_proba(corpus)[1, 1])

    loss = made.fit_epoch(corpus, targets, np.array([0.0, 1.0, 0.0, 0.0]))

    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def batches_of_an_epoch(made, corpus) -> list[tuple[int, ...]]:
    seen: list[tuple[int, ...]] = []

    def watching(logits, units):
        seen.append(tuple(units.tolist()))
        return logits.sum() * 0.0, len(units)

    made.run_epoch(corpus, watching, np.ones(corpus.n_units, dtype=bool))
    return seen


def test_batches_differ_from_epoch_to_epoch_and_hold_every_unit() -> None:
    task = review_task()
    made = KimCNN(vector_size=4, filters=2, training=Training(batch_size=7)).build(task.corpus, task.classes, seed=0)

    first, second = (batches_of_an_epoch(made, task.corpus) for _ in range(2))

    assert first != second
    for batches in (first, second):
        assert sorted(unit for batch in batches for unit in batch) == list(range(60))
        assert max(map(len, batches)) == 7


def test_dropout_differs_from_epoch_to_epoch_and_is_at_work_after_a_prediction() -> None:
    """With nothing learnt between, epochs over one batch differ by dropout alone, and one is not as predicted."""
    task = review_task()
    options = KimCNN(vector_size=4, filters=20, training=Training(learning_rate=1e-30, batch_size=100))
    made = options.build(task.corpus, task.classes, seed=0)
    p = made.predict_proba(task.corpus)

    losses = [made.fit_epoch(task.corpus, task.targets) for _ in range(2)]

    predicted = -np.log(p[np.arange(60), task.truth]).mean()
    assert abs(losses[0] - losses[1]) > 1e-6
    assert min(abs(loss - predicted) for loss in losses) > 1e-6


def test_the_gradient_is_clipped_to_its_norm() -> None:
    """Adam forgets the scale of a gradient; weight by weight the first step of Adadelta does not."""
    task = tag_task()
    options = CNNGRU(
        vector_size=4,
        filters=3,
        hidden_size=3,
        dropout=0.0,
        training=Training("adadelta", learning_rate=1.0, batch_size=1000),
    )
    free, clipped = (
        replace(options, training=replace(options.training, clip_norm=clip)).build(task.corpus, task.classes, seed=0)
        for clip in (0.0, 1e-3)
    )

    for made in (free, clipped):
        made.fit_epoch(task.corpus, task.targets)

    norms = [
        torch.cat([tensor.grad.ravel() for tensor in made.network.parameters()]).norm().item()
        for made in (free, clipped)
    ]
    assert norms[0] > 1e-2
    np.testing.assert_allclose(norms[1], 1e-3, rtol=1e-3)
