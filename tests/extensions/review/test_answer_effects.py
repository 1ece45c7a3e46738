"""What decisions say of answers alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_matrix

from crowdlogic.data.frames import from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.extensions.review.review_queue import (
    MIN_EFFECT_ANSWERS as LEAST,
)
from crowdlogic.extensions.review.review_queue import (
    SPREAD,
    AnswerEffects,
    answer_effects,
    log_loss,
    log_odds,
    support,
)
from crowdlogic.numerics.arrays import Floats, Ints


def crowd(seed: int = 0) -> tuple[CrowdLabels, Floats, Ints]:
    """Labels of three classes by eight annotators, what was believed of the answers, and the answers."""
    labels = simulate_crowd(np.random.default_rng(seed), units=400, annotators=8, classes=3, labels_per_unit=4).labels
    answer = labels.votes().argmax(axis=1).astype(np.int32)
    return labels, np.random.default_rng(seed).uniform(0.4, 0.95, size=400), answer


def decide(right: Floats, answer: Ints, *, known: int = 250) -> Ints:
    """The first decisions of a reviewer; the other units are open."""
    is_right = np.random.default_rng(1).random(len(answer)) < right
    decided = np.where(is_right, answer, (answer + 1) % 3).astype(np.int32)
    decided[known:] = -1
    return decided


def dense_design(labels: CrowdLabels, answer: Ints) -> Floats:
    """x[i, effect], label by label."""
    x = np.zeros((labels.n_units, labels.n_classes + len(labels.annotators)))
    x[np.arange(labels.n_units), answer] = 1.0
    given = np.bincount(labels.unit, minlength=labels.n_units)
    for i, j, label in zip(labels.unit, labels.annotator, labels.label, strict=True):
        x[i, labels.n_classes + j] += (1.0 if label == answer[i] else -1.0) / np.sqrt(given[i])
    return x


def test_the_effects_are_where_newtons_method_ends() -> None:
    labels, right, answer = crowd()
    decided = decide(right, answer)
    known = decided >= 0
    x, offset, y = dense_design(labels, answer)[known], log_odds(right[known], LEAST), (decided == answer)[known]
    effect = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1.0 / (1.0 + np.exp(-offset - x @ effect))
        curvature = (x.T * (p * (1.0 - p))) @ x + np.eye(len(effect)) / SPREAD**2
        effect += np.linalg.solve(curvature, x.T @ (y - p) - effect / SPREAD**2)

    found = answer_effects(labels, right, answer, decided)

    np.testing.assert_allclose(np.concatenate([found.of_class, found.of_annotator]), effect, atol=1e-3)


def test_the_gradient_is_that_of_differences() -> None:
    labels, right, answer = crowd()
    decided = decide(right, answer)
    known = decided >= 0
    loss = log_loss(
        csr_matrix(dense_design(labels, answer)[known]), log_odds(right[known], LEAST), (decided == answer)[known]
    )
    at = np.random.default_rng(2).normal(size=11)

    slope = loss(at)[1]

    np.testing.assert_allclose(slope, approx_fprime(at, lambda e: loss(e)[0]), atol=1e-4)


def test_a_class_that_was_often_wrong_is_found() -> None:
    labels, right, answer = crowd()

    effect = answer_effects(labels, right, answer, decide(np.where(answer == 2, 0.3 * right, right), answer)).of_class

    assert effect[2] < -0.8 < -0.5 < min(effect[:2])


def test_an_annotator_whom_decisions_prove_right_is_found() -> None:
    labels, right, answer = crowd()
    votes = np.zeros(labels.n_units)
    np.add.at(votes, labels.unit, np.where(labels.annotator == 5, support(labels, answer), 0.0))
    planted = 1.0 / (1.0 + np.exp(-log_odds(right) - 3.0 * votes))

    effect = answer_effects(labels, right, answer, decide(planted, answer)).of_annotator

    assert effect.argmax() == 5
    assert effect[5] > 2 * np.abs(np.delete(effect, 5)).max()


def test_without_decisions_nothing_changes() -> None:
    labels, right, answer = crowd()

    found = answer_effects(labels, right, answer, np.full_like(answer, -1))

    assert not found.of_class.any()
    assert not found.of_annotator.any()
    np.testing.assert_allclose(found.add_to(right, labels, answer), right)


def test_effects_add_up_by_who_voted_for_and_against_the_answer() -> None:
    labels, right, answer = crowd()
    rng = np.random.default_rng(3)
    effects = AnswerEffects(of_class=rng.normal(size=3), of_annotator=rng.normal(size=8))
    whole = np.concatenate([effects.of_class, effects.of_annotator])

    changed = effects.add_to(right, labels, answer)

    np.testing.assert_allclose(log_odds(changed), log_odds(right) + dense_design(labels, answer) @ whole)


def test_a_label_that_rules_the_answer_out_is_against_it() -> None:
    labels = replace(from_matrix(np.zeros((1, 2), dtype=int), classes=["x", "y"]), negated=np.array([False, True]))

    found = support(labels, np.zeros(1, dtype=np.int32))

    assert found.tolist() == pytest.approx([0.5**0.5, -(0.5**0.5)])
