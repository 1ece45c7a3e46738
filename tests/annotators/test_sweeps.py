"""The sweeps against a plain loop over labels, and the compiled path against numpy."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.annotators.sweeps import match_sweep, table_sweep
from tests.truth.planted import planted

from crowdlogic.annotators.label_sums import (
    is_compiled,
    sum_evidence,
    sum_match_evidence,
    tally,
    tally_hits,
)
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.frames import from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.logspace import LOG_ZERO, safe_log

BOTH = pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "numba"])
ANCHORS = {0: "b", 7: "c"}


def crowd(seed: int, *, weighted: bool = False) -> CrowdLabels:
    labels = planted(seed, units=30, given=0.5).labels
    weight = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], size=labels.n_labels)
    return replace(labels, weight=weight) if weighted else labels


def parameters(labels: CrowdLabels, states: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A random table[j, n, z] and prior[z]."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(labels.n_classes), size=(len(labels.annotators), states)).transpose(0, 2, 1)
    return table, rng.dirichlet(np.ones(states))


def by_hand(
    labels: CrowdLabels, table: np.ndarray, prior: np.ndarray, fixed: dict[int, int]
) -> tuple[np.ndarray, np.ndarray, float]:
    """Beliefs, counts and log evidence, label by label."""
    states = table.shape[2]
    joint = np.tile(prior, (labels.n_units, 1))
    for i, k in fixed.items():
        joint[i, np.arange(states) // (states // labels.n_classes) != k] = 0.0
    for row in range(labels.n_labels):
        joint[labels.unit[row]] *= table[labels.annotator[row], labels.label[row]] ** labels.weights[row]
    q = joint / joint.sum(axis=1, keepdims=True)
    counts = np.zeros_like(table)
    for row in range(labels.n_labels):
        counts[labels.annotator[row], labels.label[row]] += labels.weights[row] * q[labels.unit[row]]
    labelled = labels.labels_per_unit() > 0
    return q, counts, float(np.log(joint.sum(axis=1))[labelled].sum())


@BOTH
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("anchors", [{}, ANCHORS], ids=["free", "anchored"])
@pytest.mark.parametrize("states", [3, 6, 30], ids=lambda n: f"{n} states")
def test_a_table_sweep_is_the_sum_over_labels(
    compiled: bool, threads: int, weighted: bool, anchors: dict[int, str], states: int
) -> None:
    labels = crowd(1, weighted=weighted)
    table, prior = parameters(labels, states)
    q, counts, evidence = by_hand(labels, table, prior, {item: "abc".index(name) for item, name in anchors.items()})
    shards = make_shards(labels, threads=threads, anchors=anchors, compiled=compiled)

    found = table_sweep(shards, safe_log(table), safe_log(prior))

    np.testing.assert_allclose(found.q, q, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.counts, counts, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.totals, q[labels.labels_per_unit() > 0].sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(found.log_evidence, evidence, rtol=1e-10)


@BOTH
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("anchors", [{}, ANCHORS], ids=["free", "anchored"])
def test_a_match_sweep_is_a_table_sweep_with_one_kind_of_error(
    compiled: bool, weighted: bool, threads: int, anchors: dict[int, str]
) -> None:
    labels = crowd(2, weighted=weighted)
    rng = np.random.default_rng(0)
    agree, differ = rng.uniform(0.4, 0.9, size=(2, len(labels.annotators), 3))
    table = np.where(np.eye(3, dtype=bool), agree[:, :, None], differ[:, :, None])
    prior = np.array([0.2, 0.5, 0.3])
    shards = make_shards(labels, threads=threads, anchors=anchors, compiled=compiled)
    whole = table_sweep(shards, safe_log(table), safe_log(prior))

    found = match_sweep(shards, safe_log(agree), safe_log(differ), safe_log(prior))

    np.testing.assert_allclose(found.q, whole.q, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.log_evidence, whole.log_evidence, rtol=1e-10)
    np.testing.assert_allclose(found.counts, np.diagonal(whole.counts, axis1=1, axis2=2), rtol=1e-10, atol=1e-12)


@BOTH
def test_the_tally_of_the_votes_counts_each_label_by_its_share(compiled: bool) -> None:
    labels = crowd(4, weighted=True)
    votes = labels.votes()
    total = votes.sum(axis=1, keepdims=True)
    q = np.where(total > 0, votes / np.where(total > 0, total, 1), 1 / 3)
    counts = np.zeros((len(labels.annotators), 3, 3))
    np.add.at(counts, (labels.annotator, labels.label), labels.weights[:, None] * q[labels.unit])
    shards = make_shards(labels, threads=2, compiled=compiled)

    np.testing.assert_allclose(tally(shards).counts, counts, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tally(shards, q).counts, counts, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        tally_hits(shards)[0].counts, np.diagonal(counts, axis1=1, axis2=2), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("floor", [0.2, 1e-10], ids=["mild", "extreme"])
def test_many_labels_per_unit_lose_nothing(floor: float) -> None:
    """Products of hundreds of small numbers leave the range of a float; the sums of logs do not."""
    rng = np.random.default_rng(0)
    labels = from_matrix(rng.integers(2, size=(5, 400)))
    table = rng.uniform(floor, 1.0, size=(400, 2, 2))
    table[rng.random(table.shape) < 0.3] = floor
    ours, theirs = (
        table_sweep(make_shards(labels, compiled=way), np.log(table), np.log([0.9, 0.1])) for way in (False, True)
    )

    np.testing.assert_allclose(theirs.q, ours.q, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(theirs.log_evidence, ours.log_evidence, rtol=1e-12)


def test_a_state_that_was_nearly_lost_comes_back() -> None:
    """Forty labels against state 1 by a factor of 1e-8 each, and forty for it: the prior decides."""
    labels = from_matrix(np.repeat([[0, 1]], 40, axis=1).reshape(1, -1))
    table = np.array([[1.0, 1e-8], [1e-8, 1.0]])[None].repeat(80, axis=0)

    found = table_sweep(make_shards(labels, compiled=True), np.log(table), np.log([0.25, 0.75]))

    np.testing.assert_allclose(found.q, [[0.25, 0.75]], rtol=1e-9)


@pytest.mark.parametrize("count", [10, 60, 400])
def test_many_matches_per_unit_lose_nothing(count: int) -> None:
    rng = np.random.default_rng(0)
    labels = from_matrix(rng.integers(3, size=(6, count)))
    agree, differ = np.log(rng.uniform(1e-9, 1.0, size=(2, count, 3)))
    ours, theirs = (
        match_sweep(make_shards(labels, compiled=way), agree, differ, np.log([0.5, 0.3, 0.2])) for way in (False, True)
    )

    np.testing.assert_allclose(theirs.q, ours.q, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(theirs.counts, ours.counts, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(theirs.log_evidence, ours.log_evidence, rtol=1e-12)


def test_a_table_sweep_is_the_exact_posterior_by_enumeration() -> None:
    labels = from_matrix(np.array([[0, 1, 2], [2, -1, 2], [1, 1, 0], [-1, -1, 1]]))
    rng = np.random.default_rng(0)
    confusion, prior = rng.dirichlet(np.ones(3), size=(3, 3)), rng.dirichlet(np.ones(3))
    exact = np.zeros((4, 3))
    for truth in itertools.product(range(3), repeat=4):
        p = np.prod([prior[m] for m in truth])
        for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
            p *= confusion[j, truth[unit], n]
        for i, m in enumerate(truth):
            exact[i, m] += p

    found = table_sweep(make_shards(labels), safe_log(confusion.transpose(0, 2, 1)), safe_log(prior))
    q, log_evidence = found.q, found.log_evidence

    np.testing.assert_allclose(q, exact / exact.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(log_evidence, np.log(exact[0].sum()), rtol=1e-12)


@BOTH
@pytest.mark.parametrize("weighted", [False, True])
def test_evidence_is_the_sum_of_what_each_label_says(compiled: bool, weighted: bool) -> None:
    labels = crowd(8, weighted=weighted)
    table, _ = parameters(labels, 3)
    expected = np.zeros((labels.n_units, 3))
    for row in range(labels.n_labels):
        expected[labels.unit[row]] += labels.weights[row] * np.log(table[labels.annotator[row], labels.label[row]])

    found = sum_evidence(make_shards(labels, threads=2, compiled=compiled), np.log(table))

    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_evidence_against_a_known_class_is_final() -> None:
    labels = crowd(9)
    table, _ = parameters(labels, 3)
    agree, differ = np.log(np.random.default_rng(0).uniform(0.1, 0.9, size=(2, 5, 3)))
    shards = make_shards(labels, threads=2, anchors=ANCHORS)

    for found in (sum_evidence(shards, np.log(table)), sum_match_evidence(shards, agree, differ)):
        assert (found[[0, 0, 7, 7], [0, 2, 0, 1]] == LOG_ZERO).all()
        assert np.isfinite(found[[0, 7], [1, 2]]).all()


def test_evidence_of_matches_is_that_of_a_table_up_to_a_constant_per_unit() -> None:
    labels = crowd(10, weighted=True)
    agree, differ = np.log(np.random.default_rng(0).uniform(0.1, 0.9, size=(2, 5, 3)))
    log_table = np.where(np.eye(3, dtype=bool), agree[:, :, None], differ[:, :, None])
    shards = make_shards(labels)

    difference = sum_match_evidence(shards, agree, differ) - sum_evidence(shards, log_table)

    np.testing.assert_allclose(difference - difference[:, :1], 0.0, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("labels", "compiled"), [(199_999, False), (200_000, True)])
def test_kernels_are_loaded_from_400_000_pairs_of_label_and_state_on(labels: int, compiled: bool) -> None:
    shards = replace(make_shards(crowd(1)), n_labels=labels)

    assert is_compiled(shards, 2) is compiled
