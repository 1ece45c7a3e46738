"""Which rows are run, and what is written when they are finished."""

from pathlib import Path

import polars as pl
import pytest
from tests.extensions.paper.conftest import finished, make_runs

from crowdlogic.errors import OptionError
from crowdlogic.extensions.paper.published import sample_rows, table_rows
from crowdlogic.extensions.paper.reproduction import (
    HEADINGS,
    build_page,
    build_tables,
    select_rows,
    study_rows,
    write_results,
)
from crowdlogic.extensions.paper.results import write_runs
from crowdlogic.extensions.paper.tables import drop_intervals


def test_all_rows_are_those_of_every_study_each_once():
    rows = select_rows("ner")

    assert len(set(rows)) == len(rows)
    assert set(rows) == {row for rows in study_rows("ner").values() for row in rows}


def test_studies_and_rows_are_selected_by_name():
    assert select_rows("ner", ["samples", "aggnet"]) == (*sample_rows("ner"), "aggnet")
    assert select_rows("ner", ["tables", "aggnet"]) == table_rows("ner")


def test_an_unknown_row_is_refused_with_the_names_of_all():
    with pytest.raises(OptionError) as problem:
        select_rows("ner", ["agnet"])

    assert str(problem.value).startswith(
        "--methods: 'agnet' is not a method of the tables on ner. Did you mean 'aggnet'?"
    )
    assert "sensitivity" in str(problem.value)


def test_a_page_has_every_table_under_its_heading():
    runs = finished(make_runs("quick-ner", "aggnet", (70, 71, 72)))

    page = build_page(runs, "quick-ner")

    for name, table in build_tables(runs, "quick-ner").items():
        assert f"## {HEADINGS[name]}\n\n{drop_intervals(table)}" in page


def test_the_list_of_runs_and_the_page_are_written(tmp_path):
    write_runs(tmp_path / "quick-ner.jsonl", make_runs("quick-ner", "aggnet", (70, 71, 72), (71, 72, 73)))

    write_results(tmp_path, "quick-ner")

    assert pl.read_csv(tmp_path / "quick-ner.csv")["student f1"].to_list() == [0.7, 0.71]
    assert Path(tmp_path / "quick-ner.md").read_text(encoding="utf-8").startswith("# quick-ner\n\nThis is a test run ")
