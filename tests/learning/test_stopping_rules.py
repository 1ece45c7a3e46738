"""Stopping rules by name."""

from __future__ import annotations

from typing import Any

import pytest

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import FixedEpochs, HeldOutLikelihood, TrainingLimits
from crowdlogic.learning.task import Task, prepare_task
from crowdlogic.registry import STOPPING_RULES

MADE = simulate_sentiment(0, items=60, annotators=6, test_items=20)


def test_a_dev_set_is_only_scored_if_held_out_labels_decide() -> None:
    limits = TrainingLimits(epochs=3, stopping="held-out")

    task = prepare_task(MADE.corpus, MADE.labels, dev=MADE.test, limits=limits)

    assert isinstance(task.stopping_rule(limits, ConfusionMatrices()), HeldOutLikelihood)
    assert task.dev is None
    assert list(task.watched) == ["dev"]
    assert task.training_labels.n_labels < task.labels.n_labels


def test_nothing_is_held_out_for_a_fixed_number_of_epochs() -> None:
    limits = TrainingLimits(epochs=3, stopping="fixed")

    learned = LogicLNCL(limits=limits).fit(MADE.corpus, MADE.labels)

    assert prepare_task(MADE.corpus, MADE.labels, limits=limits).held_labels is None
    assert [row.epoch for row in learned.history] == [1, 2, 3]


def test_a_rule_without_what_it_needs_is_refused() -> None:
    limits = TrainingLimits(stopping="dev")

    with pytest.raises(OptionError, match="needs a dev set with gold"):
        LogicLNCL(limits=limits).fit(MADE.corpus, MADE.labels)
    with pytest.raises(OptionError, match=r"needs held-out labels\. Set held_out"):
        LogicLNCL(limits=TrainingLimits(stopping="held-out", held_out=None)).fit(MADE.corpus, MADE.labels)


def test_an_unknown_rule_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(OptionError, match=r"'devv'.*Did you mean 'dev'.*held-out"):
        TrainingLimits(stopping="devv")


class SecondEpoch(FixedEpochs):
    """Run two epochs, whatever the limits say."""

    @classmethod
    def for_task(cls, task: Task, limits: TrainingLimits, model: Any) -> SecondEpoch:
        return cls(2)


def test_a_rule_of_another_package_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STOPPING_RULES._places, "second", f"{__name__}:SecondEpoch")
    monkeypatch.setattr(STOPPING_RULES, "load", lambda _: SecondEpoch)

    learned = LogicLNCL(limits=TrainingLimits(epochs=9, held_out=None, stopping="second")).fit(MADE.corpus, MADE.labels)

    assert len(learned.history) == 2
