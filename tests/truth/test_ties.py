"""Which class wins when several are equally good."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.errors import OptionError, parse_choice
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.ties import TOLERANCE, Ties, best_classes, draw_by_name, winners

BEST = np.array([[True, True, False], [False, True, True], [False, False, True]])


def test_scores_are_tied_up_to_rounding() -> None:
    scores = np.array([[1.0, 1.0 - 0.9e-9, 0.0], [1.0, 1.0 - 1.1e-9, 0.0]])

    assert TOLERANCE == 1e-9
    assert best_classes(scores).tolist() == [[True, True, False], [True, False, False]]


def test_without_classes_nothing_wins() -> None:
    assert best_classes(np.zeros((2, 0))).shape == (2, 0)
    assert winners(np.zeros((2, 0), dtype=bool), Ties.first, classes=()).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("ties", "order", "winner"),
    [
        (Ties.first, None, [0, 1, 2]),
        (Ties.soft, None, [0, 1, 2]),
        (Ties.order, ["c", "b", "a"], [1, 2, 2]),
        (Ties.order, ["b", "unused", "a", "c"], [1, 1, 2]),
    ],
)
def test_the_policy_decides(ties: Ties, order: list[str] | None, winner: list[int]) -> None:
    assert winners(BEST, ties, classes=("a", "b", "c"), order=order).tolist() == winner


def test_random_winners_are_drawn_among_the_best_by_seed() -> None:
    many = np.tile([True, False, True], (4000, 1))

    drawn = winners(many, Ties.random, classes=("a", "b", "c"), seed=3)

    assert set(drawn.tolist()) == {0, 2}
    assert abs((drawn == 0).mean() - 0.5) < 4 * 0.5 / np.sqrt(4000)
    np.testing.assert_array_equal(drawn, winners(many, Ties.random, classes=("a", "b", "c"), seed=3))


def test_a_single_best_class_wins_without_a_draw() -> None:
    assert winners(BEST[2:], Ties.random, classes=("a", "b", "c"), seed=1).tolist() == [2]


@pytest.mark.parametrize("order", [None, ["a", "b"], ["a", "b", "c", "c"]])
def test_an_order_names_each_class_once(order: list[str] | None) -> None:
    with pytest.raises(OptionError) as refused:
        winners(BEST, Ties.order, classes=("a", "b", "c"), order=order)

    given = ", ".join(order) if order else "no order"
    assert str(refused.value) == (f"ties = order: {given} does not name each class once. The classes are a, b, c.")


def test_an_order_goes_with_its_policy_alone() -> None:
    with pytest.raises(OptionError) as refused:
        winners(BEST, Ties.first, classes=("a", "b", "c"), order=["a", "b", "c"])

    assert str(refused.value) == ("ties = first: an order of classes requires ties = order. Leave one of them out.")


def test_a_policy_is_known_by_name() -> None:
    assert parse_choice(Ties, "soft", "ties") is Ties.soft
    with pytest.raises(OptionError) as refused:
        parse_choice(Ties, "coin", "ties")

    assert str(refused.value) == "ties: expected one of random, first, order, soft; got 'coin'."


def test_a_random_tie_does_not_depend_on_the_order_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    rows = [(f"u{u}", f"a{a}", f"c{c}") for u in range(300) for a, c in enumerate(rng.permutation(3)[:2])]
    shuffled = [rows[at] for at in rng.permutation(len(rows))]

    first, second = (MajorityVote(seed=5).infer(from_arrays(*zip(*given, strict=True))) for given in (rows, shuffled))

    answers = [dict(zip(one.items.to_list(), one.answer_names(), strict=True)) for one in (first, second)]
    assert answers[0] == answers[1]
    assert first.tied == 300


def test_random_ties_are_drawn_evenly_and_by_seed() -> None:
    names = pl.Series([f"u{u}" for u in range(3000)] + ["long" * 50 + f"{u}" for u in range(1000)])

    draws = draw_by_name(names, ("x", "y", "z"), 0)

    np.testing.assert_allclose(np.bincount(draws.argmax(axis=1)) / 4000, 1 / 3, atol=0.03)
    assert (draw_by_name(names, ("x", "y", "z"), 1) != draws).all()
    assert draws.min() >= 0
    assert draws.max() < 1


def test_tokens_of_a_sentence_have_their_own_draws() -> None:
    labels = from_sequences([("s", "a", ["x"] * 200), ("s", "b", ["y"] * 200)])

    answer = MajorityVote().infer(labels).answer

    assert 60 < np.count_nonzero(answer) < 140
