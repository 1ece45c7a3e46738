"""Signs that an estimate should not be relied on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdlogic.confidence.expected_accuracy import warning_signs
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import state_confidence


def test_one_class_everywhere_is_a_collapse_where_the_votes_have_others() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=60, annotators=6, classes=2).labels
    estimate = state_confidence(labels, DawidSkene().infer(labels))

    collapsed = replace(estimate, answer=np.zeros_like(estimate.answer), confusion=None)

    won = labels.votes()[:, 1] > labels.votes()[:, 0]
    tied = labels.votes()[:, 1] == labels.votes()[:, 0]
    share = won.mean() + tied.mean() / 2
    assert list(warning_signs(labels, collapsed)) == [
        f"dawid-skene has collapsed: its answer is 'class_0' everywhere, while most votes are for 'class_1' on {100 * share:.0f}% of the items. Use another method."
    ]
    few = labels.take_items(np.arange(10))
    assert (
        list(warning_signs(few, replace(DawidSkene().infer(few), answer=np.zeros(10, np.int32), confusion=None))) == []
    )


def test_annotators_who_are_read_backwards_are_said_where_they_are_many() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=60, annotators=6, classes=2).labels
    estimate = DawidSkene().infer(labels)
    turned = np.asarray(estimate.confusion).copy()
    turned[:] = [[0.9, 0.1], [0.1, 0.9]]
    turned[:4] = [[0.1, 0.9], [0.9, 0.1]]
    given = labels.labels_per_annotator()

    said = list(warning_signs(labels, replace(estimate, confusion=turned)))

    share = given[:4].sum() / given.sum()
    assert said == [
        f"dawid-skene inverts {100 * share:.0f}% of the labels, as if their annotators (4 of 6) were wrong on "
        f"purpose. Compare --methods all."
    ]
