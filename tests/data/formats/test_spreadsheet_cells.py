from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.formats.spreadsheet_cells import guard_cells, guard_text, unguard_cells
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.reading import read_labels, read_table
from crowdlogic.data.writing import write_labels, write_table

FORMULAS = [
    "=1+1",
    "@SUM(A1)",
    "-2+3+cmd|' /C calc'!A0",
    "+A1",
    "\n=1",
    "\t=1",
    "\r=1",
    "'=1",
    "''-x",
    "--",
    "-a",
    "-\n",
    "-1\n",
]
PLAIN = ["", "a", "1", "-1", "+3.5", "-.5e-3", "1e5", "+", "-", "'", "'a", "a=b", "x-1", " =1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_that_would_be_a_formula_gets_a_quote(text: str) -> None:
    assert guard_text(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_other_cells_stay(text: str) -> None:
    assert guard_text(text) == text


@given(st.lists(st.text(st.sampled_from("'=+-@\t\r\na1. e"), max_size=5), min_size=1))
def test_reading_takes_off_what_writing_put_there(cells: list[str]) -> None:
    table = pl.DataFrame({"a": cells, "=b": cells})

    guarded = guard_cells(table)

    assert guarded["a"].to_list() == [guard_text(cell) for cell in cells]
    assert guarded.columns == ["a", "'=b"]
    assert unguard_cells(guarded).equals(table)


def test_columns_are_not_renamed_to_one_that_is_there() -> None:
    table = pl.DataFrame({"=a": ["1"], "'=a": ["2"]})

    assert unguard_cells(table).columns == ["=a", "'=a"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
def test_tables_and_labels_come_back_as_they_were(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    cells = [cell for cell in FORMULAS + PLAIN if cell]
    table = pl.DataFrame({"item": cells, "=x": cells, "n": [str(n) for n in range(len(cells))]})
    write_table(path, table)
    assert read_table(path)[0].equals(table)

    labels = from_arrays(["=u", "-v"], ["@ann", "+bob"], ["+", "-"])
    write_labels(path, labels)
    found = read_labels(path)
    assert (found.items.to_list(), found.annotators.to_list(), found.classes) == (
        ["=u", "-v"],
        ["@ann", "+bob"],
        ("+", "-"),
    )


def test_other_types_are_written_as_they_are() -> None:
    table = pl.DataFrame({"n": [-1, 2], "f": [-0.5, None]})
    buffer = io.BytesIO()
    guard_cells(table).write_csv(buffer)

    assert buffer.getvalue() == b"n,f\n-1,-0.5\n2,\n"
