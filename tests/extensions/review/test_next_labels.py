"""The labels to buy next: spread, by people who can, and worth what they are said to be."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.simulate.crowds import SimulatedCrowd, draw_labels, label_truth, simulate_crowd
from crowdlogic.errors import OptionError
from crowdlogic.extensions.review.next import (
    NO_ANNOTATOR,
    Skills,
    annotator_skills,
    choose_next,
    item_gains,
    joint_gain,
    pick_items,
    spread,
    usable_gains,
)
from crowdlogic.truth.dawid_skene import DawidSkene


def crowd(seed: int = 0, units: int = 600) -> tuple[SimulatedCrowd, Estimate, Skills]:
    drawn = simulate_crowd(np.random.default_rng(seed), units=units, annotators=25, classes=3, labels_per_unit=3)
    estimate = DawidSkene().infer(drawn.labels)
    return drawn, estimate, annotator_skills(drawn.labels, estimate)


def test_nobody_is_asked_twice_for_an_item() -> None:
    drawn, estimate, skills = crowd()
    labels = drawn.labels

    batch = choose_next(labels, estimate, skills, count=400)

    pairs = set(zip(batch.item.tolist(), batch.annotator.tolist(), strict=True))
    before = set(zip(labels.unit.tolist(), labels.annotator.tolist(), strict=True))
    assert len(pairs) == len(batch.item) == 400
    assert (np.diff(batch.gain) <= 0).all()
    assert not pairs & before


def test_nobody_gets_more_than_a_fair_load() -> None:
    drawn, estimate, _ = crowd()
    skills = annotator_skills(drawn.labels, estimate, load=1.5)

    batch = choose_next(drawn.labels, estimate, skills, count=200)

    given = np.bincount(batch.annotator, minlength=25)
    assert (given <= np.ceil(1.5 * skills.activity * 200) + 1).all()


def test_only_those_who_are_available_are_asked() -> None:
    drawn, estimate, _ = crowd()
    skills = annotator_skills(drawn.labels, estimate, available=np.arange(25) < 3, load=100.0)

    batch = choose_next(drawn.labels, estimate, skills, count=50)

    assert set(batch.annotator.tolist()) <= {0, 1, 2}


def test_an_item_comes_again_only_if_it_gains_more_than_any_other() -> None:
    gains = np.array([[0.5, 0.4, 0.1], [0.3, 0.2, 0.0], [0.45, 0.05, 0.0]])
    free = np.arange(3) < np.array([1, 3, 3])[:, None]

    assert pick_items(gains, 4).tolist() == [0, 2, 0, 1]
    assert pick_items(np.where(free, gains, NO_ANNOTATOR), 4).tolist() == [0, 2, 1, 1]
    assert len(pick_items(np.where(free, gains, NO_ANNOTATOR), 10)) == 7


def test_a_joint_gain_is_that_of_every_outcome() -> None:
    _, _, skills = crowd()
    q = np.array([0.5, 0.3, 0.2])
    people = np.array([4, 7])
    expected = -0.5
    for first, second in product(range(3), repeat=2):
        expected += max(q[k] * skills.confusion[4, k, first] * skills.confusion[7, k, second] for k in range(3))

    assert joint_gain(q, 3, skills, people) == pytest.approx(expected)


def test_who_says_more_is_asked_more() -> None:
    drawn, estimate, skills = crowd()

    batch = choose_next(drawn.labels, estimate, skills, count=300)

    asked = np.bincount(batch.annotator, minlength=25) > 0
    assert skills.information[asked].mean() > skills.information[~asked].mean()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_gain_comes_true_within_a_third(seed: int) -> None:
    drawn, estimate, skills = crowd(seed, units=4000)
    labels, rng = drawn.labels, np.random.default_rng(100 + seed)

    batch = choose_next(labels, estimate, skills, count=1500)
    given = draw_labels(rng, drawn.truth, drawn.confusion, unit=batch.item, annotator=batch.annotator)
    more = replace(
        labels,
        unit=np.concatenate([labels.unit, batch.item]),
        annotator=np.concatenate([labels.annotator, batch.annotator]),
        label=np.concatenate([labels.label, given]),
    )
    removed = (estimate.answer != drawn.truth).sum() - (DawidSkene().infer(more).answer != drawn.truth).sum()

    assert removed > 100
    assert batch.total == pytest.approx(removed, rel=1 / 3)


def test_a_sentence_gains_over_all_its_tokens() -> None:
    offsets, truth = np.array([0, 2, 3]), np.array([0, 1, 0], dtype=np.int32)
    labels = label_truth(np.random.default_rng(0), truth, 2, annotators=4, offsets=offsets, labels_per_unit=2).labels
    estimate = DawidSkene().infer(labels)
    skills = annotator_skills(labels, estimate)

    gains = item_gains(labels, estimate, skills)

    single = item_gains(
        replace(labels, offsets=None, items=labels.items.sample(3, with_replacement=True)), estimate, skills
    )
    np.testing.assert_allclose(gains, [single[0] + single[1], single[2]])
    assert set(choose_next(labels, estimate, skills, count=3).item.tolist()) <= {0, 1}


def test_no_labels_are_refused() -> None:
    drawn, estimate, skills = crowd()

    with pytest.raises(OptionError) as caught:
        choose_next(drawn.labels, estimate, skills, count=0)

    assert str(caught.value) == "The number of labels must be at least 1, got 0."


def test_nobody_available_is_refused() -> None:
    drawn, estimate, _ = crowd()
    skills = annotator_skills(drawn.labels, estimate, available=np.zeros(25, dtype=bool))

    with pytest.raises(OptionError) as caught:
        choose_next(drawn.labels, estimate, skills, count=5)

    assert str(caught.value) == "No annotator is available. Name at least one who has already given labels."


def test_labels_that_nobody_can_give_are_in_no_plan() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=30, annotators=4, classes=2, labels_per_unit=4).labels
    estimate = DawidSkene().infer(labels)
    skills = annotator_skills(labels, estimate)

    gains = usable_gains(labels, estimate, skills)

    free = 4 - labels.labels_per_unit()
    assert ((gains == NO_ANNOTATOR) == (np.arange(gains.shape[1]) >= free[:, None])).all()
    assert len(choose_next(labels, estimate, skills, count=500).item) <= free.sum()


def test_a_batch_is_spread_over_items_before_it_comes_back_to_one() -> None:
    gains = np.array([[0.5, 0.5, 0.5], [0.3, 0.1, 0.0], [0.2, 0.1, NO_ANNOTATOR]])

    assert spread(gains).tolist() == [[0.5, 0.25, 0.125], [0.3, 0.05, 0.0], [0.2, 0.05, 0.25 * NO_ANNOTATOR]]
    assert pick_items(spread(gains), 4).tolist() == [0, 1, 0, 2]
