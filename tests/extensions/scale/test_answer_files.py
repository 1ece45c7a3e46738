"""Answers written part after part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.errors import LabelError, OptionError
from crowdlogic.extensions.scale.out_of_core import stream_format, write_parts

SCHEMA = {"item": pl.String, "label": pl.String, "confidence": pl.Float64}


def parts(count: int = 3) -> Iterator[pl.DataFrame]:
    for at in range(count):
        yield pl.DataFrame(
            {"item": [f"i{at}", f"=j{at}"], "label": ["a", None], "confidence": [0.5, None]}, schema=SCHEMA
        )


@pytest.mark.parametrize(("name", "read"), [("a.parquet", pl.read_parquet), ("a.jsonl", pl.read_ndjson)])
def test_parts_become_one_table(tmp_path: Path, name: str, read: object) -> None:
    out = tmp_path / name

    write_parts(str(out), parts(), stream_format(str(out), None), SCHEMA)

    assert read(out).rows() == pl.concat(list(parts())).rows()  # type: ignore[operator]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_csv_file_has_one_header_and_unchanged_cells(tmp_path: Path) -> None:
    out = tmp_path / "a.csv"

    write_parts(str(out), parts(2), "csv", SCHEMA)

    assert out.read_text() == "item,label,confidence\ni0,a,0.5\n=j0,,\ni1,a,0.5\n=j1,,\n"


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_failure_leaves_nothing_half_written(tmp_path: Path, name: str) -> None:
    def failing() -> Iterator[pl.DataFrame]:
        yield from parts(1)
        raise LabelError("the second shard is damaged.")

    with pytest.raises(LabelError, match=r"^the second shard is damaged\.$"):
        write_parts(str(tmp_path / name), failing(), stream_format(name, None), SCHEMA)

    assert list(tmp_path.iterdir()) == []


def test_other_formats_are_refused(tmp_path: Path) -> None:
    for out in ("-", str(tmp_path / "a.xlsx"), str(tmp_path / "a.csv.gz")):
        with pytest.raises(
            OptionError, match=r"must be written as one of \.parquet, \.pq, \.csv, \.tsv, \.jsonl\. Choose such a file"
        ):
            stream_format(out, None)
