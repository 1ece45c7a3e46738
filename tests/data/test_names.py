from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data import names
from crowdlogic.data.names import encode, find, sort_classes, sort_naturally


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=30))
def test_codes_stand_for_names_in_order_of_first_appearance(values: list[str | None]) -> None:
    codes, found = encode(pl.Series(values, dtype=pl.String))

    assert [None if code < 0 else found[int(code)] for code in codes] == values
    assert found.to_list() == list(dict.fromkeys(value for value in values if value is not None))


@given(st.lists(st.text(max_size=3), min_size=1, max_size=60))
def test_the_quicker_way_codes_alike(values: list[str]) -> None:
    series = pl.Series(values, dtype=pl.String)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names, "MANY", 0)
        quick_codes, quick_names = encode(series)

    codes, found = encode(series)
    np.testing.assert_array_equal(quick_codes, codes)
    assert quick_codes.dtype == codes.dtype
    assert quick_names.to_list() == found.to_list()


@pytest.mark.parametrize("distinct", [3, 40_000])
def test_many_texts_are_coded_in_order_of_first_appearance(distinct: int) -> None:
    values = [f"name {row * 7919 % distinct}" for row in range(2 * names.MANY)]

    codes, found = encode(pl.Series(values))

    assert found.to_list() == list(dict.fromkeys(values))
    assert found.gather(codes).to_list() == values


def test_texts_that_share_a_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def clash(self: pl.Series, seed: int = 0) -> pl.Series:
        return pl.Series([0] * len(self) if seed == 0 else range(len(self)), dtype=pl.UInt64)

    monkeypatch.setattr(pl.Series, "hash", clash)

    monkeypatch.setattr(names, "MANY", 0)

    codes, found = encode(pl.Series(["a", "b", "a"]))

    assert codes.tolist() == [0, 1, 0]
    assert found.to_list() == ["a", "b"]


def test_find_compares_numbers_and_text_as_text() -> None:
    assert find(pl.Series(["2", "9"]), pl.Series([1, 2])).tolist() == [1, -1]
    assert find(pl.Series([True]), pl.Series(["False", "True"])).tolist() == [1]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["b", "a"], ("a", "b")),
        (["10", "9", "-1"], ("-1", "9", "10")),
        (["10", "9", "x"], ("10", "9", "x")),
        ([3, 1], (1, 3)),
        ([True, False], (False, True)),
        (["²", "1"], ("1", "²")),
    ],
)
def test_classes_are_sorted_as_people_would(found: list[object], expected: tuple[object, ...]) -> None:
    assert sort_classes(found) == expected  # type: ignore[arg-type]


def test_find_gives_names_in_their_own_order_their_places() -> None:
    names = pl.Series(["b", "a", "c"])

    assert find(names, names).tolist() == [0, 1, 2]
    assert find(pl.Series(["b", None, "c"]), names).tolist() == [0, -1, 2]
    assert find(pl.Series(["a", "b", "c"]), names).tolist() == [1, 0, 2]


def test_names_are_sorted_as_people_count() -> None:
    assert sort_naturally(pl.Series(["r10", "r2", "a", "r2b"])) == ["a", "r2", "r2b", "r10"]
    assert sort_naturally(pl.Series([10, 9, 1])) == [1, 9, 10]
