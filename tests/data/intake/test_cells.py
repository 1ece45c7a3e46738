from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.data.test_labels import triples

from crowdlogic.data.frames import from_arrays, from_frame
from crowdlogic.errors import LabelError


def rows(**changes: list[Any]) -> dict[str, list[Any]]:
    return {"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["x", "y", "x"], **changes}


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([1, 0, 1], (0, 1)),
        ([True, False, True], (False, True)),
        (pd.Categorical(["x", "y", "x"], categories=["y", "x"]), ("x", "y")),
        (pd.Categorical([3, 1, 3]), (1, 3)),
        ([1.0, 0.0, 1.0], (0, 1)),
        (["10", "9", "2"], ("2", "9", "10")),
        (pd.array([1, 0, 1], dtype="Int64"), (0, 1)),
        (pd.array(["x", "y", "x"], dtype="string"), ("x", "y")),
    ],
    ids=["int", "bool", "category", "category of ints", "whole floats", "numbers as text", "nullable", "string"],
)
def test_labels_of_any_type_keep_their_names(values: Any, classes: tuple[Any, ...]) -> None:
    labels = from_frame(pd.DataFrame({"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": values}))

    assert labels.classes == classes
    assert [type(name) for name in labels.classes] == [type(name) for name in classes]
    assert [labels.classes[k] for k in labels.label] == [type(classes[0])(value) for value in values]


@pytest.mark.parametrize("absent", [None, np.nan, "", "  "])
def test_missing_labels_are_dropped_and_counted(absent: Any) -> None:
    labels = from_frame(
        pd.DataFrame({"item": ["u", "u", "w"], "annotator": ["a", "b", "c"], "label": ["x", "y", absent]})
    )

    assert triples(labels) == {("u", "a", "x"), ("u", "b", "y")}
    assert labels.items.to_list() == ["u", "w"]
    assert labels.intake.missing == 1
    assert labels.intake.messages() == [
        "1 of 3 rows has no label and was left out.",
        "If empty cells are answers, such as 'none of these', name their class: empty_label=\"NAME\".",
    ]


def test_numbers_with_a_hole_are_still_whole() -> None:
    labels = from_frame(pd.DataFrame({"item": [1, 2, 3], "annotator": ["a"] * 3, "label": [1.0, np.nan, 0.0]}))

    assert labels.classes == (0, 1)
    assert labels.intake.missing == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            rows(label=[0.5, 1.0, 2.0]),
            "the table, row 0: the label 0.5 is a number, not a class. Numeric answers cannot be aggregated: round them or bin them into classes first, or name the classes.",
        ),
        (
            rows(label=["1", "2.5", "3"]),
            "the table, row 1: the label 2.5 is a number, not a class. Numeric answers cannot be aggregated: round them or bin them into classes first, or name the classes.",
        ),
        (
            rows(label=["x", '["x", "y"]', "x"]),
            'the table, row 1: \'["x", "y"]\' looks like several labels. Give one class per row. For several labels per item, make one table per class with the labels yes and no.',
        ),
        (
            rows(label=[["x"], ["y"], ["x"]]),
            "the table: expected one class per label, but the column has type List(String). Name a column with the tags of sentences 'tags'. For several labels per item, make one table per class with the labels yes and no.",
        ),
        (rows(item=["u", None, "v"]), "the table, row 1: no item is named. Fill in the item, or remove the row."),
        (
            rows(annotator=["a", " ", ""]),
            "the table, row 1: no annotator is named. Fill in the annotator, or remove the row. (1 more such row: 2)",
        ),
        (
            rows(annotator=["a", "a", "a"]),
            'the table, row 1: annotator \'a\' labels item \'u\' again, with another label than in row 0. Choose which labels count: from_frame with duplicates="first", "last" or "keep".',
        ),
        (
            rows(weight=[1.0, float("nan"), float("inf")]),
            "the table, row 1: the weight nan is not a finite number of 0 or more. Correct the weight, or remove the column to count every label once. (1 more such row: 2)",
        ),
        (
            rows(weight=["1", "heavy", "1"]),
            "the table, row 1: the weight 'heavy' is not a finite number of 0 or more. Correct the weight, or remove the column to count every label once.",
        ),
        (
            rows(kind=["human", "robot", "human"]),
            "the table, row 1: the kind must be one of human, llm, code; got 'robot'. Use one of them, or leave the cell empty.",
        ),
        (
            rows(kind=["human", "llm", "code"]),
            "the table: annotator 'a' is both human and code. Give an annotator one kind.",
        ),
        (
            rows(time=["2024-05-31", "yesterday", "2024-06-01"]),
            "the table, row 1: 'yesterday' is not a time. Write times as 2024-05-31T12:00:00 or as seconds, or remove the column.",
        ),
        (
            {"item": ["u"], "label": ["x"]},
            'the table: no column for the annotator among item, label. A label table needs: item, annotator, label. Rename the column (annotator, worker, rater, user, ...) or name it: from_frame(table, columns={"annotator": "NAME"}).',
        ),
    ],
)
def test_each_problem_is_one_clear_line(table: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(LabelError) as caught:
        from_frame(pl.DataFrame(table))

    assert str(caught.value) == message


def test_unknown_labels_are_refused_when_classes_are_given() -> None:
    with pytest.raises(LabelError) as caught:
        from_frame(pl.DataFrame(rows(label=["x", "q", "q"])), classes=["x", "y"])

    assert str(caught.value) == (
        "the table, row 1: the label 'q' is not among the classes x, y. Correct the label, or add it to the classes. "
        "(1 more such row: 2)"
    )


def test_given_classes_are_compared_as_text() -> None:
    labels = from_frame(pl.DataFrame(rows(label=[1, 0, 1])), classes=["1", "0"])

    assert labels.classes == ("1", "0")
    assert labels.label.tolist() == [0, 1, 0]


def test_weight_time_and_kind_are_kept_with_their_rows() -> None:
    table = pl.DataFrame(
        {
            "item": ["v", "u", "u"],
            "annotator": ["gpt", "gpt", "ann"],
            "label": ["x", None, "y"],
            "weight": [0.5, 1.0, 2.0],
            "time": ["1970-01-01T00:01:00", "1970-01-02", "1970-01-01 00:00:01.5"],
            "kind": ["llm", "llm", None],
        }
    )

    with pytest.raises(LabelError, match="is not a time"):
        from_frame(table)
    labels = from_frame(
        table.with_columns(time=pl.Series(["1970-01-01T00:01:00", "1970-01-02T00:00:00", "1970-01-01 00:00:01.5"]))
    )

    assert labels.weight is not None
    assert labels.time is not None
    assert labels.weight.tolist() == [0.5, 2.0]
    assert labels.time.tolist() == [60.0, 1.5]
    assert labels.kind == ("llm", "")


def test_a_weight_matters_only_where_there_is_a_label() -> None:
    table = pl.DataFrame({"item": ["u", "v"], "annotator": ["a", "a"], "label": ["x", None], "weight": [2.0, None]})

    assert from_frame(table).weights.tolist() == [2.0]
    with pytest.raises(LabelError, match="row 1: the weight is missing"):
        from_frame(table.with_columns(label=pl.Series(["x", "y"])))


def test_brackets_alone_make_no_list() -> None:
    assert from_arrays(["u", "v"], ["a", "a"], ["[UNK]", "x"]).classes == ("[UNK]", "x")


def test_numbers_that_a_float_cannot_tell_apart_name_no_class() -> None:
    def build(number: float) -> object:
        return from_frame(pl.DataFrame({"item": ["u"], "annotator": ["a"], "label": [number]}))

    assert build(2.0**53 - 1).classes == (2**53 - 1,)  # type: ignore[attr-defined]
    with pytest.raises(LabelError, match="is a number, not a class"):
        build(2.0**53)
