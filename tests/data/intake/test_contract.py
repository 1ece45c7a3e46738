from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.frames import from_arrays, from_dict
from crowdlogic.data.intake.contract import Duplicates, Intake, TableSource, row_error


def test_lookalike_classes_are_noticed() -> None:
    labels = from_dict({"u": {"a": "Yes", "b": "yes ", "c": "no"}})

    assert labels.intake.messages() == ["The classes 'Yes', 'yes ' differ only in case or spaces; are they one class?"]


@pytest.mark.parametrize("label", ["NA", "NaN", "null", "None"])
def test_words_for_nothing_are_classes_that_are_pointed_out(label: str) -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], ["x", label])

    assert label in labels.classes
    assert labels.intake.messages() == [
        f"The label {label!r} is taken as a class; if it means that there is no label, leave the cell empty."
    ]


def test_the_first_row_is_described_five_are_listed_and_all_are_counted() -> None:
    source = TableSource("f.csv", first_row=2)

    few, many = (str(row_error(source, range(n), "no label", "Give one.")) for n in (6, 8))

    assert few == "f.csv, row 2: no label. Give one. (5 more such rows: 3, 4, 5, 6, 7)"
    assert many == "f.csv, row 2: no label. Give one. (7 more such rows: 3, 4, 5, 6, 7, ...)"


def test_rows_that_were_taken_keep_their_numbers() -> None:
    source = TableSource("f.csv", first_row=2).take(np.array([4, 1]))

    assert [source.at(0), source.take(np.array([1])).at(0)] == ["f.csv, row 6", "f.csv, row 3"]


def test_intake_adds_up_and_says_what_was_done() -> None:
    first = Intake(rows=10, missing=2, notices=("Odd.",))
    second = Intake(rows=5, duplicates=1, policy=Duplicates.last, notices=("Odd.",))

    assert (first + second).messages() == [
        "2 of 15 rows have no label and were left out.",
        "1 row repeats an item and annotator: the last label was used (duplicates = last).",
        "Odd.",
    ]
    assert Intake(rows=3).messages() == []
