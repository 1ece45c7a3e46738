"""Columns of the wrong type are refused in one line, whichever column it is and however the file is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from crowdlogic.data.frames import from_frame
from crowdlogic.data.reading import read_answers, read_corpus, read_crowd
from crowdlogic.errors import CrowdLogicError, DataError
from crowdlogic.workflows.doctor import DoctorOptions, diagnose

ROLES = ("item", "annotator", "label", "negated", "weight", "time", "kind", "text", "tags", "tokens", "p_x")
ODD: list[Any] = [
    ["x"],
    [["x"]],
    {"a": 1},
    [{"a": [1]}],
    ["x", 1, None],
    [],
    {},
    10**400,
    -(10**30),
    2**64,
    True,
    1.5,
    "",
]


def rows(role: str, value: Any) -> list[dict[str, Any]]:
    plain = {"item": "u", "annotator": "a", "label": "x"}
    more = {"tokens": ["a", "b"]} if role in ("tags", "tokens") else {}
    return [{**plain, **more, role: value}]


def attempt(read: Callable[[], Any]) -> str | None:
    """What a reader says when it refuses."""
    try:
        read()
    except CrowdLogicError as problem:
        return str(problem)
    return None


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("suffix", ["jsonl", "json", "parquet"])
def test_no_value_of_any_column_is_more_than_one_line(tmp_path: Path, role: str, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    for value in ODD:
        made = rows(role, value)
        if suffix == "parquet":
            if value in ([], {}) or (type(value) is int and abs(value) >= 2**64):
                continue
            pl.DataFrame(made, strict=False).write_parquet(path)
        else:
            path.write_text(json.dumps(made if suffix == "json" else made[0]))
        for read in (read_crowd, read_corpus, read_answers):
            said = attempt(lambda read=read: read(path))  # type: ignore[misc]

            assert said is None or (len(said) <= 1_000 and "9" * 50 not in said), (value, said)
        attempt(lambda: diagnose(DoctorOptions(file=str(path))))


@pytest.mark.parametrize("role", ["label", "item", "annotator", "weight", "time", "kind", "negated"])
def test_a_list_in_a_column_is_refused_by_the_name_of_the_column(role: str) -> None:
    frame = pl.DataFrame({"item": ["u"], "annotator": ["a"], "label": ["x"]}).with_columns(pl.lit([["x"]]).alias(role))

    with pytest.raises(DataError, match=rf"{role}|List"):
        from_frame(frame.with_columns(pl.Series(role, [["x", "y"]])))


def test_a_parquet_file_with_lists_as_labels_is_described(tmp_path: Path) -> None:
    table = pl.DataFrame({"item": ["u", "u"], "annotator": ["a", "b"], "label": [["x"], ["x", "y"]]})
    table.write_parquet(tmp_path / "x.parquet")

    with pytest.raises(DataError, match=r"one class per label, but the column has type List\(String\)"):
        read_crowd(tmp_path / "x.parquet")
    assert "one class" in str(diagnose(DoctorOptions(file=str(tmp_path / "x.parquet"))))


def test_a_weight_that_is_a_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"item": "u", "annotator": "-1", "label": "x", "weight": ["x", 1, null]}\n')

    with pytest.raises(DataError, match="the weight column has type List"):
        read_crowd(tmp_path / "x.jsonl")


def test_an_item_of_hundreds_of_digits_keeps_its_name(tmp_path: Path) -> None:
    digits = "9" * 400
    (tmp_path / "x.jsonl").write_text(f'{{"item": {digits}, "tokens": ["a"], "crowd": {{"ann": ["O"]}}}}\n')

    assert read_crowd(tmp_path / "x.jsonl").labels.items.to_list() == [digits]
