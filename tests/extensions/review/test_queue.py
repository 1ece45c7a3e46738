"""What is served, and how many mistakes are left."""

from __future__ import annotations

import numpy as np
from tests.extensions.review.small_reviews import small_material, tagged

from crowdlogic.extensions.review.decision_log import Choice
from crowdlogic.extensions.review.snapshot import QueueFilter, ServingOrder, expected_mistakes


def test_random_ones_are_mixed_in_and_none_where_a_filter_is_on() -> None:
    labels = small_material().labels
    order = ServingOrder(labels=labels, removed=np.array([0.1, 0.4, 0.3, 0.2]), share=0.5, seed=1)
    free = np.array([True, True, True, True])

    assert [one.chosen for one in order.serve(4, free, answered=0)] == [Choice.queue, Choice.random] * 2
    assert order.serve(1, free, answered=0)[0].item == 1
    found = order.serve_filtered(4, np.array([True, False, True, True]))
    assert [(one.item, one.chosen) for one in found] == [(2, "filter"), (3, "filter"), (0, "filter")]


def test_mistakes_of_a_sentence_are_those_of_its_tokens() -> None:
    estimate = tagged()[0].fit.estimate
    assert estimate.offsets is not None

    found = expected_mistakes(estimate)

    by_hand = [(1 - estimate.confidence[a:b]).sum() for a, b in zip(estimate.offsets[:-1], estimate.offsets[1:], strict=True)]  # fmt: skip
    np.testing.assert_allclose(found, by_hand, atol=1e-12)


def test_an_empty_filter_is_the_queue() -> None:
    assert QueueFilter().is_empty
    assert not QueueFilter(search="x").is_empty
