from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.truth import dependence as vote_patterns
from crowdlogic.truth.dependence import find_vote_patterns, state_confidence
from crowdlogic.truth.methods import truth_method


def drawn_votes(units: int) -> np.ndarray:
    return np.random.default_rng(0).integers(3, size=(units, 3)).astype(np.float64)


def test_units_with_the_same_votes_are_one_pattern() -> None:
    votes = drawn_votes(vote_patterns.MANY_UNITS)

    patterns = find_vote_patterns(votes)

    assert patterns is not None
    distinct, counts = np.unique(votes, axis=0, return_counts=True)
    order = np.lexsort(votes[patterns.first].T[::-1])
    np.testing.assert_array_equal(votes[patterns.first][order], distinct)
    np.testing.assert_array_equal(patterns.times[order], counts)
    np.testing.assert_array_equal(patterns.expand(votes[patterns.first]), votes)
    assert patterns.determine(votes)
    assert not patterns.determine(votes + np.arange(len(votes))[:, None])


@pytest.mark.parametrize(
    "votes",
    [
        drawn_votes(vote_patterns.MANY_UNITS - 1),
        drawn_votes(vote_patterns.MANY_UNITS) / 2,
        drawn_votes(vote_patterns.MANY_UNITS) * 1e9,
        np.arange(vote_patterns.MANY_UNITS, dtype=np.float64)[:, None],
        np.zeros((vote_patterns.MANY_UNITS, 0)),
    ],
    ids=["few units", "fractions", "large numbers", "hardly any alike", "no classes"],
)
def test_where_patterns_do_not_pay_there_are_none(votes: np.ndarray) -> None:
    assert find_vote_patterns(votes) is None


def test_the_votes_of_very_many_classes_make_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vote_patterns, "MANY_UNITS", 1)

    assert find_vote_patterns(np.full((10, 5000), 2.0)) is None


@pytest.mark.parametrize("method", ["majority", "wawa", "dawid-skene"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_stated_confidence_is_that_of_every_unit_by_itself(
    method: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = planted(0, units=400, given=0.5).labels
    weights = np.random.default_rng(1).integers(1, 3, size=labels.n_labels).astype(np.float64)
    labels = replace(labels, weight=weights) if weighted else labels
    estimate = truth_method(method).infer(labels)
    alone = state_confidence(labels, estimate)
    monkeypatch.setattr(vote_patterns, "MANY_UNITS", 1)

    together = state_confidence(labels, estimate)

    np.testing.assert_allclose(together.beliefs, alone.beliefs, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(together.answer, alone.answer)
    assert together.calibration is not None
    assert alone.calibration is not None
    assert together.calibration.correlation == pytest.approx(alone.calibration.correlation, abs=1e-12)
