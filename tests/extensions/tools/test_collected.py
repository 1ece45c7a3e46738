"""Rows that are gathered from an export: which of them count, against a plain loop."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.extensions.tools.collector import (
    CHUNK_TOKENS,
    CollectedRows,
    label_column,
    rows_that_count,
    shared_texts,
)


def drawn_rows(seed: int) -> CollectedRows:
    rng, rows = np.random.default_rng(seed), CollectedRows()
    for record in range(60):
        time = None if rng.random() < 0.3 else float(rng.integers(5))
        rows.add(int(rng.integers(6)), int(rng.integers(4)), record=record, time=time, weight=None)
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_the_last_or_the_first_row_of_each_annotator_and_item_counts(seed: int) -> None:
    rows = drawn_rows(seed)
    by_pair: dict[tuple[int, int], list[int]] = {}
    for r, pair in enumerate(zip(rows.item, rows.annotator, strict=True)):
        by_pair.setdefault(pair, []).append(r)

    def rank(r: int) -> tuple[float, int]:
        return (-np.inf if np.isnan(rows.time[r]) else rows.time[r], r)

    assert rows_that_count(rows, Duplicates.last).tolist() == sorted(max(those, key=rank) for those in by_pair.values())
    assert rows_that_count(rows, Duplicates.first).tolist() == sorted(
        min(those, key=rank) for those in by_pair.values()
    )
    assert rows_that_count(rows, Duplicates.keep).tolist() == list(range(60))


def test_rows_of_which_there_may_be_several_all_count() -> None:
    rows = drawn_rows(0)

    assert rows_that_count(rows, Duplicates.last, np.ones(60, dtype=bool)).tolist() == list(range(60))
    assert rows_that_count(CollectedRows(), Duplicates.last).tolist() == []


def test_labels_keep_their_type_where_all_have_one() -> None:
    assert label_column([1, None, 3], {int}).dtype == pl.Int64
    assert label_column([True, False], {bool}).dtype == pl.Boolean
    assert label_column([1, "x"], {int, str}).to_list() == ["1", "x"]


def test_equal_tokens_are_one_object() -> None:
    found = shared_texts(pl.Series(["a b", "c"] * CHUNK_TOKENS))

    assert found[:2] == ("a b", "c")
    assert len(found) == 2 * CHUNK_TOKENS
    assert len({id(token) for token in found}) == 2
