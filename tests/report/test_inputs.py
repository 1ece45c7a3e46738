"""Estimates, labels, items and gold put over each other, and what does not fit is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.report.small_crowds import estimate_with, small_crowd, small_texts

from crowdlogic.data.corpus import documents
from crowdlogic.data.estimate import Answers
from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.errors import DataError
from crowdlogic.reporting.inputs import inputs_from_estimate


def answers(gold: dict[str, str]) -> Answers:
    classes = tuple(sorted(set(gold.values())))
    codes = np.array([classes.index(name) for name in gold.values()], dtype=np.int32)
    return Answers(pl.Series(list(gold)), classes, codes, source="gold.csv")


def test_gold_of_some_items_in_any_order() -> None:
    labels = small_crowd()

    made = inputs_from_estimate(
        estimate_with(labels), labels, small_texts(), answers({"u4": "y", "elsewhere": "x", "u1": "y"})
    )

    assert made.gold.tolist() == [1, -1, -1, 1]


def test_gold_tags_go_to_their_tokens() -> None:
    labels = from_sequences([("s", "a", ["O", "B-X"]), ("t", "a", ["O", "O", "B-X"])], classes=["B-X", "O"])
    estimate = estimate_with(labels, np.full((5, 2), 0.5))
    gold = Answers(pl.Series(["t"]), ("O", "B-X"), np.array([1, 0, -1]), offsets=np.array([0, 3]), source="gold.conll")

    made = inputs_from_estimate(estimate, labels, None, gold)

    assert made.gold.tolist() == [-1, -1, 0, 1, -1]


@pytest.mark.parametrize(
    ("labels", "corpus", "gold", "message"),
    [
        (
            {"u9": {"ann": "x"}},
            None,
            None,
            "Item 'u9' has labels but is not in the estimate (1 such items). Pass the labels from which the estimate was "
            "computed.",
        ),
        (
            {"u1": {"anne": "x"}},
            None,
            None,
            "Annotator 'anne' is not in the estimate. Did you mean 'ann'? Pass the labels from which the estimate was computed.",
        ),
        (
            None,
            documents(["u1"], ["one"]),
            None,
            "Item 'u2' of the estimate is not among the items (3 such items). Pass all items.",
        ),
        (
            None,
            None,
            {"v": "x"},
            "gold.csv (with v) and the report (with u1, u2, u3) have no item in common. Give two files about the same "
            "items.",
        ),
    ],
)
def test_what_does_not_fit_is_refused(labels: Any, corpus: Any, gold: Any, message: str) -> None:
    own = small_crowd()
    given = own if labels is None else from_dict(labels, classes=("x", "y"))

    with pytest.raises(DataError) as refused:
        inputs_from_estimate(estimate_with(own), given, corpus, None if gold is None else answers(gold))

    assert str(refused.value) == message


def test_sentences_are_no_documents() -> None:
    with pytest.raises(DataError, match="expected labels of documents, like the estimate, found labels of sentences"):
        inputs_from_estimate(estimate_with(small_crowd()), from_sequences([("u1", "ann", ["x"])], classes=["x", "y"]))
