from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.data.test_labels import triples

from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.errors import LabelError, OptionError

LONG = {"task": ["u", "u", "v"], "worker": ["a", "b", "a"], "answer": ["x", "y", "x"]}


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

    assert str(caught.value) == "duplicates: expected one of error, first, last, keep; got 'merge'."


def test_rows_are_numbered_as_they_stood_before_missing_ones_left() -> None:
    table = pl.DataFrame({"item": ["u", "u", "u"], "annotator": ["b", "a", "a"], "label": [None, "x", "y"]})

    with pytest.raises(
        LabelError, match="row 2: annotator 'a' labels item 'u' again, with another label than in row 1"
    ):
        from_frame(table)


def test_exact_repeats_of_a_label_count_once_and_are_counted() -> None:
    table = pl.DataFrame({"item": ["u", "v", "u", "u"], "annotator": ["a"] * 4, "label": ["x", "y", "x", "x"]})

    labels = from_frame(table)

    assert triples(labels) == {("u", "a", "x"), ("v", "a", "y")}
    assert labels.n_labels == 2
    assert labels.intake.messages() == [
        "2 rows repeat a label (same item, annotator and label): each label was counted once."
    ]


def test_exact_repeats_all_count_when_every_label_is_kept() -> None:
    table = pl.DataFrame({"item": ["u", "u"], "annotator": ["a", "a"], "label": ["x", "x"]})

    assert from_frame(table, duplicates="keep").n_labels == 2


def test_the_error_for_repeats_that_differ_says_how_many_agree_and_what_to_choose() -> None:
    table = pl.DataFrame(
        {"item": ["u", "u", "u", "v", "v"], "annotator": ["a"] * 5, "label": ["x", "x", "y", "x", "x"]}
    )

    with pytest.raises(LabelError) as caught:
        from_frame(table)

    assert str(caught.value) == (
        "the table, row 2: annotator 'a' labels item 'u' again, with another label than in row 0. Of 3 rows that "
        "repeat an item and annotator, 2 have the same label and 1 another. Choose which labels "
        'count: from_frame with duplicates="first", "last" or "keep".'
    )


def test_a_sentence_that_is_tagged_the_same_way_twice_counts_once() -> None:
    same = [("s", "ann", ["B-X", "O"]), ("s", "ann", ["B-X", "O"])]

    assert from_sequences(same).n_labels == 2
    with pytest.raises(LabelError, match="with another label than in row 0"):
        from_sequences([*same, ("s", "ann", ["O", "O"])])
