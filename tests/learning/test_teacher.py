"""The teacher: eq. 15 on training items and new ones, over rules that are grounded once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Classifier
from crowdlogic.data.corpus import documents
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.posterior import REMEMBERED, Teacher
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector

CLASSES = ("no", "yes")
TEXTS = documents(["a", "b"], ["sun and sea", "fog"])
RULES = parse_rules("0.5: Contains(S, 'sun') -> Label(S, 'yes')\n1: Contains(S, 'fog') -> Label(S, 'no')")
Q = np.array([[0.6, 0.4], [0.3, 0.7]])


def teacher_of(**options: Any) -> Teacher:
    return Teacher(CLASSES, Projector(rules=RULES, strength=2.0, **options))


def student() -> Classifier:
    return Linear().build(TEXTS, CLASSES, seed=0)


@pytest.fixture
def grounded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of units of every corpus that rules were grounded over."""
    seen: list[int] = []

    def count(rules: Any, corpus: Any, classes: Any, **options: Any) -> Any:
        seen.append(corpus.n_units)
        return ground_rules(rules, corpus, classes, **options)

    monkeypatch.setattr("crowdlogic.rules.grounding.ground_rules", count)
    return seen


def by_hand(q: np.ndarray, sun: float, fog: float) -> np.ndarray:
    """Eq. 15 with C = 2: each item loses exp(-C w) where it breaks its rule."""
    q_b = q * np.array([[np.exp(-2.0 * sun), 1.0], [1.0, np.exp(-2.0 * fog)]])
    return np.asarray(q_b / q_b.sum(axis=1, keepdims=True))


def test_beliefs_are_corrected_by_equation_15() -> None:
    found = teacher_of().project(TEXTS, Q, Q, student())

    np.testing.assert_allclose(found, by_hand(Q, 0.5, 1.0), rtol=1e-12)


def test_new_items_are_answered_with_the_classifier_in_place_of_q_a() -> None:
    classifier, teacher = student(), teacher_of()
    p = classifier.predict_proba(TEXTS)

    np.testing.assert_allclose(teacher.predict(TEXTS, classifier), by_hand(p, 0.5, 1.0), rtol=1e-12)
    np.testing.assert_allclose(teacher.predict(TEXTS, classifier, Q), by_hand(Q, 0.5, 1.0), rtol=1e-12)


def test_learnt_factors_multiply_the_weights() -> None:
    teacher = teacher_of()

    other = teacher.reweight(np.array([2.0, 0.0]))

    np.testing.assert_allclose(other.project(TEXTS, Q, Q, student()), by_hand(Q, 1.0, 0.0), rtol=1e-12)
    assert other.factors is not None
    assert other.factors.tolist() == [2.0, 0.0]
    assert teacher.factors is None
    assert teacher.reweight(None) is teacher


def test_without_rules_beliefs_pass_as_they_are() -> None:
    idle = Teacher(CLASSES, Projector())

    assert idle.is_idle
    assert idle.n_rules == 0
    assert idle.project(TEXTS, Q, Q, student()) is Q
    assert not teacher_of().is_idle
    assert teacher_of().n_rules == 2


def test_rules_are_grounded_once_whatever_their_weights_and_strength(grounded: list[int]) -> None:
    teacher, classifier = teacher_of(), student()

    for factors in (None, np.array([1.0, 2.0]), np.array([0.5, 0.0])):
        teacher.reweight(factors).predict(TEXTS, classifier)
    teacher.with_projector(Projector(rules=RULES, strength=9.0)).predict(TEXTS, classifier)

    assert grounded == [2]


def test_only_the_last_few_corpora_are_remembered(grounded: list[int]) -> None:
    teacher = teacher_of()
    corpora = [documents(range(n), ["sun"] * n) for n in range(1, REMEMBERED + 2)]

    for corpus in [*corpora, corpora[-1], corpora[0]]:
        teacher.ground(corpus)

    assert REMEMBERED == 8
    assert grounded == [*range(1, 10), 1]  # the first one was forgotten, the last one was not


@pytest.mark.parametrize("learn_weights", [False, True])
def test_a_fit_of_two_passes_grounds_each_corpus_once(grounded: list[int], learn_weights: bool) -> None:
    made = simulate_sentiment(3, items=60, annotators=8, test_items=20)
    method = LogicLNCL(learn_weights=learn_weights, limits=TrainingLimits(epochs=3, held_out=HeldOut(0.2)))

    learned = method.fit(
        made.corpus, made.labels, rules=parse_rules("1.0: include contrast('but')"), watched={"test": made.test}
    )
    learned.predict(learned.task.watched["test"])

    assert learned.refit_history
    assert sorted(grounded) == [20, 60]
