"""Rules on a truth that another method inferred: against two stages, and against eq. 15 and 9 by hand."""

import numpy as np
import pytest
from tests.learning.planted_likelihoods import plant_likelihoods

from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import CorpusError
from crowdlogic.learning.algorithm import ConstantImitation
from crowdlogic.learning.baselines import FixedTruth, KnownAnswers, TwoStage
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.glad import GLAD

MADE = simulate_sentiment(3, items=120, test_items=40, labels_per_item=4)
RULES = parse_rules("1.0: include contrast('but')")


def test_without_rules_it_is_two_stages():
    two = TwoStage(GLAD(), Linear(), limits=TrainingLimits(epochs=4, held_out=None)).fit(MADE.corpus, MADE.labels)

    fixed = FixedTruth(GLAD(), limits=TrainingLimits(epochs=4, held_out=None)).fit(MADE.corpus, MADE.labels)

    np.testing.assert_array_equal(fixed.epoch.q_f, two.epoch.q_f)
    np.testing.assert_allclose(fixed.classifier.predict_proba(MADE.test), two.classifier.predict_proba(MADE.test))


def test_the_truth_stays_and_the_mixture_moves():
    method = FixedTruth(DawidSkene(), imitation=ConstantImitation(0.3), limits=TrainingLimits(epochs=3, held_out=None))

    learned = method.fit(MADE.corpus, MADE.labels, rules=RULES)

    fixed = DawidSkene().infer(MADE.labels, MADE.corpus).beliefs
    again = learned.teacher.project(MADE.corpus, fixed, learned.epoch.p, learned.classifier)
    np.testing.assert_array_equal(learned.epoch.q_a, fixed)
    np.testing.assert_allclose(learned.epoch.q_b, again, atol=1e-12)
    np.testing.assert_allclose(learned.epoch.q_f, 0.7 * fixed + 0.3 * again, atol=1e-12)
    assert np.abs(learned.epoch.q_b - fixed).max() > 0.05


def test_labels_held_out_to_stop_by_are_learnt_in_the_second_pass():
    method = FixedTruth(DawidSkene(), limits=TrainingLimits(epochs=5, held_out=HeldOut(average=1)))
    chosen = method.fit(MADE.corpus, MADE.labels, rules=RULES)

    whole = FixedTruth(DawidSkene(), limits=TrainingLimits(epochs=chosen.chosen, held_out=None))
    again = whole.fit(MADE.corpus, MADE.labels, rules=RULES)
    np.testing.assert_array_equal(chosen.epoch.q_f, again.epoch.q_f)
    assert len(chosen.refit_history) == chosen.chosen


def test_the_truth_stays_fixed_when_weights_are_averaged(monkeypatch):
    plant_likelihoods(monkeypatch, [-2.0, -1.0, -2.0, -2.0])  # held-out labels are likeliest in the second epoch
    method = FixedTruth(DawidSkene(), limits=TrainingLimits(epochs=4))

    learned = method.fit(MADE.corpus, MADE.labels, rules=RULES)

    assert (learned.averaged_from, len(learned.refit_history)) == (2, 4)
    task = learned.task
    np.testing.assert_array_equal(learned.epoch.q_a, DawidSkene().infer(task.labels, task.corpus).beliefs)
    np.testing.assert_array_equal(learned.epoch.p, learned.classifier.predict_proba(task.corpus))


def test_answers_of_another_fit_serve_as_the_truth():
    first = DawidSkene().infer(MADE.labels, MADE.corpus)
    options = {"limits": TrainingLimits(epochs=3, held_out=None)}

    given = FixedTruth(KnownAnswers(first), **options).fit(MADE.corpus, MADE.labels, rules=RULES)

    inferred = FixedTruth(DawidSkene(), **options).fit(MADE.corpus, MADE.labels, rules=RULES)
    np.testing.assert_array_equal(given.epoch.q_f, inferred.epoch.q_f)


def test_answers_about_other_labels_are_refused():
    answers = KnownAnswers(DawidSkene().infer(MADE.labels, MADE.corpus))
    fewer = MADE.labels.take_items(np.arange(50))

    with pytest.raises(CorpusError, match="120 units, the labels 50"):
        answers.infer(fewer)


def test_the_truth_is_inferred_once_for_every_table_of_labels(monkeypatch):
    fixed = []
    infer = DawidSkene.infer

    def count(self, labels, corpus=None, **options):
        fixed.append(labels.n_labels)
        return infer(self, labels, corpus, **options)

    monkeypatch.setattr(DawidSkene, "infer", count)

    learned = FixedTruth(DawidSkene(), limits=TrainingLimits(epochs=3, held_out=HeldOut(0.2))).fit(
        MADE.corpus, MADE.labels, rules=RULES
    )

    assert len(learned.history) > 1
    assert len(fixed) == 2
    assert fixed[0] < fixed[1] == MADE.labels.n_labels
