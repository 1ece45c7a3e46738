from __future__ import annotations

import time
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.data.test_labels import triples

from crowdlogic.data.frames import from_arrays, from_dict, from_frame, from_matrix, from_sequences, from_wide
from crowdlogic.errors import LabelError, OptionError

LONG = {"task": ["u", "u", "v"], "worker": ["a", "b", "a"], "answer": ["x", "y", "x"]}
EXPECTED = {("u", "a", "x"), ("u", "b", "y"), ("v", "a", "x")}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table, pl.LazyFrame, dict])
def test_long_frames_of_every_library_mean_the_same(library: Any) -> None:
    labels = from_frame(library(LONG))

    assert triples(labels) == EXPECTED


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_wide_frames_of_every_library_mean_the_same(library: Any) -> None:
    labels = from_wide(library({"item": ["u", "v"], "a": ["x", "x"], "b": ["y", None]}), item="item")

    assert triples(labels) == EXPECTED


def test_every_way_in_gives_the_same_table() -> None:
    ways = [
        from_arrays(*LONG.values()),
        from_dict({"u": {"a": "x", "b": "y"}, "v": {"a": "x"}}),
        from_matrix([[0, 1], [0, -1]], classes=["x", "y"], items=["u", "v"], annotators=["a", "b"]),
        from_wide(pl.DataFrame({"a": ["x", "x"], "b": ["y", None], "id": ["u", "v"]}), item="id"),
    ]

    for labels in ways:
        assert triples(labels) == EXPECTED


def rows(**changes: list[Any]) -> dict[str, list[Any]]:
    return {"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["x", "y", "x"], **changes}


def test_abstentions_are_absent_labels() -> None:
    table = pl.DataFrame({"item": ["u", "v"], "lf0": [-1, 1], "lf1": [0, -1]})

    labels = from_wide(table, item="item", abstain=-1)

    assert triples(labels) == {("v", "lf0", 1), ("u", "lf1", 0)}
    assert labels.items.to_list() == ["u", "v"]
    assert labels.intake.messages() == []


@pytest.mark.parametrize("abstain", [-1, "-1"])
@pytest.mark.parametrize("values", [[1, -1, 0], ["1", "-1", "0"]])
def test_abstentions_are_compared_as_text(values: list[Any], abstain: Any) -> None:
    labels = from_wide(pl.DataFrame({"item": [1, 2, 3], "a": values}), item="item", abstain=abstain)

    assert labels.n_labels == 2


def test_wide_columns_may_be_called_anything() -> None:
    table = pl.DataFrame({"task": ["u", "v"], "item": ["x", "y"], "annotator": ["y", "y"], "j": ["x", None]})

    labels = from_wide(table, item="task")

    assert triples(labels) == {
        ("u", "item", "x"),
        ("v", "item", "y"),
        ("u", "annotator", "y"),
        ("v", "annotator", "y"),
        ("u", "j", "x"),
    }


def test_the_text_and_the_gold_of_a_wide_table_are_not_annotators() -> None:
    labels = from_wide(pl.DataFrame({"item": ["u"], "text": ["hello"], "label": ["x"], "lf0": ["y"]}), item="item")

    assert triples(labels) == {("u", "lf0", "y")}
    assert labels.intake.messages() == ["The columns text, label were not read as annotators' labels."]


def test_a_problem_in_a_wide_table_is_told_by_its_row() -> None:
    table = pl.DataFrame({"item": ["u", "v", "w"], "a": ["x", "x", "x"], "b": ["x", "q", "x"]})

    with pytest.raises(LabelError, match="the table, row 1: the label 'q' is not among the classes x"):
        from_wide(table, item="item", classes=["x"])


def test_an_item_twice_in_a_wide_table_follows_the_policy() -> None:
    table = pl.DataFrame({"item": ["u", "u"], "a": ["x", "y"]})

    with pytest.raises(
        LabelError, match="row 1: annotator 'a' labels item 'u' again, with another label than in row 0"
    ):
        from_wide(table, item="item")
    assert triples(from_wide(table, item="item", duplicates="last")) == {("u", "a", "y")}


def test_wide_columns_of_different_types_are_refused() -> None:
    with pytest.raises(LabelError, match="the columns of the annotators have different types"):
        from_wide(pl.DataFrame({"item": ["u"], "a": [["x"]], "b": [1]}), item="item")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_arrays(["u"], ["a"], ["x"], weight=[1, 2]), "2 weights for 1 label. Give one weight per label."),
        (
            lambda: from_arrays(["u"], ["a"], ["x"], weight=["q"]),
            "the lists, row 0: the weight 'q' is not a finite number of 0 or more. Correct the weight, or remove the column to count every label once.",
        ),
        (
            lambda: from_matrix([[1, 2], [3]]),
            "The rows of the label matrix have different lengths. Give rows of the same length.",
        ),
        (
            lambda: from_matrix([[1], [2]], items=["a", "a"]),
            "The matrix has 2 items, but 1 different names were given. Give one for each.",
        ),
        (
            lambda: from_matrix([[1], [2]], annotators=["a", "b"]),
            "The matrix has 1 annotators, but 2 different names were given. Give one for each.",
        ),
        (
            lambda: from_frame(pl.DataFrame(rows(item=[["u"], ["v"], ["w"]]))),
            "the table: the item column has type List(String). Give each item one name.",
        ),
        (
            lambda: from_frame(pl.DataFrame(rows(label=[1e30, 1.0, 2.0]))),
            "the table, row 0: the label 1e+30 is a number, not a class. Numeric answers cannot be aggregated: round them or bin them into classes first, or name the classes.",
        ),
        (
            lambda: from_dict({"u": {"a": "x"}}).select(items=[1, "2"]),
            "The item column mixes types, such as text and numbers. Give all values as text, or all as numbers.",
        ),
    ],
)
def test_slips_in_python_are_clear_lines_too(call: Any, message: str) -> None:
    with pytest.raises(LabelError) as caught:
        call()

    assert str(caught.value) == message


@pytest.mark.parametrize(
    "call",
    [
        lambda: from_sequences([], duplicates="foo"),
        lambda: from_dict({"u": {"a": "x"}}).subsample(float("nan"), seed=0),
    ],
)
def test_options_that_make_no_sense_are_refused(call: Any) -> None:
    with pytest.raises(OptionError):
        call()


def test_many_wide_columns_take_time_in_proportion() -> None:
    def seconds(columns: int) -> float:
        table = pl.DataFrame({"item": ["u", "v"]} | {f"a{j}": ["x", None] for j in range(columns)})
        begun = time.process_time()
        assert from_wide(table, item="item").n_labels == columns
        return time.process_time() - begun

    seconds(50)
    few, many = (min(seconds(columns) for _ in range(3)) for columns in (1_000, 8_000))

    assert many < 24 * few + 0.5


def test_a_wide_frame_finds_its_items_by_their_usual_name() -> None:
    wide = pl.DataFrame({"item": ["u", "v"], "ann": ["x", "y"], "bob": ["x", "x"]})

    labels = from_wide(wide)

    assert labels.items.to_list() == ["u", "v"]
    assert labels.annotators.to_list() == ["ann", "bob"]
    assert labels.classes == ("x", "y")
