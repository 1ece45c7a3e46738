from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.data.test_labels import triples

from crowdlogic.data.frames import from_frame
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

    assert str(caught.value) == "duplicates: 'merge' is none of error, first, last, keep."


def test_rows_are_numbered_as_they_stood_before_missing_ones_left() -> None:
    table = pl.DataFrame({"item": ["u", "u", "u"], "annotator": ["b", "a", "a"], "label": [None, "x", "y"]})

    with pytest.raises(LabelError, match="row 2: annotator 'a' labels item 'u' again, after row 1"):
        from_frame(table)
