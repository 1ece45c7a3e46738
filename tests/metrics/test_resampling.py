"""The bootstrap of sums: drawing blocks is drawing items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.metrics import agreement as resampling
from crowdlogic.metrics.agreement import Blocks, distinct_rows, resample_sums


@settings(max_examples=60)
@given(
    st.integers(1, 12).flatmap(
        lambda width: st.lists(
            st.lists(st.sampled_from([0, 1, 2, 10**6, 10**9]), min_size=width, max_size=width), max_size=25
        ).map(lambda rows: np.array(rows, dtype=np.int64).reshape(-1, width))
    )
)
def test_distinct_rows_are_numpys_however_large_the_numbers(counts: np.ndarray) -> None:
    rows, frequency = distinct_rows(counts)

    found = sorted((*row, n) for row, n in zip(rows.tolist(), frequency.tolist(), strict=True))
    expected = np.unique(counts, axis=0, return_counts=True)
    assert found == sorted((*row, n) for row, n in zip(*(part.tolist() for part in expected), strict=True))


def test_rows_whose_codes_would_outgrow_64_bits_stay_apart() -> None:
    most = (1 << 32) - 1
    counts = np.array([[1, 0, 0], [2, 0, 0], [most, most, most], [1, 0, 0]])

    rows, frequency = distinct_rows(counts)

    assert dict(zip(map(tuple, rows.tolist()), frequency.tolist(), strict=True)) == {
        (1, 0, 0): 2,
        (2, 0, 0): 1,
        (most, most, most): 1,
    }


@pytest.mark.parametrize("few", [0, 10**9], ids=["blocks", "items"])
def test_drawn_sums_have_the_mean_and_spread_of_drawing_items(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "FEW", few)
    blocks = Blocks(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 5.0]]), np.array([30, 50, 20]))
    items = np.repeat(blocks.rows, blocks.frequency, axis=0)

    sums = resample_sums(blocks, 20_000, np.random.default_rng(0))

    np.testing.assert_allclose(sums.mean(axis=0), items.sum(axis=0), rtol=0.005)
    np.testing.assert_allclose(np.cov(sums.T), 100 * np.cov(items.T, ddof=0), rtol=0.05)


def test_portions_do_not_change_how_many_replicates_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "PORTION", 7)
    blocks = Blocks(np.ones((2, 1)), np.array([3, 4]))

    sums = resample_sums(blocks, 10, np.random.default_rng(0))

    assert sums.tolist() == [[7.0]] * 10


def test_one_item_cannot_be_resampled() -> None:
    assert resample_sums(Blocks(np.ones((1, 3)), np.array([1])), 10, np.random.default_rng(0)).shape == (0, 3)
