"""Which answers are confident enough."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.confidence.calibration import split_by_confidence, take_items
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.errors import OptionError
from crowdlogic.truth.majority import MajorityVote


def shares() -> Estimate:
    """Items a to d with confidence 1, 3/4, 1/2 and no label at all."""
    items, votes = [*"a", *"bbbb", *"cc", "d"], [*"x", *"xxxy", *"xy", "x"]
    annotators, weight = [*"1", *"1234", *"12", "1"], [1.0] * 7 + [0.0]
    return MajorityVote(ties="first").infer(from_arrays(items, annotators, votes, weight=weight))


def tagged() -> Estimate:
    """Three sentences of 2, 1 and 3 tokens; one token of the last is tied."""
    rows = [("s", "1", ["x", "y"]), ("t", "1", ["y"]), ("u", "1", ["x", "x", "y"]), ("u", "2", ["x", "y", "y"])]
    return MajorityVote(ties="first").infer(from_sequences(rows))


@pytest.mark.parametrize(
    ("threshold", "confident"),
    [(0.0, [0, 1, 2]), (0.5, [0, 1, 2]), (0.51, [0, 1]), (0.75, [0, 1]), (0.76, [0]), (1.0, [0])],
)
def test_items_at_the_threshold_are_confident_and_those_without_answer_never(
    threshold: float, confident: list[int]
) -> None:
    kept, others = split_by_confidence(shares(), threshold)

    assert kept.tolist() == confident
    assert sorted([*kept, *others]) == [0, 1, 2, 3]


def test_a_sentence_is_as_confident_as_its_least_confident_token() -> None:
    kept, others = split_by_confidence(tagged(), 0.6)

    assert kept.tolist() == [0, 1]
    assert others.tolist() == [2]


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_0_and_1_is_refused(threshold: float) -> None:
    with pytest.raises(OptionError) as refused:
        split_by_confidence(shares(), threshold)

    assert str(refused.value) == f"The minimum confidence must be between 0 and 1, got {threshold}."


def test_items_are_taken_in_the_given_order() -> None:
    estimate = shares()

    part = take_items(estimate, np.array([2, 0]))

    assert part.items.to_list() == ["c", "a"]
    np.testing.assert_array_equal(part.beliefs, estimate.beliefs[[2, 0]])
    np.testing.assert_array_equal(part.answer, estimate.answer[[2, 0]])


def test_sentences_are_taken_with_all_their_tokens() -> None:
    estimate = tagged()

    part = take_items(estimate, np.array([2, 0]))

    assert part.items.to_list() == ["u", "s"]
    assert part.offsets is not None
    assert part.offsets.tolist() == [0, 3, 5]
    np.testing.assert_array_equal(part.beliefs, estimate.beliefs[[3, 4, 5, 0, 1]])
    np.testing.assert_array_equal(part.answer, estimate.answer[[3, 4, 5, 0, 1]])
