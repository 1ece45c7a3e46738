"""One pass or two: the second pass, averaged weights, and resuming."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.learning.memory_checkpoint import MemoryCheckpoint
from tests.learning.planted_likelihoods import plant_likelihoods

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.linear import LinearClassifier
from crowdlogic.classifiers.protocol import averageable_weights
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import DataError, OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.baselines import AggNet, Raykar, TwoStage
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.posterior import Teacher, crowd_posterior
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.learning.task import prepare_task, score
from crowdlogic.learning.training import Epoch, HistoryRow, TrainingPass
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.truth.dawid_skene import DawidSkene

MADE = simulate_sentiment(3, items=120, annotators=8, test_items=60)
BUT = parse_rules("1.0: include contrast('but')")
METHODS: dict[str, Any] = {
    "logic-lncl": LogicLNCL(loss="annotators", limits=TrainingLimits(epochs=6)),
    "aggnet": AggNet(limits=TrainingLimits(epochs=6, seed=4)),
    "raykar": Raykar(limits=TrainingLimits(epochs=5, held_out=HeldOut(0.2, "annotations"))),
    "two stages": TwoStage(limits=TrainingLimits(epochs=5)),
    "two hard stages": TwoStage(DawidSkene(), hard=True, limits=TrainingLimits(epochs=4)),
}


def with_limits(method: Any, **limits: Any) -> Any:
    return replace(method, limits=replace(method.limits, **limits))


def averaging(method: Any, **held_out: Any) -> HeldOut:
    return replace(method.limits.held_out, **held_out)


def rules_for(method: Any) -> Any:
    return None if isinstance(method, AggNet | Raykar) else BUT


@pytest.mark.parametrize("name", METHODS)
def test_the_second_pass_is_a_fit_of_so_many_epochs_on_all_labels(name: str) -> None:
    method = with_limits(METHODS[name], held_out=averaging(METHODS[name], average=1))
    rules, watched = rules_for(method), {"test": MADE.test}

    learned = method.fit(MADE.corpus, MADE.labels, rules=rules, watched=watched)
    plain = with_limits(method, held_out=None, epochs=learned.chosen).fit(
        MADE.corpus, MADE.labels, rules=rules, watched=watched
    )

    for view in ("p", "q_a", "q_b", "q_f"):
        np.testing.assert_array_equal(getattr(learned.epoch, view), getattr(plain.epoch, view))
    np.testing.assert_array_equal(learned.epoch.annotators.confusion, plain.epoch.annotators.confusion)
    np.testing.assert_array_equal(learned.predict(MADE.test, calibrated=False), plain.predict(MADE.test))
    for one, other in zip(learned.refit_history, plain.history, strict=True):
        assert repr(replace(one, seconds=0, refit=False)) == repr(replace(other, seconds=0))
    assert learned.final is learned.refit_history[-1]
    assert all(row.refit for row in learned.refit_history)
    assert not any(row.refit for row in learned.history)
    assert all(row.stopping < 0 for row in learned.history)
    assert learned.history[0].loss != learned.refit_history[0].loss  # the first pass did without some of the labels


@pytest.mark.parametrize("name", METHODS)
def test_the_answer_is_the_mean_of_the_weights_from_the_best_epoch_on(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    method = with_limits(METHODS[name], epochs=8, held_out=averaging(METHODS[name], patience=2, average=3))
    rules = rules_for(method)
    plant_likelihoods(monkeypatch, [-3.0, -2.0, -1.0, -2.0, -2.0])

    learned = method.fit(MADE.corpus, MADE.labels, rules=rules, watched={"test": MADE.test})

    def plain(epochs: int) -> Learned:
        found: Learned = with_limits(method, held_out=None, epochs=epochs).fit(MADE.corpus, MADE.labels, rules=rules)
        return found

    weights = [plain(epochs).classifier.arrays() for epochs in (3, 4, 5)]
    found = learned.classifier.arrays()
    assert averageable_weights(found)
    for part in averageable_weights(found):
        np.testing.assert_allclose(found[part], np.mean([one[part] for one in weights], axis=0), rtol=1e-6, atol=1e-12)
    assert (learned.chosen, learned.averaged_from, len(learned.history), len(learned.refit_history)) == (3, 3, 5, 5)
    np.testing.assert_array_equal(learned.epoch.p, learned.classifier.predict_proba(learned.task.corpus))
    assert learned.final.scores["test student"] == score(MADE.test, learned.predict(MADE.test, student=True))
    assert learned.final.scores["test teacher" if rules else "test student"] == score(
        MADE.test, learned.predict(MADE.test)
    )


@pytest.mark.parametrize(
    ("curve", "least", "averaged_from", "length"),
    [
        ([-3, -1, -1, -1, -1, -1], 2, 2, 6),  # a plateau is averaged to its end
        ([-3, -1, -2, -2, -2, -2], 3, 2, 4),  # and so many epochs, at least, where there is none
        ([-6, -5, -4, -3, -2, -1], 4, None, 6),  # but none beyond the last that is allowed
        ([-6, -5, -4, -3, -1, -1], 4, 5, 6),
        ([-3, -1, -1, -2, -2, -2], 1, None, 3),  # one epoch is no average
    ],
)
def test_which_epochs_are_averaged(
    monkeypatch: pytest.MonkeyPatch, curve: list[float], least: int, averaged_from: int | None, length: int
) -> None:
    plant_likelihoods(monkeypatch, curve)

    learned = AggNet(limits=TrainingLimits(epochs=6, held_out=HeldOut(patience=6, average=least))).fit(
        MADE.corpus, MADE.labels
    )

    assert (learned.averaged_from, len(learned.refit_history)) == (averaged_from, length)


def test_what_cannot_be_averaged_is_learnt_for_the_epochs_that_were_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_likelihoods(monkeypatch, [-3, -1, -1, -2, -2, -2])

    learned = AggNet(ClassPrior(), limits=TrainingLimits(epochs=6)).fit(MADE.corpus, MADE.labels)

    assert (learned.averaged_from, learned.chosen, len(learned.refit_history)) == (None, 3, 3)


def test_what_is_believed_with_the_mean_is_the_next_round_without_its_learning() -> None:
    method, model = METHODS["logic-lncl"], ConfusionMatrices()

    learned = method.fit(MADE.corpus, MADE.labels, rules=BUT)

    assert learned.averaged_from is not None
    last = with_limits(method, held_out=None, epochs=len(learned.refit_history)).fit(
        MADE.corpus, MADE.labels, rules=BUT
    )
    k, p, crowd = last.epoch.k, learned.epoch.p, model.observe(last.task.labels)
    annotators = model.m_step(crowd, last.epoch.q_f)
    q_a, _ = crowd_posterior(p, annotators, crowd)
    q_b = learned.teacher.project(learned.task.corpus, q_a, p, learned.classifier)
    np.testing.assert_allclose(learned.epoch.annotators.confusion, annotators.confusion)
    np.testing.assert_allclose(learned.epoch.q_a, q_a)
    np.testing.assert_allclose(learned.epoch.q_f, (1 - k) * q_a + k * q_b)


def test_tags_are_learnt_again_with_the_transitions_of_all_labels() -> None:
    made = simulate_ner(3, items=60, annotators=6, test_items=20)
    method = LogicLNCL(
        projector=Projector(transitions="estimated", preset="transitions"),
        limits=TrainingLimits(epochs=4, held_out=HeldOut(average=1)),
    )

    learned = method.fit(made.corpus, made.labels)
    plain = with_limits(method, held_out=None, epochs=learned.chosen).fit(made.corpus, made.labels)

    np.testing.assert_array_equal(learned.epoch.q_f, plain.epoch.q_f)
    np.testing.assert_array_equal(learned.predict(made.test, calibrated=False), plain.predict(made.test))


def test_weights_of_rules_that_the_first_pass_learnt_are_those_of_the_second() -> None:
    made = simulate_sentiment(5, items=150, annotators=8)
    rules = parse_rules("1: Contains(S, 'the') -> Label(S, 'positive')\n1: include contrast('but')")
    method = LogicLNCL(learn_weights=True, limits=TrainingLimits(epochs=5))

    first = with_limits(method, held_out=HeldOut(refit=False)).fit(made.corpus, made.labels, rules=rules)
    learned = method.fit(made.corpus, made.labels, rules=rules)

    assert first.teacher.factors is not None
    assert (first.teacher.factors != 1).any()
    np.testing.assert_array_equal(learned.teacher.factors, first.teacher.factors)
    assert learned.chosen == first.chosen
    assert learned.task.training_labels.n_labels == made.labels.n_labels
    assert (learned.epoch.q_f != first.epoch.q_f).any()


def test_with_dev_gold_there_is_one_pass() -> None:
    learned = LogicLNCL(limits=TrainingLimits(epochs=3)).fit(MADE.corpus, MADE.labels, dev=MADE.test)

    assert learned.refit_history == ()
    assert learned.final is learned.history[learned.chosen - 1]


@pytest.mark.parametrize("with_dev", [True, False])
def test_a_fit_that_is_resumed_ends_where_an_uninterrupted_one_does(with_dev: bool) -> None:
    made = simulate_sentiment(6, items=80, annotators=6, test_items=50)
    method, dev = LogicLNCL(limits=TrainingLimits(epochs=6, patience=6)), made.test if with_dev else None
    checkpoint = MemoryCheckpoint(stop_after=3)

    whole = method.fit(made.corpus, made.labels, rules=BUT, dev=dev)
    with pytest.raises(KeyboardInterrupt):
        method.fit(made.corpus, made.labels, rules=BUT, dev=dev, checkpoint=checkpoint)
    heard: list[int] = []
    resumed = method.fit(
        made.corpus,
        made.labels,
        rules=BUT,
        dev=dev,
        checkpoint=checkpoint,
        callback=lambda row, _: None if row.refit else heard.append(row.epoch),
    )

    np.testing.assert_array_equal(resumed.epoch.q_f, whole.epoch.q_f)
    for one, other in ((resumed.history, whole.history), (resumed.refit_history, whole.refit_history)):
        assert [replace(row, seconds=0) for row in one] == [replace(row, seconds=0) for row in other]
    assert resumed.chosen == whole.chosen
    assert heard == list(range(4, len(whole.history) + 1))  # what was done is not done again


def test_the_callback_hears_of_every_epoch_and_of_how_many_there_may_be() -> None:
    heard: list[tuple[HistoryRow, int]] = []

    learned = AggNet(limits=TrainingLimits(epochs=4, held_out=HeldOut(average=1))).fit(
        MADE.corpus, MADE.labels, callback=lambda row, most: heard.append((row, most))
    )

    assert [row for row, _ in heard] == [*learned.history, *learned.refit_history]
    assert {most for row, most in heard if not row.refit} == {4}
    assert {most for row, most in heard if row.refit} == {learned.chosen}


def test_a_row_says_how_many_answers_changed_and_how_good_they_are() -> None:
    task = prepare_task(MADE.corpus, MADE.labels, limits=TrainingLimits(epochs=2, held_out=None))
    model = ConfusionMatrices()
    training = TrainingPass(task, TrainingLimits(epochs=2, held_out=None), checkpoint=None, callback=None)
    gold = np.eye(2)[np.asarray(task.corpus.gold)]
    training.begin(
        classifier=ClassPrior().build(task.corpus, task.labels.classes, seed=0),
        teacher=Teacher(task.labels.classes, Projector()),
        model=model,
        targets=gold,
    )
    turned = gold.copy()
    turned[:30] = gold[:30, ::-1]

    numbers = []
    for t in training.epochs():
        numbers.append(t)
        annotators = model.m_step(model.observe(task.training_labels), turned)
        training.record(
            Epoch(loss=1.0 / t, k=0.5, p=gold, q_a=gold, q_b=gold, q_f=turned, annotators=annotators, objective=-t)
        )

    assert numbers == [1, 2]
    assert [row.change for row in training.history] == [0.25, 0.0]
    assert [row.scores for row in training.history] == [{"inference": 0.75}] * 2
    assert [(row.loss, row.k, row.objective, row.kept) for row in training.history] == [
        (1.0, 0.5, -1, True),
        (0.5, 0.5, -2, True),
    ]
    assert training.outcome.loss == 0.5


def test_a_pass_without_an_epoch_has_no_outcome() -> None:
    limits = TrainingLimits(held_out=None)
    training = TrainingPass(
        prepare_task(MADE.corpus, MADE.labels, limits=limits), limits, checkpoint=None, callback=None
    )

    with pytest.raises(OptionError, match=r"^No epoch was run\.$"):
        _ = training.outcome


def test_a_classifier_without_a_learning_rate_is_not_told_to_lower_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LinearClassifier, "fit_epoch", lambda *_: float("nan"))

    with pytest.raises(DataError) as refused:
        LogicLNCL(limits=TrainingLimits(epochs=1)).fit(MADE.corpus, MADE.labels)

    assert str(refused.value) == (
        "Epoch 1 diverged: its loss or its beliefs are not finite. Look for extreme values among the features."
    )
