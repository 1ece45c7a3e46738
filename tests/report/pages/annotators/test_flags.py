"""Flags of annotators, from planted confusion counts."""

from __future__ import annotations

import numpy as np

from crowdlogic.report.pages.annotators.findings import FlagKind
from crowdlogic.report.pages.annotators.flags import CHARACTER_FLAGS, explain_flag, flag_annotators
from crowdlogic.report.pages.annotators.statistics import ConfusionStatistics


def statistics_of(counts: list[list[list[float]]], *, items: int | None = None) -> ConfusionStatistics:
    table = np.array(counts)
    n = table.sum(axis=(1, 2)).round().astype(np.int64)
    names = tuple(f"w{j}" for j in range(len(table)))
    seen = n if items is None else np.full(len(table), items)
    return ConfusionStatistics(
        names=names, classes=("A", "B", "C")[: table.shape[1]], counts=table, n_labels=n, n_items=seen
    )


def flag_of(*counts: list[list[float]]) -> list[FlagKind | None]:
    found = flag_annotators(statistics_of(list(counts)))
    return [None if kind < 0 else CHARACTER_FLAGS[kind] for kind in found.kind]


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
    table = ConfusionStatistics(
        names=("w0",),
        classes=("B-ORG", "I-ORG", "O"),
        counts=np.array([[[20.0, 0, 80], [0, 50, 0], [0, 0, 900]]]),
        n_labels=np.array([1050]),
        n_items=np.array([50]),
    )

    found = flag_annotators(table, least=3)

    assert explain_flag(table, found, 0) == "w0 overlooks B-ORG: leaves 80% of about 100 such tokens unmarked."


def test_who_only_ever_met_one_class_is_no_spammer() -> None:
    assert flag_of([[100, 0], [0, 0]], [[97, 0], [3, 0]]) == [None, None]


def test_a_swapped_reading_of_many_classes_is_an_adversary_and_no_spammer() -> None:
    turned = [[0.0, 8, 0], [0, 0, 8], [8, 0, 0]]

    assert flag_of(turned) == [FlagKind.adversary]


def test_reasons_say_the_figures() -> None:
    good = [[90.0, 10], [10, 90]]
    odd = [[[2.0, 98], [2, 98]], [[50, 50], [50, 50]], [[10, 90], [90, 10]], [[95, 5], [60, 40]], [[1, 0], [0, 0]]]
    table = statistics_of([*odd, [[60, 40], [40, 60]], *[good] * 7])

    found = flag_annotators(table)

    assert found.kind[6:].tolist() == [-1] * 7
    assert [explain_flag(table, found, j) for j in range(6)] == [
        "w0 answers B whatever the truth: 98% of 200 labels.",
        "w1 answers as if without looking: 50% of 200 labels right where guessing would be 50%.",
        "w2 is worse than chance: 10% of 200 labels right where guessing would be 50%; takes A for B in 90% of about "
        "100 labels where the truth is A.",
        "w3 takes B for A in 60% of about 100 labels where the truth is B.",
        "w4 gave 1 label: too few to judge.",
        "w5 is often wrong: 60% of 200 labels right, a skill of 20%; the median annotator has 80%.",
    ]
