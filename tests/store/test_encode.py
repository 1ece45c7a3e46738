"""Options as plain data, which JSON can hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import pytest

from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.store.options import decode_options, encode_options, find_difference, find_python_object


class Pool(StrEnum):
    mean = "mean"


@dataclass(frozen=True)
class Inner:
    name = "inner"

    rate: float = 0.5


@dataclass(frozen=True)
class Outer:
    inner: Inner = Inner()
    pool: Pool = Pool.mean
    sizes: tuple[int, ...] = (1, 2)
    table: object = None
    made: int = field(default=3, init=False)


def test_every_kind_of_option_is_plain_and_a_name_comes_first() -> None:
    found = encode_options(Outer(table={1: np.array([[0.5, 1.0]]), "x": None}))

    assert found == {
        "inner": {"name": "inner", "rate": 0.5},
        "pool": "mean",
        "sizes": [1, 2],
        "table": {"1": [[0.5, 1.0]], "x": None},
    }
    assert next(iter(found["inner"])) == "name"
    assert type(found["pool"]) is str
    assert json.loads(json.dumps(found)) == found


def test_a_function_of_python_is_noted_and_not_read() -> None:
    plain = encode_options(LogicLNCL(imitation=lambda epoch: 0.1))

    assert plain["imitation"] == {"name": "function of Python"}
    assert find_python_object(plain) == "function"
    assert find_python_object(encode_options(LogicLNCL())) is None
    with pytest.raises(OptionError, match=r"No imitation is called 'function of Python'"):
        decode_options(LogicLNCL(), plain)


def test_what_python_made_is_found_however_deep() -> None:
    assert find_python_object({"a": {"b": {"name": "Pipeline of Python"}}}) == "Pipeline"
    assert find_python_object({"a": 3, "name": "linear"}) is None
    assert find_python_object("Pipeline of Python") is None


def test_the_first_difference_is_named_and_what_was_not_stored_is_none() -> None:
    stored = {"name": "a", "depth": 2, "part": {"name": "P of Python"}}

    assert find_difference(stored, {"name": "a", "depth": 2, "part": {"name": "P of Python", "shown": "P()"}}) is None
    assert find_difference(stored, {**stored, "depth": 3}) == "depth was 2 and is now 3"
    assert find_difference(stored, {"name": "b"}) == "name was 'a' and is now 'b'"
    shown = {"name": "P of Python", "shown": "P(1)"}
    assert find_difference({"part": shown}, {"part": {**shown, "shown": "P(2)"}}) == ("part was P(1) and is now P(2)")
