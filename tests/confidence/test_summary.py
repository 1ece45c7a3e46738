"""What is said of each annotator."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta
from tests.report.small_crowds import context_of
from tests.truth.planted import planted

from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.data.frames import from_arrays, from_frame, from_matrix
from crowdlogic.data.simulate import simulate_labels
from crowdlogic.errors import DataError, OptionError
from crowdlogic.numerics.logspace import credible_interval
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.reporting.inputs import inputs_from_estimate
from crowdlogic.reporting.pages.annotators import compute_annotators
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


def test_a_spammer_stands_out_and_a_mix_up_is_named() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=600)
    given = np.stack([np.where(rng.random(600) < 0.9, truth, rng.integers(3, size=600)) for _ in range(5)], axis=1)
    given[:, 3] = rng.integers(3, size=600)
    given[:, 4] = np.where((truth == 2) & (rng.random(600) < 0.6), 0, truth)
    labels = from_matrix(given, classes=("x", "y", "z"))

    table = annotator_table(labels, DawidSkene().infer(labels))

    assert table["informativeness"].arg_min() == 3
    assert table["informativeness"][3] < 0.05
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

    with pytest.raises(OptionError, match=r"level must be between 0 and 1, got 1.0"):
        annotator_table(labels, estimate, level=1.0)
    with pytest.raises(DataError, match="The estimate is not of these labels"):
        annotator_table(replace(labels, items=labels.items.extend_constant(99, 1)), estimate)


def test_a_frame_and_the_outcome_of_a_training_go_straight_in() -> None:
    frame = pl.DataFrame({"item": ["u", "u", "v", "v"], "annotator": list("abab"), "label": list("xxyx")})
    estimate = DawidSkene().infer(from_frame(frame))

    expected = annotator_table(from_frame(frame), estimate)

    assert annotator_table(frame, SimpleNamespace(estimate=estimate)).equals(expected)  # type: ignore[arg-type]


def test_every_annotator_has_a_verdict_and_whoever_is_not_ok_a_reason() -> None:
    made = simulate_labels(0, items=400, annotators=20, classes=2)

    table = annotator_table(made.labels, DawidSkene().infer(made.labels))

    assert table.columns[:2] == ["annotator", "verdict"]
    assert table["verdict"].null_count() == 0
    assert table["reason"].is_null().equals(table["verdict"] == "ok")
    planted_characters = dict(made.annotators.select("annotator", "character").iter_rows())
    verdicts = dict(table.select("annotator", "verdict").iter_rows())
    grave = {"adversary", "spammer", "one class"}
    assert {planted_characters[name] for name, verdict in verdicts.items() if verdict in grave} <= {
        "adversary",
        "spammer",
    }
    assert {verdicts[name] for name, who in planted_characters.items() if who == "adversary"} == {"adversary"}
    assert {verdicts[name] for name, who in planted_characters.items() if who == "expert"} == {"ok"}


@pytest.mark.parametrize("method", ["majority", "dawid-skene"])
def test_the_table_and_the_report_say_the_same(method: str) -> None:
    labels = simulate_labels(1, items=300, annotators=15, classes=3).labels
    estimate = truth_method(method).infer(labels)

    table = annotator_table(labels, estimate)

    rows = {row.name: row for row in compute_annotators(context_of(inputs_from_estimate(estimate, labels))).rows}
    for row in table.iter_rows(named=True):
        shown = rows[row["annotator"]]
        assert row["verdict"] == (", ".join(flag.kind for flag in shown.flags) or "ok")
        assert row["reason"] == (" ".join(flag.reason for flag in shown.flags) or None)
        assert row["reliability"] == pytest.approx(shown.reliability.value, abs=1e-6)
    assert set(table["verdict"]) > {"ok"}


def test_a_vote_does_not_speak_for_itself_in_majority_vote() -> None:
    labels = from_arrays(["u", "u", "u", "v"], ["a", "b", "c", "a"], ["x", "x", "y", "y"])

    table = annotator_table(labels, truth_method("majority").infer(labels))

    # a: beside one x and one y on u, and alone on v; c: against two.
    assert table["reliability"].to_list() == pytest.approx([(0.5 + 0.5) / 2, (0.5 + 0.5) / 2, 0.5 / 2])
    assert table["labels"].to_list() == [2, 1, 1]


def test_partial_labels_and_no_labels_have_no_verdict() -> None:
    rows = [("i", "ann", "a", "true"), ("i", "bob", "b", "false"), ("j", "ann", "c", "false")]
    partial = from_frame(pl.DataFrame(rows, schema=["item", "annotator", "label", "negated"], orient="row"))
    absent = from_arrays(["u", "v", "w"], ["a", "b", "c"], ["x", "x", None])

    assert annotator_table(partial, DawidSkene().infer(partial))["verdict"].to_list() == [None, None]
    verdicts = annotator_table(absent, DawidSkene().infer(absent))["verdict"].to_list()
    assert verdicts == ["too few labels", "too few labels", None]


def test_another_level_changes_intervals_and_no_verdict() -> None:
    labels = simulate_labels(0, items=400, annotators=20, classes=2).labels
    estimate = DawidSkene().infer(labels)

    usual, narrow = annotator_table(labels, estimate), annotator_table(labels, estimate, level=0.5)

    assert narrow["verdict"].equals(usual["verdict"])
    assert (narrow["reliability_high"] < usual["reliability_high"]).all()


def test_the_table_and_the_report_name_the_bias_that_the_reason_names() -> None:
    # "tilted" turns half of the few b into a, and a twentieth of the many c into d: these are more, but no bias.
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2, 3], [200, 60, 2000, 200])
    unit, annotator, label = [], [], []
    for j in range(6):
        said = truth.copy()
        if j == 5:
            said[(truth == 1) & (rng.random(len(truth)) < 0.55)] = 0
            said[(truth == 2) & (rng.random(len(truth)) < 0.05)] = 3
        unit.append(np.arange(len(truth)))
        annotator.append(np.full(len(truth), j))
        label.append(said)
    names = ["w0", "w1", "w2", "w3", "w4", "tilted"]
    frame = pl.DataFrame(
        {
            "item": [f"i{i}" for i in np.concatenate(unit)],
            "annotator": [names[j] for j in np.concatenate(annotator)],
            "label": ["abcd"[k] for k in np.concatenate(label)],
        }
    )
    labels = from_frame(frame)
    estimate = DawidSkene().infer(labels)

    row = annotator_table(labels, estimate).filter(pl.col("annotator") == "tilted").row(0, named=True)
    report = compute_annotators(context_of(inputs_from_estimate(estimate, labels, None)))

    (shown,) = [one for one in report.rows if one.name == "tilted"]
    assert row["verdict"] == "biased"
    assert (row["confused_truth"], row["confused_label"]) == ("b", "a")
    assert row["reason"].startswith("tilted favours a: takes b for a in ")
    assert (shown.confusions[0].truth, shown.confusions[0].label) == ("b", "a")
    assert (shown.confusions[1].truth, shown.confusions[1].label) == ("c", "d")
    assert shown.flags[0].reason == row["reason"]
