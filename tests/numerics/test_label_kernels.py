"""The passes over labels against sums over labels and states, one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from tests.numerics.planted_tables import ANNOTATORS, CLASSES, UNITS, LabelTable, random_table

from crowdlogic.numerics.label_kernels import (
    UNROLLED,
    count_pass,
    evidence_pass,
    match_pass,
    normalise_in_place,
    table_pass,
    unrolled_states,
)

STATES = unrolled_states(CLASSES)
KINDS: list[set[str]] = [
    set(),
    {"weighted"},
    {"fixed"},
    {"weighted", "fixed"},
    {"repeated"},
    {"weighted", "fixed", "repeated"},
]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "+".join(sorted(kind)) or "plain")


def slow_e_step(labels: LabelTable, log_table: np.ndarray, log_prior: np.ndarray) -> tuple[np.ndarray, float]:
    """q[i, k] and the log evidence of all labelled units, from log_table[j, n, k]."""
    q, evidence = np.empty((UNITS, CLASSES)), 0.0
    for i in range(UNITS):
        log_q = log_prior + sum(weight * log_table[j, n] for j, n, weight in labels.rows(i))
        if len(labels.fixed) and labels.fixed[i] >= 0:
            log_q = np.where(np.arange(CLASSES) == labels.fixed[i], log_q, -np.inf)
        log_sum = np.logaddexp.reduce(log_q)
        q[i] = np.exp(log_q - log_sum)
        evidence += labels.often[i] * log_sum if labels.rows(i) else 0.0
    return q, float(evidence)


def slow_counts(labels: LabelTable, q: np.ndarray) -> np.ndarray:
    """counts[j, n, k], the weighted beliefs, as often as they count, of the units that annotator j labelled n."""
    counts = np.zeros((ANNOTATORS, CLASSES, CLASSES))
    for i in range(UNITS):
        for j, n, weight in labels.rows(i):
            counts[j, n] += labels.often[i] * weight * q[i]
    return counts


def slow_totals(labels: LabelTable, q: np.ndarray) -> np.ndarray:
    """totals[k], the beliefs of the labelled units, as often as they count."""
    return sum((labels.often[i] * q[i] for i in range(UNITS) if labels.rows(i)), np.zeros(CLASSES))


@each_kind
@pytest.mark.parametrize("states", [STATES, ()], ids=["unrolled", "looped"])
def test_a_table_pass_is_the_e_step_and_its_expected_counts(kind: set[str], states: tuple) -> None:
    rng, labels = np.random.default_rng(1), random_table(0, **dict.fromkeys(kind, True))
    log_table = np.log(rng.dirichlet(np.ones(CLASSES), size=(ANNOTATORS, CLASSES))).transpose(0, 2, 1)  # [j, n, k]
    log_prior = np.log(rng.dirichlet(np.ones(CLASSES)))
    flat = np.ascontiguousarray(log_table.reshape(-1, CLASSES))
    counts, totals, q = np.zeros_like(flat), np.zeros(CLASSES), np.empty((UNITS, CLASSES))

    evidence = table_pass(states, *labels.columns, CLASSES, flat, np.exp(flat), log_prior[None], counts, totals, q)

    expected, expected_evidence = slow_e_step(labels, log_table, log_prior)
    np.testing.assert_allclose(q, expected, rtol=1e-12)
    np.testing.assert_allclose(evidence, expected_evidence, rtol=1e-12)
    np.testing.assert_allclose(counts.reshape(log_table.shape), slow_counts(labels, expected), rtol=1e-12)
    np.testing.assert_allclose(totals, slow_totals(labels, expected), rtol=1e-12)


@each_kind
def test_a_match_pass_is_a_table_pass_whose_wrong_labels_are_all_alike(kind: set[str]) -> None:
    rng, labels = np.random.default_rng(2), random_table(0, **dict.fromkeys(kind, True))
    agree, differ = (
        np.log(rng.uniform(0.5, 0.9, (ANNOTATORS, CLASSES))),
        np.log(rng.uniform(0.1, 0.4, (ANNOTATORS, CLASSES))),
    )
    log_prior = np.log(rng.dirichlet(np.ones(CLASSES)))
    hits, totals, q = np.zeros_like(agree), np.zeros(CLASSES), np.empty((UNITS, CLASSES))

    evidence = match_pass(STATES, *labels.columns, agree, differ, log_prior[None], hits, totals, q)

    same = np.eye(CLASSES, dtype=bool)
    log_table = np.where(same, agree[:, :, None], differ[:, :, None])  # [j, n, k]
    expected, expected_evidence = slow_e_step(labels, log_table, log_prior)
    np.testing.assert_allclose(q, expected, rtol=1e-12)
    np.testing.assert_allclose(evidence, expected_evidence, rtol=1e-12)
    np.testing.assert_allclose(hits, slow_counts(labels, expected)[:, same], rtol=1e-12)
    np.testing.assert_allclose(totals, slow_totals(labels, expected), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_the_given_beliefs_by_annotator_and_label(weighted: bool) -> None:
    labels, q = random_table(3, weighted=weighted), np.random.default_rng(3).dirichlet(np.ones(CLASSES), size=UNITS)
    starts, annotator, label, weight = labels.columns[:4]
    counts = np.zeros((ANNOTATORS * CLASSES, CLASSES))

    count_pass(STATES, starts, annotator, label, weight, CLASSES, q, counts)

    np.testing.assert_allclose(counts.reshape(ANNOTATORS, CLASSES, CLASSES), slow_counts(labels, q), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_evidence_is_the_sum_of_the_table_over_a_unit_s_labels_and_weight_zero_adds_nothing(weighted: bool) -> None:
    labels, table = (
        random_table(4, weighted=weighted),
        np.random.default_rng(4).normal(size=(ANNOTATORS * CLASSES, CLASSES)),
    )
    if weighted:  # even an impossible label of weight 0
        nothing = np.flatnonzero(labels.weight == 0)[0]
        table[labels.annotator[nothing] * CLASSES + labels.label[nothing]] = -np.inf
    starts, annotator, label, weight = labels.columns[:4]
    total = np.ones((UNITS, CLASSES))

    evidence_pass(STATES, starts, annotator, label, weight, CLASSES, table, total)

    expected = [
        1.0 + sum((scale * table[j * CLASSES + n] for j, n, scale in labels.rows(i) if scale), np.zeros(CLASSES))
        for i in range(UNITS)
    ]
    np.testing.assert_allclose(total, expected, rtol=1e-12)


def test_log_weights_are_normalised_in_place_and_impossible_ones_are_uniform() -> None:
    belief, impossible = np.log([1.0, 3.0, 4.0]) - 2000.0, np.full(3, -np.inf)

    log_sum, nothing = normalise_in_place(STATES, belief), normalise_in_place(STATES, impossible)

    np.testing.assert_allclose(belief, [0.125, 0.375, 0.5], rtol=1e-10)
    np.testing.assert_allclose(log_sum, np.log(8.0) - 2000.0, rtol=1e-12)
    np.testing.assert_array_equal(impossible, 1 / 3)
    assert nothing == -np.inf


def test_loops_are_unrolled_for_up_to_sixteen_states() -> None:
    assert len(unrolled_states(UNROLLED)) == UNROLLED == 16
    assert unrolled_states(UNROLLED + 1) == ()
