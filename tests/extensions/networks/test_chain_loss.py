"""The loss of a CRF on soft targets: against the enumeration of all taggings, and finite differences."""

from __future__ import annotations

from itertools import pairwise as pairwise_of
from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.data.chain_beliefs import ChainBeliefs, ChainScores, independent_pairs  # noqa: E402
from crowdlogic.extensions.networks.chain_networks import RunTargets, TagTransitions, chain_loss, expected_loss  # noqa: E402

OFFSETS = np.array([0, 3, 4, 6])
WEIGHT = np.array([1.0, 2.0, 0.5])


def random_problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, ChainBeliefs]:
    """Scores, and the marginals of another chain as targets."""
    rng = np.random.default_rng(seed)
    unary, pairwise, start = rng.normal(size=(6, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    other = ChainScores(
        unary=rng.normal(size=(6, 3)), transitions=rng.normal(size=(3, 3)), start=rng.normal(size=3), offsets=OFFSETS
    )
    return unary, pairwise, start, other.beliefs()


def run_targets(targets: ChainBeliefs) -> RunTargets:
    return RunTargets(offsets=OFFSETS, weight=WEIGHT, tags=targets.q, pair=targets.pair)


def tagging_score(unary: np.ndarray, pairwise: np.ndarray, start: np.ndarray, tags: tuple[int, ...]) -> float:
    inner = sum(pairwise[a, b] for a, b in pairwise_of(tags))
    return float(start[tags[0]] + sum(unary[t, k] for t, k in enumerate(tags)) + inner)


@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_the_expected_log_likelihood_of_all_taggings(seed: int) -> None:
    unary, pairwise, start, targets = random_problem(seed)
    assert targets.scores is not None
    expected = 0.0
    for s, (begin, end) in enumerate(pairwise_of(OFFSETS)):
        ways = list(product(range(3), repeat=int(end - begin)))
        model = np.array([tagging_score(unary[begin:end], pairwise, start, tags) for tags in ways])
        other = targets.scores
        wanted = np.array([tagging_score(other.unary[begin:end], other.transitions, other.start, t) for t in ways])
        q = np.exp(wanted - np.logaddexp.reduce(wanted))
        expected -= WEIGHT[s] * float(q @ (model - np.logaddexp.reduce(model)))

    loss, *_ = expected_loss(unary, pairwise, start, run_targets(targets))

    assert loss == pytest.approx(expected, rel=1e-9)


def test_gradients_are_those_of_finite_differences() -> None:
    unary, pairwise, start, targets = random_problem(7)
    wanted = run_targets(targets)
    _, *slopes = expected_loss(unary, pairwise, start, wanted)

    parts = [unary, pairwise, start]
    for part, slope in zip(parts, slopes, strict=True):
        for at in np.ndindex(part.shape):
            kept, step = part[at], 1e-5
            part[at] = kept + step
            above = expected_loss(unary, pairwise, start, wanted)[0]
            part[at] = kept - step
            below = expected_loss(unary, pairwise, start, wanted)[0]
            part[at] = kept
            assert slope[at] == pytest.approx((above - below) / (2 * step), rel=1e-6, abs=1e-8)


def test_certain_targets_give_the_likelihood_of_their_tagging() -> None:
    unary, pairwise, start, _ = random_problem(2)
    tags = np.array([2, 0, 1, 1, 0, 2])
    hard = np.eye(3)[tags]
    scores = ChainScores(unary=unary, transitions=pairwise, start=start, offsets=OFFSETS)
    partition = scores.beliefs().log_partition
    assert partition is not None
    likelihood = [
        tagging_score(unary[a:b], pairwise, start, tuple(tags[a:b])) - z
        for a, b, z in zip(OFFSETS[:-1], OFFSETS[1:], partition, strict=True)
    ]

    loss, *_ = expected_loss(unary, pairwise, start, run_targets(ChainBeliefs(hard, independent_pairs(hard, OFFSETS))))

    assert loss == pytest.approx(-float(WEIGHT @ likelihood), rel=1e-9)


def test_torch_gets_the_same_gradients_times_what_follows() -> None:
    unary, pairwise, start, targets = random_problem(4)
    transitions = TagTransitions(3).double()
    with torch.no_grad():
        transitions.pairwise.copy_(torch.from_numpy(pairwise))
        transitions.start.copy_(torch.from_numpy(start))
    scores = torch.from_numpy(unary).requires_grad_()
    begins = np.array([True, False, False, True, True, False])

    mean, count = chain_loss(transitions, targets, np.repeat(WEIGHT, np.diff(OFFSETS)), begins)(scores, np.arange(6))
    (3.0 * mean).backward()

    loss, by_unary, by_pairwise, by_start = expected_loss(unary, pairwise, start, run_targets(targets))
    assert count == 6
    assert float(mean.detach()) == pytest.approx(loss / 6, rel=1e-12)
    for found, expected in ((scores, by_unary), (transitions.pairwise, by_pairwise), (transitions.start, by_start)):
        assert found.grad is not None
        np.testing.assert_allclose(found.grad.numpy(), expected * 3.0 / 6, rtol=1e-9, atol=1e-12)


def test_a_sequence_is_cut_where_the_weight_changes_and_units_without_any_are_left_out() -> None:
    unary, pairwise, start, targets = random_problem(1)
    transitions = TagTransitions(3).double()
    with torch.no_grad():
        transitions.pairwise.copy_(torch.from_numpy(pairwise))
        transitions.start.copy_(torch.from_numpy(start))
    begins = np.array([True, False, False, True, True, False])
    weights = np.array([1.0, 0.0, 1.0, 0.0, 2.0, 2.0])

    mean, count = chain_loss(transitions, targets, weights, begins)(torch.from_numpy(unary), np.arange(6))

    kept = np.array([0, 2, 4, 5])
    runs = RunTargets(
        offsets=np.array([0, 1, 2, 4]), weight=np.array([1.0, 1.0, 2.0]), tags=targets.q[kept], pair=targets.pair[kept]
    )
    assert count == 4
    assert float(mean.detach()) == pytest.approx(expected_loss(unary[kept], pairwise, start, runs)[0] / 4, rel=1e-12)
    nothing, none = chain_loss(transitions, targets, np.zeros(6), begins)(torch.from_numpy(unary), np.arange(6))
    assert (float(nothing), none) == (0.0, 0)
