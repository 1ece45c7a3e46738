"""One pass of GLAD: its parts against their definitions, and the compiled path against numpy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit
from tests.truth.planted import planted

from crowdlogic.data.blocks import Shards, make_shards
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.truth.glad import HALVINGS, STEPS, _best_ease, _curvature, compiled_em_step, em_step

ANCHORS = {0: "b", 7: "c"}


@dataclass(frozen=True)
class Pass:
    ease: np.ndarray
    q: np.ndarray
    pull: np.ndarray
    curvature: np.ndarray
    log_evidence: np.ndarray
    spread: np.ndarray


def difficulty_pass(
    engine: Shards, ability: np.ndarray, ease: np.ndarray, *, beliefs: np.ndarray | None = None
) -> Pass:
    """The step over all shards."""
    given = {"ease": ease} if beliefs is None else {"ease": ease, "q": beliefs}
    step = partial(compiled_em_step if engine.compiled else em_step, n_classes=engine.n_classes, keep=True)
    counts, states = engine.sum(step, {"ability": ability}, engine.scatter(given))
    return Pass(**counts, **engine.gather(states))


def crowd(seed: int, *, weighted: bool = False) -> CrowdLabels:
    labels = planted(seed, units=30, given=0.5).labels
    weight = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], size=labels.n_labels)
    return replace(labels, weight=weight) if weighted else labels


@pytest.mark.parametrize("weighted", [False, True])
def test_both_ways_of_a_difficulty_pass_agree(weighted: bool) -> None:
    labels = crowd(5, weighted=weighted)
    rng = np.random.default_rng(0)
    ability, ease = rng.normal(1, 1, size=len(labels.annotators)), rng.normal(1, 1, size=labels.n_units)
    ours, theirs = (
        difficulty_pass(make_shards(labels, threads=2, anchors=ANCHORS, compiled=way), ability, ease)
        for way in (False, True)
    )

    for name in ("ease", "pull", "curvature", "log_evidence", "spread", "q"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-9, atol=1e-10)


def test_the_e_step_is_that_of_a_loop_over_labels() -> None:
    labels = crowd(6, weighted=True)
    rng = np.random.default_rng(1)
    ability, ease = rng.normal(1, 1, size=len(labels.annotators)), rng.normal(1, 1, size=labels.n_units)
    joint = np.full((labels.n_units, 3), 1 / 3)
    for row in range(labels.n_labels):
        right = expit(ability[labels.annotator[row]] * np.exp(ease[labels.unit[row]]))
        given = np.where(np.arange(3) == labels.label[row], right, (1 - right) / 2)
        joint[labels.unit[row]] *= given ** labels.weights[row]

    found = difficulty_pass(make_shards(labels), ability, ease)

    labelled = labels.labels_per_unit() > 0
    np.testing.assert_allclose(found.q, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.log_evidence, np.log(joint.sum(axis=1))[labelled].sum(), rtol=1e-10)


def test_beliefs_that_are_given_replace_the_e_step() -> None:
    labels = crowd(7)
    given = np.random.default_rng(2).dirichlet(np.ones(3), size=labels.n_units)
    ability, ease = np.ones(len(labels.annotators)), np.ones(labels.n_units)

    found = difficulty_pass(make_shards(labels), ability, ease, beliefs=given)

    np.testing.assert_array_equal(found.q, given)
    expected = np.zeros(len(labels.annotators))
    np.add.at(expected, labels.annotator, (given[labels.unit, labels.label] - 0.5) * np.exp(found.ease)[labels.unit])
    np.testing.assert_allclose(found.pull, expected, rtol=1e-10)


def test_the_parabola_touches_the_log_likelihood_and_is_never_above_it() -> None:
    """log sigmoid(y) >= log sigmoid(x) + (y - x) / 2 - lambda(x) (y^2 - x^2), the bound behind both M-steps."""
    x, y = np.linspace(-8, 8, 33)[:, None], np.linspace(-8, 8, 41)[None, :]

    parabola = log_expit(x) + (y - x) / 2 - _curvature(x) * (y**2 - x**2)

    assert (log_expit(np.broadcast_to(y, parabola.shape)) - parabola > -1e-12).all()
    np.testing.assert_allclose(_curvature(np.array([0.0, 1e-7, 1e-5])), 0.125, rtol=1e-9)


def test_repeated_newton_steps_find_the_easiest_item_that_fits() -> None:
    pull, curve = np.array([-2.0, -0.1, 0.0, 0.5, 3.0]), np.array([0.1, 0.5, 0.0, 1.0, 0.2])
    ease = np.full(5, 1.0)
    for _ in range(20):
        ease = _best_ease(pull, curve, ease)

    for at in range(5):

        def loss(b: float, at: int = at) -> float:
            return float(-(pull[at] * np.exp(b) - curve[at] * np.exp(2 * b) - 0.5 * (b - 1.0) ** 2))

        best = minimize_scalar(loss, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10})
        np.testing.assert_allclose(loss(float(ease[at])), best.fun, rtol=0, atol=1e-8)


def test_one_m_step_makes_three_newton_steps() -> None:
    assert (STEPS, HALVINGS) == (3, 20)
