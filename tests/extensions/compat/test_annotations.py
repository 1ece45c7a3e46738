from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from crowdlogic.errors import LabelError
from crowdlogic.extensions.compat.scikit_learn import is_long_frame, read_annotations

ROWS = [(0, 0, "x"), (0, 2, "y"), (1, 1, "x"), (2, 0, "y"), (2, 1, "y"), (2, 2, "x")]
"""(item, annotator, label); item 3 has none."""

DENSE = np.full((4, 3), None, dtype=object)
for i, j, name in ROWS:
    DENSE[i, j] = name
CODES = np.where(DENSE == "x", 0, np.where(DENSE == "y", 1, -1)).astype(np.int64)


def rows_of(given: object, **known: object) -> list[tuple[int, int, object]]:
    labels = read_annotations(given, 4, **known)
    assert labels.n_units == 4
    place = {0: 0, 1: 1, 2: 2, "a": 0, "b": 1, "c": 2}
    who = labels.annotators.to_list()
    if "annotators" not in known:
        who = [place.get(name, j) for j, name in enumerate(who)]
        order = sorted(range(labels.n_labels), key=lambda row: (labels.unit[row], who[labels.annotator[row]]))
        return [(int(labels.unit[r]), who[labels.annotator[r]], labels.classes[labels.label[r]]) for r in order]
    return [
        (int(i), int(j), labels.classes[n]) for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True)
    ]


@pytest.mark.parametrize(
    "given",
    [
        DENSE,
        DENSE.tolist(),
        pd.DataFrame(DENSE, columns=["a", "b", "c"]),
        pl.DataFrame(DENSE.tolist(), schema=["a", "b", "c"], orient="row"),
        pd.DataFrame(ROWS, columns=["item", "annotator", "label"]),
        pd.DataFrame(ROWS, columns=["task", "worker", "label"]),
    ],
    ids=["array", "lists", "wide pandas", "wide polars", "long", "crowd-kit's long"],
)
def test_the_same_annotations_in_every_form(given: object) -> None:
    assert rows_of(given) == ROWS


@pytest.mark.parametrize(
    "given",
    [
        CODES,
        np.where(CODES < 0, np.nan, CODES),
        sparse.csr_array((CODES[CODES >= 0], np.nonzero(CODES >= 0)), shape=CODES.shape),
        np.where(CODES < 0, None, CODES),
        pd.DataFrame(np.where(CODES < 0, np.nan, CODES)),
    ],
    ids=["-1", "NaN", "sparse with stored zeros", "None", "frame"],
)
def test_the_same_numbers_in_every_form(given: object) -> None:
    assert rows_of(given) == [(i, j, {"x": 0, "y": 1}[name]) for i, j, name in ROWS]


def test_a_vector_is_one_annotator_and_minus_one_a_class_there() -> None:
    assert rows_of(np.array([1, -1, 1, -1])) == [(0, 0, 1), (1, 0, -1), (2, 0, 1), (3, 0, -1)]


def test_only_what_a_model_knows_is_kept() -> None:
    known = rows_of(pd.DataFrame(DENSE, columns=["a", "b", "c"]), annotators=["c", "a"], classes=["y", "x"])

    assert known == [(0, 0, "y"), (0, 1, "x"), (2, 0, "x"), (2, 1, "y")]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (CODES[:3], "Found annotations of 3 items, but 4 items in X"),
        (pd.DataFrame([(9, 0, "x")], columns=["item", "annotator", "label"]), "item 9 is not a row number of X"),
        (np.zeros((4, 2, 2)), "got 3 axes"),
        (np.full((4, 1), 1j), "Complex data not supported"),
        ([[{}], [1], [1], [1]], "must be a string or a number, not a dict"),
        ([["x"], [1], [1], [1]], "Labels have mixed types"),
    ],
)
def test_what_is_no_matrix_of_labels_is_refused(given: object, words: str) -> None:
    with pytest.raises(LabelError, match=words):
        read_annotations(given, 4)


def test_a_long_frame_is_told_from_a_wide_one() -> None:
    assert is_long_frame(pd.DataFrame(ROWS, columns=["item", "annotator", "label"]))
    assert not is_long_frame(pd.DataFrame(DENSE, columns=["ann", "bob", "cy"]))
    assert not is_long_frame(CODES)
