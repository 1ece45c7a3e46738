"""Flags of annotators, from planted confusion counts."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.confidence.annotator_figures import informativeness
from crowdlogic.confidence.annotator_verdicts import (
    CHARACTER_FLAGS,
    ConfusionStatistics,
    FlagKind,
    explain_flag,
    flag_annotators,
    least_items,
)
from crowdlogic.numerics.logspace import credible_interval


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
        "w0 answers B whatever the truth is: 98% of 200 labels.",
        "w1 seems to answer without looking: 50% of 200 labels are right (guessing: 50%).",
        "w2 is worse than chance: 10% of 200 labels are right (guessing: 50%), and w2 takes A for B in 90% of about "
        "100 labels where the truth is A.",
        "w3 favours A: takes B for A in 60% of about 100 labels where the truth is B.",
        "w4 gave 1 label: too few to judge.",
        "w5 is often wrong: 60% of 200 labels right, a skill of 20%; the median annotator has 80%.",
    ]


def test_who_is_careless_and_favours_a_class_is_told_so() -> None:
    good = [[90.0, 5, 5], [5, 90, 5], [5, 5, 90]]
    table = statistics_of([[[45.0, 15, 40], [15, 45, 40], [10, 10, 80]], *[good] * 7])

    said = explain_flag(table, flag_annotators(table), 0)

    assert said.startswith(
        "w0 is often wrong and favours C, given 53% of the time and true 33% of it: 57% of 300 labels"
    )


GOOD = [[900.0, 100], [100, 900]]
"""Many labels with a skill of 0.8: what the others are compared with."""


def crowd_with(*counts: list[list[float]], items: int | None = None) -> FlagKind | None:
    """The flag of the first of these among nine good annotators."""
    found = flag_annotators(statistics_of([*counts, *[GOOD] * 9], items=items))
    return None if found.kind[0] < 0 else CHARACTER_FLAGS[found.kind[0]]


def symmetric(n: float, right: float) -> list[list[float]]:
    """n labels over two equally common classes, so many right: the skill is 2 right / n - 1."""
    return [[right / 2, (n - right) / 2], [(n - right) / 2, right / 2]]


def skill_of(counts: list[list[float]], level: float = 0.95) -> tuple[float, float, float]:
    value, low, high = statistics_of([counts]).skill_at(level)
    return float(value[0]), float(low[0]), float(high[0])


@pytest.mark.parametrize(
    ("least", "items", "flag"),
    [(10, 9, FlagKind.few), (10, 10, FlagKind.spammer), (3, 2, FlagKind.few), (3, 3, FlagKind.spammer)],
)
def test_fewer_than_ten_items_or_three_sentences_are_too_few(least: int, items: int, flag: FlagKind) -> None:
    found = flag_annotators(statistics_of([symmetric(1000, 500)], items=items), least)

    assert CHARACTER_FLAGS[found.kind[0]] is flag
    assert (least_items(is_sequential=False), least_items(is_sequential=True)) == (10, 3)


def test_an_adversary_is_a_tenth_worse_than_chance() -> None:
    # Very many labels, so that the interval decides nothing; the informativeness of a skill of 0.1 is far below 0.3.
    above, below = symmetric(1e6, 0.4501e6), symmetric(1e6, 0.4499e6)

    assert [skill_of(above)[0], skill_of(below)[0]] == pytest.approx([-0.0998, -0.1002])
    assert [crowd_with(above), crowd_with(below)] == [FlagKind.spammer, FlagKind.adversary]


def test_an_adversary_is_worse_than_chance_with_great_certainty() -> None:
    # A skill of -0.2 in both; the 99.8% interval of 240 labels ends just above 0, that of 250 just below.
    unsure, sure = symmetric(234, 0.4 * 234), symmetric(244, 0.4 * 244)

    assert skill_of(unsure, 0.998)[2] > 0 > skill_of(sure, 0.998)[2]
    assert skill_of(unsure, 0.99)[2] < 0
    assert [crowd_with(unsure), crowd_with(sure)] == [FlagKind.spammer, FlagKind.adversary]


def test_a_revealing_adversary_has_an_informativeness_above_three_tenths() -> None:
    # Few labels, all in a cycle: with a share s on the next class and the rest spread, the skill is below 0 and the
    # upper end of its interval at the usual level small, but at 99.8% above 0.
    def cycle(share: float, n: float = 7) -> list[list[float]]:
        rest = (1 - share) / 2
        return [[n * rest, n * share, n * rest], [n * rest, n * rest, n * share], [n * share, n * rest, n * rest]]

    low, high = (statistics_of([cycle(share)]) for share in (0.72, 0.73))

    assert informativeness(low.smoothed)[0] < 0.3 < informativeness(high.smoothed)[0]
    assert low.skill_at(0.998)[2][0] > 0
    assert high.skill_at(0.998)[2][0] > 0
    assert high.skill[2][0] < 0.3
    kinds = [flag_annotators(one).kind[0] for one in (low, high)]
    assert [CHARACTER_FLAGS[kind] for kind in kinds] == [FlagKind.spammer, FlagKind.adversary]


@pytest.mark.parametrize(("share", "flag"), [(0.951, FlagKind.one_class), (0.949, FlagKind.spammer)])
def test_one_class_is_from_95_percent_of_the_labels_on(share: float, flag: FlagKind) -> None:
    n = 10_000.0
    always = [[n * share, n * (1 - share)], [n * share, n * (1 - share)]]

    assert crowd_with(always) is flag


@pytest.mark.parametrize(("other", "flag"), [(0.151, FlagKind.one_class), (0.149, FlagKind.spammer)])
def test_one_class_needs_15_percent_of_another_truth(other: float, flag: FlagKind) -> None:
    n = 10_000.0

    assert crowd_with([[n * (1 - other), 0], [n * other, 0]]) is flag


def test_one_class_is_left_alone_where_the_skill_is_certainly_above_a_tenth() -> None:
    # 15% of the truth is B, of which a part is found: all else is A.
    def finds(part: float, n: float = 1e6) -> list[list[float]]:
        return [[0.85 * n, 0], [0.15 * (1 - part) * n, 0.15 * part * n]]

    below, above = finds(0.063), finds(0.066)

    assert skill_of(below)[1] < 0.1 < skill_of(above)[1]
    assert [crowd_with(below), crowd_with(above)] == [FlagKind.one_class, FlagKind.biased]


def test_a_spammer_has_less_skill_than_a_tenth() -> None:
    # 300 labels: the lower end of the interval is below 0 and the upper end below 0.3 in both.
    below, above = symmetric(300, 300 * 0.549), symmetric(300, 300 * 0.551)

    assert skill_of(below)[0] < 0.1 < skill_of(above)[0]
    assert skill_of(above)[1] < 0
    assert [crowd_with(below), crowd_with(above)] == [FlagKind.spammer, FlagKind.careless]


def test_a_spammer_may_have_no_skill_at_all() -> None:
    # A skill of 0.08: with 500 labels the interval reaches below 0, with 800 it does not.
    unsure, skilled = symmetric(500, 500 * 0.54), symmetric(800, 800 * 0.54)

    assert skill_of(unsure)[1] < 0 < skill_of(skilled)[1]
    assert [crowd_with(unsure), crowd_with(skilled)] == [FlagKind.spammer, FlagKind.biased]


def test_a_spammer_certainly_has_little_skill() -> None:
    # A skill of 0.05: the interval ends above 0.3 with 50 labels and below with 70.
    unsure, sure = symmetric(50, 50 * 0.525), symmetric(70, 70 * 0.525)

    assert skill_of(unsure)[2] > 0.3 > skill_of(sure)[2]
    assert [crowd_with(unsure), crowd_with(sure)] == [FlagKind.careless, FlagKind.spammer]


def mistaking(share: float, n: float) -> list[list[float]]:
    """Mistakes A for B with this share in n labels, and is right about B."""
    return [[(1 - share) * n, share * n], [10, 1990]]


def test_a_bias_is_45_percent_of_a_class() -> None:
    assert [crowd_with(mistaking(share, 2000)) for share in (0.449, 0.451)] == [None, FlagKind.biased]


def test_a_bias_is_certainly_35_percent_of_a_class() -> None:
    few, many = 80.0, 88.0
    low = [float(credible_interval(np.array([0.455 * n]), np.array([n]), 0.95)[0][0]) for n in (few, many)]

    assert low[0] < 0.35 < low[1]
    assert [crowd_with(mistaking(0.455, n)) for n in (few, many)] == [None, FlagKind.biased]


def test_a_bias_is_looked_for_from_ten_labels_on() -> None:
    assert [crowd_with(mistaking(1.0, n)) for n in (9.9, 10.1)] == [FlagKind.careless, FlagKind.biased]


def test_a_careless_annotator_has_less_than_half_the_median_skill() -> None:
    # The others have 0.8: the skill must be below 0.4.
    above, below = symmetric(1e6, 0.701e6), symmetric(1e6, 0.699e6)

    assert skill_of(below)[0] < 0.4 < skill_of(above)[0]
    assert [crowd_with(above), crowd_with(below)] == [None, FlagKind.careless]


def test_a_careless_annotator_certainly_has_less_than_four_fifths_of_the_median_skill() -> None:
    # A skill of 0.35, below half of 0.8; the interval ends above 0.64 with 30 labels and below with 40.
    unsure, sure = symmetric(30, 30 * 0.675), symmetric(40, 40 * 0.675)

    assert skill_of(sure)[2] < 0.64 < skill_of(unsure)[2]
    assert [crowd_with(unsure), crowd_with(sure)] == [None, FlagKind.careless]


def test_42_percent_right_where_guessing_gives_33_is_careless_after_a_hundred_labels() -> None:
    good = [[28.0, 3, 3], [3, 28, 3], [3, 3, 27]]
    careless = [[14.0, 10, 10], [9, 14, 10], [10, 9, 14]]

    assert flag_of(*[good] * 6, careless) == [None] * 6 + [FlagKind.careless]


@pytest.mark.parametrize(
    ("share", "words"), [(0.801, "w0 answers B whatever the truth"), (0.799, "w0 seems to answer without looking")]
)
def test_the_label_is_named_from_80_percent_on(share: float, words: str) -> None:
    table = statistics_of([[[1e4 * (1 - share), 1e4 * share], [1e4 * (1 - share), 1e4 * share]]])

    assert explain_flag(table, flag_annotators(table), 0).startswith(words)
