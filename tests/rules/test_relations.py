"""Joins against nested loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.rules.facts import NOTHING_JOINED, Relation, join, look_up, row_keys, row_limit


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_join_equals_the_nested_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns_left, columns_right = [str(n) for n in rng.permutation(4)[:2]], [str(n) for n in rng.permutation(4)[:2]]
    left = Relation({n: rng.integers(0, 3, size=6) for n in columns_left}, 6, {0: rng.random(6)})
    right = Relation({n: rng.integers(0, 3, size=5) for n in columns_right}, 5, {1: rng.random(5)})
    shared = [name for name in columns_left if name in columns_right]

    found = join(left, right, row_limit("rule", 100))

    expected = sorted(
        (left.truths[0][a], right.truths[1][b])
        for a in range(6)
        for b in range(5)
        if all(left.columns[n][a] == right.columns[n][b] for n in shared)
    )
    assert sorted(zip(found.truths[0], found.truths[1], strict=True)) == expected
    assert found.size == len(expected)
    assert set(found.columns) == {*columns_left, *columns_right}


def test_a_join_begins_with_nothing() -> None:
    relation = Relation({"a": np.arange(3)}, 3)

    assert join(NOTHING_JOINED, relation, row_limit("rule", 10)) is relation


def test_keys_of_wide_columns_do_not_overflow() -> None:
    big = np.array([2**40, 2**40, 7])
    left, right = row_keys([big, big, np.array([1, 2, 1])], [big, big, np.array([1, 2, 2])])

    assert (left == right).tolist() == [True, True, False]


def test_what_is_not_listed_is_false() -> None:
    found = look_up(
        [np.array([3, 1]), np.array([0, 5])], np.array([0.5, 0.25]), [np.array([1, 3, 3]), np.array([5, 5, 0])]
    )

    assert found.tolist() == [0.25, 0.0, 0.5]
