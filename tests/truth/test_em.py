"""EM over class proportions and annotator tables."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma
from tests.truth.planted import planted

from crowdlogic.annotators.confusion import (
    ClassProportions,
    ConfusionMatrices,
    VariationalConfusion,
    VariationalProportions,
)
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.fitting import PRIOR, TableEM


def test_compiled_and_uncompiled_fits_agree() -> None:
    labels = planted(4, units=300).labels
    states = []
    for compiled in (False, True):
        em = TableEM(ConfusionMatrices(), ClassProportions(), make_shards(labels, compiled=compiled))
        state = em.first_state()
        for _ in range(30):
            state, _ = em.step(state)
        states.append(em.e_step(state, keep=True).q)

    np.testing.assert_allclose(states[1], states[0], rtol=0, atol=1e-9)


def posterior_by_hand(labels: CrowdLabels, log_table: np.ndarray, log_prior: np.ndarray) -> tuple[np.ndarray, float]:
    """q[i, k] and the log evidence from log_table[j, n, k] and log_prior[k], label by label."""
    joint = np.tile(np.exp(log_prior), (labels.n_units, 1))
    for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        joint[unit] *= np.exp(log_table[j, n])
    total = joint.sum(axis=1, keepdims=True)
    return joint / total, float(np.log(total[labels.labels_per_unit() > 0]).sum())


def counts_by_hand(labels: CrowdLabels, q: np.ndarray) -> np.ndarray:
    """counts[j, n, k], label by label."""
    counts = np.zeros((len(labels.annotators), labels.n_classes, labels.n_classes))
    for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        counts[j, n] += q[unit]
    return counts


def vote_shares_by_hand(labels: CrowdLabels) -> np.ndarray:
    votes = np.zeros((labels.n_units, labels.n_classes))
    for unit, n in zip(labels.unit, labels.label, strict=True):
        votes[unit, n] += 1
    return votes / votes.sum(axis=1, keepdims=True)


def iterate(em: TableEM, steps: int) -> tuple[State, list[float]]:
    state, trace = em.first_state(), []
    for _ in range(steps):
        state, objective = em.step(state)
        trace.append(objective)
    return state, trace


def test_steps_with_confusion_matrices_are_em_label_by_label() -> None:
    labels = planted(5, units=30, annotators=4, classes=3, right=0.5, given=1.0).labels
    q, expected = vote_shares_by_hand(labels), []
    for _ in range(10):
        counts = counts_by_hand(labels, q) + 0.3 + 0.7 * np.eye(3)
        table = counts / counts.sum(axis=1, keepdims=True)
        prior = (q.sum(axis=0) + 0.2) / (30 + 3 * 0.2)
        q, log_evidence = posterior_by_hand(labels, np.log(table), np.log(prior))
        added = 0.3 * np.log(table).sum() + 0.7 * np.log(np.diagonal(table, axis1=1, axis2=2)).sum()
        expected.append(log_evidence + added + 0.2 * np.log(prior).sum())

    em = TableEM(ConfusionMatrices(smoothing=0.3, trust=0.7), ClassProportions(0.2), make_shards(labels))
    state, trace = iterate(em, 9)

    np.testing.assert_allclose(em.e_step(state, keep=True).q, q, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state["table"], table, rtol=1e-9)
    np.testing.assert_allclose(state[PRIOR], prior, rtol=1e-9)
    np.testing.assert_allclose(trace, expected[:9], rtol=1e-10)


def test_steps_with_variational_posteriors_are_variational_bayes_label_by_label() -> None:
    labels = planted(6, units=30, annotators=4, classes=3, right=0.5, given=1.0).labels
    q = vote_shares_by_hand(labels)
    for _ in range(10):
        table = counts_by_hand(labels, q) + 0.5 + 1.5 * np.eye(3)
        classes = q.sum(axis=0) + 1.0
        log_table = digamma(table) - digamma(table.sum(axis=1, keepdims=True))
        q, _ = posterior_by_hand(labels, log_table, digamma(classes) - digamma(classes.sum()))

    em = TableEM(VariationalConfusion(2.0, 0.5), VariationalProportions(1.0), make_shards(labels))
    state, trace = iterate(em, 9)

    np.testing.assert_allclose(em.e_step(state, keep=True).q, q, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state["table"], table, rtol=1e-9)
    np.testing.assert_allclose(state[PRIOR], classes, rtol=1e-9)
    assert (np.diff(trace) > -1e-9).all()


def test_beliefs_that_are_given_make_the_first_state() -> None:
    labels = planted(7, units=30, annotators=4, classes=3).labels
    q = np.random.default_rng(0).dirichlet(np.ones(3), size=30)

    state = TableEM(VariationalConfusion(2.0, 0.5), VariationalProportions(1.0), make_shards(labels)).first_state(q)

    np.testing.assert_allclose(state["table"], counts_by_hand(labels, q) + 0.5 + 1.5 * np.eye(3), rtol=1e-12)
    labelled = labels.labels_per_unit() > 0
    np.testing.assert_allclose(state[PRIOR], q[labelled].sum(axis=0) + 1.0, rtol=1e-12)
