from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.data.frames import from_matrix
from crowdlogic.errors import OptionError
from crowdlogic.extensions.compat.kos import KOS, pass_messages
from crowdlogic.truth.majority import MajorityVote


def with_liars(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """500 items, 15 annotators who are right 3 times in 4 and 5 who lie 4 times in 5; a third of the labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=500)
    right = rng.random((500, 20)) < np.where(np.arange(20) < 5, 0.2, 0.75)
    given = np.where(right, truth[:, None], 1 - truth[:, None])
    given[rng.random(given.shape) < 2 / 3] = -1
    return given, truth


def test_messages_are_what_the_paper_says() -> None:
    rng = np.random.default_rng(0)
    pairs = [(i, j) for i in range(5) for j in range(4) if rng.random() < 0.8]
    unit, annotator = np.array(pairs).T
    signed, first = rng.choice([-1.0, 1.0], size=len(pairs)), rng.normal(1, 1, size=len(pairs))
    y = dict(zip(pairs, first, strict=True))
    sign = dict(zip(pairs, signed, strict=True))
    for _ in range(3):
        x = {(i, j): sum(sign[p] * y[p] for p in pairs if p[0] == i and p[1] != j) for i, j in pairs}
        y = {(i, j): sum(sign[p] * x[p] for p in pairs if p[1] == j and p[0] != i) for i, j in pairs}
    expected = np.array(list(y.values()))

    found = pass_messages(unit, annotator, signed, first, iterations=3)

    np.testing.assert_allclose(found, expected / np.abs(expected).max(), rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_liars_are_read_backwards(seed: int) -> None:
    given, truth = with_liars(seed)

    estimate = KOS().infer(from_matrix(given))
    voted = MajorityVote().infer(from_matrix(given))

    assert (estimate.answer == truth).mean() > (voted.answer == truth).mean() + 0.1
    assert (estimate.reliability[:5] < 0).all()
    assert (estimate.reliability[5:] > 0).all()


def test_more_than_two_classes() -> None:
    crowd = planted(1, units=300, annotators=8, classes=4, right=0.7, given=0.6)

    assert (KOS().infer(crowd.labels).answer == crowd.truth).mean() > 0.85


def test_without_rounds_it_is_a_vote() -> None:
    labels = planted(2, units=50).labels

    votes = labels.votes()

    assert (votes[np.arange(50), KOS(iterations=0).infer(labels).answer] == votes.max(axis=1)).all()


def test_a_negative_number_of_rounds_is_refused() -> None:
    with pytest.raises(OptionError, match="iterations"):
        KOS(iterations=-1)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_only_ratios_of_weights_matter(scale: float) -> None:
    labels = planted(0, units=60).labels
    weights = np.random.default_rng(0).choice([0.5, 1.0], size=labels.n_labels)

    found = [KOS().infer(replace(labels, weight=factor * weights)).beliefs for factor in (1.0, scale)]

    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-12)
