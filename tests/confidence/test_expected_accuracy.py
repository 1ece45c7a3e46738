"""How many answers should be right, with an interval."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t

from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.confidence.expected_accuracy import accuracy_interval, describe_mistakes, expected_accuracy
from crowdlogic.data.estimate import Calibration, Estimate
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.errors import OptionError
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.ensemble import Ensemble
from crowdlogic.truth.majority import MajorityVote

CALIBRATION = Calibration(source="eleven public data sets", correlation=0.5, doubt=0.02, spread=0.04, sets=11)


def estimate(seed: int = 0) -> Estimate:
    return Ensemble().infer(simulate_crowd(np.random.default_rng(seed), units=300, annotators=12).labels)


def test_the_interval_is_students_around_the_mean_confidence() -> None:
    found = accuracy_interval(0.9, n=400, calibration=CALIBRATION)

    half = t.ppf(0.975, 11) * np.sqrt(0.04**2 + 0.9 * 0.1 / 400)
    assert (found.low, found.high) == (pytest.approx(0.9 - half), pytest.approx(0.9 + half))
    assert found.mistakes == (round(400 * (0.1 - half)), round(400 * (0.1 + half)))


def test_the_mean_is_that_of_the_answers_in_doubt() -> None:
    one = estimate()
    known = one.beliefs.copy()
    known[:10] = np.eye(3)[one.answer[:10]]

    found = expected_accuracy(replace(one, beliefs=known))

    assert found is not None
    assert found.n == 290
    assert found.mean == pytest.approx(one.confidence[10:].mean())


def test_checked_items_narrow_the_interval_as_a_second_measurement_does() -> None:
    found = accuracy_interval(0.8, n=10**9, calibration=CALIBRATION)

    variance = 1 / (1 / 0.04**2 + 50 / (0.8 * 0.2))
    assert found.half_width_after(50) == pytest.approx(t.ppf(0.975, 11) * np.sqrt(variance), rel=1e-6)
    assert found.half_width_after(50) < (found.high - found.low) / 2
    checked = accuracy_interval(0.8, n=10**9, calibration=replace(CALIBRATION, anchors=50))
    assert (checked.high - checked.low) / 2 == pytest.approx(found.half_width_after(50))


def test_the_interval_stays_between_0_and_1() -> None:
    found = accuracy_interval(0.98, n=30, calibration=CALIBRATION)

    assert found.high == 1.0
    assert found.mistakes[0] == 0


def test_the_methods_own_posterior_is_refused_with_the_remedy() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=50, annotators=5).labels

    with pytest.raises(
        OptionError, match=r"\(dawid-skene\) is not calibrated.*crowdlogic\.aggregate\(labels, method\)"
    ):
        expected_accuracy(DawidSkene().infer(labels))


def test_the_sentence_says_how_many_and_by_what() -> None:
    found = accuracy_interval(0.83, n=1000, calibration=CALIBRATION)

    assert describe_mistakes(found) == (
        "About 170 of 1,000 labels are likely wrong (95% interval: 78 to 262), if your annotators made the same mistakes as often as those of eleven public data sets "
        "(fewer if they err independently). To know better, check 30 items at random and give them with --anchors: that "
        "narrows it to about ±80."
    )
    assert describe_mistakes(accuracy_interval(0.9, n=30, calibration=CALIBRATION), "tag") == (
        "About 3 of 30 tags are likely wrong (95% interval: 0 to 7), if your annotators made the same mistakes as often as those of eleven public data sets."
    )
    checked = accuracy_interval(0.83, n=1000, calibration=replace(CALIBRATION, anchors=40))
    assert describe_mistakes(checked) == (
        "About 170 of 1,000 labels are likely wrong (95% interval: 92 to 248), judging by 40 items checked at random; 30 more would narrow this to "
        "about ±71."
    )


def test_it_shows_itself_on_one_line_and_takes_the_outcome_of_a_training() -> None:
    labels = from_arrays(["u", "u", "v", "v"], list("abab"), list("xxyx"))
    estimate = infer_calibrated(MajorityVote(), labels)

    found = expected_accuracy(SimpleNamespace(estimate=estimate))  # type: ignore[arg-type]

    assert found == expected_accuracy(estimate)
    assert repr(found).startswith("ExpectedAccuracy(0.")
    assert len(repr(found)) < 90
