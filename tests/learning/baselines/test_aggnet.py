"""AggNet is Algorithm 1 without rules."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.annotators.one_coin import Coin
from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.baselines import AggNet, Raykar
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.majority import MajorityVote

MADE = simulate_sentiment(4, items=50, annotators=6, test_items=20)
OPTIONS = {
    "annotators": Coin(),
    "start": MajorityVote(ties="first"),
    "limits": TrainingLimits(epochs=3, seed=2),
}


def test_it_is_algorithm_1_without_rules_under_its_own_name() -> None:
    learned = AggNet(Linear(steps=2), **OPTIONS).fit(MADE.corpus, MADE.labels)

    whole = LogicLNCL(Linear(steps=2), **OPTIONS).fit(MADE.corpus, MADE.labels)
    np.testing.assert_array_equal(learned.epoch.q_f, whole.epoch.q_f)
    np.testing.assert_array_equal(learned.predict(MADE.test), whole.predict(MADE.test))
    assert len(learned.refit_history) == len(whole.refit_history)
    assert learned.estimate.method == "aggnet"


def test_with_the_linear_classifier_it_is_raykars_method() -> None:
    one, other = (method(limits=TrainingLimits(epochs=3)).fit(MADE.corpus, MADE.labels) for method in (AggNet, Raykar))

    np.testing.assert_array_equal(one.epoch.q_f, other.epoch.q_f)
    assert other.estimate.method == "raykar"


def test_rules_are_refused() -> None:
    rules = parse_rules("1.0: include contrast('but')")

    for method in (AggNet(), Raykar()):
        with pytest.raises(OptionError) as refused:
            method.fit(MADE.corpus, MADE.labels, rules=rules)
        assert str(refused.value) == f"{method.name} does not support rules. Use logic-lncl, or leave the rules out."


def test_an_empty_set_of_rules_is_none() -> None:
    method = AggNet(ClassPrior(), limits=TrainingLimits(epochs=1, held_out=None))

    assert method.fit(MADE.corpus, MADE.labels, rules=parse_rules("")).teacher.is_idle
