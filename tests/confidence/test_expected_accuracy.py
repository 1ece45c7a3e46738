"""How many answers should be right, with an interval."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.confidence.expected_accuracy import accuracy_range, describe_mistakes, expected_accuracy
from crowdlogic.data.estimate import Calibration, Estimate
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.errors import OptionError
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.pool import Ensemble

CALIBRATION = Calibration(
    source="eleven public data sets", correlation=0.5, doubt=0.02, fewest_wrong=20.0, most_wrong=120.0
)


def estimate(seed: int = 0) -> Estimate:
    return Ensemble().infer(simulate_crowd(np.random.default_rng(seed), units=300, annotators=12).labels)


def test_the_range_is_that_of_the_wrong_answers_and_includes_the_mean() -> None:
    found = accuracy_range(0.9, n=400, calibration=CALIBRATION)
    surer = accuracy_range(0.97, n=400, calibration=CALIBRATION)

    assert (found.low, found.high) == (pytest.approx(1 - 120 / 400), pytest.approx(1 - 20 / 400))
    assert found.mistakes == (20, 120)
    assert (surer.low, surer.high) == (pytest.approx(0.7), pytest.approx(0.97))


def test_the_mean_is_that_of_the_answers_in_doubt() -> None:
    one = estimate()
    known = one.beliefs.copy()
    known[:10] = np.eye(3)[one.answer[:10]]

    found = expected_accuracy(replace(one, beliefs=known))

    assert found is not None
    assert found.n == 290
    assert found.mean == pytest.approx(one.confidence[10:].mean())


def test_the_ends_are_independent_and_shared_errors() -> None:
    """With one label an item both ends are the same posterior; with more, the shared end has more mistakes."""
    single, several = (
        simulate_crowd(np.random.default_rng(1), units=2000, annotators=12, labels_per_unit=n).labels for n in (1, 5)
    )

    widths = []
    for labels in (single, several):
        scale = infer_calibrated(DawidSkene(), labels).calibration
        assert scale is not None
        assert scale.most_wrong is not None
        assert scale.fewest_wrong is not None
        widths.append((scale.most_wrong - scale.fewest_wrong) / labels.n_units)

    assert widths[0] < 0.1 < widths[1]


def test_the_number_of_wrong_answers_is_withheld_where_the_labels_show_shared_mistakes() -> None:
    unknown = replace(CALIBRATION, fewest_wrong=None, most_wrong=None, unknown="pairs of annotators agree too much")

    found = accuracy_range(0.9, n=400, calibration=unknown)

    assert not found.is_known
    assert describe_mistakes(found) == (
        "The number of wrong answers cannot be estimated from these labels alone: pairs of annotators agree too much. "
        "Label 100 items at random and give them with --anchors to know it within 10 points."
    )


def test_the_methods_own_posterior_is_refused_with_the_remedy() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=50, annotators=5).labels

    with pytest.raises(
        OptionError, match=r"\(dawid-skene\) is not calibrated.*crowdlogic\.aggregate\(labels, method\)"
    ):
        expected_accuracy(DawidSkene().infer(labels))


def test_the_sentence_says_how_many_and_by_what() -> None:
    found = accuracy_range(0.93, n=1000, calibration=CALIBRATION)

    assert describe_mistakes(found) == (
        "About 70 of 1,000 labels are likely wrong: 20 if annotators err independently, 120 if they share their "
        "mistakes. Label 100 items at random and give them with --anchors to know it within 10 points."
    )
    checked = accuracy_range(0.93, n=1000, calibration=replace(CALIBRATION, checked=40))
    assert describe_mistakes(checked, "tag") == (
        "About 70 of 1,000 tags are likely wrong (95% interval: 20 to 120), judging by 40 items labelled at random."
    )


def test_it_shows_itself_on_one_line_and_takes_the_outcome_of_a_training() -> None:
    labels = from_arrays(["u", "u", "v", "v"], list("abab"), list("xxyx"))
    estimate = infer_calibrated(MajorityVote(), labels)

    found = expected_accuracy(SimpleNamespace(estimate=estimate))  # type: ignore[arg-type]

    assert found == expected_accuracy(estimate)
    assert repr(found).startswith("ExpectedAccuracy(0.")
    assert len(repr(found)) < 90
