"""Beliefs of chains: against the enumeration of all taggings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdlogic.data.chain_beliefs import ChainBeliefs, ChainScores, answers, independent_pairs, unit_beliefs
from crowdlogic.errors import OptionError

OFFSETS = np.array([0, 3, 3, 5])


def random_scores(seed: int = 0, tags: int = 3) -> ChainScores:
    rng = np.random.default_rng(seed)
    return ChainScores(
        unary=rng.normal(size=(5, tags)),
        transitions=rng.normal(size=(tags, tags)),
        start=rng.normal(size=tags),
        offsets=OFFSETS,
    )


def taggings(scores: ChainScores, s: int) -> list[tuple[tuple[int, ...], float]]:
    begin, end = OFFSETS[s : s + 2]
    found = []
    for tags in product(range(scores.unary.shape[1]), repeat=int(end - begin)):
        total = scores.start[tags[0]] + sum(scores.unary[begin + t, k] for t, k in enumerate(tags))
        for t in range(1, len(tags)):
            table = scores.transitions if scores.table is None else scores.transitions[scores.table[begin + t]]
            total += table[tags[t - 1], tags[t]]
        found.append((tags, float(total)))
    return found


def test_a_chain_with_evidence_and_rules_is_that_of_all_taggings() -> None:
    rng = np.random.default_rng(5)
    tables, table = rng.normal(size=(2, 3, 3)), np.array([0, 1, 0, 1, 1])

    scores = random_scores().add(rng.normal(size=(5, 3)))
    joined = scores.join(scores.unary, tables, table, start=np.array([0.5, 0.0, -1.0]))
    found = joined.beliefs()

    q, pair = np.zeros((5, 3)), np.zeros((5, 3, 3))
    for s in (0, 2):
        everything = taggings(joined, s)
        total = np.logaddexp.reduce([score for _, score in everything])
        assert found.log_partition is not None
        assert found.log_partition[s] == pytest.approx(total, rel=1e-12)
        for tags, score in everything:
            for t, k in enumerate(tags):
                q[OFFSETS[s] + t, k] += np.exp(score - total)
                if t:
                    pair[OFFSETS[s] + t, tags[t - 1], k] += np.exp(score - total)
    np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.pair, pair, rtol=0, atol=1e-12)
    np.testing.assert_allclose(joined.marginals(), q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_path_of_marginals_is_that_of_their_chain(seed: int) -> None:
    scores = random_scores(seed).scale(2.0)
    found = scores.beliefs()
    best = [max(taggings(scores, s), key=lambda one: one[1])[0] for s in (0, 2)]

    path = ChainBeliefs(found.q, found.pair).best_path(OFFSETS)  # from the marginals alone

    assert path.tolist() == [*best[0], *best[1]]
    assert answers(found, OFFSETS).tolist() == path.tolist()
    assert answers(found.q, OFFSETS).tolist() == found.q.argmax(axis=1).tolist()


def test_a_mixture_has_the_mixed_marginals_and_no_chain() -> None:
    one, other = random_scores(1).beliefs(), random_scores(2).beliefs()

    mixed = 0.25 * one + 0.75 * other

    np.testing.assert_allclose(mixed.q, 0.25 * one.q + 0.75 * other.q, rtol=1e-15)
    np.testing.assert_allclose(mixed.pair, 0.25 * one.pair + 0.75 * other.pair, rtol=1e-15)
    assert mixed.scores is None
    assert unit_beliefs(mixed) is mixed.q


def test_neighbours_that_are_independent() -> None:
    q = np.array([[0.2, 0.8], [0.5, 0.5], [1.0, 0.0]])

    pair = independent_pairs(q, np.array([0, 2, 3]))

    np.testing.assert_allclose(pair, [np.zeros((2, 2)), [[0.1, 0.1], [0.4, 0.4]], np.zeros((2, 2))], rtol=1e-15)


def test_rules_join_a_chain_once() -> None:
    tables = np.zeros((1, 3, 3))
    scores = random_scores().join(np.zeros((5, 3)), tables, np.zeros(5, dtype=int), start=None)

    with pytest.raises(OptionError, match=r"^This chain already has potentials of neighbours\.$"):
        scores.join(np.zeros((5, 3)), tables, None, start=None)
