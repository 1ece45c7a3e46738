from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.data.test_labels import triples

from crowdlogic.data.frames import from_arrays, from_dict, from_frame, from_matrix, from_sequences, from_wide
from crowdlogic.data.labels import CrowdLabels
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
    assert labels.intake.messages() == ["1 of 3 rows have no label and were left out."]


def test_numbers_with_a_hole_are_still_whole() -> None:
    labels = from_frame(pd.DataFrame({"item": [1, 2, 3], "annotator": ["a"] * 3, "label": [1.0, np.nan, 0.0]}))

    assert labels.classes == (0, 1)
    assert labels.intake.missing == 1


def rows(**changes: list[Any]) -> dict[str, list[Any]]:
    return {"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["x", "y", "x"], **changes}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            rows(label=[0.5, 1.0, 2.0]),
            "the table, row 0: the label 0.5 is a number, not a class. Numeric answers cannot be voted on: round or bin them into classes first, or name the classes.",
        ),
        (
            rows(label=["1", "2.5", "3"]),
            "the table, row 1: the label 2.5 is a number, not a class. Numeric answers cannot be voted on: round or bin them into classes first, or name the classes.",
        ),
        (
            rows(label=["x", '["x", "y"]', "x"]),
            'the table, row 1: \'["x", "y"]\' looks like several labels at once. Give one class per row; for several labels at once make one table per class, with yes or no as labels.',
        ),
        (
            rows(label=[["x"], ["y"], ["x"]]),
            "the table: a label is one class, but the column holds List(String). For the tags of a sentence name the column 'tags'; for several labels at once make one table per class, with yes or no as labels.",
        ),
        (rows(item=["u", None, "v"]), "the table, row 1: no item is named. Fill in the item, or remove the row."),
        (
            rows(annotator=["a", " ", ""]),
            "the table, row 1: no annotator is named. Fill in the annotator, or remove the row. (1 more such row: 2)",
        ),
        (
            rows(annotator=["a", "a", "a"]),
            "the table, row 1: annotator 'a' labels item 'u' again, after row 0. Say what to do with duplicates: first, last or keep (--duplicates).",
        ),
        (
            rows(weight=[1.0, float("nan"), float("inf")]),
            "the table, row 1: the weight nan is not a finite number of 0 or more. Correct the weight, or drop the column to count every label once. (1 more such row: 2)",
        ),
        (
            rows(weight=["1", "heavy", "1"]),
            "the table, row 1: the weight 'heavy' is not a finite number of 0 or more. Correct the weight, or drop the column to count every label once.",
        ),
        (
            rows(kind=["human", "robot", "human"]),
            "the table, row 1: the kind 'robot' is none of human, llm, code. Use one of them, or leave the cell empty.",
        ),
        (
            rows(kind=["human", "llm", "code"]),
            "the table: annotator 'a' is both human and code. Give an annotator one kind.",
        ),
        (
            rows(time=["2024-05-31", "yesterday", "2024-06-01"]),
            "the table, row 1: 'yesterday' is not a time. Write times as 2024-05-31T12:00:00 or as seconds, or drop the column.",
        ),
        (
            {"item": ["u"], "label": ["x"]},
            "the table: no column for the annotator among item, label. A label table needs: item, annotator, label. Rename the column (annotator, worker, rater, user, ...) or name it with --column annotator=NAME.",
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


@pytest.mark.parametrize(
    ("policy", "kept", "count"),
    [
        ("first", {("u", "a", "x")}, 2),
        ("last", {("u", "a", "z")}, 2),
        ("keep", {("u", "a", "x"), ("u", "a", "y"), ("u", "a", "z")}, 2),
    ],
)
def test_duplicates_follow_their_policy_and_are_counted(policy: str, kept: set[Any], count: int) -> None:
    labels = from_frame(
        pl.DataFrame({"item": ["u"] * 3, "annotator": ["a"] * 3, "label": ["x", "y", "z"]}), duplicates=policy
    )

    assert triples(labels) == kept
    assert labels.intake.duplicates == count


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(OptionError) as caught:
        from_frame(pl.DataFrame(LONG), duplicates="merge")

    assert str(caught.value) == "duplicates: 'merge' is none of error, first, last, keep."


def test_rows_are_numbered_as_they_stood_before_missing_ones_left() -> None:
    table = pl.DataFrame({"item": ["u", "u", "u"], "annotator": ["b", "a", "a"], "label": [None, "x", "y"]})

    with pytest.raises(LabelError, match="row 2: annotator 'a' labels item 'u' again, after row 1"):
        from_frame(table)


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


def test_lookalike_classes_are_noticed() -> None:
    labels = from_dict({"u": {"a": "Yes", "b": "yes ", "c": "no"}})

    assert labels.intake.messages() == ["The classes 'Yes', 'yes ' differ only in case or spaces; are they one class?"]


def test_mixed_types_are_refused() -> None:
    with pytest.raises(LabelError) as caught:
        from_arrays(["u", "v"], ["a", "a"], ["x", 1])

    assert str(caught.value) == (
        "The label column mixes types, such as text and numbers. Give all values as text, or all as numbers."
    )


def test_something_that_is_no_frame_is_refused() -> None:
    with pytest.raises(LabelError) as caught:
        from_frame([1, 2, 3])

    assert str(caught.value) == (
        "the table is a list, which is no frame. Give a frame of pandas, polars or pyarrow, or use from_arrays, "
        "from_dict or from_matrix."
    )


def test_abstentions_are_absent_labels() -> None:
    table = pl.DataFrame({"item": ["u", "v"], "lf0": [-1, 1], "lf1": [0, -1]})

    labels = from_wide(table, item="item", abstain=-1)

    assert triples(labels) == {("v", "lf0", 1), ("u", "lf1", 0)}
    assert labels.items.to_list() == ["u", "v"]
    assert labels.intake.messages() == []


def test_tags_may_be_lists_or_text() -> None:
    as_lists = from_frame(pl.DataFrame({"sent": [0, 0], "annotator": ["a", "b"], "tags": [["O", "B-X"], ["O", "O"]]}))
    as_text = from_frame(pl.DataFrame({"sent": [0, 0], "annotator": ["a", "b"], "labels": ["O B-X", " O  O "]}))

    assert (
        triples(as_lists)
        == triples(as_text)
        == {((0, 0), "a", "O"), ((0, 1), "a", "B-X"), ((0, 0), "b", "O"), ((0, 1), "b", "O")}
    )


def test_annotators_of_a_sentence_must_agree_on_its_length() -> None:
    with pytest.raises(LabelError) as caught:
        from_sequences([("s", "ann", ["O", "O"]), ("s", "bob", ["O"])])

    assert str(caught.value) == (
        "the table, row 1: annotator 'bob' gives 1 tags to 's', where another gave 2. "
        "Every annotator of a sequence needs one tag per token."
    )


def test_a_sentence_tagged_twice_follows_the_policy() -> None:
    twice = [("s", "ann", ["O", "O"]), ("t", "ann", ["O"]), ("s", "ann", ["O", "B-X"])]

    with pytest.raises(LabelError, match="row 2: annotator 'ann' labels item 's' again, after row 0"):
        from_sequences(twice)
    last = from_sequences(twice, duplicates="last")

    assert triples(last) == {(("s", 0), "ann", "O"), (("s", 1), "ann", "B-X"), (("t", 0), "ann", "O")}


def test_an_empty_table_is_a_table() -> None:
    labels = from_frame(pl.DataFrame({"item": [], "annotator": [], "label": []}))

    assert (labels.n_labels, labels.n_units, labels.classes) == (0, 0, ())


def test_weights_and_times_move_with_their_rows() -> None:
    table = pl.DataFrame(
        {
            "item": ["u", "v", "u"],
            "annotator": ["a", "a", "b"],
            "label": ["x"] * 3,
            "weight": [1.0, 2.0, 3.0],
            "time": [10, 20, 30],
        }
    )

    labels = from_frame(table)

    assert labels.weights.tolist() == [1.0, 3.0, 2.0]
    assert labels.time is not None
    assert labels.time.tolist() == [10.0, 30.0, 20.0]


def test_codes_out_of_order_are_sorted_with_their_weights() -> None:
    labels = CrowdLabels(
        unit=np.array([1, 0]),
        annotator=np.array([0, 0]),
        label=np.array([1, 0]),
        items=pl.Series(["u", "v"]),
        annotators=pl.Series(["a"]),
        classes=("x", "y"),
        weight=np.array([5.0, 7.0]),
        time=np.array([1.0, 2.0]),
    )

    assert labels.label.tolist() == [0, 1]
    assert labels.weights.tolist() == [7.0, 5.0]
    assert labels.time is not None
    assert labels.time.tolist() == [2.0, 1.0]


def test_a_weight_matters_only_where_there_is_a_label() -> None:
    table = pl.DataFrame({"item": ["u", "v"], "annotator": ["a", "a"], "label": ["x", None], "weight": [2.0, None]})

    assert from_frame(table).weights.tolist() == [2.0]
    with pytest.raises(LabelError, match="row 1: the weight is missing"):
        from_frame(table.with_columns(label=pl.Series(["x", "y"])))


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
    assert labels.intake.messages() == ["The columns text, label are not annotators' and were left out."]


def test_a_problem_in_a_wide_table_is_told_by_its_row() -> None:
    table = pl.DataFrame({"item": ["u", "v", "w"], "a": ["x", "x", "x"], "b": ["x", "q", "x"]})

    with pytest.raises(LabelError, match="the table, row 1: the label 'q' is not among the classes x"):
        from_wide(table, item="item", classes=["x"])


def test_an_item_twice_in_a_wide_table_follows_the_policy() -> None:
    table = pl.DataFrame({"item": ["u", "u"], "a": ["x", "y"]})

    with pytest.raises(LabelError, match="row 1: annotator 'a' labels item 'u' again, after row 0"):
        from_wide(table, item="item")
    assert triples(from_wide(table, item="item", duplicates="last")) == {("u", "a", "y")}


def test_wide_columns_of_different_types_are_refused() -> None:
    with pytest.raises(LabelError, match="the annotators' columns are of different types"):
        from_wide(pl.DataFrame({"item": ["u"], "a": [["x"]], "b": [1]}), item="item")


def test_pandas_columns_may_be_numbers() -> None:
    assert triples(from_wide(pd.DataFrame({0: [1, 2], 1: [2, 2]}))) == {
        (0, "0", 1),
        (1, "0", 2),
        (0, "1", 2),
        (1, "1", 2),
    }


def test_pandas_columns_of_one_name_are_refused() -> None:
    with pytest.raises(LabelError, match=r"two columns have one name\. Give each column its own name\."):
        from_frame(pd.DataFrame([[1, 2, 3]], columns=["item", "label", "label"]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_arrays(["u"], ["a"], ["x"], weight=[1, 2]), "2 weights for 1 labels. Give one weight per label."),
        (
            lambda: from_arrays(["u"], ["a"], ["x"], weight=["q"]),
            "the lists, row 0: the weight 'q' is not a finite number of 0 or more. Correct the weight, or drop the column to count every label once.",
        ),
        (lambda: from_matrix([[1, 2], [3]]), "A label matrix has rows of one length; this one is ragged."),
        (lambda: from_matrix([[1], [2]], items=["a", "a"]), "2 items are named for 2 in the matrix. Name each once."),
        (
            lambda: from_matrix([[1], [2]], annotators=["a", "b"]),
            "2 annotators are named for 1 in the matrix. Name each once.",
        ),
        (
            lambda: from_frame(pl.DataFrame(rows(item=[["u"], ["v"], ["w"]]))),
            "the table: the item column holds List(String). Give each item one name.",
        ),
        (
            lambda: from_frame(pl.DataFrame(rows(label=[1e30, 1.0, 2.0]))),
            "the table, row 0: the label 1e+30 is a number, not a class. Numeric answers cannot be voted on: round or bin them into classes first, or name the classes.",
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


@pytest.mark.parametrize("label", ["NA", "NaN", "null", "None"])
def test_words_for_nothing_are_classes_that_are_pointed_out(label: str) -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], ["x", label])

    assert label in labels.classes
    assert labels.intake.messages() == [
        f"The label {label!r} is taken as a class; if it means that there is no label, leave the cell empty."
    ]


def test_brackets_alone_make_no_list() -> None:
    assert from_arrays(["u", "v"], ["a", "a"], ["[UNK]", "x"]).classes == ("[UNK]", "x")


def test_a_token_not_seen_has_no_label() -> None:
    labels = from_sequences([("s", "a", ["O", "?"]), ("s", "b", ["O", "B-X"])])

    assert labels.classes == ("B-X", "O")
    assert triples(labels) == {(("s", 0), "a", "O"), (("s", 0), "b", "O"), (("s", 1), "b", "B-X")}


def test_a_sentence_without_tags_stays_without_an_answer() -> None:
    labels = from_frame(
        pl.DataFrame({"item": ["s", "t", "u"], "annotator": ["a", "a", "a"], "tags": [["O"], None, []]})
    )

    assert labels.items.to_list() == ["s", "t", "u"]
    assert labels.n_units == 1
    assert labels.intake.missing == 2


def test_weight_time_and_kind_of_a_sentence_go_to_its_tokens() -> None:
    table = pl.DataFrame(
        {
            "item": ["s", "s"],
            "annotator": ["a", "b"],
            "tags": [["O", "O"], ["B-X", "O"]],
            "weight": [1.0, 5.0],
            "time": [1, 2],
            "kind": ["llm", "human"],
        }
    )

    labels = from_frame(table)

    assert labels.votes().tolist() == [[5.0, 1.0], [0.0, 6.0]]
    assert labels.kind == ("llm", "human")
    assert labels.time is not None
    assert labels.time.tolist() == [1.0, 2.0, 1.0, 2.0]


def test_lists_written_as_text_are_refused() -> None:
    with pytest.raises(LabelError, match="row 1: the tags '\\[\"O\"\\]' are a list written as text"):
        from_frame(pl.DataFrame({"item": ["s", "t"], "annotator": ["a", "a"], "tags": ["O", '["O"]']}))


def test_a_problem_in_a_tag_is_told_by_its_row() -> None:
    with pytest.raises(LabelError, match="row 1: the label 'B-X' is not among the classes O"):
        from_sequences([("s", "a", ["O"] * 5), ("t", "a", ["O", "B-X"])], classes=["O"])
