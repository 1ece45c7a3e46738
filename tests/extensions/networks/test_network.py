"""A corpus as a network sees it, in batches."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.extensions.networks.network import NO_UNIT, Inputs, make_batch, word_inputs  # noqa: E402

CPU = torch.device("cpu")
OFFSETS = np.array([0, 3, 3, 7, 8])
ROWS = np.stack([np.arange(10, 18), np.arange(20, 28)])


def test_a_batch_holds_the_rows_of_its_sequences_padded_with_zero() -> None:
    batch, units = make_batch(word_inputs(OFFSETS, ROWS), np.array([3, 0, 1]), CPU)

    np.testing.assert_array_equal(batch.words[0][batch.text], [[17, 0, 0], [10, 11, 12], [0, 0, 0]])
    np.testing.assert_array_equal(batch.words[1][batch.text], [[27, 0, 0], [20, 21, 22], [0, 0, 0]])
    np.testing.assert_array_equal(batch.lengths, [1, 3, 0])
    np.testing.assert_array_equal(batch.mask, [[1, 0, 0], [1, 1, 1], [0, 0, 0]])
    np.testing.assert_array_equal(units, [3, 0, 1])
    assert batch.unit_positions is None


def test_units_are_at_their_places() -> None:
    units_of_places = np.array([0, NO_UNIT, 1, 2, NO_UNIT, NO_UNIT, 4, 3])

    batch, units = make_batch(word_inputs(OFFSETS, ROWS, units_of_places), np.array([2, 0]), CPU)

    np.testing.assert_array_equal(units, [2, 4, 0, 1])
    values = batch.words[:, batch.text].permute(1, 2, 0)  # what stands at each place
    np.testing.assert_array_equal(batch.at_units(values), [[13, 23], [16, 26], [10, 20], [12, 22]])


def test_rows_of_features_are_taken_as_they_are() -> None:
    features = np.arange(8, dtype=np.float32).reshape(4, 2)

    batch, units = make_batch(Inputs(np.arange(5), features=features), np.array([2, 0]), CPU)

    np.testing.assert_array_equal(batch.features, [[4, 5], [0, 1]])
    np.testing.assert_array_equal(units, [2, 0])


def test_empty_texts_alone_make_a_batch() -> None:
    batch, _ = make_batch(word_inputs(np.zeros(3, dtype=np.int64), np.zeros((1, 0), dtype=np.int64)), np.arange(2), CPU)

    np.testing.assert_array_equal(batch.text, np.zeros((2, 1)))
    np.testing.assert_array_equal(batch.lengths, [0, 0])


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_different_words_are_kept_once_and_padding_is_the_first(channels: int) -> None:
    rows = np.random.default_rng(0).integers(1, 4, size=(channels, 8))

    inputs = word_inputs(OFFSETS, rows)

    np.testing.assert_array_equal(inputs.rows, rows)
    np.testing.assert_array_equal(inputs.words[:, 0], 0)
    assert inputs.words.shape[1] == 1 + len({tuple(word) for word in rows.T.tolist()})
    assert (inputs.text > 0).all()


def test_only_sequences_with_a_unit_that_counts_are_looked_at() -> None:
    places = word_inputs(OFFSETS, ROWS, np.array([0, NO_UNIT, 1, 2, NO_UNIT, 3, 4, 5]))
    counting = np.array([False, True, False, False, False, True])

    np.testing.assert_array_equal(places.sequences_with(counting), [0, 3])
    np.testing.assert_array_equal(word_inputs(OFFSETS, ROWS).sequences_with(np.array([0, 1, 1, 0], bool)), [1, 2])
