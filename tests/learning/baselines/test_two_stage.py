from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.learning.baselines import FixedTruth, Gold, TwoStage
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.majority import MajorityVote

BUT = parse_rules("1.0: include contrast('but')")


@pytest.mark.parametrize("hard", [True, False])
def test_the_classifier_learns_what_the_truth_method_says(hard: bool) -> None:
    made = simulate_sentiment(0, items=150, annotators=8)
    truth = DawidSkene()

    learned = TwoStage(truth, hard=hard, limits=TrainingLimits(epochs=3, held_out=None)).fit(made.corpus, made.labels)

    said = truth.infer(made.labels)
    by_hand = Linear().build(made.corpus, made.labels.classes, seed=0)
    targets = np.eye(2)[said.answer] if hard else said.beliefs
    for _ in range(3):
        by_hand.fit_epoch(made.corpus, targets)
    np.testing.assert_allclose(learned.epoch.p, by_hand.predict_proba(made.corpus), rtol=1e-6)
    np.testing.assert_array_equal(learned.estimate.answer, said.answer)


def test_gold_learns_the_gold_whatever_the_crowd_says() -> None:
    made = simulate_sentiment(0, items=400, test_items=300, annotators=8)
    test = made.test.with_classes(made.labels.classes)

    right = {
        name: (method.fit(made.corpus, made.labels).predict(test).argmax(axis=1) == test.gold).mean()
        for name, method in (
            ("gold", Gold(limits=TrainingLimits(epochs=10))),
            ("vote", TwoStage(MajorityVote(), limits=TrainingLimits(epochs=10, held_out=None))),
        )
    }

    assert right["gold"] > right["vote"]


def test_gold_without_gold_is_refused() -> None:
    made = simulate_sentiment(0, items=30, annotators=8)
    corpus = type(made.corpus)(made.corpus.items, texts=made.corpus.texts)

    with pytest.raises(CorpusError, match=r"The items have no gold to train on. Add gold, or choose another method."):
        Gold().fit(corpus, made.labels)


def test_rules_correct_predictions_only() -> None:
    made = simulate_sentiment(0, items=200, test_items=100, annotators=8)
    method = TwoStage(limits=TrainingLimits(epochs=3, held_out=None))

    with_rules, without = (method.fit(made.corpus, made.labels, rules=rules) for rules in (BUT, None))

    np.testing.assert_array_equal(with_rules.epoch.p, without.epoch.p)
    np.testing.assert_array_equal(with_rules.predict(made.test, student=True), without.predict(made.test))
    assert np.abs(with_rules.predict(made.test) - without.predict(made.test)).max() > 0.01


def test_tags_of_any_set_can_be_learnt() -> None:
    made = simulate_ner(0, items=100, test_items=60)

    learned = TwoStage(DawidSkene(), limits=TrainingLimits(epochs=5)).fit(made.corpus, made.labels, dev=made.test)

    assert learned.history[-1].scores["dev student"] > 0.5


def test_held_out_labels_are_in_the_answers() -> None:
    made = simulate_sentiment(0, items=60, annotators=8)

    learned = TwoStage(DawidSkene(), limits=TrainingLimits(epochs=2, held_out=HeldOut(refit=False))).fit(
        made.corpus, made.labels
    )

    assert learned.task.held_labels is not None
    np.testing.assert_array_equal(learned.epoch.q_f, DawidSkene().infer(made.labels).beliefs)


def test_items_that_nobody_labelled_are_answered_by_the_classifier() -> None:
    made = simulate_sentiment(0, items=60, annotators=8)

    learned = TwoStage(limits=TrainingLimits(epochs=2)).fit(
        made.corpus, made.labels.take(made.labels.unit >= 5), dev=made.test
    )

    np.testing.assert_array_equal(learned.epoch.q_f[:5], learned.epoch.p[:5])


def test_where_gold_is_unknown_nothing_is_made_up() -> None:
    made = simulate_sentiment(0, items=90, annotators=8)
    gold = np.array(made.corpus.gold)
    gold[::3] = -1
    known = gold >= 0

    learned = Gold(limits=TrainingLimits(epochs=2)).fit(replace(made.corpus, gold=gold), made.labels)

    np.testing.assert_array_equal(learned.epoch.q_f[~known], learned.epoch.p[~known])
    model, judged = ConfusionMatrices(), made.labels.take(known[made.labels.unit])
    exact = model.m_step(model.observe(judged), np.eye(2)[gold]).confusion
    np.testing.assert_allclose(learned.estimate.confusion, exact, rtol=1e-12)


def test_gold_holds_no_labels_out() -> None:
    made = simulate_sentiment(0, items=60, annotators=8)
    method = Gold(limits=TrainingLimits(epochs=2))

    learned = method.fit(made.corpus, made.labels)

    assert method.limits.held_out is None
    assert (learned.task.held_labels, learned.refit_history, len(learned.history)) == (None, (), 2)


@pytest.mark.parametrize("method", [TwoStage, Gold])
def test_no_epochs_at_all_are_refused(method: type) -> None:
    with pytest.raises(OptionError, match=r"epochs and patience must be at least 1, got 0 and 5."):
        method(limits=TrainingLimits(epochs=0))


def test_the_truth_method_may_be_given_by_its_name() -> None:
    assert TwoStage(truth="dawid-skene").truth == DawidSkene()  # type: ignore[arg-type]
    assert TwoStage(truth="dawid-skene").name == "dawid-skene + linear"  # type: ignore[arg-type]
    assert FixedTruth(truth="majority").truth == MajorityVote()  # type: ignore[arg-type]
