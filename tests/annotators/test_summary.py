"""What is said of each annotator."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta
from tests.truth.planted import planted

from crowdlogic.annotators.summary import annotator_table, spam_scores
from crowdlogic.data.frames import from_arrays, from_frame, from_matrix
from crowdlogic.errors import DataError, OptionError
from crowdlogic.numerics.intervals import credible_interval
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.methods import needs_sequences, truth_method


def test_reliability_is_the_expected_share_of_right_labels() -> None:
    crowd = planted(0, units=400, annotators=9, right=0.8, given=1.0)
    table = annotator_table(crowd.labels, DawidSkene().infer(crowd.labels))
    right = crowd.labels.label == crowd.truth[crowd.labels.unit]
    share = np.bincount(crowd.labels.annotator, weights=right) / 400

    np.testing.assert_allclose(table["reliability"], share, rtol=0, atol=0.02)
    assert ((table["reliability_low"] < share) & (table["reliability_high"] > share)).all()


def test_credible_intervals_are_those_of_the_beta_posterior() -> None:
    low, high = credible_interval(np.array([8.0, 0.0]), np.array([10.0, 0.0]), 0.9)

    np.testing.assert_allclose(low, beta.ppf(0.05, [8.5, 0.5], [2.5, 0.5]), rtol=1e-9)
    np.testing.assert_allclose(high, beta.ppf(0.95, [8.5, 0.5], [2.5, 0.5]), rtol=1e-9)


def test_intervals_hold_the_planted_accuracy_about_as_often_as_they_say() -> None:
    held = []
    for seed in range(12):
        crowd = planted(seed, units=150, annotators=12, right=0.75, given=1.0)
        table = annotator_table(crowd.labels, DawidSkene().infer(crowd.labels), level=0.8)
        diagonal = np.diagonal(crowd.confusion, axis1=1, axis2=2)
        true = diagonal[:, crowd.truth].mean(axis=1)
        held += ((table["reliability_low"] < true) & (table["reliability_high"] > true)).to_list()

    assert 0.72 < np.mean(held) < 0.92


@pytest.mark.parametrize(
    ("confusion", "score"),
    [
        (np.eye(3), 1.0),
        (np.eye(3)[[1, 2, 0]], 1.0),
        (np.full((3, 3), 1 / 3), 0.0),
        (np.tile([0.7, 0.2, 0.1], (3, 1)), 0.0),
    ],
    ids=["perfect", "permuted", "uniform", "biased"],
)
def test_spam_scores_of_the_extremes(confusion: np.ndarray, score: float) -> None:
    np.testing.assert_allclose(spam_scores(confusion[None]), [score], rtol=0, atol=1e-12)


def test_the_binary_spam_score_is_the_squared_youden_index() -> None:
    confusion = np.array([[0.9, 0.1], [0.25, 0.75]])

    np.testing.assert_allclose(spam_scores(confusion[None]), [(0.9 + 0.75 - 1) ** 2], rtol=1e-12)


def test_a_spammer_stands_out_and_a_mix_up_is_named() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=600)
    given = np.stack([np.where(rng.random(600) < 0.9, truth, rng.integers(3, size=600)) for _ in range(5)], axis=1)
    given[:, 3] = rng.integers(3, size=600)
    given[:, 4] = np.where((truth == 2) & (rng.random(600) < 0.6), 0, truth)
    labels = from_matrix(given, classes=("x", "y", "z"))

    table = annotator_table(labels, DawidSkene().infer(labels))

    assert table["spam_score"].arg_min() == 3
    assert table["spam_score"][3] < 0.05
    assert (table["confused_truth"][4], table["confused_label"][4]) == ("z", "x")
    expected = np.count_nonzero((truth == 2) & (given[:, 4] == 0))
    np.testing.assert_allclose(table["confused_count"][4], expected, rtol=0.05)


def test_expected_accuracy_does_not_reward_labelling_the_easy_class_only() -> None:
    crowd = planted(1, units=600, annotators=5, classes=2, right=0.7, given=1.0)
    narrow = crowd.labels.take(~((crowd.labels.annotator == 0) & (crowd.truth[crowd.labels.unit] == 1)))

    table = annotator_table(narrow, DawidSkene().infer(narrow))

    assert table["labels"][0] < 600
    assert table["expected_accuracy"][0] < table["reliability"][0]


def test_the_table_has_counts_and_the_methods_own_weight() -> None:
    labels = from_arrays(["u", "u", "v"], ["a", "b", "a"], ["x", "x", "y"])

    for name in TRUTH_METHODS:
        method = truth_method(name)
        if needs_sequences(name):
            continue
        estimate = method.infer(labels)
        table = annotator_table(labels, estimate)

        assert table["annotator"].to_list() == ["a", "b"]
        assert table["labels"].to_list() == [2, 1]
        assert table["items"].to_list() == [2, 1]
        assert (table["weight"].null_count() == 0) == (estimate.reliability is not None)


def test_an_annotator_without_labels_has_an_open_interval() -> None:
    labels = from_arrays(["u", "v", "w"], ["a", "b", "c"], ["x", "x", None])

    row = annotator_table(labels, DawidSkene().infer(labels)).row(2, named=True)

    assert row["labels"] == 0
    assert row["reliability"] == 0.5
    assert row["reliability_high"] - row["reliability_low"] > 0.99
    assert row["confused_truth"] is None


def test_a_level_or_an_estimate_that_does_not_fit_is_refused() -> None:
    labels = planted(0).labels
    estimate = DawidSkene().infer(labels)

    with pytest.raises(OptionError, match=r"level must lie between 0 and 1, not at 1.0"):
        annotator_table(labels, estimate, level=1.0)
    with pytest.raises(DataError, match="The estimate is not of these labels"):
        annotator_table(replace(labels, items=labels.items.extend_constant(99, 1)), estimate)


def test_a_frame_and_the_outcome_of_a_training_go_straight_in() -> None:
    frame = pl.DataFrame({"item": ["u", "u", "v", "v"], "annotator": list("abab"), "label": list("xxyx")})
    estimate = DawidSkene().infer(from_frame(frame))

    expected = annotator_table(from_frame(frame), estimate)

    assert annotator_table(frame, SimpleNamespace(estimate=estimate)).equals(expected)  # type: ignore[arg-type]
