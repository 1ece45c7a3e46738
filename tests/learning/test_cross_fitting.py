"""Cross-fitting: what is said of an item by a classifier that has not learnt it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from tests.learning.memory_checkpoint import MemoryCheckpoint

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import PROGRESS
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.saved_run import load_run
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.training import CrossFitted, build_classifier, fold_of_units

WORDS = [f"word{i} only{i}" for i in range(120)]
"""Texts without a word in common: nothing is to be learnt, but each can be known by heart."""
NOISE = np.eye(2)[np.random.default_rng(0).integers(2, size=120)]
MADE = simulate_sentiment(3, items=300, annotators=10)
LIMITS = TrainingLimits(epochs=3, held_out=None)


def test_what_is_known_by_heart_is_not_said_of_the_item_itself() -> None:
    corpus = documents(list(range(120)), texts=WORDS)
    shares = {}
    for folds in (1, 3):
        classifier = build_classifier(Linear(ridge=1e-6), corpus, ("a", "b"), seed=0, folds=folds)
        for _ in range(3):
            classifier.fit_epoch(corpus, NOISE)
        shares[folds] = (classifier.predict_proba(corpus).argmax(axis=1) == NOISE.argmax(axis=1)).mean()

    assert shares[1] == 1.0
    assert shares[3] < 0.65


def test_new_items_are_answered_by_the_one_that_learnt_all() -> None:
    plain, fitted = (build_classifier(Linear(), MADE.corpus, ("0", "1"), seed=1, folds=folds) for folds in (1, 2))
    targets = np.random.default_rng(1).dirichlet(np.ones(2), size=MADE.corpus.n_units)
    losses = [one.fit_epoch(MADE.corpus, targets) for one in (plain, fitted)]

    assert losses[0] == losses[1]
    np.testing.assert_array_equal(fitted.predict_proba(MADE.test), plain.predict_proba(MADE.test))
    assert not np.allclose(fitted.predict_proba(MADE.corpus), plain.predict_proba(MADE.corpus))


def test_an_item_is_in_one_fold_with_all_its_tokens() -> None:
    corpus = sentences(["a", "b", "c", "d", "e"], [["x"] * n for n in (3, 1, 0, 4, 2)])

    fold = fold_of_units(corpus, 2, seed=4)

    offsets = np.asarray(corpus.offsets)
    assert all(len(set(fold[begin:end])) <= 1 for begin, end in pairwise(offsets))
    assert sorted(np.bincount(fold_of_units(documents(list(range(11))), 3, seed=0)).tolist()) == [3, 4, 4]


def test_a_training_goes_on_where_it_was_with_every_fold() -> None:
    method = LogicLNCL(folds=2, limits=LIMITS)
    whole = method.fit(MADE.corpus, MADE.labels)
    checkpoint = MemoryCheckpoint()
    replace(method, limits=replace(LIMITS, epochs=1)).fit(MADE.corpus, MADE.labels, checkpoint=checkpoint)

    resumed = method.fit(MADE.corpus, MADE.labels, checkpoint=checkpoint)

    np.testing.assert_array_equal(resumed.epoch.p, whole.epoch.p)
    np.testing.assert_array_equal(resumed.epoch.q_f, whole.epoch.q_f)
    np.testing.assert_array_equal(resumed.predict(MADE.test), whole.predict(MADE.test))


def test_a_run_keeps_the_one_that_answers(tmp_path: Path) -> None:
    learned = LogicLNCL(folds=2, limits=LIMITS).fit(MADE.corpus, MADE.labels, save=tmp_path / "run")

    run = load_run(tmp_path / "run")

    assert not isinstance(run.learned.classifier, CrossFitted)
    assert not any("fold" in name for name in run.learned.classifier.arrays() if not name.startswith(PROGRESS))
    np.testing.assert_allclose(run.learned.predict(MADE.test), learned.predict(MADE.test), rtol=1e-12)
    np.testing.assert_array_equal(run.learned.epoch.p, learned.epoch.p)
