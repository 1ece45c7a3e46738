"""The queue: the most valuable first, a random sample in between."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import label_truth, simulate_crowd
from crowdlogic.errors import OptionError
from crowdlogic.extensions.review.review_queue import ReviewQueue, make_queue, random_sample, rank_items, sample_order


def crowd(units: int = 50) -> CrowdLabels:
    return simulate_crowd(np.random.default_rng(0), units=units, annotators=4).labels


def queue(labels: CrowdLabels, **options: object) -> ReviewQueue:
    worth = np.linspace(1.0, 0.0, labels.n_units)
    given = {"open_items": np.ones(len(labels.items), dtype=bool), **options}
    return make_queue(worth, labels, **given)  # type: ignore[arg-type]


def test_every_open_item_comes_once_and_one_in_ten_at_random() -> None:
    labels = crowd()
    still_open = np.arange(50) % 5 > 0

    found = queue(labels, open_items=still_open)

    assert sorted(found.items.tolist()) == np.flatnonzero(still_open).tolist()
    assert found.at_random.sum() == 4
    assert np.flatnonzero(found.at_random).tolist() == [9, 19, 29, 39]


def test_what_was_not_drawn_at_random_is_the_most_valuable() -> None:
    found = queue(crowd())

    chosen = found.items[~found.at_random]

    assert (np.diff(chosen) > 0).all()
    assert found.items[0] == 0


def test_the_share_is_kept_over_short_queues() -> None:
    labels = crowd()

    drawn = [bool(queue(labels, answered=at, length=1).at_random[0]) for at in range(40)]

    assert sum(drawn) == 4
    assert not queue(labels, random_share=0.0).at_random.any()
    assert queue(labels, random_share=1.0).at_random.all()


def test_random_items_do_not_depend_on_what_deciding_is_worth() -> None:
    """Whatever the queue has taken, the sample is the beginning of one permutation."""
    labels = crowd()
    seen, order = np.zeros(50, dtype=bool), sample_order(50, 3)
    at_random = np.zeros(50, dtype=bool)
    for at in range(30):
        found = queue(labels, open_items=~seen, answered=at, length=1, seed=3, random_share=0.2)
        seen[found.items] = True
        at_random[found.items] = found.at_random

    sample = random_sample(at_random, 3)

    assert at_random.sum() == 6
    assert len(sample) >= 6
    assert sample.tolist() == order[: len(sample)].tolist()
    assert seen[sample].all()
    assert at_random[sample[-1]]


def test_the_share_right_in_the_sample_is_unbiased_although_the_queue_takes_wrong_ones_first() -> None:
    labels = crowd(400)
    wrong = np.random.default_rng(1).random(400) < 0.3
    shares = []
    for seed in range(150):
        found = make_queue(
            wrong + 0.0, labels, open_items=np.ones(400, dtype=bool), seed=seed, random_share=0.5, length=100
        )
        at_random = np.zeros(400, dtype=bool)
        at_random[found.items[found.at_random]] = True
        shares.append(wrong[random_sample(at_random, seed)].mean())

    assert np.mean(shares) == pytest.approx(wrong.mean(), abs=0.02)


def test_a_sentence_is_worth_the_sum_of_its_tokens() -> None:
    offsets = np.array([0, 2, 3, 6])
    labels = label_truth(np.random.default_rng(0), np.zeros(6, dtype=np.int32), 2, annotators=3, offsets=offsets).labels

    assert rank_items(np.array([0.3, 0.3, 0.5, 0.3, 0.3, 0.3]), labels).tolist() == [2, 0, 1]


def test_a_share_that_is_none_is_refused() -> None:
    message = "The share of items drawn at random must be between 0 and 1, got 1.5."

    with pytest.raises(OptionError) as caught:
        queue(crowd(), random_share=1.5)

    assert str(caught.value) == message
