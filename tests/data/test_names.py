from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data import names
from crowdlogic.data.intake.columns import find_roles, normalise_name
from crowdlogic.data.names import encode, find, sort_classes
from crowdlogic.errors import LabelError, OptionError, did_you_mean, name_list


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=30))
def test_codes_stand_for_names_in_order_of_first_appearance(values: list[str | None]) -> None:
    codes, found = encode(pl.Series(values, dtype=pl.String))

    assert [None if code < 0 else found[int(code)] for code in codes] == values
    assert found.to_list() == list(dict.fromkeys(value for value in values if value is not None))


@given(st.lists(st.text(max_size=3), min_size=1, max_size=60))
def test_the_compiled_way_codes_alike(values: list[str]) -> None:
    series = pl.Series(values, dtype=pl.String)

    quick_codes, quick_names = names._encode_large(series)
    codes, found = encode(series)

    np.testing.assert_array_equal(quick_codes, codes)
    assert quick_names.to_list() == found.to_list()


def test_texts_that_share_a_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def clash(self: pl.Series, seed: int = 0) -> pl.Series:
        return pl.Series([0] * len(self) if seed == 0 else range(len(self)), dtype=pl.UInt64)

    monkeypatch.setattr(pl.Series, "hash", clash)

    codes, found = names._encode_large(pl.Series(["a", "b", "a"]))

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


@pytest.mark.parametrize(
    ("name", "expected"),
    [("WorkerId", "worker"), ("worker_id", "worker"), (" Rater-Name ", "rater"), ("text_id", "text_id"), ("ID", "id")],
)
def test_column_names_are_compared_without_their_dress(name: str, expected: str) -> None:
    assert normalise_name(name) == expected


def test_the_earlier_alias_wins() -> None:
    assert find_roles(["id", "task", "worker", "label"])["item"] == "task"


def test_a_chosen_column_is_not_taken_twice() -> None:
    assert find_roles(["label", "answer", "item"], {"item": "label"}) == {"item": "label", "label": "answer"}


def test_a_column_that_is_not_there_gets_a_hint() -> None:
    with pytest.raises(LabelError) as caught:
        find_roles(["taks", "worker"], {"item": "task"})

    assert str(caught.value) == "the table: no column 'task' among taks, worker. Did you mean 'taks'?"


def test_an_unknown_role_gets_a_hint() -> None:
    with pytest.raises(OptionError, match=r"columns: unknown role 'itm'\. Did you mean 'item'\?"):
        find_roles(["task"], {"itm": "task"})


def test_hints_and_lists_for_messages() -> None:
    assert did_you_mean("Aftr", ["After", "Before"]) == " Did you mean 'After'?"
    assert did_you_mean("zzz", ["After"]) == ""
    assert name_list(range(12), most=3) == "0, 1, 2, ... (12 in all)"
