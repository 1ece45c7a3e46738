"""The M- and E-step of Algorithm 1, and the mixture of beliefs with and without the rules."""

from __future__ import annotations

import numpy as np

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import BeliefStep, LogicLNCL, mix
from crowdlogic.learning.posterior import crowd_posterior
from crowdlogic.learning.stopping import TrainingLimits


def test_targets_are_mixed_by_imitation_and_are_q_a_itself_where_nothing_was_projected() -> None:
    q_a, q_b = np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]])

    np.testing.assert_allclose(mix(q_a, q_b, 0.2), [[0.8, 0.2]], rtol=1e-15)
    assert mix(q_a, q_a, 0.2) is q_a


def test_a_step_is_the_equations_one_after_the_other() -> None:
    made = simulate_sentiment(3, items=60, annotators=6, labels_per_item=3)
    learned = LogicLNCL(limits=TrainingLimits(epochs=1)).fit(made.corpus, made.labels)
    epoch, labels, model = learned.epoch, made.labels, ConfusionMatrices()
    step = BeliefStep(
        task=learned.task,
        model=model,
        crowd=model.observe(labels),
        posterior=crowd_posterior,
        project=lambda _corpus, q_a, _p, _classifier: q_a[:, ::-1],  # rules that turn every belief around
        classifier=learned.classifier,
    )

    found = step(epoch, epoch.p)

    counts = np.full((len(labels.annotators), 2, 2), model.smoothing)
    counts += model.trust * np.eye(2)
    for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        counts[j, :, n] += epoch.q_f[i]
    confusion = counts / counts.sum(axis=2, keepdims=True)
    log_q = np.log(epoch.p)
    for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        log_q[i] += np.log(confusion[j, :, n])
    q_a = np.exp(log_q) / np.exp(log_q).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.annotators.confusion, confusion, rtol=1e-9)
    np.testing.assert_allclose(found.q_a, q_a, rtol=1e-9)
    np.testing.assert_allclose(found.q_f, (1 - epoch.k) * q_a + epoch.k * q_a[:, ::-1], rtol=1e-9)
