from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import FormatError, LabelError
from crowdlogic.extensions.scale import patterns as pattern_tables
from crowdlogic.extensions.scale.patterns import COUNT, group_rows, join_rows, parse_counts

ANNOTATORS = ("a", "b", "c")


@pytest.fixture(params=["duckdb", "polars"])
def grouping(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is an extra")
    else:
        monkeypatch.setattr(pattern_tables, "has_duckdb", lambda place: False)
    return str(request.param)


def wide_table(seed: int, size: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    cells = {name: [("x", "y", None)[code] for code in rng.integers(0, 3, size)] for name in ANNOTATORS}
    return pl.DataFrame({"item": np.arange(size), **cells})


def test_every_different_row_is_counted(tmp_path: Path, grouping: str) -> None:
    table = wide_table(0)
    table.write_parquet(tmp_path / "it's wide.parquet")

    found = group_rows(tmp_path / "it's wide.parquet", ANNOTATORS)

    assert {(*row[:3],): row[3] for row in found.rows()} == Counter(table.select(ANNOTATORS).rows())


def test_numbers_and_booleans_keep_their_types(tmp_path: Path, grouping: str) -> None:
    table = pl.DataFrame({"a": [1, 1, None], "b": [True, True, False], "c": pl.Series([2, 2, 3], dtype=pl.UInt8)})
    table.write_parquet(tmp_path / "wide.parquet")

    found = group_rows(tmp_path / "wide.parquet", ANNOTATORS)

    assert sorted(found.rows(), key=str) == [(1, True, 2, 2), (None, False, 3, 1)]
    assert found.schema["b"] == pl.Boolean


@pytest.mark.parametrize("item", ["item", None])
def test_answers_go_back_to_their_rows(tmp_path: Path, grouping: str, item: str | None) -> None:
    table = wide_table(1)
    table.write_parquet(tmp_path / "wide.parquet")
    patterns = group_rows(tmp_path / "wide.parquet", ANNOTATORS)
    number = {row[:3]: at for at, row in enumerate(patterns.rows())}
    answers = patterns.select(ANNOTATORS).with_columns(pl.Series("label", range(len(patterns))))

    join_rows(tmp_path / "wide.parquet", answers, ANNOTATORS, item=item, out=tmp_path / "out.parquet")

    joined = pl.read_parquet(tmp_path / "out.parquet").sort("item")
    assert joined.columns == ["item", "label"]
    assert joined["item"].to_list() == table["item"].to_list()
    assert joined["label"].to_list() == [number[row] for row in table.select(ANNOTATORS).rows()]


def test_a_file_that_is_no_parquet_is_refused_in_one_line(tmp_path: Path, grouping: str) -> None:
    (tmp_path / "wide.parquet").write_bytes(b"PAR1 this is not a table PAR1")

    with pytest.raises(FormatError, match=r"wide\.parquet: cannot be read as a Parquet file \(.*\)\.") as caught:
        group_rows(tmp_path / "wide.parquet", ANNOTATORS)

    assert "\n" not in str(caught.value)


def test_counts_are_whole_numbers_from_one_on() -> None:
    source = TableSource("patterns.csv", first_row=2)

    assert parse_counts(pl.DataFrame({COUNT: ["3", "1"]}), source).tolist() == [3.0, 1.0]
    with pytest.raises(LabelError) as caught:
        parse_counts(pl.DataFrame({COUNT: ["3", "0", "2.5", None]}), source)

    assert str(caught.value) == (
        "patterns.csv, row 3: n_items must be the number of items of the row, got '0'. "
        "Give an integer of at least 1. (2 more such rows: 4, 5)"
    )
