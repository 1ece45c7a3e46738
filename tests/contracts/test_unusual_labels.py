"""Inputs on which other packages fail, through every method."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.data.frames import from_frame, from_matrix
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, needs_sequences, truth_method

ALL = [
    MajorityVote(ties="first"),
    *(truth_method(name) for name in TRUTH_METHODS if name != "majority" and not needs_sequences(name)),
]


@pytest.fixture(params=ALL, ids=lambda method: method.name)
def method(request: pytest.FixtureRequest) -> TruthMethod:
    return request.param


def frame(labels: object, **columns: object) -> pd.DataFrame:
    """Two items by three annotators each, who agree."""
    return pd.DataFrame({"task": [0, 0, 0, 1, 1, 1], "worker": list("abcabc"), "label": labels, **columns})


def test_category_labels(method: TruthMethod) -> None:
    given = pd.Series(["x", "x", "y", "y", "y", "y"], dtype="category").cat.add_categories("unused")

    assert method.infer(from_frame(frame(given))).answer_names() == ["x", "y"]


def test_bool_labels(method: TruthMethod) -> None:
    answer = method.infer(from_frame(frame([True, True, True, False, False, False]))).answer_names()

    assert answer == [True, False]
    assert all(isinstance(name, bool) for name in answer)


def test_integer_labels(method: TruthMethod) -> None:
    assert method.infer(from_frame(frame([10, 10, 2, 2, 2, 2]))).answer_names() == [10, 2]


def test_one_class(method: TruthMethod) -> None:
    estimate = method.infer(from_frame(frame(["x"] * 6)))

    assert estimate.answer_names() == ["x", "x"]
    np.testing.assert_allclose(estimate.beliefs, 1.0, rtol=0, atol=1e-12)


def test_an_empty_table(method: TruthMethod) -> None:
    labels = from_frame(pd.DataFrame({"task": [], "worker": [], "label": []}))

    estimate = method.infer(labels)

    assert estimate.answer_names() == []
    assert len(annotator_table(labels, estimate)) == 0


def test_a_nan_label_is_no_label(method: TruthMethod) -> None:
    labels = from_frame(frame(["x", "x", np.nan, np.nan, np.nan, np.nan]))

    assert labels.intake.missing == 4
    assert method.infer(labels).answer_names() == ["x", None]


def test_an_item_with_one_vote(method: TruthMethod) -> None:
    table = pd.concat([frame(list("xxxyyy")), pd.DataFrame({"task": [2], "worker": ["a"], "label": ["y"]})])

    assert method.infer(from_frame(table)).answer_names() == ["x", "y", "y"]


def test_an_annotator_with_one_label(method: TruthMethod) -> None:
    table = pd.concat([frame(list("xxxyyy")), pd.DataFrame({"task": [1], "worker": ["once"], "label": ["x"]})])

    estimate = method.infer(from_frame(table))

    assert estimate.answer_names() == ["x", "y"]
    assert np.isfinite(estimate.beliefs).all()


def test_annotators_who_share_no_item(method: TruthMethod) -> None:
    labels = from_matrix(np.array([[0, -1], [1, -1], [-1, 1], [-1, 0]]))

    assert method.infer(labels).answer.tolist() == [0, 1, 1, 0]


def test_hundreds_of_classes(method: TruthMethod) -> None:
    """Ten annotators who are right nine times in ten, and as many classes as items."""
    rng = np.random.default_rng(0)
    truth = rng.permutation(300)
    given = np.where(rng.random((300, 10)) < 0.9, truth[:, None], rng.integers(300, size=(300, 10)))
    labels = from_matrix(given, classes=tuple(range(300)))
    small = EBCC(subtypes=2, restarts=1) if method.name == "ebcc" else method

    assert (small.infer(labels).answer == truth).mean() > 0.99


def test_annotators_whose_weight_is_zero_change_nothing(method: TruthMethod) -> None:
    table = frame(list("xxxyyy"), weight=[1.0, 1, 1, 1, 1, 1])
    extra = pd.DataFrame({"task": [0, 1], "worker": ["z", "z"], "label": ["y", "x"], "weight": [0.0, 0.0]})

    assert method.infer(from_frame(pd.concat([table, extra]))).answer_names() == ["x", "y"]
