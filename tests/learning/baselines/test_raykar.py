"""Raykar's method against itself written out slowly, and against scikit-activeml where that is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.learning.baselines import Raykar
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.numerics.arrays import Floats, Ints

UNITS, PEOPLE, MISSING = 150, 5, -1
SMOOTHING, TRUST, RIDGE = 0.1, 1.0, 0.01


def crowd(seed: int, classes: int = 2) -> tuple[Floats, Ints]:
    """features[i, f], and votes[i, j] by people of whom each sees three units in four."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(UNITS, 3))
    truth = (features @ rng.normal(scale=2.0, size=(3, classes))).argmax(axis=1)
    accuracy = np.linspace(0.55, 0.9, PEOPLE)
    right = rng.random((UNITS, PEOPLE)) < accuracy
    votes = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, classes, size=right.shape)) % classes)
    votes[rng.random(votes.shape) < 0.25] = MISSING
    votes[(votes == MISSING).all(axis=1), 0] = 0
    return features, votes


def fitted(features: Floats, votes: Ints, classes: int, rounds: int) -> Learned:
    unit, annotator = np.nonzero(votes != MISSING)
    items, people = pl.Series(range(UNITS)), pl.Series(range(PEOPLE))
    labels = CrowdLabels(
        unit=unit,
        annotator=annotator,
        label=votes[unit, annotator],
        items=items,
        annotators=people,
        classes=tuple(range(classes)),
    )
    method = Raykar(
        Linear(ridge=RIDGE, steps=500),
        doubt=0.0,
        annotators=ConfusionMatrices(smoothing=SMOOTHING, trust=TRUST),
        limits=TrainingLimits(epochs=rounds, held_out=None),
    )
    return method.fit(Corpus(items, features=features), labels)


def newton(design: Floats, target: Floats, penalty: Floats) -> Floats:
    """Logistic regression towards soft targets, to the last digit."""
    w = np.zeros(design.shape[1])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-design @ w))
        curvature = design.T @ (design * (p * (1 - p))[:, None]) + np.diag(penalty)
        w = w - np.linalg.solve(curvature, design.T @ (p - target) + penalty * w)
    return w


def two_coins(features: Floats, votes: Ints, rounds: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Raykar et al. (2010), section 2, one person and one item at a time: the belief that each item is positive, the
    classifier's view, sensitivities and specificities."""
    design = np.column_stack([np.ones(UNITS), features])
    # A softmax of two has two vectors of half the size each: their ridge is half of that on the difference.
    penalty = np.array([0.0, *[UNITS * RIDGE / 2] * features.shape[1]])
    belief = np.array([np.mean(row[row != MISSING]) for row in votes])
    for _ in range(rounds):
        sensitivity, specificity = np.zeros(PEOPLE), np.zeros(PEOPLE)
        for j in range(PEOPLE):
            said = [(belief[i], votes[i, j]) for i in range(UNITS) if votes[i, j] != MISSING]
            for coin, true in ((sensitivity, 1), (specificity, 0)):
                mass = [b if true else 1 - b for b, _ in said]
                hits = sum(m for m, (_, vote) in zip(mass, said, strict=True) if vote == true)
                coin[j] = (hits + SMOOTHING + TRUST) / (sum(mass) + 2 * SMOOTHING + TRUST)
        p = 1.0 / (1.0 + np.exp(-design @ newton(design, belief, penalty)))
        for i in range(UNITS):
            yes, no = p[i], 1 - p[i]
            for j in range(PEOPLE):
                if votes[i, j] != MISSING:
                    yes *= sensitivity[j] if votes[i, j] == 1 else 1 - sensitivity[j]
                    no *= specificity[j] if votes[i, j] == 0 else 1 - specificity[j]
            belief[i] = yes / (yes + no)
    return belief, p, sensitivity, specificity


@pytest.mark.parametrize("rounds", [1, 2, 8])
def test_rounds_are_those_of_the_two_coin_model_written_out(rounds: int) -> None:
    features, votes = crowd(0)

    learned = fitted(features, votes, 2, rounds)

    belief, p, sensitivity, specificity = two_coins(features, votes, rounds)
    confusion = np.asarray(learned.estimate.confusion)
    np.testing.assert_allclose(learned.epoch.q_f[:, 1], belief, rtol=0, atol=1e-4)
    np.testing.assert_allclose(learned.epoch.p[:, 1], p, rtol=0, atol=1e-4)
    np.testing.assert_allclose(confusion[:, 1, 1], sensitivity, rtol=0, atol=1e-4)
    np.testing.assert_allclose(confusion[:, 0, 0], specificity, rtol=0, atol=1e-4)


def test_another_classifier_is_refused() -> None:
    other: Any = ClassPrior()

    with pytest.raises(OptionError, match=r"^raykar has a linear classifier, not prior. Use aggnet for that.$"):
        Raykar(other)


@pytest.mark.parametrize("classes", [2, 3])
def test_scikit_activeml_finds_the_same(classes: int) -> None:
    peer = pytest.importorskip(
        "skactiveml.classifier.multiannotator",
        reason="scikit-activeml is not installed; benchmarks/raykar_peer.py compares with it in an environment of its own",
    )
    features, votes = crowd(1, classes)
    rounds = 10

    learned = fitted(features, votes, classes, rounds)

    model = peer.AnnotatorLogisticRegression(
        classes=list(range(classes)),
        missing_label=MISSING,
        tol=1e-9,
        max_iter=rounds,
        weights_prior=UNITS * RIDGE,
        annot_prior_full=1 + SMOOTHING,
        annot_prior_diag=TRUST,
    ).fit(features, votes)
    np.testing.assert_allclose(learned.estimate.confusion, model.Alpha_, rtol=0, atol=1e-3)
    np.testing.assert_allclose(learned.epoch.p, model.predict_proba(features), rtol=0, atol=1e-3)
