"""Two fits have the same digest only when they are given the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.blocks import corpus_digest, digest, file_digest, fit_digest, labels_digest
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.estimate import make_estimate
from crowdlogic.data.frames import from_arrays

LABELS = from_arrays(["a", "a", "b"], ["u", "v", "u"], ["x", "y", "y"])
TEXTS = documents(["a", "b"], ["one", "two"], gold=["x", None])


def test_parts_that_differ_anywhere_have_different_digests() -> None:
    given: list[tuple[Any, ...]] = [
        (),
        (None,),
        ("ab", "c"),
        ("a", "bc"),
        (["ab", "c"],),
        (np.arange(4),),
        (np.arange(4).reshape(2, 2),),
        (np.arange(4.0),),
        (np.arange(4, dtype=np.int32),),
        (np.zeros((0, 2)),),
        (np.zeros((0, 3)),),
        (np.array(1.0),),
        (pl.Series(["a", "b"]),),
        (["a", "b"],),
    ]

    assert len({digest(*parts) for parts in given}) == len(given)


def test_what_is_equal_has_the_same_digest() -> None:
    assert digest(np.arange(6).reshape(2, 3).T) == digest(np.arange(6).reshape(2, 3).T.copy())
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


@pytest.mark.parametrize(
    "change",
    [
        {"label": np.array([0, 1, 0])},
        {"annotator": np.array([0, 1, 1])},
        {"weight": np.array([1.0, 1.0, 0.5])},
        {"items": pl.Series(["a", "c"])},
        {"annotators": pl.Series(["u", "w"])},
        {"classes": ("x", "z")},
    ],
)
def test_other_labels_have_another_digest(change: dict[str, Any]) -> None:
    assert labels_digest(replace(LABELS, **change)) != labels_digest(LABELS)
    assert labels_digest(replace(LABELS)) == labels_digest(LABELS)


def test_other_items_have_another_digest() -> None:
    others = [
        documents(["a", "c"], ["one", "two"], gold=["x", None]),
        documents(["a", "b"], ["one", "too"], gold=["x", None]),
        documents(["a", "b"], ["one", "two"], gold=["x", "x"]),
        documents(["a", "b"], ["one", "two"]),
        documents(["a", "b"], features=np.zeros((2, 1))),
        sentences(["a", "b"], [["one"], ["two"]]),
        None,
    ]

    assert len({corpus_digest(one) for one in (TEXTS, *others)}) == 1 + len(others)


def test_a_fit_depends_on_options_labels_start_anchors_and_words() -> None:
    start = make_estimate(LABELS, "m", np.array([[0.5, 0.5], [0.1, 0.9]]))
    other = make_estimate(LABELS, "m", np.array([[0.5, 0.5], [0.2, 0.8]]))
    words = sentences(["a", "b"], [["one"], ["two"]])
    found = {
        fit_digest("m(1)", LABELS),
        fit_digest("m(2)", LABELS),
        fit_digest("m(1)", replace(LABELS, label=np.array([0, 1, 0]))),
        fit_digest("m(1)", replace(LABELS, weight=np.ones(3))),
        fit_digest("m(1)", replace(LABELS, classes=("x", "z"))),
        fit_digest("m(1)", LABELS, start=start),
        fit_digest("m(1)", LABELS, start=other),
        fit_digest("m(1)", LABELS, anchors={"a": "x"}),
        fit_digest("m(1)", LABELS, anchors={"a": "y"}),
        fit_digest("m(1)", LABELS, corpus=words),
    }

    assert len(found) == 10
    assert fit_digest("m(1)", LABELS, anchors={"a": "x", "b": "y"}) == fit_digest(
        "m(1)", LABELS, anchors={"b": "y", "a": "x"}
    )


def test_a_changed_byte_changes_the_digest_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc" * 100_000)
    before = file_digest(path)

    path.write_bytes(b"abc" * 99_999 + b"abd")

    assert file_digest(path) != before
