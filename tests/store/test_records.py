"""A row of JSON is a dataclass again, or it is refused by what does not fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import pytest

from crowdlogic.store.estimates import decode_record
from crowdlogic.store.files import InvalidValueError, to_plain


class Verdict(StrEnum):
    good = "good"
    bad = "bad"


@dataclass(frozen=True)
class Row:
    epoch: int
    loss: float
    name: str
    verdict: Verdict
    flipped: int | None
    scores: Mapping[str, float] = field(default_factory=dict)
    best: bool = False


ROW = Row(3, 0.5, "r", Verdict.bad, None, {"dev": float("nan"), "test": 1.0}, True)


def test_a_row_survives_json() -> None:
    found = decode_record(Row, json.loads(json.dumps(to_plain(asdict(ROW)))), "row")

    assert repr(found) == repr(ROW)  # as text: nan is not nan
    assert isinstance(found.verdict, Verdict)


def test_what_is_left_out_has_its_default() -> None:
    found = decode_record(Row, {"epoch": 1, "loss": None, "name": "", "verdict": "good", "flipped": 2}, "row")

    assert repr(found) == repr(Row(1, float("nan"), "", Verdict.good, 2))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"epoch": 1.5}, "row: epoch is 1.5"),
        ({"epoch": None}, "row: epoch is None"),
        ({"epoch": True}, "row: epoch is True"),
        ({"loss": "x"}, "row: loss is 'x'"),
        ({"name": 3}, "row: name is 3"),
        ({"verdict": "so so"}, "row: verdict is 'so so'"),
        ({"verdict": None}, "row: verdict is None"),
        ({"flipped": "x"}, "row: flipped is 'x'"),
        ({"scores": []}, "row: scores is []"),
        ({"scores": {"dev": "x"}}, "row: scores: dev is 'x'"),
        ({"best": 1}, "row: best is 1"),
        ({"more": 1}, "row: unknown entry 'more'"),
    ],
)
def test_a_value_that_does_not_fit_is_named(change: dict[str, Any], line: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        decode_record(Row, {**to_plain(asdict(ROW)), **change}, "row")

    assert str(refused.value) == line


def test_a_missing_value_and_what_is_no_row_are_named() -> None:
    for row, line in [({"epoch": 1}, "row: no 'loss'"), (3, "row is 3")]:
        with pytest.raises(InvalidValueError) as refused:
            decode_record(Row, row, "row")
        assert str(refused.value) == line
