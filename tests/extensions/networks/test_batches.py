"""Batches hold every sequence once and hardly any padding."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.extensions.networks.network import padded_positions, shuffled_batches, sorted_batches

lengths_lists = st.lists(st.integers(0, 30), max_size=200)


@given(lengths_lists, st.integers(1, 20), st.integers(0, 99))
def test_shuffled_batches_hold_every_sequence_once(lengths: list[int], size: int, seed: int) -> None:
    batches = shuffled_batches(np.array(lengths, dtype=np.int64), size, np.random.default_rng(seed))

    held = np.concatenate([np.zeros(0, dtype=np.int64), *batches])
    np.testing.assert_array_equal(np.sort(held), np.arange(len(lengths)))
    assert all(0 < len(batch) <= size for batch in batches)


@given(lengths_lists, st.integers(1, 20), st.integers(1, 100))
def test_long_sequences_make_small_batches(lengths: list[int], size: int, most: int) -> None:
    batches = shuffled_batches(np.array(lengths, dtype=np.int64), size, np.random.default_rng(0), max_positions=most)

    held = np.concatenate([np.zeros(0, dtype=np.int64), *batches])
    np.testing.assert_array_equal(np.sort(held), np.arange(len(lengths)))
    for batch in batches:
        assert 0 < len(batch) <= size
        assert len(batch) == 1 or len(batch) * max(lengths[s] for s in batch) <= most


def test_batches_of_short_sequences_stay_as_they_are() -> None:
    lengths = np.random.default_rng(1).integers(1, 61, size=500)

    plain, bounded = (
        shuffled_batches(lengths, 32, np.random.default_rng(2), max_positions=most) for most in (0, 32 * 60)
    )

    assert [batch.tolist() for batch in plain] == [batch.tolist() for batch in bounded]


@given(lengths_lists, st.integers(1, 100))
def test_sorted_batches_hold_every_sequence_once_and_no_more_places_than_allowed(
    lengths: list[int], cells: int
) -> None:
    batches = list(sorted_batches(np.array(lengths, dtype=np.int64), cells))

    held = np.concatenate([np.zeros(0, dtype=np.int64), *batches])
    np.testing.assert_array_equal(np.sort(held), np.arange(len(lengths)))
    for batch in batches:
        longest = max(*(lengths[s] for s in batch), 1)
        assert len(batch) == 1 or len(batch) * longest <= cells


@given(lengths_lists, st.integers(1, 100))
def test_sorted_batches_are_as_large_as_allowed(lengths: list[int], cells: int) -> None:
    batches = list(sorted_batches(np.array(lengths, dtype=np.int64), cells))

    for batch, following in itertools.pairwise(batches):
        assert (len(batch) + 1) * max(lengths[following[0]], 1) > cells


def test_only_the_chosen_sequences_are_batched() -> None:
    batches = shuffled_batches(np.ones(10, dtype=np.int64), 3, np.random.default_rng(0), among=np.array([2, 5, 7, 8]))

    np.testing.assert_array_equal(np.sort(np.concatenate(batches)), [2, 5, 7, 8])


def test_padding_is_small_where_random_batches_pad_most_places() -> None:
    rng = np.random.default_rng(0)
    lengths = np.maximum(rng.geometric(1 / 14, size=6000), 1)

    batches = shuffled_batches(lengths, 64, rng)

    padded = sum(lengths[batch].max() * len(batch) for batch in batches)
    mixed = rng.permutation(6000)
    ordinary = sum(lengths[mixed[b : b + 64]].max() * len(mixed[b : b + 64]) for b in range(0, 6000, 64))
    assert padded / lengths.sum() < 1.2
    assert ordinary / lengths.sum() > 3


def test_batches_are_mixed_anew_and_come_in_random_order() -> None:
    lengths = np.repeat(np.arange(1, 51), 12)  # one pool, so that short ones stand first before they are mixed
    first, second = (shuffled_batches(lengths, 20, np.random.default_rng(seed)) for seed in (0, 1))

    mean = np.array([lengths[batch].mean() for batch in first])
    together = [{frozenset(batch.tolist()) for batch in batches} for batches in (first, second)]
    assert not together[0] & together[1]
    assert abs(np.corrcoef(mean, np.arange(len(mean)))[0, 1]) < 0.4  # short ones do not come first


@pytest.mark.parametrize("sequences", [[0], [2, 0], [1], [1, 3, 2]])
def test_places_are_those_of_the_sequences(sequences: list[int]) -> None:
    offsets = np.array([0, 3, 3, 7, 8])

    at, real = padded_positions(offsets, np.array(sequences))

    for row, s in enumerate(sequences):
        np.testing.assert_array_equal(at[row][real[row]], np.arange(offsets[s], offsets[s + 1]))
    assert at.shape[1] >= 1
    assert (at[~real] == 0).all()
