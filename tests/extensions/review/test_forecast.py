"""The forecast in figures and words."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic import aggregate
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.frames import from_frame
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.extensions.review.next import (
    MIN_GAIN,
    Forecast,
    NextLabels,
    annotator_skills,
    approximate_count,
    choose_next,
    make_forecast,
    usable_gains,
)
from crowdlogic.numerics.arrays import Floats
from crowdlogic.truth.dawid_skene import DawidSkene


def forecast(votes: Floats, gain: Floats) -> Forecast:
    batch = NextLabels(item=np.arange(len(gain)), annotator=np.zeros(len(gain), dtype=np.int64), gain=gain)
    worth = int((votes >= MIN_GAIN).sum())
    return Forecast(
        units=1000, accuracy=0.931, votes=votes, worth_buying=worth, decisions=np.full(1000, 0.4), batch=batch
    )


def test_the_sentences_say_what_to_buy_and_when_to_stop() -> None:
    found = forecast(np.concatenate([np.full(300, 0.03), np.full(2000, 0.002)]), np.full(300, 0.03))

    assert found.sentences() == (
        "300 more labels bring the right answers from about 93.1 to 94.0 %; the 1,000 after that would add 0.2 points.",
        "Stop buying labels: it takes more than 20 labels to remove one mistake.",
        "An expert who decides the 300 most doubtful items would correct about 120 answers, these 300 labels about 9. So "
        "one decision of an expert is worth about 13 labels.",
    )


def test_labels_are_worth_buying_while_twenty_remove_a_mistake() -> None:
    found = forecast(np.concatenate([np.full(1234, 0.1), np.full(500, 0.01)]), np.full(10, 0.1))

    assert found.sentences()[1] == (
        "Stop after about 1,200, with a new plan after each batch: from then on it takes more than 20 labels to remove one "
        "mistake."
    )


def test_the_end_agrees_with_how_many_labels_are_planned() -> None:
    votes = np.concatenate([np.full(5, 0.1), np.full(500, 0.01)])
    rest = "from then on it takes more than 20 labels to remove one mistake."

    assert forecast(votes, np.full(5, 0.1)).sentences()[1] == f"Stop there: {rest}"
    assert forecast(votes, votes[:240]).sentences()[1] == f"Only the first 5 of them are worth it: {rest}"


def test_a_plan_without_labels_says_what_an_expert_would_correct() -> None:
    assert forecast(np.full(1500, 0.01), np.zeros(0)).sentences() == (
        "About 93.1 % of the answers should be right; 1,000 more labels would add 1.0 points.",
        "Stop buying labels: it takes more than 20 labels to remove one mistake.",
        "An expert who decides the 100 most doubtful items would correct about 40 answers.",
    )


def test_votes_that_gain_nothing_leave_gold() -> None:
    assert forecast(np.zeros(10), np.zeros(5)).sentences()[2].endswith("these 5 labels about 0: ask an expert.")


def test_the_curve_goes_through_the_batch_and_on_with_typical_labels() -> None:
    found = forecast(np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.5, 0.4]))

    after = [found.accuracy_after(count) for count in range(5)]

    assert after == pytest.approx([0.931, 0.9315, 0.9319, 0.9321, 0.9322])
    assert after[2] == pytest.approx(found.accuracy_after_batch)


def test_counts_are_rounded_to_two_figures() -> None:
    assert [approximate_count(n) for n in (7, 45, 451, 12_345)] == ["7", "45", "450", "12,000"]


def test_the_forecast_of_labels_agrees_with_the_batch() -> None:
    """The batch goes to whom the labels say most of, so it gains as much as typical annotators, or more."""
    labels = simulate_crowd(np.random.default_rng(0), units=800, annotators=20, classes=3, labels_per_unit=4).labels
    estimate = infer_calibrated(DawidSkene(), labels)
    skills = annotator_skills(labels, estimate)
    batch = choose_next(labels, estimate, skills, count=200)

    found = make_forecast(labels, estimate, skills, batch)

    assert found.accuracy == pytest.approx(estimate.confidence.mean())
    assert 0.8 * found.gain_of_votes(200) < batch.total / 800 < 2 * found.gain_of_votes(200)
    assert (np.diff(found.votes) <= 0).all()
    assert found.worth_buying == (usable_gains(labels, estimate, skills) >= MIN_GAIN).sum() > 0
    assert found.decisions[0] == pytest.approx(1 - estimate.confidence.min())


def test_no_more_labels_are_spoken_of_than_there_can_be() -> None:
    some, none = forecast(np.full(25, 0.1), np.full(10, 0.1)), forecast(np.full(10, 0.1), np.full(10, 0.1))

    assert some.sentences()[0].endswith("; the 15 after that would add 0.2 points.")
    assert none.sentences()[0] == "10 more labels bring the right answers from about 93.1 to 93.2 %."


def test_the_range_holds_what_a_batch_removes_and_its_independent_end_is_within_a_quarter() -> None:
    """With independent errors, the named end comes true; with errors shared by all, hardly anything is gained."""
    promised, removed = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = rng.integers(2, size=1200)
        table = np.where(rng.random((1200, 9)) < rng.uniform(0.65, 0.9, 9), truth[:, None], 1 - truth[:, None])
        given = np.argsort(rng.random(table.shape), axis=1) < 3
        item, who = np.nonzero(given)
        labels = from_frame(pl.DataFrame({"item": item, "annotator": who, "label": table[item, who]}))
        before = aggregate(labels)
        skills = annotator_skills(labels, before)
        batch = choose_next(labels, before, skills, count=300)
        ends = make_forecast(labels, before, skills, batch).ends
        assert ends is not None
        assert ends[1] < ends[0]
        promised.append(ends[0])

        given[labels.items.to_numpy()[batch.item], labels.annotators.to_numpy()[batch.annotator]] = True
        item, who = np.nonzero(given)
        after = aggregate(from_frame(pl.DataFrame({"item": item, "annotator": who, "label": table[item, who]})))
        wrong = [
            sum(int(label != truth[i]) for i, label in zip(one.items.to_list(), one.answer_names(), strict=True))
            for one in (before, after)
        ]
        removed.append(wrong[0] - wrong[1])

    assert 0.75 < sum(promised) / sum(removed) < 1.33
