"""Whom to trust: planted characters are found, the good ones are left alone, and rows say what is so."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from tests.report.small_crowds import context_of, estimate_with, inputs_by, small_inputs

from crowdlogic.confidence.annotator_verdicts import ConfusionStatistics, FlagKind, annotator_table
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_crowd, simulate_labels, simulate_ner
from crowdlogic.metrics.spans import count_span_errors
from crowdlogic.reporting.charts import format_percent
from crowdlogic.reporting.findings import TaskKind
from crowdlogic.reporting.inputs import inputs_from_estimate
from crowdlogic.reporting.pages.annotators import (
    AnnotatorFindings,
    AnnotatorRow,
    compute_annotators,
    draw_annotators,
    most_confused,
)
from crowdlogic.truth.methods import truth_method


def found_in(labels: CrowdLabels, *, method: str = "dawid-skene", most: int = 200) -> AnnotatorFindings:
    return compute_annotators(context_of(inputs_by(method, labels), annotators=most))


def by_name(found: AnnotatorFindings) -> dict[str, AnnotatorRow]:
    return {row.name: row for row in found.rows}


@pytest.mark.parametrize(("copies", "said"), [(3, True), (0, False)])
def test_annotators_who_share_mistakes_are_counted_in_votes(copies: int, said: bool) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=400)
    given = [np.where(rng.random(400) < 0.75, truth, 1 - truth) for _ in range(6)]
    given += [np.where(rng.random(400) < 0.03, 1 - given[0], given[0]) for _ in range(copies)]
    rows = [(f"i{i}", f"j{j}", str(one[i])) for j, one in enumerate(given) for i in range(400)]
    labels = from_frame(pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row"))
    inputs = inputs_from_estimate(infer_calibrated(truth_method("pool"), labels), labels)

    sentences = [one.text for one in compute_annotators(context_of(inputs)).findings]

    assert any(f"The {6 + copies} annotators are worth about " in text for text in sentences) is said


def test_who_overlooks_most_spans_is_named_with_the_share() -> None:
    tags = ["B-PER", "O", "B-LOC", "O", "B-PER", "O"]
    readings = {"ann": tags, "bob": tags, "cat": ["B-PER", *["O"] * 5]}
    labels = from_sequences([(f"s{n}", who, given) for n in range(10) for who, given in readings.items()])

    found = found_in(labels)

    assert "1 annotator overlooks more than half of the spans that there are to mark: cat (67%)." in [
        one.text for one in found.findings
    ]


def test_who_misses_and_mistypes_many_spans_has_a_low_reliability_and_a_flag_with_its_reason() -> None:
    outside = ["O"] * 16
    truth = ["B-PER", "I-PER", *outside, "B-LOC", "O"]
    readings = {who: [truth] * 60 for who in ("ann", "bob", "cat", "dan")}
    mistaken = [["O", "O", *truth[2:]], ["B-LOC", "I-LOC", *truth[2:]]]
    mistaken += [[*truth[:-2], "O", "O"], [*truth[:-2], "B-PER", "O"]]
    readings["eve"] = mistaken * 15
    rows = [(f"s{n}", who, tags) for who, given in readings.items() for n, tags in enumerate(given)]

    eve = by_name(found_in(from_sequences(rows)))["eve"]

    assert eve.reliability.value == pytest.approx(2 * 60 / (90 + 120), abs=0.01)
    assert eve.token_reliability is not None
    assert eve.token_reliability > 0.88
    assert [flag.kind for flag in eve.flags] == [FlagKind.careless]
    assert eve.flags[0].reason == (
        "eve often marks spans wrongly: overlooks 25% and mistypes 25% of 120 spans; span F1 57%, where a quarter of "
        "the annotators reach more than 99.9%."
    )


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_characters_are_found_and_the_good_are_left_alone(classes: int, seed: int) -> None:
    made = simulate_labels(seed, items=2000, annotators=40, classes=classes)
    planted = dict(zip(made.annotators["annotator"], made.annotators["character"], strict=True))

    rows = by_name(found_in(made.labels))

    got = Counter((planted[name], row.flags[0].kind if row.flags else None) for name, row in rows.items())
    grave = (FlagKind.adversary, FlagKind.spammer, FlagKind.one_class)
    assert sum(n for (who, kind), n in got.items() if who in ("expert", "ordinary") and kind in grave) == 0
    assert sum(n for (who, kind), n in got.items() if who == "expert" and kind is not None) == 0
    assert sum(n for (who, kind), n in got.items() if who == "ordinary" and kind is not None) <= 2
    assert sum(n for (who, kind), n in got.items() if who == "adversary" and kind is FlagKind.adversary) == 2
    # Four spammers and five biased ones: who gave few labels may escape.
    assert sum(n for (who, kind), n in got.items() if who == "spammer" and kind in grave) >= 3
    assert sum(n for (who, kind), n in got.items() if who == "biased" and kind is not None) >= 3


def test_planted_drift_is_found_and_no_other() -> None:
    fading = simulate_crowd(
        np.random.default_rng(0), units=1200, annotators=12, classes=3, pace=30, drift=0.8, mix={"expert": 1.0}
    )
    steady = simulate_crowd(
        np.random.default_rng(0), units=1200, annotators=12, classes=3, pace=30, mix={"expert": 1.0}
    )

    worse, same = found_in(fading.labels), found_in(steady.labels)

    assert worse.n_flagged["drift"] >= 10
    assert same.n_flagged["drift"] == 0
    row = next(row for row in worse.rows if row.drift is not None and row.drift.falls)
    assert sum(one.n for one in row.drift.bins) == row.n_labels
    assert row.drift.bins[0].reliability.value > row.drift.bins[-1].reliability.value
    assert all(a.end <= b.begin for a, b in zip(row.drift.bins, row.drift.bins[1:], strict=False))
    assert any(flag.kind is FlagKind.drift and "gets worse: " in flag.reason for flag in row.flags)


def test_without_times_nobody_drifts() -> None:
    made = small_inputs()

    found = compute_annotators(context_of(made))

    assert not found.has_times
    assert all(row.drift is None for row in found.rows)


def test_rows_agree_with_the_table_and_are_cut_and_counted() -> None:
    labels = simulate_labels(4, items=300, annotators=15, classes=3).labels
    table = annotator_table(labels, truth_method("dawid-skene").infer(labels))

    whole, cut = found_in(labels), found_in(labels, most=4)

    assert (len(cut.rows), cut.n_annotators) == (4, 15)
    assert cut.rows == whole.rows[:4]
    for row in whole.rows:
        (expected,) = table.filter(pl.col("annotator") == row.name).iter_rows(named=True)
        assert row.n_labels == expected["labels"]
        assert row.reliability.value == pytest.approx(expected["reliability"], abs=1e-6)
        assert row.informativeness == pytest.approx(expected["informativeness"], abs=1e-6)
        assert np.sum(row.matrix) == pytest.approx(row.n_labels, abs=0.1)
        if expected["confused_count"] >= 0.5:
            most = row.confusions[0]
            assert (most.truth, most.label) == (expected["confused_truth"], expected["confused_label"])


def test_gold_judges_annotators_by_what_is_known() -> None:
    made = small_inputs(["x", "y", "y", None])

    rows = by_name(compute_annotators(context_of(made)))

    assert (rows["ann"].gold_accuracy.value, rows["ann"].n_gold) == (round(2 / 3, 6), 3)
    assert (rows["bob"].gold_accuracy.value, rows["bob"].n_gold) == (1.0, 3)
    assert (rows["cat"].gold_accuracy.value, rows["cat"].n_gold) == (0.5, 2)


def test_span_mistakes_are_counted_against_gold_or_else_the_consensus() -> None:
    made = simulate_ner(6, items=80, annotators=6)
    estimate = truth_method("dawid-skene").infer(made.labels)

    for corpus, truth in ((made.corpus, made.corpus.gold), (None, estimate.answer)):
        inputs = inputs_from_estimate(estimate, made.labels, corpus)
        found = compute_annotators(context_of(inputs))
        expected = count_span_errors(made.labels, np.asarray(truth))
        assert found.against_gold is (corpus is not None)
        for row in found.rows:
            j = made.labels.annotators.to_list().index(row.name)
            got = row.mistakes
            assert (got.n_true, got.correct, got.boundary, got.wrong_type, got.ignored, got.spurious) == tuple(
                int(getattr(expected, name)[j])
                for name in ("n_gold", "correct", "boundary", "wrong_type", "ignored", "spurious")
            )
            assert got.n_true == got.correct + got.boundary + got.wrong_type + got.ignored


def test_one_who_gave_nothing_has_a_row_without_figures() -> None:
    labels = CrowdLabels(
        unit=np.array([0]),
        annotator=np.array([0]),
        label=np.array([1]),
        items=pl.Series(["u"]),
        annotators=pl.Series(["a", "b"]),
        classes=("x", "y"),
    )
    made = inputs_from_estimate(estimate_with(labels, [[0.2, 0.8]]), labels)

    rows = by_name(compute_annotators(context_of(made)))

    assert (rows["b"].n_labels, rows["b"].reliability.value, rows["b"].flags, rows["b"].favourite) == (
        0,
        None,
        (),
        None,
    )
    assert rows["a"].flags[0].reason == "a gave 1 label: too few to judge."


@pytest.mark.parametrize(("n_spans", "missed", "is_named"), [(10, 6, True), (10, 5, False), (9, 9, False)])
def test_who_overlooks_more_than_half_of_ten_spans_is_named(n_spans: int, missed: int, is_named: bool) -> None:
    tagged = ["B-PER", "O"]
    readings = [(f"s{n}", who, tagged) for n in range(n_spans) for who in ("ann", "bob")]
    readings += [(f"s{n}", "cat", ["O", "O"] if n < missed else tagged) for n in range(n_spans)]

    found = found_in(from_sequences(readings))

    assert any("annotator overlooks more than half" in one.text for one in found.findings) is is_named


@pytest.mark.parametrize(("classes", "has_matrix"), [(12, True), (13, False)])
def test_matrices_are_shown_up_to_twelve_classes(classes: int, has_matrix: bool) -> None:
    found = found_in(simulate_labels(1, items=60, annotators=4, classes=classes).labels)

    assert (len(found.classes) == classes) is has_matrix
    assert (found.rows[0].matrix is not None) is has_matrix


def test_the_pages_sentences_name_the_distrusted_together_and_one_by_one() -> None:
    made = simulate_labels(0, items=400, annotators=20, classes=2)

    found = found_in(made.labels)

    (together,) = [one for one in found.findings if one.is_collective and one.severity == "act"]
    single = {one.about for one in found.findings if one.about is not None and one.severity == "act"}
    grave = {row.name for row in found.rows if row.flags and row.flags[0].kind in ("adversary", "spammer", "one class")}
    assert single == grave
    assert together.text.startswith(f"{len(grave)} of 20 annotators should not be trusted (")


def crowd_with_careless_and_biased() -> CrowdLabels:
    """Six good annotators, a careless one who is right in half of the cases and a biased one, all on 150 items."""
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=150)
    rows = []
    for who, right in {**{f"good{n}": 0.85 for n in range(6)}, "carla": 0.5, "bert": 0.9}.items():
        given = np.where(rng.random(150) < right, truth, (truth + rng.integers(1, 3, size=150)) % 3)
        given = np.where((truth == 0) & (rng.random(150) < 0.75), 1, given) if who == "bert" else given
        rows += [(f"i{i}", who, "abc"[k]) for i, k in enumerate(given.tolist())]
    return from_frame(pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row"))


@pytest.mark.parametrize("method", ["ensemble", "majority"])
def test_a_careless_and_a_biased_annotator_of_a_small_crowd_are_named_in_one_sentence(method: str) -> None:
    found = found_in(crowd_with_careless_and_biased(), method=method)

    assert "2 annotators of 8 deserve a closer look: carla (careless), bert (biased)." in [
        one.text for one in found.findings
    ]


def test_the_plot_shows_the_skill_that_flags_are_decided_by_and_guessing_is_its_zero() -> None:
    found = found_in(crowd_with_careless_and_biased())

    (plot, *_) = draw_annotators(found, TaskKind.documents)["main"]

    carla = by_name(found)["carla"]
    assert plot.title == "Whom to trust: skill against volume"
    assert carla.skill.value is not None
    assert carla.reliability.value is not None
    assert f"carla: {format_percent(carla.skill.value)} (" in str(plot.svg)
    assert f"{format_percent(carla.reliability.value)} right; careless" in str(plot.svg)


def test_whom_nobody_else_confirms_cannot_be_judged() -> None:
    rows = [(f"i{i}", f"a{i % 3}", "xy"[i % 2]) for i in range(60)]
    alone = from_frame(pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row"))
    together = from_frame(
        pl.DataFrame([(i, f"{who}{n}", k) for i, who, k in rows for n in range(2)], schema=["item", "annotator", "label"], orient="row")
    )  # fmt: skip

    found = found_in(alone, method="ensemble")

    (said,) = [one.text for one in found.findings]
    assert said == "3 annotators of 3 gave too few labels that others labelled, too, to be judged: 60 labels in all."
    assert [row.flags[0].reason for row in found.rows] == [
        f"a{j} shares 0 of 20 items with others: too few to judge." for j in range(3)
    ]
    assert all(not row.flags for row in found_in(together, method="ensemble").rows)


def test_labels_of_one_class_judge_nobody() -> None:
    rows = [(f"i{i}", f"a{j}", "x") for i in range(30) for j in range(3)]

    found = found_in(from_frame(pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row")))

    assert found.findings == ()


def statistics_of(counts: list[list[float]]) -> ConfusionStatistics:
    table = np.array([counts])
    n = table.sum(axis=(1, 2)).round().astype(np.int64)
    classes = ("A", "B", "C")[: len(counts)]
    return ConfusionStatistics(names=("w",), classes=classes, counts=table, n_labels=n, n_items=n)


def test_the_most_common_confusions_come_first_and_rare_ones_are_left_out() -> None:
    found = most_confused(statistics_of([[40, 10, 0.4], [0.5, 30, 0.49], [8, 2, 10]]), 0)

    assert [(one.truth, one.label, one.count) for one in found] == [("A", "B", 10.0), ("C", "A", 8.0), ("C", "B", 2.0)]
    assert found[1].share == pytest.approx(0.4)
    assert len(most_confused(statistics_of([[40, 0.49], [0.5, 30]]), 0)) == 1
