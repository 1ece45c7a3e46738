"""Estimates: what they refuse, and how they become frames and show themselves in a notebook."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.estimate import NO_ANSWER, Estimate, make_estimate, vote_shares
from crowdlogic.data.frames import from_arrays, from_dict, from_sequences
from crowdlogic.errors import DataError

VOTES = {"u": {"a": "x", "b": "x", "c": "y"}, "v": {"a": "y"}, "w": {"a": None}}


def estimate() -> Estimate:
    labels = from_dict(VOTES)
    return make_estimate(labels, "majority", vote_shares(labels.votes()))


def tag_estimate() -> Estimate:
    labels = from_sequences([("s", "a", ["B-X", "?"]), ("t", "a", ["O"])])
    return make_estimate(labels, "majority", vote_shares(labels.votes()))


def test_vote_shares_are_the_votes_over_their_sum_and_uniform_without_votes() -> None:
    shares = vote_shares(np.array([[2.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))

    np.testing.assert_allclose(shares, [[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]], rtol=1e-12)


def test_the_answer_is_the_most_probable_class_and_none_without_labels() -> None:
    found = estimate()

    assert found.answer_names() == ["x", "y", None]
    np.testing.assert_allclose(found.confidence, [2 / 3, 1.0, np.nan], rtol=1e-12)
    assert found.answered.tolist() == [True, True, False]


def test_labels_of_weight_zero_are_no_labels() -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], ["x", "y"], weight=[0.0, 1.0])

    assert make_estimate(labels, "m", vote_shares(labels.votes())).answer.tolist() == [NO_ANSWER, 1]


def test_all_units_are_answered_on_request() -> None:
    labels = from_dict(VOTES)

    assert make_estimate(labels, "m", vote_shares(labels.votes()), answer_all=True).answer.tolist() == [0, 1, 0]


def test_beliefs_of_another_shape_are_refused() -> None:
    with pytest.raises(DataError) as refused:
        make_estimate(from_dict(VOTES), "m", np.full((2, 2), 0.5), answer=np.zeros(3, dtype=np.int32))

    assert str(refused.value) == (
        "make_estimate: m has beliefs of shape (2, 2) for labels of shape (3, 2). Give a row for each unit and a column "
        "for each class."
    )


def test_an_estimate_of_another_shape_is_refused() -> None:
    whole = make_estimate(from_dict(VOTES), "m", np.full((3, 2), 0.5))

    with pytest.raises(DataError, match=r"beliefs are \(2, 2\) for 3 answers and 2 classes"):
        replace(whole, beliefs=np.full((2, 2), 0.5))


def test_an_estimate_is_built_with_keywords_only() -> None:
    with pytest.raises(TypeError):
        Estimate("m", np.ones((1, 1)), np.zeros(1, dtype=np.int32))  # type: ignore[misc, call-arg]


def test_a_frame_has_item_label_confidence_and_a_column_per_class() -> None:
    expected = pl.DataFrame(
        {
            "item": ["u", "v", "w"],
            "label": ["x", "y", None],
            "confidence": [2 / 3, 1.0, None],
            "p_x": [2 / 3, 0.0, 0.5],
            "p_y": [1 / 3, 1.0, 0.5],
        }
    )

    assert estimate().to_frame().equals(expected)


def test_a_frame_of_tags_has_a_row_per_token() -> None:
    frame = tag_estimate().to_frame()

    assert frame.select("item", "token", "label").rows() == [("s", 0, "B-X"), ("s", 1, None), ("t", 0, "O")]
    assert frame.columns == ["item", "token", "label", "confidence", "p_B-X", "p_O"]


@pytest.mark.parametrize("classes", [[1, 0], [True, False]])
def test_classes_keep_their_type_in_a_frame(classes: list[object]) -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], classes)

    assert make_estimate(labels, "m", vote_shares(labels.votes())).to_frame()["label"].to_list() == classes


def test_an_estimate_without_classes_is_an_empty_frame() -> None:
    labels = from_arrays([], [], [])

    frame = make_estimate(labels, "m", np.zeros((0, 0)), answer=np.zeros(0, dtype=np.int32)).to_frame()

    assert frame.shape == (0, 3)


def test_pandas_gets_the_same_rows() -> None:
    pandas = estimate().to_pandas()

    assert pandas["item"].tolist() == ["u", "v", "w"]
    assert pandas["label"].tolist()[:2] == ["x", "y"]
    np.testing.assert_allclose(pandas["p_y"], [1 / 3, 1.0, 0.5], rtol=1e-12)


def test_a_notebook_shows_the_first_answers_escaped() -> None:
    labels = from_dict({"<u>": {"a": "x & y"}})

    html = make_estimate(labels, "majority", vote_shares(labels.votes()))._repr_html_()

    assert "&lt;u&gt;" in html
    assert "x &amp; y" in html
    assert "<u>" not in html
    assert "majority: 1 unit, 1 class, converged" in html


def test_beliefs_that_are_no_probabilities_are_refused() -> None:
    labels = from_dict({"u": {"a": "x", "b": "y"}, "v": {"a": "x", "b": "x"}})

    with pytest.raises(
        DataError, match=r"beliefs: row 0 sums to 2\. Divide each row by its sum: they are probabilities\."
    ):
        make_estimate(labels, "mine", labels.votes())
