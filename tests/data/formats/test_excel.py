"""xlsx files: read as a table of text, written so that no cell is a formula."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from crowdlogic.data.formats.excel import EXCEL
from crowdlogic.data.reading import read_corpus, read_labels, read_table, write_table
from crowdlogic.errors import CrowdLogicError, FormatError, OptionError, SizeLimitError


def save(path: Path, *rows: tuple[object, ...]) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path


def test_labels_of_a_workbook_are_read_with_numbers_and_dates_as_they_show(tmp_path: Path) -> None:
    file = save(
        tmp_path / "l.xlsx",
        ("Ticket ID", "agent", "label", "date"),
        (1, "ann", "x", datetime.datetime(2026, 11, 17, 12, 0)),
        (),
        (2.0, "bob", 3.0, None),
    )

    table, source = read_table(file)

    assert table.rows() == [("1", "ann", "x", "2026-11-17 12:00:00"), ("2", "bob", "3", None)]
    assert source.at(1) == f"{file}, row 4"
    labels = read_labels(file, columns={"item": "Ticket ID", "annotator": "agent"})
    assert labels.classes == ("3", "x")


def test_items_of_a_workbook_are_read(tmp_path: Path) -> None:
    file = save(tmp_path / "i.xlsx", ("item", "text"), ("a", "one"), ("b", "two"))

    assert read_corpus(file).texts == ("one", "two")


def test_what_is_written_is_read_again_and_no_cell_is_a_formula(tmp_path: Path) -> None:
    table = pl.DataFrame({"item": ["=1+1", "+a", "-b", "@c"], "p": [0.5, 1.0, None, 0.25]})

    write_table(tmp_path / "t.xlsx", table)

    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert sheet is not None
    assert [cell.data_type for cell in sheet["A"]] == ["s"] * 5
    assert [row[0] for row in sheet.iter_rows(min_row=2, values_only=True)] == ["=1+1", "+a", "-b", "@c"]
    assert read_table(tmp_path / "t.xlsx")[0]["p"].to_list() == ["0.5", "1", None, "0.25"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((), "the first sheet is empty. A table needs a header and at least one row."),
        ((("item", "label"),), "contains a header (item, label) but no rows. Add at least one row."),
        ((("item", None, "label"), (1, 2, 3)), "row 1: column 2 has no name. Give each column a name."),
        ((("item", "item"), (1, 2)), "row 1: two columns are called 'item'. Give each its own name."),
        ((("item",), (1, 2)), "row 2: a cell in a column without a name. Name the column, or clear the cell."),
    ],
)
def test_each_problem_of_a_sheet_is_one_line(
    tmp_path: Path, rows: tuple[tuple[object, ...], ...], message: str
) -> None:
    file = save(tmp_path / "x.xlsx", *rows)

    with pytest.raises(CrowdLogicError) as caught:
        read_table(file)

    assert str(caught.value) in (f"{file}: {message}", f"{file}, {message}")


def test_what_is_no_workbook_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.xlsx"
    file.write_text("item,label\n1,2\n")

    with pytest.raises(CrowdLogicError) as caught:
        read_table(file)

    assert str(caught.value) == (f"{file}: cannot be read as an xlsx file (BadZipFile). Save it again as xlsx or csv.")


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.xlsx"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/workbook.xml", b"0" * 100_000)
    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "50K")

    with pytest.raises(CrowdLogicError, match="decompresses to more than"):
        read_table(file)


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"item": ["x\x01", "x\x02"]}),
        pl.DataFrame({"item": ["x"], "p_a\x01": [0.5], "p_a\x02": [0.5]}),
        pl.DataFrame({"item": ["x"], "tags": [["a\x01", "a\x02"]]}),
    ],
)
def test_what_a_workbook_would_change_is_refused_in_cells_names_and_lists(table: pl.DataFrame) -> None:
    with pytest.raises(OptionError, match=r"^t\.xlsx"):
        EXCEL.encode_table(table, "t.xlsx")


def test_texts_that_look_like_escapes_stay_different(tmp_path: Path) -> None:
    names = ["x_x0001_", "x_x0002_", "x\x7f", "x\x85", "\tx", "x\ny"]
    (tmp_path / "t.xlsx").write_bytes(EXCEL.encode_table(pl.DataFrame({"item": names}), "t.xlsx"))

    assert read_table(tmp_path / "t.xlsx")[0]["item"].to_list() == names


def test_a_cell_far_to_the_right_counts_as_a_row_of_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "8M")
    book = openpyxl.Workbook()
    for row in range(1, 3):
        book.active.cell(row, 16_384, "x")  # type: ignore[union-attr]
    book.save(tmp_path / "far.xlsx")

    with pytest.raises(FormatError, match=r"far.xlsx: has more than 16,384 cells. .* --max-unpacked 64M"):
        read_table(tmp_path / "far.xlsx")


def test_a_workbook_with_too_much_xml_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "8M")
    for name, sheet, message in (
        ("tags.xlsx", b"<c/>" * 300_000, r"has more than 262,144 XML tags\. .* --max-unpacked 64M"),
        ("text.xlsx", b"<v>" + b"x" * 4_000_000, r"has cells with more than 1\.6 MiB of text\. .* --max-unpacked 64M"),
    ):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("xl/worksheets/sheet1.xml", sheet)

        with pytest.raises(SizeLimitError, match=message):
            read_table(tmp_path / name)
