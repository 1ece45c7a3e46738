from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdlogic.data import from_matrix
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import LabelError, OptionError
from crowdlogic.extensions.scale.patterns import (
    PatternOptions,
    pattern_query,
    read_patterns,
    tabulate_patterns,
    write_patterns,
)
from crowdlogic.workflows.inputs import InputOptions

WIDE = InputOptions(wide=True)
ROWS = [("good", "bad", None), ("good", "bad", None), ("bad", "bad", "good"), (None, None, "good")]
TABLE = pl.DataFrame({"item": range(4), **dict(zip("abc", zip(*ROWS, strict=True), strict=True))})


def long_table() -> pl.DataFrame:
    return TABLE.unpivot(index="item", variable_name="annotator", value_name="label").drop_nulls()


@pytest.mark.parametrize("name", ["wide.parquet", "wide.csv", "long.csv", "long.parquet"])
def test_long_and_wide_files_have_the_same_patterns(tmp_path: Path, name: str) -> None:
    table = TABLE if name.startswith("wide") else long_table()
    getattr(table, "write_parquet" if name.endswith("parquet") else "write_csv")(tmp_path / name)
    options = PatternOptions(
        labels=str(tmp_path / name),
        out=str(tmp_path / "p.parquet"),
        input=WIDE if name.startswith("wide") else InputOptions(),
    )

    write_patterns(options)

    written = pl.read_parquet(tmp_path / "p.parquet")
    assert {row[:-1]: row[-1] for row in written.select("a", "b", "c", "n_items").rows()} == Counter(ROWS)


def test_patterns_are_read_back_with_how_many_items_they_stand_for() -> None:
    patterns = pl.DataFrame({"a": ["x", None], "b": ["y", "y"], "n_items": [5, 2], "n_conflicts": [0, 0]})

    labels, times = read_patterns(patterns, TableSource("p.csv"), WIDE)

    assert times.tolist() == [5, 2]
    assert labels.annotators.to_list() == ["a", "b"]
    assert labels.to_frame()["label"].to_list() == ["x", "y", "y"]


def test_items_with_several_labels_of_one_annotator_are_refused() -> None:
    patterns = pl.DataFrame({"a": ["x", "y"], "b": ["y", "y"], "n_items": [5, 2], "n_conflicts": [0, 1]})

    with pytest.raises(LabelError) as caught:
        read_patterns(patterns, TableSource("p.csv", first_row=2), WIDE)

    assert str(caught.value) == (
        "p.csv, row 3: 1 item has several labels of one annotator. "
        "Keep one of these labels in the table and group it again."
    )


def test_a_query_takes_names_from_a_file_or_from_the_options(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "verdicts.csv")
    long_table().write_csv(tmp_path / "labels.csv")

    wide = pattern_query(PatternOptions(labels=str(tmp_path / "verdicts.csv"), input=WIDE))
    long = pattern_query(PatternOptions(labels=str(tmp_path / "labels.csv"), table="crowd.labels"))
    named = pattern_query(PatternOptions(labels="crowd.v", annotators=("a", "b"), mark="`", input=WIDE))

    assert wide.startswith('SELECT "a", "b", "c", count(*) AS "n_items"\nFROM "verdicts"\nGROUP BY "a", "b", "c"')
    assert 'FROM "crowd"."labels"\n  GROUP BY "item"' in long
    assert 'CASE WHEN "annotator" = \'b\' THEN "label" END' in long
    assert named.startswith("SELECT `a`, `b`, count(*) AS `n_items`\nFROM `crowd`.`v`")


def test_a_query_needs_to_know_the_annotators() -> None:
    with pytest.raises(OptionError) as caught:
        pattern_query(PatternOptions(labels="crowd.verdicts", input=WIDE))

    assert str(caught.value) == (
        "crowd.verdicts: file not found, so the annotators are unknown. Name them: --annotators ann,bob."
    )


def test_a_long_query_needs_its_columns(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "verdicts.csv")

    with pytest.raises(
        LabelError, match=r"no column for the annotator\. Name it with --column annotator=NAME, or read a table"
    ):
        pattern_query(PatternOptions(labels=str(tmp_path / "verdicts.csv")))


def test_labels_without_patterns_are_refused() -> None:
    labels = from_matrix(np.zeros((2, 2), dtype=int))

    with pytest.raises(LabelError, match="These labels cannot be grouped into patterns"):
        tabulate_patterns(replace(labels, weight=np.ones(4)))


def test_nothing_is_written_without_a_place() -> None:
    with pytest.raises(OptionError, match="Say where to write with -o FILE"):
        write_patterns(PatternOptions(labels="labels.csv"))
