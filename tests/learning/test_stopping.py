from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.stopping import SHARPNESS, HeldOut, held_out_likelihood


@pytest.mark.parametrize("apart", ["items", "annotations"])
def test_every_label_is_learnt_or_kept_apart(apart: str) -> None:
    labels = simulate_ner(0, items=60, annotators=8).labels

    learnt, held = HeldOut(0.2, apart).split(labels, seed=1)

    def rows(part) -> set:
        return set(zip(part.unit.tolist(), part.annotator.tolist(), strict=True))

    assert rows(learnt) | rows(held) == rows(labels)
    assert not rows(learnt) & rows(held)
    assert abs(len(rows(held)) / len(rows(labels)) - 0.2) < 0.1


def test_annotations_are_kept_apart_whole() -> None:
    labels = simulate_ner(0, items=60, annotators=8).labels

    learnt, held = HeldOut(0.2, "annotations").split(labels, seed=1)

    def pairs(part) -> set:
        return set(zip(part.item_of_unit[part.unit].tolist(), part.annotator.tolist(), strict=True))

    assert not pairs(learnt) & pairs(held)


def test_items_are_kept_apart_whole() -> None:
    labels = simulate_ner(0, items=60, annotators=8).labels

    learnt, held = HeldOut(0.2, "items").split(labels, seed=1)

    assert not set(learnt.item_of_unit[learnt.unit].tolist()) & set(held.item_of_unit[held.unit].tolist())


def test_the_likelihood_of_held_out_labels_by_hand() -> None:
    labels = from_arrays(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1])
    confusion = np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4], [0.2, 0.8]]])
    view = np.array([[0.25, 0.75], [0.5, 0.5]])

    found = held_out_likelihood(labels, confusion, view)

    def by_hand(power: float) -> float:
        first, second = view**power / (view**power).sum(axis=1, keepdims=True)
        item_a = first[0] * 0.9 * 0.4 + first[1] * 0.3 * 0.8
        item_b = second[0] * 0.1 + second[1] * 0.7
        return (np.log(item_a) + np.log(item_b)) / 3

    assert found == pytest.approx(max(by_hand(power) for power in SHARPNESS))
    assert found > by_hand(1.0)  # here the labels speak against the view, so less of it is more


def test_overconfidence_alone_does_not_count_against_a_view() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=600)
    said = np.where(rng.random(600) < 0.8, truth, 1 - truth)
    labels = from_arrays(np.arange(600), ["x"] * 600, said)
    confusion = np.array([[[0.8, 0.2], [0.2, 0.8]]])
    lean = np.where(rng.random(600) < 0.8, truth, 1 - truth)
    modest, loud, wrong = (np.where(np.eye(2)[lean] > 0, sure, 1 - sure) for sure in (0.8, 0.9999, 0.2))

    scores = [held_out_likelihood(labels, confusion, view) for view in (modest, loud, wrong)]

    assert scores[1] == pytest.approx(scores[0], abs=0.003)
    assert scores[2] < scores[0] - 0.01


def test_final_answers_look_at_all_labels() -> None:
    made = simulate_sentiment(0, items=200, annotators=8)

    learned = LogicLNCL(epochs=4).fit(made.corpus, made.labels)

    held = learned.task.held
    assert held is not None
    assert held.n_labels > 0
    kept = np.unique(held.unit)
    # an item kept apart had only the classifier's view while learning; its answer now has its labels in it, too
    assert (np.abs(learned.epoch.q_a[kept] - learned.epoch.p[kept]).max(axis=1) > 1e-6).all()
    assert learned.estimate.annotators.to_list() == made.labels.annotators.to_list()


def test_stopping_without_gold_takes_the_epoch_that_foretells_best() -> None:
    made = simulate_sentiment(1, items=300, annotators=8)

    learned = LogicLNCL(epochs=6, patience=6).fit(made.corpus, made.labels)

    scores = [row.stopping for row in learned.history]
    assert learned.chosen == int(np.argmax(scores)) + 1
    assert all(score < 0 for score in scores)


def test_too_few_labels_to_keep_any_apart_is_said() -> None:
    labels = from_arrays(["a", "b"], ["x", "x"], [0, 1])

    with pytest.raises(
        OptionError,
        match=r"2 labels are too few to keep 10% apart. Give a dev set with gold, or run all epochs \(held_out = none\).",
    ):
        HeldOut().split(labels, seed=0)


@pytest.mark.parametrize(("share", "apart"), [(0.0, "items"), (1.0, "items"), (0.1, "rows")])
def test_senseless_options_are_refused(share: float, apart: str) -> None:
    with pytest.raises(OptionError, match="held-out"):
        HeldOut(share, apart)
