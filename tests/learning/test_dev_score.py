"""Stopping by a dev score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import DEV_STUDENT, DevScore, TrainingLimits
from crowdlogic.learning.task import score

ANY_EPOCH: Any = None


def judge(rule: DevScore, *scores: float) -> list[tuple[float, bool]]:
    return [rule.judge(ANY_EPOCH, {DEV_STUDENT: one, "inference": 1.0}) for one in scores]


def test_the_first_epoch_with_the_best_score_is_kept() -> None:
    found = judge(DevScore(30, 5), 0.5, 0.7, 0.7, 0.6, 0.71)

    assert found == [(0.5, True), (0.7, True), (0.7, False), (0.6, False), (0.71, True)]


def test_a_score_of_0_can_be_the_best() -> None:
    assert judge(DevScore(30, 5), 0.0, 0.0) == [(0.0, True), (0.0, False)]


def test_it_goes_on_with_the_best_score_so_far() -> None:
    whole, resumed = DevScore(30, 5), DevScore(30, 5)
    judge(whole, 0.5, 0.7, 0.6)

    resumed.restore(whole.arrays(), kept=0.7, done=3)

    assert judge(resumed, 0.7, 0.8) == judge(whole, 0.7, 0.8) == [(0.7, False), (0.8, True)]


def test_the_epoch_with_the_best_dev_score_answers() -> None:
    made = simulate_sentiment(4, items=150, test_items=100, annotators=6)

    learned = LogicLNCL(limits=TrainingLimits(epochs=8, patience=8)).fit(made.corpus, made.labels, dev=made.test)

    scores = [row.scores["dev student"] for row in learned.history]
    assert learned.chosen == int(np.argmax(scores)) + 1
    assert [row.stopping for row in learned.history] == scores
    dev = made.test.with_classes(made.labels.classes)
    assert score(dev, learned.predict(dev, student=True)) == pytest.approx(max(scores))
    assert learned.refit_history == ()
    assert learned.final is learned.history[learned.chosen - 1]


def test_patience_stops_a_fit_that_gets_no_better() -> None:
    made = simulate_sentiment(4, items=150, test_items=100, annotators=6)

    learned = LogicLNCL(limits=TrainingLimits(epochs=30, patience=2)).fit(made.corpus, made.labels, dev=made.test)

    assert len(learned.history) == min(learned.chosen + 2, 30)
    assert len(learned.history) < 30
