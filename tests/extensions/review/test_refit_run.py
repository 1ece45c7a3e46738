"""Further truths after training: they stay certain, the other answers follow, and everything still adds up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.extensions.review.refit_run import known_truths, refit
from crowdlogic.learning.algorithm import ConstantImitation, LogicLNCL
from crowdlogic.learning.baselines import TwoStage
from crowdlogic.learning.explain import explain, is_explicable
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.rules.parser import parse_rules

REVIEWS = simulate_sentiment(3, items=150, annotators=8, labels_per_item=3)
RULES = parse_rules("1: include contrast('but')")
LIMITS = TrainingLimits(epochs=2)


@pytest.fixture(scope="module")
def learned() -> Learned:
    method = LogicLNCL(imitation=ConstantImitation(0.4), limits=LIMITS)
    return method.fit(REVIEWS.corpus, REVIEWS.labels, rules=RULES)


def gold_of(learned: Learned, units: Any) -> Any:
    known = np.full(learned.task.corpus.n_units, UNKNOWN)
    known[units] = learned.task.corpus.gold[units]  # type: ignore[index]
    return known


def test_known_truths_are_certain_and_the_fit_itself_is_not_changed(learned: Learned) -> None:
    before = learned.estimate.beliefs.copy()
    units = np.arange(0, 150, 5)

    after = refit(learned, gold_of(learned, units))

    assert after.estimate.beliefs[units].max(axis=1).tolist() == [1.0] * len(units)
    assert (after.estimate.answer[units] == REVIEWS.corpus.gold[units]).all()
    assert np.array_equal(learned.estimate.beliefs, before)
    assert known_truths(after).tolist() == gold_of(learned, units).tolist()


def test_a_step_is_what_a_slow_loop_over_the_equations_gives(learned: Learned) -> None:
    after = refit(learned, gold_of(learned, np.arange(40)))
    labels, epoch = after.task.labels, after.epoch

    log_q = np.log(epoch.p)
    for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        log_q[i] += np.log(epoch.annotators.confusion[j, :, n])
    q_a = np.exp(log_q - log_q.max(axis=1, keepdims=True))
    q_a /= q_a.sum(axis=1, keepdims=True)

    np.testing.assert_allclose(epoch.q_a[40:], q_a[40:], atol=1e-9)
    np.testing.assert_allclose(epoch.q_f[40:], 0.6 * epoch.q_a[40:] + 0.4 * epoch.q_b[40:], atol=1e-12)


def test_the_evidence_of_the_answers_still_adds_up(learned: Learned) -> None:
    after = refit(learned, gold_of(learned, np.arange(40)))

    for s in (50, 77, 120):
        found = explain(after, after.task.corpus.items[s])
        np.testing.assert_allclose(np.exp2(found.added_up()), after.estimate.beliefs[s : s + 1], atol=1e-6)


def test_what_is_known_corrects_answers_elsewhere() -> None:
    made = simulate_sentiment(11, items=400, annotators=6, labels_per_item=3)
    method = LogicLNCL(limits=TrainingLimits(epochs=1))
    first = method.fit(made.corpus, made.labels)
    rest = np.arange(200, 400)

    after = refit(first, gold_of(first, np.arange(200)))

    gold = first.task.corpus.gold
    assert gold is not None
    right = [int((one.estimate.answer[rest] == gold[rest]).sum()) for one in (first, after)]
    assert right[1] >= right[0]
    assert (after.estimate.answer[rest] != first.estimate.answer[rest]).any()


def test_the_classifier_learns_when_it_is_given_epochs(learned: Learned) -> None:
    arrays = {name: array.copy() for name, array in learned.classifier.arrays().items()}
    known = gold_of(learned, np.arange(60))

    after = refit(learned, known, epochs=2)

    assert not np.array_equal(after.epoch.p, learned.epoch.p)
    assert np.array_equal(refit(learned, known).epoch.p, learned.epoch.p)
    assert all(np.array_equal(array, learned.classifier.arrays()[name]) for name, array in arrays.items())


def test_sentences_are_refitted_by_the_same_steps() -> None:
    made = simulate_ner(3, items=40, annotators=6, labels_per_item=3, test_items=5)
    first = LogicLNCL(limits=LIMITS).fit(made.corpus, made.labels)
    units = np.arange(int(made.corpus.offsets[5]))

    after = refit(first, gold_of(first, units))

    assert (after.estimate.answer[units] == first.task.corpus.gold[units]).all()  # type: ignore[index]
    assert after.estimate.offsets is not None


def test_answers_that_are_no_posterior_keep_all_but_what_is_known() -> None:
    first = TwoStage(limits=LIMITS).fit(REVIEWS.corpus, REVIEWS.labels)
    assert not is_explicable(first)

    after = refit(first, gold_of(first, np.arange(30)))

    assert (after.estimate.answer[:30] == REVIEWS.corpus.gold[:30]).all()
    assert np.array_equal(after.estimate.answer[30:], first.estimate.answer[30:])
    assert (known_truths(first) == UNKNOWN).all()
