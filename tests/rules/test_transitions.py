"""Tables of transitions: counted, by hand, and the authors'."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.errors import OptionError
from crowdlogic.rules.transitions import CONLL_WEIGHTS, conll_transitions, estimate_transitions, transition_table

TAGS = ("B", "I", "O")


def hard(codes: list[int], size: int = 3) -> np.ndarray:
    return np.eye(size)[codes]


def test_planted_transitions_come_back() -> None:
    rng = np.random.default_rng(0)
    planted = np.array([[0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.4, 0.0, 0.6]])
    codes, offsets = [], [0]
    for _ in range(400):
        tag = int(rng.choice(3, p=[0.3, 0.0, 0.7]))
        for _ in range(25):
            codes.append(tag)
            tag = int(rng.choice(3, p=planted[tag]))
        offsets.append(len(codes))

    table = estimate_transitions(hard(codes), np.array(offsets), TAGS)

    np.testing.assert_allclose(table.probability, planted, rtol=0, atol=0.02)
    np.testing.assert_allclose(table.start, [0.3, 0.0, 0.7], rtol=0, atol=0.06)
    assert table.probability[2, 1] == 0.0


def test_transitions_can_be_given_the_current_tag() -> None:
    table = estimate_transitions(hard([0, 1, 2, 1]), np.array([0, 4]), TAGS, given="current")

    np.testing.assert_allclose(table.probability[:, 1], [0.5, 0.0, 0.5], rtol=0, atol=1e-12)
    with pytest.raises(OptionError, match="given must be previous or current; got 'next'"):
        estimate_transitions(hard([0]), np.array([0, 1]), TAGS, given="next")


def test_a_table_by_hand_gives_strength_times_log_p_and_a_floor() -> None:
    table = transition_table({("O", "B"): 0.5}, TAGS, start={"O": 0.25}, strength=2.0, floor=1e-4)

    assert table.log_pairwise[2, 0] == pytest.approx(2 * np.log(0.5))
    assert table.log_pairwise[0, 0] == pytest.approx(2 * np.log(1e-4))
    assert table.log_start[2] == pytest.approx(2 * np.log(0.25))


def test_a_floor_of_zero_makes_transitions_impossible() -> None:
    table = transition_table({("O", "O"): 1.0}, TAGS, floor=0.0)

    assert table.log_pairwise[0, 0] == -np.inf
    np.testing.assert_allclose(table.start, 1 / 3)


def test_wrong_tables_are_refused() -> None:
    with pytest.raises(OptionError, match=r"'Bx' is not a class\. Did you mean 'B'\? The classes are B, I, O\."):
        transition_table({("O", "Bx"): 0.5}, TAGS)
    with pytest.raises(OptionError, match="lie between 0 and 1"):
        transition_table({("O", "B"): 1.5}, TAGS)


def test_the_authors_table_lists_their_weights() -> None:
    classes = ("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")

    table = conll_transitions(classes)

    assert table.probability[classes.index("B-ORG"), classes.index("I-ORG")] == 0.8
    assert np.count_nonzero(table.probability) == len(CONLL_WEIGHTS) == 19
    assert table.strength == 0.1
