from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from crowdlogic.data.simulate import simulate_crowd


def test_activity_is_long_tailed_and_an_exponent_of_zero_is_even() -> None:
    steep, even = (
        np.sort(
            simulate_crowd(np.random.default_rng(3), units=2000, annotators=50, tail=tail).labels.labels_per_annotator()
        )
        for tail in (1.0, 0.0)
    )

    assert steep[-10:].sum() > 0.5 * steep.sum()
    assert steep[:25].sum() < 0.3 * steep.sum()
    assert even[-10:].sum() < 0.25 * even.sum()
    assert even[0] > 0


def test_activity_is_followed_when_an_item_gets_one_label() -> None:
    crowd = simulate_crowd(np.random.default_rng(4), units=50_000, annotators=8, labels_per_unit=1)

    share = crowd.labels.labels_per_annotator() / crowd.labels.n_labels

    keep = 1 - crowd.abstention
    expected = crowd.activity * keep / (crowd.activity * keep).sum()
    np.testing.assert_allclose(share, expected, rtol=0, atol=0.01)


def test_drawing_in_rounds_matches_drawing_one_after_the_other() -> None:
    crowd = simulate_crowd(
        np.random.default_rng(5), units=30_000, annotators=4, labels_per_unit=3, tail=2.0, mix={"expert": 4}
    )
    labels, activity = crowd.labels, crowd.activity
    chosen = np.zeros((30_000, 4), dtype=bool)
    chosen[labels.unit, labels.annotator] = True
    pairs = chosen[chosen.sum(axis=1) == 2]

    found = [(pairs[:, a] & pairs[:, b]).mean() for a in range(4) for b in range(a)]

    expected = [
        activity[a] * activity[b] / (1 - activity[a]) + activity[b] * activity[a] / (1 - activity[b])
        for a in range(4)
        for b in range(a)
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.02)


def test_nobody_labels_an_item_twice() -> None:
    labels = simulate_crowd(np.random.default_rng(6), units=500, annotators=9, labels_per_unit=6, tail=2.5).labels

    pairs = set(zip(labels.unit.tolist(), labels.annotator.tolist(), strict=True))

    assert len(pairs) == labels.n_labels


@pytest.mark.parametrize("mean", [1, 2.5, 7, 9])
def test_labels_per_unit_have_the_mean_asked_for(mean: float) -> None:
    labels = simulate_crowd(
        np.random.default_rng(7), units=4000, annotators=9, labels_per_unit=mean, mix={"ordinary": 9}
    ).labels

    assert labels.labels_per_unit().min() >= 1
    assert labels.labels_per_unit().mean() == pytest.approx(mean, abs=0.1)


def test_times_run_forward_at_the_pace_asked_for() -> None:
    crowd = simulate_crowd(np.random.default_rng(11), units=3000, annotators=5, labels_per_unit=4, pace=12.0)
    labels = crowd.labels
    assert labels.time is not None

    gaps = [np.diff(np.sort(labels.time[labels.annotator == j])) for j in range(5)]

    assert np.concatenate(gaps).mean() == pytest.approx(12.0, rel=0.05)
    assert all((gap > 0).all() for gap in gaps)
    assert simulate_crowd(np.random.default_rng(11)).labels.time is None


def test_everybody_begins_within_two_weeks_of_the_new_year() -> None:
    crowd = simulate_crowd(np.random.default_rng(11), units=3000, annotators=8, labels_per_unit=4, pace=60.0)
    assert crowd.labels.time is not None

    begin = np.array([crowd.labels.time[crowd.labels.annotator == j].min() for j in range(8)])

    day = (begin - datetime(2024, 1, 1, tzinfo=UTC).timestamp()) / 86_400
    assert (day > 0).all()
    assert (day < 14.1).all()
    assert day.max() - day.min() > 3


def test_the_steepest_tail_still_gives_every_item_distinct_annotators() -> None:
    labels = simulate_crowd(
        np.random.default_rng(0), units=300, annotators=60, labels_per_unit=20, tail=10, mix={"expert": 60}
    ).labels

    assert len(set(zip(labels.unit.tolist(), labels.annotator.tolist(), strict=True))) == labels.n_labels
    assert labels.labels_per_unit().mean() == pytest.approx(20, abs=1)
