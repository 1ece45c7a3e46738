"""Only what was decoded and checked is called damaged; everything else is a bug and stays one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from crowdlogic.errors import CrowdLogicError, FormatError, LabelError, MissingDataError, MissingExtraError, OptionError
from crowdlogic.store.files import InvalidValueError, reading, require, require_entry, require_numbers, require_shape


@pytest.mark.parametrize(
    "bug",
    [
        AttributeError, RuntimeError, TypeError, ValueError, KeyError, IndexError, ZeroDivisionError, AssertionError,
        RecursionError, OSError, pl.exceptions.ComputeError,
    ],
)  # fmt: skip
def test_a_bug_passes_as_it_is(bug: type[Exception]) -> None:
    with pytest.raises(bug) as raised, reading("run"):
        raise bug("a bug")

    assert not isinstance(raised.value, CrowdLogicError)


@pytest.mark.parametrize("problem", [InvalidValueError("x is 3."), OptionError("x is 3."), LabelError("x is 3")])
def test_what_was_checked_names_the_run(problem: CrowdLogicError) -> None:
    with pytest.raises(FormatError) as refused, reading("my/run"):
        raise problem

    assert str(refused.value) == "my/run: the run is damaged (x is 3). Train it again, or restore the file."


@pytest.mark.parametrize(
    "problem",
    [
        FormatError("my/run/file: is not valid JSON."),
        MissingDataError("my/run: no file in it."),
        MissingExtraError("torch is not installed."),
        OptionError("my/run: its checkpoint is of another fit."),
    ],
)
def test_what_is_said_well_is_not_said_again(problem: CrowdLogicError) -> None:
    with pytest.raises(type(problem)) as refused, reading("my/run"):
        raise problem

    assert refused.value is problem


@pytest.mark.parametrize(
    ("value", "kind"), [(True, int), (1, bool), (1.5, int), ("1", (int, float)), (None, str), (True, (int, float))]
)
def test_a_value_of_another_type_is_refused(value: Any, kind: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        require(value, kind, "the entry")

    assert str(refused.value) == f"the entry is {value!r}"


def test_a_value_of_its_type_is_given_back() -> None:
    assert (require(3, int, "x"), require(2, (int, float), "x"), require(False, bool, "x")) == (3, 2, False)


def test_a_long_value_is_cut_off() -> None:
    with pytest.raises(InvalidValueError) as refused:
        require("x" * 1000, int, "the entry")

    assert len(str(refused.value)) < 100


def test_an_entry_must_be_there() -> None:
    assert require_entry({"a": 3}, "a", int) == 3
    for noted, line in [
        ({}, "no 'a'"),
        ({"a": "x"}, "outcome: a is 'x'"),
        ([1], "outcome is [1]"),
    ]:
        with pytest.raises(InvalidValueError) as refused:
            require_entry(noted, "a", int, where="outcome")
        assert str(refused.value) == line


def test_null_is_no_number_again() -> None:
    found = require_numbers({"a": None, "b": 2}, "scores")

    assert math.isnan(found["a"])
    assert found["b"] == 2


@pytest.mark.parametrize(
    ("noted", "line"),
    [
        ({"a": "x", "b": 1}, "scores: a is 'x'"),
        ({"a": 1}, "scores contains a, but a, b are expected"),
        ({"a": 1, "b": 1, "c": 1}, "scores contains a, b, c, but a, b are expected"),
        (3, "scores is 3"),
    ],
)
def test_numbers_are_checked_one_by_one(noted: Any, line: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        require_numbers(noted, "scores", entries=("a", "b"))

    assert str(refused.value) == line


def test_another_shape_is_refused() -> None:
    require_shape(np.zeros((2, 3)), (2, 3), "q")
    with pytest.raises(InvalidValueError) as refused:
        require_shape(np.zeros((2, 3)), (3, 2), "q")

    assert str(refused.value) == "q has shape (2, 3), expected (3, 2)"
