"""Signs that an estimate should not be relied on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.truth.comparison import error_dispersion, warning_signs
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import state_confidence
from crowdlogic.truth.ensemble import Ensemble


def panel(seed: int = 0, *, shades: bool) -> CrowdLabels:
    """Twenty judges who label everything. With shades, items are anything from clearly 0 to clearly 1 to all of them."""
    rng = np.random.default_rng(seed)
    labels = simulate_crowd(rng, units=400, annotators=20, classes=2, labels_per_unit=20, tail=0).labels
    chance = rng.random(400) if shades else rng.choice([0.2, 0.8], size=400)
    return replace(labels, label=(rng.random(labels.n_labels) < chance[labels.unit]).astype(np.int32))


def test_independent_errors_have_a_dispersion_of_1() -> None:
    labels = panel(shades=False)

    assert error_dispersion(labels, DawidSkene().infer(labels)) == pytest.approx(1.0, abs=0.1)


def test_the_dispersion_is_the_variance_of_the_votes_over_that_of_independent_ones() -> None:
    labels = panel(shades=True)
    estimate = DawidSkene().infer(labels)

    observed = chance = 0.0
    for n in range(2):
        rate = np.array(
            [
                [
                    np.mean(labels.label[(labels.annotator == j) & (estimate.answer[labels.unit] == m)] == n)
                    for m in range(2)
                ]
                for j in range(20)
            ]
        )
        for i in range(400):
            rows = labels.unit == i
            expected = rate[labels.annotator[rows], estimate.answer[i]]
            observed += ((labels.label[rows] == n) - expected).sum() ** 2
            chance += (expected * (1 - expected)).sum()

    assert error_dispersion(labels, estimate) == pytest.approx(observed / chance, rel=1e-9)


def test_a_panel_that_errs_together_is_told_apart_from_one_that_does_not() -> None:
    apart = panel(shades=False)
    together = panel(shades=True)

    said = list(warning_signs(together, Ensemble().infer(together)))

    assert list(warning_signs(apart, Ensemble().infer(apart))) == []
    spread = error_dispersion(together, Ensemble().infer(together))
    assert said == [
        f"The labels are far from independent: 20 annotators label nearly every item and err on the same ones "
        f"({spread:.1f} times the spread of independent errors). The confidence cannot be trusted without gold: check 50 "
        f"items at random and give them with --anchors."
    ]


def test_nothing_is_said_where_known_items_have_put_the_confidence_right() -> None:
    together = panel(shades=True)
    estimate = Ensemble().infer(together)
    assert estimate.calibration is not None

    known = replace(estimate, calibration=replace(estimate.calibration, anchors=50))

    assert list(warning_signs(together, known)) == []
    assert list(warning_signs(together, DawidSkene().infer(together))) == []  # it claims no calibrated confidence


def test_one_class_everywhere_is_a_collapse_where_the_votes_have_others() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=60, annotators=6, classes=2).labels
    estimate = state_confidence(labels, DawidSkene().infer(labels))

    collapsed = replace(estimate, answer=np.zeros_like(estimate.answer), confusion=None)

    won = labels.votes()[:, 1] > labels.votes()[:, 0]
    tied = labels.votes()[:, 1] == labels.votes()[:, 0]
    share = won.mean() + tied.mean() / 2
    assert list(warning_signs(labels, collapsed)) == [
        f"dawid-skene has collapsed: it answers 'class_0' everywhere, while most votes are for 'class_1' on {100 * share:.0f}% of the "
        f"items. Take another method."
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
        f"dawid-skene reads {100 * share:.0f}% of the labels backwards, as if their annotators (4 of 6) were wrong on "
        f"purpose. Compare --methods all."
    ]
