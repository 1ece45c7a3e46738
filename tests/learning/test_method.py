"""Every learning method is options and two ways to fit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib.util import find_spec
from inspect import signature
from typing import Any

import numpy as np
import pytest

from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.method import FitMixin, LearningMethod, TrainingData
from crowdlogic.learning.stopping.protocol import TrainingLimits
from crowdlogic.registry import LEARNING_METHODS
from crowdlogic.rules.parser import parse_rules

MADE = simulate_sentiment(3, items=40, annotators=6, test_items=20)
RULES = parse_rules("1.0: include contrast('but')")


def test_fit_is_learn_with_the_data_as_arguments() -> None:
    method = LogicLNCL(limits=TrainingLimits(epochs=2))
    heard: list[int] = []

    fitted = method.fit(
        MADE.corpus,
        MADE.labels,
        rules=RULES,
        dev=MADE.test,
        watched={"test": MADE.test},
        callback=lambda row, _: heard.append(row.epoch),
    )

    data = TrainingData(corpus=MADE.corpus, labels=MADE.labels, rules=RULES, dev=MADE.test, watched={"test": MADE.test})
    learned = method.learn(data)
    np.testing.assert_array_equal(fitted.epoch.q_f, learned.epoch.q_f)
    assert [row.scores for row in fitted.history] == [row.scores for row in learned.history]
    assert heard == [1, 2]


@pytest.mark.parametrize("name", LEARNING_METHODS)
def test_methods_by_name_are_frozen_options_with_limits(name: str) -> None:
    kind: Any = LEARNING_METHODS.load(name)

    assert is_dataclass(kind)
    assert issubclass(kind, FitMixin)
    assert {"classifier", "limits"} <= {field.name for field in fields(kind)}
    assert signature(kind.learn).parameters.keys() == signature(LearningMethod.learn).parameters.keys()


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: pip install crowdlogic[torch]")
@pytest.mark.parametrize("name", LEARNING_METHODS)
def test_methods_say_their_name(name: str) -> None:
    from crowdlogic.classifiers.mlp import MLP

    kind: Any = LEARNING_METHODS.load(name)
    needs_network = name in ("crowd-layer", "dl-dn", "dl-wdn")

    method = kind(MLP()) if needs_network else kind()

    assert method.name == ("majority + linear" if name == "two-stage" else name)
    with pytest.raises(AttributeError):
        method.limits = TrainingLimits()
