"""Whom to trust: planted characters are found, the good ones are left alone, and sentences say what is so."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from crowdlogic.annotators.table import annotator_table
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_crowd, simulate_labels, simulate_ner
from crowdlogic.metrics.pairwise import pairwise_agreement
from crowdlogic.metrics.span_errors import count_span_errors
from crowdlogic.report.drifting import discoveries, falling
from crowdlogic.report.findings import AnnotatorFindings, AnnotatorRow, FlagKind
from crowdlogic.report.flags import KINDS, Habits, flagged, reason
from crowdlogic.report.material import of_estimate
from crowdlogic.report.people import annotators_of, people_of
from crowdlogic.truth.methods import truth_method

from .small import believed, material


def found_in(labels: CrowdLabels, *, method: str = "dawid-skene", most: int = 200) -> AnnotatorFindings:
    made = of_estimate(truth_method(method).infer(labels), labels)
    return annotators_of(made, people_of(made), most=most)


def by_name(found: AnnotatorFindings) -> dict[str, AnnotatorRow]:
    return {row.name: row for row in found.rows}


def habits(counts: list[list[list[float]]], *, items: int | None = None) -> Habits:
    table = np.array(counts)
    n = table.sum(axis=(1, 2)).round().astype(np.int64)
    names = tuple(f"w{j}" for j in range(len(table)))
    seen = n if items is None else np.full(len(table), items)
    return Habits(names, ("A", "B", "C")[: table.shape[1]], table, n, seen, 10, 0.95)


def flag_of(*counts: list[list[float]]) -> list[FlagKind | None]:
    found = flagged(habits(list(counts)))
    return [None if kind < 0 else KINDS[kind] for kind in found.kind]


def test_skill_is_cohens_kappa_by_hand() -> None:
    one = habits([[[40, 10], [20, 30]]])

    # 70 of 100 right; truth is half A, labels are 60 A: chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    assert one.chance[0] == pytest.approx(0.5)
    assert one.usual[0][0] == pytest.approx((0.7 - 0.5) / 0.5)


def test_each_character_gets_its_flag_and_good_ones_get_none() -> None:
    good = [[90.0, 10], [10, 90]]

    assert flag_of(good, good, good, [[10, 90], [90, 10]]) == [None, None, None, FlagKind.adversary]
    assert flag_of(good, good, good, [[100, 0], [100, 0]]) == [None, None, None, FlagKind.one_class]
    assert flag_of(good, good, good, [[50, 50], [50, 50]]) == [None, None, None, FlagKind.spammer]
    assert flag_of(good, good, good, [[95, 5], [60, 40]]) == [None, None, None, FlagKind.biased]
    assert flag_of(good, good, good, [[60, 40], [40, 60]]) == [None, None, None, FlagKind.careless]
    assert flag_of(good, good, good, [[4, 0], [0, 4]]) == [None, None, None, FlagKind.few]


def test_what_everybody_takes_for_something_else_is_no_bias_of_one() -> None:
    good, hard = [[95.0, 5], [10, 90]], [[95.0, 5], [55, 45]]

    assert flag_of(*[hard] * 6) == [None] * 6
    assert flag_of(*[good] * 5, hard) == [None] * 5 + [FlagKind.biased]


def test_tokens_left_outside_are_called_overlooked() -> None:
    table = Habits(
        ("w0",),
        ("B-ORG", "I-ORG", "O"),
        np.array([[[20.0, 0, 80], [0, 50, 0], [0, 0, 900]]]),
        np.array([1050]),
        np.array([50]),
        3,
        0.95,
    )

    found = flagged(table)

    assert reason(table, found, 0) == "w0 overlooks B-ORG: leaves 80% of about 100 such tokens unmarked."


def test_who_overlooks_most_spans_is_named_with_the_share() -> None:
    tags = ["B-PER", "O", "B-LOC", "O", "B-PER", "O"]
    readings = {"ann": tags, "bob": tags, "cat": ["B-PER", *["O"] * 5]}
    labels = from_sequences([(f"s{n}", who, given) for n in range(10) for who, given in readings.items()])

    found = found_in(labels)

    assert "1 annotator overlooks more than half of the spans that there are to mark: cat (67%)." in [
        one.text for one in found.findings
    ]


def test_who_only_ever_met_one_class_is_no_spammer() -> None:
    assert flag_of([[100, 0], [0, 0]], [[97, 0], [3, 0]]) == [None, None]


def test_a_swapped_reading_of_many_classes_is_an_adversary_and_no_spammer() -> None:
    turned = [[0.0, 8, 0], [0, 0, 8], [8, 0, 0]]

    assert flag_of(turned) == [FlagKind.adversary]


def test_reasons_say_the_figures() -> None:
    good = [[90.0, 10], [10, 90]]
    odd = [[[2.0, 98], [2, 98]], [[50, 50], [50, 50]], [[10, 90], [90, 10]], [[95, 5], [60, 40]], [[1, 0], [0, 0]]]
    table = habits([*odd, [[60, 40], [40, 60]], *[good] * 7])

    found = flagged(table)

    assert found.kind[6:].tolist() == [-1] * 7
    assert [reason(table, found, j) for j in range(6)] == [
        "w0 answers B whatever the truth: 98% of 200 labels.",
        "w1 answers as if without looking: 50% of 200 labels right where guessing would be 50%.",
        "w2 is worse than chance: 10% of 200 labels right where guessing would be 50%; takes A for B in 90% of about "
        "100 labels where the truth is A.",
        "w3 takes B for A in 60% of about 100 labels where the truth is B.",
        "w4 gave 1 label: too few to judge.",
        "w5 is often wrong: 60% of 200 labels right, a skill of 20% where the median annotator has 80%.",
    ]


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


def test_the_trend_is_the_t_test_of_scipy() -> None:
    from scipy.stats import linregress

    rng = np.random.default_rng(3)
    annotator = np.repeat([0, 1, 2], [30, 50, 2])
    x = np.concatenate([np.arange(n) for n in (30, 50, 2)]).astype(np.float64)
    y = rng.random(82) - 0.01 * x

    p = falling(annotator, x, y, 3)

    for j in (0, 1):
        expected = linregress(x[annotator == j], y[annotator == j], alternative="less").pvalue
        assert p[j] == pytest.approx(expected, rel=1e-9)
    assert np.isnan(p[2])


def test_discoveries_are_benjamini_and_hochbergs() -> None:
    # Against 0.05 i / 5 = 0.01, 0.02, 0.03, 0.04, 0.05: the third passes, and takes the second with it.
    found = discoveries(np.array([0.9, 0.025, np.nan, 0.005, 0.029, 0.3]))

    assert found.tolist() == [False, True, False, True, True, False]


def test_without_times_nobody_drifts() -> None:
    made = material()

    found = annotators_of(made, people_of(made), most=10)

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
        assert row.spam_score == pytest.approx(expected["spam_score"], abs=1e-6)
        assert np.sum(row.matrix) == pytest.approx(row.n_labels, abs=0.1)
        if expected["confused_count"] >= 0.5:
            most = row.confusions[0]
            assert (most.truth, most.label) == (expected["confused_truth"], expected["confused_label"])


def test_gold_judges_annotators_by_what_is_known() -> None:
    made = material(["x", "y", "y", None])

    rows = by_name(annotators_of(made, people_of(made), most=10))

    assert (rows["ann"].gold_accuracy.value, rows["ann"].n_gold) == (round(2 / 3, 6), 3)
    assert (rows["bob"].gold_accuracy.value, rows["bob"].n_gold) == (1.0, 3)
    assert (rows["cat"].gold_accuracy.value, rows["cat"].n_gold) == (0.5, 2)


def test_pairs_are_those_of_the_busiest() -> None:
    labels = simulate_labels(5, items=400, annotators=25, classes=2).labels

    pairs = found_in(labels).pairs

    assert len(pairs.names) == 20
    assert pairs.n_annotators == 25
    given = dict(zip(labels.annotators, labels.labels_per_annotator(), strict=True))
    assert min(given[name] for name in pairs.names) >= sorted(given.values())[5]
    every, code = pairwise_agreement(labels), {name: j for j, name in enumerate(labels.annotators)}
    for p in range(0, len(every), 17):
        a, b = (labels.annotators[int(j)] for j in (every.a[p], every.b[p]))
        if a in pairs.names and b in pairs.names:
            place = pairs.names.index(a), pairs.names.index(b)
            assert pairs.shared[place[0]][place[1]] == pairs.shared[place[1]][place[0]] == every.shared[p]
            assert pairs.agreement[place[0]][place[1]] == pytest.approx(every.agreement[p], abs=1e-6)
    assert code


def test_span_mistakes_are_counted_against_gold_or_else_the_consensus() -> None:
    made = simulate_ner(6, items=80, annotators=6)
    estimate = truth_method("dawid-skene").infer(made.labels)

    for corpus, truth in ((made.corpus, made.corpus.gold), (None, estimate.answer)):
        material = of_estimate(estimate, made.labels, corpus)
        found = annotators_of(material, people_of(material), most=10)
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
    made = of_estimate(believed(labels, [[0.2, 0.8]]), labels)

    rows = by_name(annotators_of(made, people_of(made), most=10))

    assert (rows["b"].n_labels, rows["b"].reliability.value, rows["b"].flags, rows["b"].favourite) == (
        0,
        None,
        (),
        None,
    )
    assert rows["a"].flags[0].reason == "a gave 1 label: too few to judge."
