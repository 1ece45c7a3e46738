"""Stopping rules by name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import FixedEpochs, HeldOutLikelihood, SettledAnswers, TrainingLimits
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


def test_the_answers_have_settled_when_fewer_than_one_in_a_thousand_change() -> None:
    def epoch(changed: int) -> Any:
        return SimpleNamespace(q_f=np.eye(2)[np.repeat([1, 0], [changed, 2000 - changed])])

    rule = SettledAnswers(30)
    found = [rule.judge(epoch(changed), {}) for changed in (0, 2, 3)]  # two answers change, then one
    resumed = SettledAnswers(30)
    resumed.restore(rule.arrays(), kept=1.0, done=3)

    assert found == [(0.0, True), (1.0, True), (2.0, False)]
    assert resumed.judge(epoch(3), {}) == (3.0, False)
    assert resumed.judge(epoch(9), {}) == (4.0, True)


def test_labels_of_labelling_functions_are_not_held_out() -> None:
    frame = MADE.labels.to_frame()  # each annotator becomes functions of one class each
    whose = [f"{who} {label}" for who, label in zip(frame["annotator"], frame["label"], strict=True)]
    labels = from_arrays(frame["item"].to_list(), whose, frame["label"].to_list(), classes=MADE.labels.classes)
    named = TrainingLimits(stopping="held-out")

    learned = LogicLNCL().fit(MADE.corpus, labels)

    assert prepare_task(MADE.corpus, labels, limits=TrainingLimits()).held_labels is None
    assert prepare_task(MADE.corpus, labels, limits=named).held_labels is not None
    assert len(learned.history) < TrainingLimits().epochs  # the answers settle long before
    assert learned.chosen == len(learned.history) - 1


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
