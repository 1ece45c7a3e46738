"""Majority vote: shares of votes, ties by policy, weights."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.frames import from_arrays, from_dict, from_sequences
from crowdlogic.errors import OptionError
from crowdlogic.truth.majority import MajorityVote

TIED = from_dict({"u": {"a": "x", "b": "y"}, "v": {"a": "y", "b": "y", "c": "z"}})


def test_beliefs_are_the_shares_of_the_votes() -> None:
    np.testing.assert_allclose(
        MajorityVote().infer(TIED).beliefs, [[0.5, 0.5, 0], [0, 2 / 3, 1 / 3]], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    ("options", "winner"),
    [
        ({"ties": "first"}, "x"),
        ({"ties": "soft"}, "x"),
        ({"ties": "order", "order": ["z", "y", "x"]}, "y"),
        ({"ties": "order", "order": ["x", "z", "y"]}, "x"),
    ],
)
def test_a_tie_is_decided_by_its_policy(options: dict[str, object], winner: str) -> None:
    estimate = MajorityVote(**options).infer(TIED)  # type: ignore[arg-type]

    assert estimate.answer_names() == [winner, "y"]
    assert estimate.tied == 1


def test_random_ties_are_fair_and_follow_the_seed() -> None:
    labels = from_arrays(np.repeat(np.arange(3000), 2), np.tile(["a", "b"], 3000), np.tile(["x", "y"], 3000))

    drawn = MajorityVote(seed=1).infer(labels).answer

    assert abs(drawn.mean() - 0.5) < 4 * 0.5 / np.sqrt(3000)
    np.testing.assert_array_equal(drawn, MajorityVote(seed=1).infer(labels).answer)
    assert (drawn != MajorityVote(seed=2).infer(labels).answer).any()


def test_a_random_tie_never_falls_on_a_class_that_lost() -> None:
    labels = from_dict({i: {"a": "x", "b": "z", "c": "x", "d": "z", "e": "y"} for i in range(300)})

    assert set(MajorityVote().infer(labels).answer_names()) == {"x", "z"}


def test_weights_decide_when_they_are_given() -> None:
    labels = from_arrays(["u", "u", "u"], ["a", "b", "c"], ["x", "x", "y"], weight=[0.2, 0.2, 0.5])

    assert MajorityVote().infer(labels).answer_names() == ["y"]
    assert MajorityVote(weighted=False).infer(labels).answer_names() == ["x"]


def test_weights_that_add_up_alike_are_tied() -> None:
    labels = from_arrays(["u"] * 4, list("abcd"), ["x", "x", "x", "y"], weight=[0.1, 0.1, 0.1, 0.3])

    assert MajorityVote().infer(labels).tied == 1


def test_tokens_are_voted_one_by_one() -> None:
    labels = from_sequences([("s", "a", ["O", "B-X"]), ("s", "b", ["O", "O"]), ("s", "c", ["B-X", "B-X"])])

    assert MajorityVote().infer(labels).answer_names() == ["O", "B-X"]


def test_an_order_must_name_every_class() -> None:
    with pytest.raises(OptionError) as caught:
        MajorityVote(ties="order", order=["x", "y"]).infer(TIED)

    assert str(caught.value) == "ties = order: x, y does not name each class once. The classes are x, y, z."


def test_an_order_may_name_classes_that_do_not_occur() -> None:
    assert MajorityVote(ties="order", order=["w", "z", "y", "x"]).infer(TIED).answer_names()[0] == "y"


def test_labels_of_no_weight_give_no_answer() -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], ["y", "x"], weight=[0.0, 1.0])

    assert MajorityVote().infer(labels).answer_names() == [None, "x"]


@pytest.mark.parametrize("options", [{"ties": "coin"}, {"ties": "first", "order": ["x", "y", "z"]}])
def test_options_that_do_not_go_together_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        MajorityVote(**options).infer(TIED)  # type: ignore[arg-type]
