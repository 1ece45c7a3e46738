"""Rule weights that held-out labels confirm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.learning.memory_checkpoint import MemoryCheckpoint

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.corpus import Corpus, documents
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import MULTIPLES, LogicLNCL, is_due, learn_factors
from crowdlogic.learning.epoch import Epoch
from crowdlogic.learning.posterior import Teacher
from crowdlogic.learning.stopping import HeldOut, TrainingLimits, held_out_log_likelihood
from crowdlogic.learning.task import prepare_task
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector


def planted(seed: int, items: int = 500) -> tuple[Corpus, CrowdLabels]:
    """Texts in which `sun` always means yes, and `fog` says nothing; two careless annotators an item."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    words = [
        f"{'sun' if t and rng.random() < 0.6 else 'sea'} {'fog' if rng.random() < 0.5 else 'hill'} w{rng.integers(400)}"
        for t in truth
    ]
    right = rng.random((items, 2)) < 0.65
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    unit, names = np.repeat(np.arange(items), 2), np.tile(["a", "b"], items)
    return documents(np.arange(items), words), from_arrays(unit, names, [["no", "yes"][s] for s in said.ravel()])


def test_the_crowd_confirms_a_right_rule_and_switches_off_a_wrong_one() -> None:
    corpus, labels = planted(0)
    rules = parse_rules("1.0: Contains(S, 'sun') -> Label(S, 'yes')\n1.0: Contains(S, 'fog') -> Label(S, 'no')\n")

    learned = LogicLNCL(learn_weights=True, limits=TrainingLimits(epochs=6, patience=6)).fit(
        corpus, labels, rules=rules
    )

    right, wrong = learned.teacher.factors
    assert right >= 1
    assert wrong <= 0.25


def test_without_learning_weights_stay_as_written() -> None:
    corpus, labels = planted(0)
    rules = parse_rules("1.0: Contains(S, 'sun') -> Label(S, 'yes')")

    learned = LogicLNCL(limits=TrainingLimits(epochs=2, held_out=None)).fit(corpus, labels, rules=rules)

    assert learned.teacher.factors is None


def test_factors_multiply_the_weights_of_soft_rules_only() -> None:
    corpus, labels = planted(0)
    rules = parse_rules("0.5: Contains(S, 'sun') -> Label(S, 'yes')\nContains(S, 'fog') -> Label(S, 'no') .")

    ground = ground_rules(rules, corpus, labels.classes).reweight(np.array([3.0, 0.0]))

    assert [rule.rule.weight for rule in ground.rules] == [1.5, None]


def test_weights_are_looked_at_ever_more_rarely() -> None:
    assert [t for t in range(1, 40) if is_due(t)] == [2, 4, 8, 16, 32]


def test_learnt_weights_survive_a_checkpoint() -> None:
    made = simulate_sentiment(0, items=150, annotators=8)
    rules = parse_rules("1.0: include contrast('but')")
    method = LogicLNCL(learn_weights=True, limits=TrainingLimits(epochs=5, patience=5))
    checkpoint = MemoryCheckpoint(stop_after=3)

    whole = method.fit(made.corpus, made.labels, rules=rules)
    with pytest.raises(KeyboardInterrupt):
        method.fit(made.corpus, made.labels, rules=rules, checkpoint=checkpoint)
    resumed = method.fit(made.corpus, made.labels, rules=rules, checkpoint=checkpoint)

    assert whole.teacher.factors is not None
    np.testing.assert_array_equal(resumed.teacher.factors, whole.teacher.factors)
    np.testing.assert_array_equal(resumed.epoch.q_f, whole.epoch.q_f)


def test_a_sweep_takes_for_each_rule_the_multiple_under_which_held_out_labels_are_likeliest() -> None:
    corpus, labels = planted(1, items=120)
    rules = parse_rules("1.0: Contains(S, 'sun') -> Label(S, 'yes')\n1.0: Contains(S, 'fog') -> Label(S, 'no')\n")
    task = prepare_task(corpus, labels, limits=TrainingLimits(held_out=HeldOut(0.5)))
    held, model = task.held_labels, ConfusionMatrices()
    assert held is not None
    teacher, classifier = (
        Teacher(labels.classes, Projector(rules=rules)),
        Linear().build(corpus, labels.classes, seed=0),
    )
    p = classifier.predict_proba(task.corpus)
    annotators = model.m_step(model.observe(task.training_labels), np.eye(2)[task.labels.votes().argmax(axis=1)])
    epoch = Epoch(loss=0.0, k=0.0, p=p, q_a=p, q_b=p, q_f=p, annotators=annotators)

    found = learn_factors(task, teacher, classifier, epoch, np.ones(2), model=model)

    def likelihood(factors: tuple[float, float]) -> float:
        q_b = teacher.reweight(np.array(factors)).project(task.corpus, p, p, classifier)
        return held_out_log_likelihood(held, model.observe(held), annotators, q_b)

    assert MULTIPLES == (0.0, 0.25, 0.5, 1.0, 2.0)
    first = max(MULTIPLES, key=lambda multiple: likelihood((multiple, 1.0)))
    second = max(MULTIPLES, key=lambda multiple: likelihood((first, multiple)))
    assert found.tolist() == [first, second]
    assert found.tolist() != [1.0, 1.0]


def test_without_held_out_labels_factors_stay() -> None:
    corpus, labels = planted(1, items=40)
    task = prepare_task(corpus, labels, limits=TrainingLimits(held_out=None))
    teacher, factors = Teacher(labels.classes, Projector()), np.array([0.5, 2.0])
    anything: Any = None

    assert learn_factors(task, teacher, anything, anything, factors, model=ConfusionMatrices()) is factors
