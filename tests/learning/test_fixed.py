"""A fixed number of epochs."""

from __future__ import annotations

from typing import Any

from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import FixedEpochs, TrainingLimits

ANY_EPOCH: Any = None


def test_every_epoch_is_kept_until_the_next() -> None:
    rule = FixedEpochs(3)

    assert [rule.judge(ANY_EPOCH, {}) for _ in range(3)] == [(0.0, True), (1.0, True), (2.0, True)]
    assert (rule.epochs, rule.patience) == (3, 3)


def test_it_goes_on_counting() -> None:
    rule = FixedEpochs(5)

    rule.restore(rule.arrays(), kept=2.0, done=3)

    assert rule.judge(ANY_EPOCH, {}) == (3.0, True)


def test_the_last_epoch_answers() -> None:
    made = simulate_sentiment(4, items=60, annotators=6)

    learned = LogicLNCL(limits=TrainingLimits(epochs=4, patience=1, held_out=None)).fit(made.corpus, made.labels)

    assert (learned.chosen, len(learned.history)) == (4, 4)
    assert [row.stopping for row in learned.history] == [0, 1, 2, 3]
    assert learned.final is learned.history[-1]
