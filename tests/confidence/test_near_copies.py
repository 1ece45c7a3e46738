"""Near-copies: found whatever they are, merged only if they give the same answers, and absent where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from tests.confidence.planted_crowds import crowd, judges, with_noise

from crowdlogic.data.frames import from_arrays
from crowdlogic.errors import OptionError
from crowdlogic.truth import near_copies
from crowdlogic.truth.near_copies import find_similar, merge_groups


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1])
def test_copies_are_one_group(noise: float) -> None:
    table, _ = judges(0, skills=[0.6, 0.7, 0.75, 0.65, 0.8])
    table = np.column_stack([table, with_noise(table[:, 0], noise, 1), with_noise(table[:, 0], noise, 2)])

    found = find_similar(crowd(table, 3))

    assert found.group.tolist() == [0, 1, 2, 3, 4, 0, 0]
    assert {(p.first, p.second) for p in found.pairs if p.near_copy} == {(0, 5), (0, 6), (5, 6)}


def test_noisier_copies_are_reported_and_not_merged() -> None:
    table, _ = judges(1, skills=[0.6, 0.7, 0.75, 0.65, 0.8])
    table = np.column_stack([table, with_noise(table[:, 0], 0.35, 3)])

    found = find_similar(crowd(table, 3))

    assert [(p.first, p.second, p.near_copy) for p in found.pairs] == [(0, 5, False)]
    assert not found.has_copies


def test_copies_that_are_most_of_the_panel_are_found() -> None:
    table, _ = judges(2, skills=[0.6, 0.7, 0.75])
    table = np.column_stack([table, *(table[:, 0] for _ in range(4))])

    found = find_similar(crowd(table, 3))

    assert found.group.tolist() == [0, 1, 2, 0, 0, 0, 0]


@pytest.mark.parametrize("skills", [[0.7] * 6, [0.97, 0.96, 0.6, 0.65, 0.7, 0.6], [0.95] * 5])
def test_independent_judges_are_no_copies_however_good_they_are(skills: list[float]) -> None:
    for seed in range(5):
        table, _ = judges(seed, skills=skills, n_classes=2)

        assert not find_similar(crowd(table, 2)).has_copies


def test_shared_difficulty_is_not_copying() -> None:
    rng = np.random.default_rng(3)
    table, truth = judges(3, skills=[0.85] * 6)
    hard, decoy = rng.random(1000) < 0.3, (truth + 1) % 3
    table = np.where(hard[:, None] & (rng.random(table.shape) < 0.7), decoy[:, None], table)

    assert not find_similar(crowd(table, 3)).has_copies


def test_people_with_few_labels_cost_nothing() -> None:
    n = np.arange(100_000)
    labels = from_arrays(n % 10, n, n % 3)  # 10⁹ pairs of annotators share one item

    assert find_similar(labels).tested == 0


def test_if_there_are_too_many_pairs_those_with_most_labels_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = judges(0, skills=[0.6, 0.7, 0.75, 0.65, 0.8])
    table = np.column_stack([table, table[:, 0]])
    table[800:, 1:5] = -1
    monkeypatch.setattr(near_copies, "MAX_LABEL_PAIRS", 10_000)

    found = find_similar(crowd(table, 3))

    assert (found.tested, found.group.tolist()) == (3, [0, 1, 2, 3, 4, 0])


def test_a_group_has_one_vote() -> None:
    table = np.array([[0, 0, 1, -1], [0, 1, 1, 1]])
    labels = crowd(table, 2)

    merged = merge_groups(labels, np.array([0, 0, 2, 3]))

    np.testing.assert_allclose(merged.votes(), [[1, 1], [0.5, 2.5]])
    assert merged.annotators.to_list() == ["j0", "j2", "j3"]


def test_the_order_of_annotators_does_not_matter() -> None:
    table, _ = judges(4, skills=[0.6, 0.7, 0.75, 0.65])
    table = np.column_stack([table, with_noise(table[:, 1], 0.05, 5)])

    first = find_similar(crowd(table, 3)).group
    second = find_similar(crowd(table[:, ::-1], 3)).group

    together = {frozenset(np.flatnonzero(first == g).tolist()) for g in first}
    reversed_ = {frozenset((4 - np.flatnonzero(second == g)).tolist()) for g in second}
    assert together == reversed_


def test_annotators_without_common_items_are_not_compared() -> None:
    table = np.full((100, 4), -1)
    for j in range(4):
        table[25 * j : 25 * (j + 1), j] = 0
    table[0, 1] = 1

    found = find_similar(crowd(table, 2))

    assert found.tested == 0
    assert found.pairs == ()


def test_the_false_discovery_rate_is_a_share() -> None:
    with pytest.raises(OptionError, match="between 0 and 1"):
        find_similar(crowd(np.zeros((60, 3), dtype=int), 2), false_discovery_rate=0.0)
