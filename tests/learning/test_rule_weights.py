from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.rule_weights import is_time
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules


def planted(seed: int):
    """Texts in which `sun` always means yes, and `fog` says nothing; two careless annotators an item."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=500)
    words = [
        f"{'sun' if t and rng.random() < 0.6 else 'sea'} {'fog' if rng.random() < 0.5 else 'hill'} w{rng.integers(400)}"
        for t in truth
    ]
    right = rng.random((500, 2)) < 0.65
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    items = np.repeat(np.arange(500), 2)
    names = np.tile(["a", "b"], 500)
    return documents(np.arange(500), words), from_arrays(items, names, [["no", "yes"][s] for s in said.ravel()])


def test_the_crowd_confirms_a_right_rule_and_switches_off_a_wrong_one() -> None:
    corpus, labels = planted(0)
    rules = parse_rules("1.0: Contains(S, 'sun') -> Label(S, 'yes')\n1.0: Contains(S, 'fog') -> Label(S, 'no')\n")

    learned = LogicLNCL(epochs=6, patience=6, learn_weights=True).fit(corpus, labels, rules=rules)

    right, wrong = learned.teacher.factors
    assert right >= 1
    assert wrong <= 0.25


def test_without_learning_weights_stay_as_written() -> None:
    corpus, labels = planted(0)
    rules = parse_rules("1.0: Contains(S, 'sun') -> Label(S, 'yes')")

    learned = LogicLNCL(epochs=2, held_out=None).fit(corpus, labels, rules=rules)

    assert learned.teacher.factors is None


def test_factors_multiply_the_weights_of_soft_rules_only() -> None:
    corpus, labels = planted(0)
    rules = parse_rules("0.5: Contains(S, 'sun') -> Label(S, 'yes')\nContains(S, 'fog') -> Label(S, 'no') .")

    ground = ground_rules(rules, corpus, labels.classes).reweighted(np.array([3.0, 0.0]))

    assert [rule.rule.weight for rule in ground.rules] == [1.5, None]


def test_weights_are_looked_at_ever_more_rarely() -> None:
    assert [t for t in range(1, 40) if is_time(t)] == [2, 4, 8, 16, 32]


@pytest.mark.parametrize("seed", [0, 1])
def test_learnt_weights_survive_a_checkpoint(seed: int) -> None:
    made = simulate_sentiment(seed, items=150, annotators=8)
    rules = parse_rules("1.0: include contrast('but')")
    method = LogicLNCL(epochs=5, patience=5, learn_weights=True)

    class Kept:
        saved = None
        stops = True

        def save(self, last, best, note) -> None:
            self.saved = (dict(last), dict(best), dict(note))
            if self.stops and len(note["history"]) == 3:
                raise KeyboardInterrupt

        def load(self):
            return self.saved

        def second(self) -> None:
            return None  # the second pass need not be kept here

    keeper = Kept()
    whole = method.fit(made.corpus, made.labels, rules=rules)
    with pytest.raises(KeyboardInterrupt):
        method.fit(made.corpus, made.labels, rules=rules, keeper=keeper)
    keeper.stops = False
    resumed = method.fit(made.corpus, made.labels, rules=rules, keeper=keeper)

    np.testing.assert_array_equal(resumed.teacher.factors, whole.teacher.factors)
    np.testing.assert_array_equal(resumed.epoch.q_f, whole.epoch.q_f)
