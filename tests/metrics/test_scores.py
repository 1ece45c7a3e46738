"""Scores against scikit-learn, brute force and figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from crowdlogic.data.frames import from_frame
from crowdlogic.data.names import find
from crowdlogic.errors import DataError, OptionError
from crowdlogic.metrics.calibration import brier, calibration_error
from crowdlogic.metrics.scores import Scores, accuracy, accuracy_all, accuracy_ties_half, macro_f1, score
from crowdlogic.numerics.arrays import Floats, Ints

codes = st.integers(min_value=-1, max_value=3)
pairs = st.lists(st.tuples(st.integers(0, 3), codes), min_size=1, max_size=30)


def beliefs(seed: int, *, units: int = 60, classes: int = 4) -> tuple[Ints, Floats]:
    """Gold and beliefs that lean towards it, so that calibration has something to find."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(classes, size=units)
    return gold, rng.dirichlet(np.ones(classes), size=units) * 0.6 + 0.4 * np.eye(classes)[gold]


@settings(max_examples=60)
@given(pairs)
def test_accuracy_and_macro_f1_equal_scikit_learns(units: list[tuple[int, int]]) -> None:
    gold, answer = (np.array(column) for column in zip(*units, strict=True))
    present = sorted({*gold.tolist(), *answer.tolist()} - {-1})

    assert accuracy_all(gold, answer) == pytest.approx(sk.accuracy_score(gold, answer), abs=1e-12)
    answered = answer >= 0
    if answered.any():
        assert accuracy(gold, answer) == pytest.approx(sk.accuracy_score(gold[answered], answer[answered]), abs=1e-12)
    assert macro_f1(gold, answer) == pytest.approx(
        sk.f1_score(gold, answer, labels=present, average="macro", zero_division=0), abs=1e-12
    )


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_macro_f1_is_scikit_learns_default_when_all_is_answered(units: list[tuple[int, int]]) -> None:
    gold, answer = (np.array(column) for column in zip(*units, strict=True))

    assert macro_f1(gold, answer) == pytest.approx(sk.f1_score(gold, answer, average="macro"), abs=1e-12)


@settings(max_examples=60)
@given(pairs, st.lists(codes, max_size=10))
def test_units_without_gold_are_not_scored(units: list[tuple[int, int]], extra: list[int]) -> None:
    gold, answer = (np.array(column) for column in zip(*units, strict=True))
    more_gold = np.concatenate([gold, np.full(len(extra), -1)])
    more_answers = np.concatenate([answer, np.array(extra, dtype=int)])

    ours, theirs = score(more_gold, more_answers), score(gold, answer)
    np.testing.assert_equal(vars(ours), vars(theirs))  # NaN equals NaN here


def test_accuracy_is_of_the_answers_given_and_accuracy_all_of_all_gold() -> None:
    gold, answer = np.array([0, 0, 1, 1, -1]), np.array([0, -1, 0, -1, 1])

    assert score(gold, answer) == Scores(
        coverage=0.5, n=2, accuracy=0.5, accuracy_all=0.25, macro_f1=pytest.approx((2 / 3 + 0) / 2)
    )
    assert (accuracy(gold, answer), accuracy_all(gold, answer)) == (0.5, 0.25)


def test_half_credit_is_the_mean_over_random_choices() -> None:
    rng = np.random.default_rng(1)
    votes = rng.integers(0, 3, size=(200, 3)).astype(float) + 0.1
    q, gold = votes / votes.sum(axis=1, keepdims=True), rng.integers(3, size=200)
    best = votes == votes.max(axis=1, keepdims=True)
    draws = [(np.where(best, rng.random(votes.shape), -1).argmax(axis=1) == gold).mean() for _ in range(2_000)]

    assert accuracy_ties_half(gold, q.argmax(axis=1), q) == pytest.approx(np.mean(draws), abs=0.003)


def test_a_tie_without_an_answer_is_not_scored() -> None:
    q = np.full((2, 2), 0.5)

    assert accuracy_ties_half(np.array([0, 0]), np.array([0, -1]), q) == 0.5


def test_nothing_to_score_is_nan_and_no_warning() -> None:
    nothing = np.array([-1, -1])

    found = score(nothing, np.array([0, 1]), np.full((2, 2), 0.5))

    assert found.n == 0
    assert np.isnan([value for name, value in vars(found).items() if name != "n"]).all()
    assert np.isnan(score(np.empty(0, int), np.empty(0, int), np.empty((0, 0))).accuracy)


def test_scores_without_beliefs_have_none() -> None:
    found = score(np.array([0]), np.array([0]))

    assert (found.log_loss, found.brier, found.calibration_error) == (None, None, None)


def test_what_does_not_fit_is_refused() -> None:
    two, three = np.array([0, 1]), np.array([0, 1, 1])

    with pytest.raises(DataError, match=r"^3 gold classes and 2 answers\. Give one of each for every unit\.$"):
        accuracy(three, two)
    with pytest.raises(DataError, match=r"^gold contains the code 1, but there are beliefs for 1 classes\.$"):
        brier(two, np.ones((2, 1)))
    with pytest.raises(OptionError, match=r"^bins must be at least 1, got 0\.$"):
        calibration_error(two, np.full((2, 2), 0.5), bins=0)


@pytest.mark.data
def test_the_sentiment_crowds_majority_is_right_as_often_as_known(data_root: Path) -> None:
    folder = data_root / "sentiment_mturk"
    labels = from_frame(pl.read_csv(folder / "labels.csv"))
    table = pl.read_csv(folder / "gold.csv")
    gold = np.full(len(labels.items), -1)
    gold[find(table["item"], labels.items)] = find(table["label"], pl.Series(labels.classes))
    votes = labels.votes()
    shares = votes / votes.sum(axis=1, keepdims=True)

    halved = accuracy_ties_half(gold, shares.argmax(axis=1), shares)
    to_first, to_last = accuracy(gold, shares.argmax(axis=1)), accuracy(gold, 1 - shares[:, ::-1].argmax(axis=1))

    assert round(100 * halved, 2) == 88.59
    assert sorted(round(100 * value, 2) for value in (to_first, to_last)) == [88.22, 88.96]
