from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.reading import read_corpus, read_labels, read_table, write_table
from crowdlogic.errors import FormatError, MissingDataError


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_texts_with_commas_quotes_and_breaks_survive(tmp_path: Path) -> None:
    path = write(tmp_path, "i.csv", 'item,text\n1,"a, ""b""\nc"\n2,d\n')

    assert read_corpus(path).texts == ('a, "b"\nc', "d")


def test_a_quote_inside_a_bare_field_is_just_a_quote(tmp_path: Path) -> None:
    path = write(tmp_path, "i.csv", 'item,text\n1,a 5" disk\n2,"b"\n')

    assert read_corpus(path).texts == ('a 5" disk', "b")


@pytest.mark.parametrize("name", ["labels[1].csv", "la*els.csv", "l?.csv", "~labels.csv", "labels.parquet", "l{1}.csv"])
def test_a_name_that_looks_like_a_pattern_names_that_very_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "labels1.csv", "item,annotator,label\nwrong,a,x\n")
    write(tmp_path, "l1.csv", "item,annotator,label\nwrong,a,x\n")
    write(tmp_path, name, "item,annotator,label\nright,a,x\n")

    assert read_labels(name, format="csv").items.to_list() == ["right"]


def test_a_pattern_is_no_name_of_a_file(tmp_path: Path) -> None:
    write(tmp_path, "labels1.csv", "item,annotator,label\nu,a,x\n")

    with pytest.raises(MissingDataError, match="no such file"):
        read_labels(tmp_path / "labels[1].csv")


@pytest.mark.parametrize(("suffix", "mark"), [("csv", ","), ("tsv", "\t")])
def test_a_table_is_written_with_its_own_separator(tmp_path: Path, suffix: str, mark: str) -> None:
    write_table(tmp_path / f"t.{suffix}", pl.DataFrame({"a": ["1"], "b": [None]}))

    assert (tmp_path / f"t.{suffix}").read_text() == f"a{mark}b\n1{mark}\n"
    assert read_table(tmp_path / f"t.{suffix}")[0].rows() == [("1", None)]


def test_blank_lines_do_not_shift_the_rows_of_messages(tmp_path: Path) -> None:
    table, source = read_table(write(tmp_path, "t.csv", "a,b\n1,2\n\n3,4\n"))

    assert table.rows() == [("1", "2"), ("3", "4")]
    assert source.at(1) == f"{tmp_path / 't.csv'}, row 4"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@pytest.mark.parametrize(
    "content",
    [gzip.compress(gzip.compress(b"item\nu\n", mtime=0), mtime=0), b"\x28\xb5\x2f\xfd", zlib.compress(b"{}")],
    ids=["gzip in gzip", "Zstandard", "zlib"],
)
def test_a_table_that_polars_would_decompress_without_a_limit_is_refused(
    tmp_path: Path, suffix: str, content: bytes
) -> None:
    path = write(tmp_path, f"l{suffix}", content)

    with pytest.raises(FormatError, match=r"is compressed twice, or not with gzip\. Decompress it"):
        read_table(path)
