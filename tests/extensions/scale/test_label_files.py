"""Label tables in batches: files, folders and patterns; every damage has its one line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.reading import find_label_paths
from crowdlogic.errors import FormatError, LabelError, MissingDataError, OptionError
from crowdlogic.extensions.scale.label_files import LabelFiles, open_label_files


def table(rows: int = 25) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "task": [f"t{n // 3}" for n in range(rows)],
            "worker": [f"w{n % 3}" for n in range(rows)],
            "label": ["ab"[n % 2] for n in range(rows)],
            "note": ["x"] * rows,
        }
    )


def write(path: Path, content: pl.DataFrame | None = None) -> Path:
    content = table() if content is None else content
    if path.suffix == ".parquet":
        content.write_parquet(path, row_group_size=7)
    else:
        content.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    return path


def opened(*paths: Path) -> LabelFiles:
    return open_label_files("labels", paths)


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.tsv"])
@pytest.mark.parametrize("size", [1, 10, 1000])
def test_batches_are_the_rows_of_the_table_with_roles_as_columns(tmp_path: Path, name: str, size: int) -> None:
    files = opened(write(tmp_path / name))

    batches = list(files.batches(size))

    whole = pl.concat([batch for _, _, batch in batches])
    assert whole.rows() == table().select("task", "worker", "label").rows()
    assert whole.columns == ["item", "annotator", "label"]
    assert batches[0][1] == 0
    assert files.count_rows() == 25


def test_a_folder_and_a_pattern_name_all_their_tables_in_order(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.parquet", "_SUCCESS", ".a.parquet.crc"):
        (tmp_path / name).write_bytes(b"")
    names = [tmp_path / "a.parquet", tmp_path / "b.parquet"]

    assert find_label_paths(str(tmp_path)) == tuple(names)
    assert find_label_paths(str(tmp_path / "*.parquet")) == tuple(names)
    assert find_label_paths(str(tmp_path / "a.parquet")) is None


def test_a_folder_of_other_things_is_no_folder_of_tables(tmp_path: Path) -> None:
    write(tmp_path / "a.csv")
    (tmp_path / "dataset_info.json").write_text("{}")

    assert find_label_paths(str(tmp_path)) is None


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    assert find_label_paths(str(write(tmp_path / "a[1].csv"))) is None


def test_a_pattern_that_names_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError) as refused:
        find_label_paths(str(tmp_path / "*.parquet"))
    assert str(refused.value) == f"{tmp_path}/*.parquet: no file matches this pattern."


def test_files_of_several_schemas_are_refused(tmp_path: Path) -> None:
    first, other = write(tmp_path / "a.parquet"), tmp_path / "b.parquet"
    write(other, table().rename({"worker": "rater"}))
    with pytest.raises(FormatError) as refused:
        opened(first, other)
    assert str(refused.value) == (
        f"{other}: no column 'worker' among task, rater, label, note, unlike {first}. Give files with the same columns."
    )

    write(other, table().with_columns(pl.int_range(25).alias("task")))
    with pytest.raises(FormatError) as refused:
        opened(first, other)
    assert str(refused.value) == (
        f"{other}: column 'task' has type Int64, but in {first} it has type String. Give files with the same column "
        f"types."
    )

    with pytest.raises(
        FormatError, match=r"c\.csv: expected parquet, as .*a\.parquet; got csv\. Give files of one format\.$"
    ):
        opened(first, write(tmp_path / "c.csv"))


@pytest.mark.parametrize("cut", [3, 40, 400])
def test_a_truncated_parquet_file_is_named(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path / "a.parquet")
    path.write_bytes(path.read_bytes()[:-cut])

    with pytest.raises(FormatError, match=r"a\.parquet: cannot be read as a Parquet file \("):
        opened(path)


def test_a_parquet_file_with_damaged_pages_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", table(5000))
    content = bytearray(path.read_bytes())
    content[200:600] = b"\xff" * 400
    path.write_bytes(content)

    with pytest.raises(FormatError, match=r"a\.parquet: cannot be read as a Parquet file"):
        list(opened(path).batches(1000))


def test_an_empty_file_and_one_without_the_columns_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "a.csv"
    empty.write_bytes(b"")
    with pytest.raises(FormatError, match=r"a\.csv: the file is empty\."):
        opened(empty)

    with pytest.raises(LabelError, match="no column for the annotator among task, label, note"):
        opened(write(tmp_path / "b.csv", table().drop("worker")))


def test_what_only_memory_can_take_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", table().with_columns(pl.lit("false").alias("negated")))
    with pytest.raises(OptionError, match="contains negated labels, which are not supported for tables in shards"):
        opened(path)

    (tmp_path / "a.jsonl").write_text("{}")
    with pytest.raises(FormatError, match="tables in shards must be parquet, csv or tsv"):
        opened(tmp_path / "a.jsonl")
