"""The sweeps against a plain loop over labels, and the compiled path against numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.annotators.confusion import Confusion, ConfusionMatrices
from crowdlogic.data.frames import from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import match_sweep, table_sweep, tally, tally_hits
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.truth.glad_pass import difficulty_pass

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
    joint = np.tile(prior, (labels.n_units, 1)) if prior.ndim == 1 else prior.copy()
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

    found = table_sweep(shards, safe_log(table), safe_log(prior), keep=True)

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
    whole = table_sweep(shards, safe_log(table), safe_log(prior), keep=True)

    found = match_sweep(shards, safe_log(agree), safe_log(differ), safe_log(prior), keep=True)

    np.testing.assert_allclose(found.q, whole.q, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.log_evidence, whole.log_evidence, rtol=1e-10)
    np.testing.assert_allclose(found.counts, np.diagonal(whole.counts, axis1=1, axis2=2), rtol=1e-10, atol=1e-12)


@BOTH
def test_a_prior_per_unit_is_used_unit_by_unit(compiled: bool) -> None:
    labels = crowd(3)
    table, _ = parameters(labels, 3)
    prior = np.random.default_rng(1).dirichlet(np.ones(3), size=labels.n_units)
    q, _, evidence = by_hand(labels, table, prior, {})

    found = table_sweep(make_shards(labels, threads=2, compiled=compiled), safe_log(table), safe_log(prior), keep=True)

    np.testing.assert_allclose(found.q, q, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.log_evidence, evidence, rtol=1e-10)


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
    np.testing.assert_allclose(tally_hits(shards).counts, np.diagonal(counts, axis1=1, axis2=2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_both_ways_of_a_difficulty_pass_agree(weighted: bool) -> None:
    labels = crowd(5, weighted=weighted)
    rng = np.random.default_rng(0)
    ability, ease = rng.normal(1, 1, size=len(labels.annotators)), rng.normal(1, 1, size=labels.n_units)
    ours, theirs = (
        difficulty_pass(make_shards(labels, threads=2, anchors=ANCHORS, compiled=way), ability, ease, keep=True)
        for way in (False, True)
    )

    for name in ("ease", "pull", "curvature", "log_evidence", "q"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("threads", [1, 2, 5, 100])
def test_shards_part_the_units_and_keep_every_label(threads: int) -> None:
    labels = crowd(6)

    shards = make_shards(labels, threads=threads)

    rows = np.concatenate([part.label for part in shards.parts])
    units = np.concatenate([np.arange(labels.n_units)[part.units] for part in shards.parts])
    np.testing.assert_array_equal(rows, labels.label)
    np.testing.assert_array_equal(units, np.arange(labels.n_units))


def test_the_steps_are_each_others_fixed_point_on_separable_labels() -> None:
    crowd = planted(0, right=1.0, given=1.0)
    model = ConfusionMatrices(smoothing=0.0, trust=0.0)
    shards = model.observe(crowd.labels)
    good = Confusion(np.broadcast_to(np.eye(3) * 0.9 + 0.1 / 3, (5, 3, 3)))
    q, _ = normalise(good.evidence(shards))

    confusion = model.m_step(shards, np.round(q)).confusion

    np.testing.assert_array_equal(q.argmax(axis=1), crowd.truth)
    np.testing.assert_allclose(confusion, np.broadcast_to(np.eye(3), (5, 3, 3)), rtol=0, atol=1e-9)


def test_a_lazy_sequence_of_shards_is_read_one_at_a_time() -> None:
    labels = crowd(7)
    whole = make_shards(labels, threads=4)
    asked: list[int] = []

    class OnDemand(list):  # type: ignore[type-arg]
        def __getitem__(self, at):  # type: ignore[no-untyped-def, override]
            asked.append(at)
            return whole.parts[at]

    lazy = replace(whole, parts=OnDemand(whole.parts), threads=1)
    table, prior = parameters(labels, 3)

    found = table_sweep(lazy, safe_log(table), safe_log(prior))

    assert asked == [0, 1, 2, 3]
    one = table_sweep(make_shards(labels), safe_log(table), safe_log(prior))
    np.testing.assert_allclose(found.counts, one.counts, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("floor", [0.2, 1e-10], ids=["mild", "extreme"])
def test_many_labels_per_unit_lose_nothing(floor: float) -> None:
    """Products of hundreds of small numbers leave the range of a float; the sums of logs do not."""
    rng = np.random.default_rng(0)
    labels = from_matrix(rng.integers(2, size=(5, 400)))
    table = rng.uniform(floor, 1.0, size=(400, 2, 2))
    table[rng.random(table.shape) < 0.3] = floor
    ours, theirs = (
        table_sweep(make_shards(labels, compiled=way), np.log(table), np.log([0.9, 0.1]), keep=True)
        for way in (False, True)
    )

    np.testing.assert_allclose(theirs.q, ours.q, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(theirs.log_evidence, ours.log_evidence, rtol=1e-12)


def test_a_state_that_was_nearly_lost_comes_back() -> None:
    """Forty labels against state 1 by a factor of 1e-8 each, and forty for it: the prior decides."""
    labels = from_matrix(np.repeat([[0, 1]], 40, axis=1).reshape(1, -1))
    table = np.array([[1.0, 1e-8], [1e-8, 1.0]])[None].repeat(80, axis=0)

    found = table_sweep(make_shards(labels, compiled=True), np.log(table), np.log([0.25, 0.75]), keep=True)

    np.testing.assert_allclose(found.q, [[0.25, 0.75]], rtol=1e-9)


@pytest.mark.parametrize("count", [10, 60, 400])
def test_many_matches_per_unit_lose_nothing(count: int) -> None:
    rng = np.random.default_rng(0)
    labels = from_matrix(rng.integers(3, size=(6, count)))
    agree, differ = np.log(rng.uniform(1e-9, 1.0, size=(2, count, 3)))
    ours, theirs = (
        match_sweep(make_shards(labels, compiled=way), agree, differ, np.log([0.5, 0.3, 0.2]), keep=True)
        for way in (False, True)
    )

    np.testing.assert_allclose(theirs.q, ours.q, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(theirs.counts, ours.counts, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(theirs.log_evidence, ours.log_evidence, rtol=1e-12)
