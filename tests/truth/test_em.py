"""EM of Dawid-Skene and variational Bayes of IBCC against loops over labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.special import digamma
from scipy.stats import dirichlet as dirichlet_dist
from tests.truth.planted import planted

from crowdlogic.data.blocks import make_shards
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.fitting import EngineFit
from crowdlogic.truth.ibcc import IBCC

TEN = Convergence(max_iterations=10, tolerance=0.0)
METHODS = [DawidSkene(convergence=TEN), IBCC(convergence=TEN)]


def fit(method: Any, labels: CrowdLabels, *, compiled: bool | None = None) -> EngineFit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: EngineFit = method.fit_over(make_shards(labels, compiled=compiled))
    return found


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_compiled_and_uncompiled_fits_agree(method: Any) -> None:
    labels = planted(4, units=300).labels

    ours, theirs = (fit(method, labels, compiled=way).gather() for way in (False, True))

    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9)


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


def test_iterations_of_dawid_skene_are_em_label_by_label() -> None:
    labels = planted(5, units=30, annotators=4, classes=3, right=0.5, given=1.0).labels
    q, expected = vote_shares_by_hand(labels), []
    for _ in range(10):
        counts = counts_by_hand(labels, q) + 0.3 + 0.7 * np.eye(3)
        table = counts / counts.sum(axis=1, keepdims=True)
        prior = (q.sum(axis=0) + 0.3) / (30 + 3 * 0.3)
        q, log_evidence = posterior_by_hand(labels, np.log(table), np.log(prior))
        added = 0.3 * np.log(table).sum() + 0.7 * np.log(np.diagonal(table, axis1=1, axis2=2)).sum()
        expected.append(log_evidence + added + 0.3 * np.log(prior).sum())

    found = fit(DawidSkene(smoothing=0.3, trust=0.7, convergence=TEN), labels)

    np.testing.assert_allclose(found.gather(), q, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.confusion, table.transpose(0, 2, 1), rtol=1e-9)
    np.testing.assert_allclose(found.prior, prior, rtol=1e-9)
    np.testing.assert_allclose(found.trace, expected, rtol=1e-10)


def test_iterations_of_ibcc_are_variational_bayes_label_by_label() -> None:
    labels = planted(6, units=30, annotators=4, classes=3, right=0.5, given=1.0).labels
    q = vote_shares_by_hand(labels)
    for _ in range(10):
        table = counts_by_hand(labels, q) + 0.5 + 1.5 * np.eye(3)
        classes = q.sum(axis=0) + 1.0
        log_table = digamma(table) - digamma(table.sum(axis=1, keepdims=True))
        q, _ = posterior_by_hand(labels, log_table, digamma(classes) - digamma(classes.sum()))

    found = fit(IBCC(convergence=TEN), labels)

    np.testing.assert_allclose(found.gather(), q, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.state["table"], table, rtol=1e-9)
    np.testing.assert_allclose(found.state["prior"], classes, rtol=1e-9)
    assert (np.diff(found.trace) > -1e-9).all()


def test_the_m_step_maximises_the_expected_log_posterior() -> None:
    rng = np.random.default_rng(0)
    counts, totals = rng.gamma(2.0, 3.0, size=(2, 3, 3)), rng.gamma(2.0, 9.0, size=3)
    method = DawidSkene(smoothing=0.4, trust=0.7)
    best = method.m_step(counts, totals)

    def objective(table: np.ndarray, prior: np.ndarray) -> float:
        fitted = float((counts * np.log(table)).sum() + totals @ np.log(prior))
        return fitted + method.log_prior({"table": table, "prior": prior})

    for _ in range(50):
        table = best["table"] * np.exp(rng.normal(0.0, 0.05, size=(2, 3, 3)))
        prior = best["prior"] * np.exp(rng.normal(0.0, 0.05, size=3))
        other = objective(table / table.sum(axis=1, keepdims=True), prior / prior.sum())
        assert other < objective(best["table"], best["prior"])


def test_maximum_likelihood_needs_no_labels_of_each_class() -> None:
    found = DawidSkene(smoothing=0.0, trust=0.0).m_step(np.zeros((1, 3, 3)), np.array([5.0, 0.0, 0.0]))

    assert (found["table"] > 0).all()
    assert (found["prior"] > 0).all()
    assert DawidSkene(smoothing=0.0, trust=0.0).log_prior(found) == 0.0


def test_the_divergence_of_the_posteriors_is_the_mean_log_ratio_of_their_densities() -> None:
    rng, method = np.random.default_rng(0), IBCC(class_count=2.0)
    table, classes = method.prior_counts(3)[None], np.array([7.0, 3.0, 4.0])
    draws = rng.dirichlet(classes, size=200_000)
    ratio = dirichlet_dist(classes).logpdf(draws.T) - dirichlet_dist(np.full(3, 2.0)).logpdf(draws.T)

    found = method.divergence({"table": table, "prior": classes})

    assert found == pytest.approx(ratio.mean(), abs=0.02)
