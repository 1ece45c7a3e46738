"""Ids and values come back unchanged from every format; quoting cells for spreadsheets is an option."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.formats.delimited import guard_cells, guard_text
from crowdlogic.data.frames import from_arrays, from_frame
from crowdlogic.data.reading import (
    read_corpus,
    read_labels,
    read_table,
    write_corpus,
    write_estimate,
    write_labels,
    write_table,
)
from crowdlogic.errors import SpreadsheetWarning
from crowdlogic.truth.majority import MajorityVote

FORMULAS = [
    "=1+1",
    "@SUM(A1)",
    "-2+3+cmd|' /C calc'!A0",
    "+A1",
    "\n=1",
    "\t=1",
    "'=1",
    "''-x",
    "--",
    "-a",
    "-\n",
    "-1\n",
]
PLAIN = ["", "a", "1", "-1", "+3.5", "-.5e-3", "1e5", "+", "-", "'", "'a", "a=b", "x-1", " =1"]
IDS = [
    "@bob", "-tag", "=1", "+x", "=HYPERLINK(\"http://x\")", "'@bob", "''=1", "007", "0", "00", "1.0", "1e5", "-1", "+1", "TRUE",
    "2024-05-31", "1/2", "12345678901234567890123456789", "9007199254740993", " lead", "trail ", " both ", "in  side", "a,b",
    "a;b", 'say "hi"', "a\tb", "a\nb", "NaN", "null", "None", "N/A", "#REF!", "#1", "ümlaut", "日本\u3000語", "a\u00a0b", "👩\u200d💻",
]  # fmt: skip
ANNOTATORS, CLASSES = ["@ann", "=cmd", "-bob", "007"], ["+", "-1", "=y", "@n"]
FORMATS = ["csv", "tsv", "xlsx", "parquet", "jsonl", "csv.gz"]


@pytest.fixture(name="table")
def make_table() -> pl.DataFrame:
    n = len(IDS)
    return pl.DataFrame(
        {
            "item": IDS + IDS,
            "annotator": [ANNOTATORS[i % 2] for i in range(n)] + [ANNOTATORS[2 + i % 2] for i in range(n)],
            "label": [CLASSES[i % 4] for i in range(2 * n)],
        }
    )


def read_with_pandas(path: Path) -> pd.DataFrame:
    if path.suffix == ".xlsx":
        return pd.read_excel(path, dtype=str, keep_default_na=False)
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".jsonl":
        return pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    return pd.read_csv(path, dtype=str, keep_default_na=False, sep="\t" if path.suffix == ".tsv" else ",")


def read_with_polars(path: Path) -> pl.DataFrame:
    if path.suffix == ".xlsx":
        rows = list(openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True))
        return pl.DataFrame(rows[1:], schema=list(map(str, rows[0])), orient="row", infer_schema_length=None)
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".jsonl":
        return pl.read_ndjson(path)
    return pl.read_csv(path, infer_schema=False, separator="\t" if path.suffix == ".tsv" else ",")


@pytest.mark.parametrize("suffix", FORMATS)
def test_ids_of_labels_and_answers_join_with_the_data_that_they_came_from(
    tmp_path: Path, table: pl.DataFrame, suffix: str
) -> None:
    labels = from_frame(table)
    path, answers = tmp_path / f"l.{suffix}", tmp_path / f"a.{suffix}"

    write_labels(path, labels)
    write_estimate(answers, MajorityVote().infer(labels))

    expected = set(table.rows())
    assert set(read_with_pandas(path)[table.columns].itertuples(index=False, name=None)) == expected
    assert set(read_with_polars(path).select(table.columns).rows()) == expected
    assert set(read_with_pandas(answers)["item"]) == set(read_with_polars(answers)["item"]) == set(IDS)
    again = read_labels(path)
    assert set(again.to_frame().select(table.columns).rows()) == expected


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "parquet", "jsonl"])
def test_a_file_of_pandas_or_polars_is_read_unchanged(
    tmp_path: Path, table: pl.DataFrame, suffix: str, kind: type
) -> None:
    path = tmp_path / f"l.{suffix}"
    if kind is pl.DataFrame:
        writers = {"csv": table.write_csv, "parquet": table.write_parquet, "jsonl": table.write_ndjson}
        if suffix == "xlsx":
            pytest.skip("polars writes xlsx with another package")
        writers.get(suffix, lambda path: table.write_csv(path, separator="\t"))(path)
    else:
        frame = pd.DataFrame(table.to_dict(as_series=False))
        {
            "csv": lambda: frame.to_csv(path, index=False),
            "tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
            "parquet": lambda: frame.to_parquet(path),
            "jsonl": lambda: frame.to_json(path, orient="records", lines=True, force_ascii=False),
            "xlsx": lambda: frame[~frame.apply(lambda row: row.str.startswith("=").any(), axis=1)].to_excel(
                path, index=False
            ),
        }[suffix]()

    found = read_labels(path)

    expected = {row for row in table.rows() if suffix != "xlsx" or not any(cell.startswith("=") for cell in row)}
    assert expected <= set(found.to_frame().select(table.columns).rows())


@pytest.mark.parametrize("suffix", FORMATS)
def test_texts_and_long_integers_come_back_unchanged(tmp_path: Path, suffix: str) -> None:
    numbers = [9007199254740993, 2**63 - 1, -(2**63), 0]
    corpus = Corpus(items=pl.Series(numbers), texts=("=1+1", " - dash", "@you\nand me", "\u00a0x\u3000"))

    write_corpus(tmp_path / f"c.{suffix}", corpus)

    found = read_corpus(tmp_path / f"c.{suffix}")
    assert [int(item) for item in found.items] == numbers
    assert found.texts == corpus.texts


def test_what_a_workbook_cannot_hold_is_refused_and_not_changed(tmp_path: Path) -> None:
    for text, said in (("a\x0bb", "control character"), ("x" * 32_768, "32,767 characters")):
        with pytest.raises(ValueError, match=said):
            write_table(tmp_path / "t.xlsx", pl.DataFrame({"item": ["u"], "text": [text]}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_cells_that_could_be_formulas_are_pointed_out_unless_they_are_quoted(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"l.{suffix}"
    labels = from_arrays(["=u", "-v"], ["@ann", "-1"], ["+", "-"])

    with pytest.warns(SpreadsheetWarning, match=r"would read 3 cells as formulas, such as .*--spreadsheet-safe"):
        write_labels(path, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpreadsheetWarning)
        write_labels(path, from_arrays(["u", "v"], ["ann", "-1"], ["+", "-"]))
        write_labels(tmp_path / "l.jsonl", labels)
        write_labels(tmp_path / "l.xlsx", labels)
        write_labels(path, labels, spreadsheet_safe=True)

    assert sorted(read_with_pandas(path).itertuples(index=False, name=None)) == [
        ("'-v", "-1", "-"),
        ("'=u", "'@ann", "+"),
    ]


@pytest.mark.parametrize("text", [*FORMULAS, "\r=1"])
def test_a_cell_that_would_be_a_formula_gets_a_quote(text: str) -> None:
    assert guard_text(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_other_cells_stay(text: str) -> None:
    assert guard_text(text) == text


@given(st.lists(st.text(st.sampled_from("'=+-@\t\r\na1. e"), max_size=5), min_size=1))
def test_a_table_is_quoted_cell_by_cell(cells: list[str]) -> None:
    guarded = guard_cells(pl.DataFrame({"a": cells, "=b": cells}))

    assert guarded["a"].to_list() == [guard_text(cell) for cell in cells]
    assert guarded.columns == ["a", "'=b"]


def test_tables_come_back_as_they_were(tmp_path: Path) -> None:
    cells = [cell for cell in FORMULAS + PLAIN if cell]
    table = pl.DataFrame({"item": cells, "=x": cells, "n": [str(n) for n in range(len(cells))]})
    for suffix in ("csv", "tsv", "csv.gz"):
        write_table(tmp_path / f"t.{suffix}", table)
        assert read_table(tmp_path / f"t.{suffix}")[0].equals(table)


def test_other_types_are_written_as_they_are() -> None:
    table = pl.DataFrame({"n": [-1, 2], "f": [-0.5, None]})
    buffer = io.BytesIO()
    guard_cells(table).write_csv(buffer)

    assert buffer.getvalue() == b"n,f\n-1,-0.5\n2,\n"
    assert np.array_equal(table["n"].to_numpy(), [-1, 2])
