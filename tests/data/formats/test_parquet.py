from __future__ import annotations

import gzip
import io
from pathlib import Path

import polars as pl
from tests.data.test_labels import triples

from crowdlogic.data.formats.parquet import PARQUET
from crowdlogic.data.reading import read_labels, read_table, write_table

LONG = pl.DataFrame({"item": ["u", "u", "v"], "annotator": ["a", "b", "a"], "label": ["x", "y", "x"]})


EXPECTED = {("u", "a", "x"), ("u", "b", "y"), ("v", "a", "x")}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_parquet_may_be_gzipped_too(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    LONG.write_parquet(buffer)

    assert triples(read_labels(write(tmp_path, "l.parquet.gz", gzip.compress(buffer.getvalue())))) == EXPECTED


def test_a_name_that_looks_like_a_pattern_names_that_very_file(tmp_path: Path) -> None:
    LONG.write_parquet(tmp_path / "l1.parquet")
    LONG.head(1).write_parquet(tmp_path / "l.parquet")
    (tmp_path / "l.parquet").rename(tmp_path / "l[1].parquet")

    assert triples(read_labels(tmp_path / "l[1].parquet")) == {("u", "a", "x")}


def test_types_survive(tmp_path: Path) -> None:
    table = pl.DataFrame({"n": [1, 2], "x": [0.5, None], "b": [True, False], "t": [["a"], []]})

    write_table(tmp_path / "t.parquet", table)

    assert read_table(tmp_path / "t.parquet")[0].equals(table)


def test_only_the_magic_bytes_are_recognised() -> None:
    assert PARQUET.recognises(b"PAR1\x15\x04")
    assert not PARQUET.recognises(b"item,annotator,label")
