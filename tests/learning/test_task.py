"""What a fit is given, made ready."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import CorpusError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import DevScore, FixedEpochs, HeldOut, HeldOutLikelihood, TrainingLimits
from crowdlogic.learning.task import annotator_weights, prepare_task

ALL = TrainingLimits(held_out=None)
CORPUS = documents(["a", "b", "c"], ["one", "two", "three"])
MADE = simulate_sentiment(0, items=40, annotators=6, test_items=10)


def test_an_item_counts_by_its_annotators_over_the_mean() -> None:
    labels = from_arrays(["a", "a", "a", "b"], ["x", "y", "z", "x"], [0, 1, 0, 1])

    task = prepare_task(CORPUS, labels, limits=ALL)

    assert annotator_weights(task).tolist() == [1.5, 0.5, 0.0]
    assert task.unit_weights.tolist() == [1, 1, 0]


def test_labels_of_weight_0_are_left_out() -> None:
    labels = from_arrays(["a", "a", "a", "b"], ["x", "y", "z", "x"], [0, 1, 0, 1])

    task = prepare_task(CORPUS, replace(labels, weight=np.array([1.0, 0.0, 2.0, 0.0])), limits=ALL)

    assert task.labels.n_labels == 2
    assert task.unit_weights.tolist() == [1, 0, 0]


def test_nothing_to_learn_from_is_said() -> None:
    corpus = documents(["a", "b"], ["one", "two"])
    one = from_arrays(["a", "b"], ["x", "x"], ["yes", "yes"])
    two = from_arrays(["a", "b"], ["x", "x"], ["yes", "no"])

    for labels, options, message in (
        (one, {}, "There is nothing to learn: all labels are 'yes'. Supply labels of at least two classes."),
        (two, {"dev": corpus}, "The dev items have no gold. Add gold, or leave them out."),
        (two, {"watched": {"test": corpus}}, "The test items have no gold. Add gold, or leave them out."),
        (
            replace(two, weight=np.zeros(2)),
            {},
            "There are no labels to learn from. Supply a table of item, annotator, label.",
        ),
        (
            two,
            {"dev": sentences(["s"], [["one"]])},
            "The dev items and the training items must both be documents or both be sequences.",
        ),
    ):
        with pytest.raises(CorpusError) as refused:
            LogicLNCL(limits=ALL).fit(corpus, labels, **options)
        assert str(refused.value) == message


def test_a_chosen_order_of_classes_is_kept_when_gold_has_more() -> None:
    labels = MADE.labels.with_classes(("positive", "negative"))
    gold = np.array(MADE.test.gold)
    gold[0] = 2
    dev = replace(MADE.test, classes=(*MADE.test.classes, "neutral"), gold=gold)

    task = prepare_task(MADE.corpus, labels, dev=dev, limits=ALL)

    assert task.labels.classes == ("positive", "negative", "neutral")
    assert task.corpus.classes == task.dev.classes == task.labels.classes
    learned = LogicLNCL(limits=TrainingLimits(epochs=1)).fit(MADE.corpus, labels, dev=dev)
    assert learned.estimate.classes == ("positive", "negative", "neutral")


def test_labels_are_held_out_where_there_is_no_dev_gold() -> None:
    limits = TrainingLimits(held_out=HeldOut(0.2))

    without, with_dev = (prepare_task(MADE.corpus, MADE.labels, dev=dev, limits=limits) for dev in (None, MADE.test))

    assert without.held_labels is not None
    assert without.training_labels.n_labels + without.held_labels.n_labels == MADE.labels.n_labels
    assert (with_dev.held_labels, with_dev.held_out) == (None, None)
    assert [task.refits for task in (without, with_dev)] == [True, False]


def test_which_labels_are_held_out_hangs_on_the_seed() -> None:
    held = [
        prepare_task(MADE.corpus, MADE.labels, limits=TrainingLimits(held_out=HeldOut(0.2), seed=seed)).held_labels
        for seed in (0, 0, 1)
    ]

    units = [np.unique(one.unit).tolist() for one in held if one is not None]
    assert units[0] == units[1] != units[2]


def test_the_second_pass_has_all_labels() -> None:
    task = prepare_task(MADE.corpus, MADE.labels, limits=TrainingLimits(held_out=HeldOut(0.2, average=3)))

    second = task.with_all_labels()

    assert second.training_labels is second.labels
    assert (second.held_labels, second.held_out, second.refits) == (None, None, False)
    assert (task.min_averaged_epochs, second.min_averaged_epochs) == (3, 1)


def test_dev_gold_stops_before_held_out_labels_and_these_before_a_fixed_number() -> None:
    limits, model = TrainingLimits(epochs=7, patience=3, held_out=HeldOut(0.2, patience=4)), ConfusionMatrices()

    by_dev, by_labels, by_number = (
        prepare_task(MADE.corpus, MADE.labels, dev=dev, limits=some).stopping_rule(some, model)
        for dev, some in ((MADE.test, limits), (None, limits), (None, replace(limits, held_out=None)))
    )

    assert isinstance(by_dev, DevScore)
    assert isinstance(by_labels, HeldOutLikelihood)
    assert isinstance(by_number, FixedEpochs)
    assert [rule.patience for rule in (by_dev, by_labels, by_number)] == [3, 4, 7]
    assert {rule.epochs for rule in (by_dev, by_labels, by_number)} == {7}
