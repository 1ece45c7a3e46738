from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.simulate import simulate_crowd
from crowdlogic.numerics.arrays import Floats

CHARACTERS = ("expert", "ordinary", "spammer", "adversary", "biased", "lazy")


def one_of(character: str, *, seed: int = 0, classes: int = 4, balance: list[float] | None = None) -> Floats:
    """The planted matrix of a single annotator of that character."""
    crowd = simulate_crowd(
        np.random.default_rng(seed), units=50, annotators=1, classes=classes, balance=balance, mix={character: 1}
    )
    return crowd.confusion[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_characters_are_what_their_names_say(seed: int) -> None:
    balance = [0.2, 0.5, 0.2, 0.1]
    expert, ordinary, spammer, adversary, lazy = (
        one_of(character, seed=seed, balance=balance)
        for character in ("expert", "ordinary", "spammer", "adversary", "lazy")
    )

    assert (np.diag(expert) >= 0.9).all()
    assert (np.diag(ordinary) >= 0.6).all()
    assert (np.diag(ordinary) <= 0.85).all()
    assert (spammer == spammer[0]).all()
    assert (np.diag(adversary) <= 0.15).all()
    assert (adversary.max(axis=1) > 0.7).all()
    assert (lazy[:, 1] >= 0.4).all()


def test_spammers_are_uniform_or_fixed_and_both_occur() -> None:
    peaks = [one_of("spammer", seed=seed)[0].max() for seed in range(30)]

    assert set(peaks) == {0.25, 1.0}


def test_the_biased_lean_to_one_class_or_confuse_one_pair_and_both_occur() -> None:
    found = set()
    for seed in range(30):
        matrix = one_of("biased", seed=seed)
        favourite = (matrix.min(axis=0) >= 0.4).sum()
        off = matrix - np.diag(np.diag(matrix))
        mutual = sum(off[a, b] > 0.35 and off[b, a] > 0.35 for a in range(4) for b in range(a))
        assert (favourite, mutual) in {(1, 0), (0, 1)}
        found.add((favourite, mutual))

    assert len(found) == 2


@pytest.mark.parametrize("classes", [2, 3, 17])
def test_rows_of_planted_matrices_are_distributions(classes: int) -> None:
    crowd = simulate_crowd(np.random.default_rng(2), annotators=12, classes=classes, mix=dict.fromkeys(CHARACTERS, 2))

    assert (crowd.confusion >= 0).all()
    np.testing.assert_allclose(crowd.confusion.sum(axis=2), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("character", CHARACTERS)
def test_one_class_is_always_answered_right(character: str) -> None:
    crowd = simulate_crowd(np.random.default_rng(0), units=20, annotators=3, classes=1, mix={character: 3})

    assert crowd.labels.n_labels > 0
    assert not crowd.labels.label.any()
    assert crowd.labels.classes == ("class_0",)
