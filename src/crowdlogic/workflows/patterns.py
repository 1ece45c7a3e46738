"""Labels to patterns: items that were labelled alike as one row with a count, here or by a warehouse's SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.detection import detect_format
from crowdlogic.data.frames import annotator_columns, from_wide
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import TableSource, row_error
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import as_text, class_column
from crowdlogic.data.pattern_sql import (
    CONFLICTS,
    COUNT,
    LongColumns,
    group_long_sql,
    group_wide_sql,
    quote_table,
)
from crowdlogic.data.pattern_tables import group_rows, parse_counts
from crowdlogic.data.reading import read_table
from crowdlogic.data.wording import pluralise
from crowdlogic.data.writing import write_table
from crowdlogic.engines.patterns import find_patterns
from crowdlogic.errors import LabelError, OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.workflows.inputs import InputOptions
from crowdlogic.workflows.outputs import check_outputs, check_writable

PARQUET = "parquet"
"""The format whose wide tables are grouped while they are read."""


@dataclass(frozen=True, kw_only=True)
class PatternOptions:
    """The options of `write_patterns` and `pattern_query`.

    Attributes:
        labels: The file of labels; for a query also a table of the warehouse.
        out: The file to write.
        format: The format to write; None to take it from the suffix.
        spreadsheet_safe: Whether csv and tsv cells that a spreadsheet would read as formulas get a leading quote.
        table: For a query: the table's name in the warehouse; None for that of the file.
        annotators: For a query: the annotators, where there is no file to find them in.
        mark: For a query: the quotation mark of names.
        threads: How many threads may work at once.
        input: How the file is read.
    """

    labels: str
    out: str | None = None
    format: str | None = None
    spreadsheet_safe: bool = False
    table: str | None = None
    annotators: Sequence[str] | None = None
    mark: str = '"'
    threads: int = 2
    input: InputOptions = field(default_factory=InputOptions)


def write_patterns(options: PatternOptions) -> pl.DataFrame:
    """Write the patterns of the labels of a file: a column per annotator, and n_items."""
    if options.out is None:
        raise OptionError("Say where to write with -o FILE, or print the query for a warehouse with --sql.")
    check_writable(options.out, options.format)
    check_outputs((options.out,), read=(options.labels,))
    if options.input.wide and is_parquet(options.labels, options.input):
        annotators = wide_columns(options.labels, options.input)[1]
        found = group_rows(options.labels, annotators, threads=options.threads)
    else:
        found = tabulate_patterns(options.input.read_crowd(options.labels).labels)
    write_table(options.out, found, format=options.format, spreadsheet_safe=options.spreadsheet_safe)
    return found


def pattern_query(options: PatternOptions) -> str:
    """The GROUP BY with which a warehouse makes the patterns of a table."""
    known = Path(options.labels).is_file()
    table = quote_table(options.table or (Path(options.labels).stem if known else options.labels), options.mark)
    if not known and not options.annotators:
        raise OptionError(
            f"{options.labels}: there is no such file to find the annotators in. Name them: --annotators ann,bob."
        )
    if options.input.wide:
        annotators = options.annotators or wide_columns(options.labels, options.input)[1]
        return group_wide_sql(table, annotators, options.mark)
    columns = options.input.columns or {}
    if not known:
        roles = {role: columns.get(role, role) for role in ("item", "annotator", "label")}
        return group_long_sql(table, LongColumns(**roles), options.annotators or (), options.mark)
    return _long_query(options, table)


def _long_query(options: PatternOptions, table: str) -> str:
    """The query of a long table whose names of columns and annotators are those of a file."""
    rows, source = read_table(options.labels, format=options.input.format)
    roles = find_roles(rows.columns, options.input.columns, where=source.name)
    missing = [role for role in ("item", "annotator", "label") if role not in roles]
    if missing:
        raise LabelError(
            f"{source.name}: no column for the {missing[0]}. Name it with --column {missing[0]}=NAME; a table with a "
            f"column per annotator is read with --wide."
        )
    found = as_text(rows[roles["annotator"]].drop_nulls().unique(maintain_order=True)).to_list()
    columns = LongColumns(**{role: roles[role] for role in ("item", "annotator", "label")})
    return group_long_sql(table, columns, options.annotators or found, options.mark)


def is_parquet(path: str, options: InputOptions) -> bool:
    """Whether a file is one that can be grouped while it is read."""
    file = InputFile(path)
    if file.is_standard_input or file.is_folder or not Path(path).is_file():
        return False
    return detect_format(file, options.format).name == PARQUET and file.is_plain


def wide_columns(path: str, options: InputOptions) -> tuple[str | None, list[str]]:
    """The column of the items and those of the annotators in a wide table."""
    if is_parquet(path, options):
        columns = list(pl.read_parquet_schema(path))
    else:
        columns = read_table(path, format=options.format)[0].columns
    item = find_roles(columns, options.columns, where=path).get("item")
    return item, annotator_columns(columns, item)[0]


def tabulate_patterns(labels: CrowdLabels) -> pl.DataFrame:
    """The patterns of labels in memory: a column per annotator, and n_items."""
    found = find_patterns(labels)
    if found is None or labels.negated is not None:
        raise LabelError(
            "These labels have no patterns: items are the same where few annotators give whole labels, each once and "
            "without weights. Aggregate them as they are."
        )
    few = labels.take_items(found.unit)
    names = class_column(labels.classes)
    columns = {}
    for j, name in enumerate(as_text(labels.annotators).to_list()):
        rows = few.annotator == j
        given: list[int | None] = [None] * len(found)
        for unit, label in zip(few.unit[rows].tolist(), few.label[rows].tolist(), strict=True):
            given[unit] = label
        columns[name] = names.gather(pl.Series(given, dtype=pl.UInt32))
    if COUNT in columns:
        raise LabelError(f"An annotator is called {COUNT!r}, as the column of counts is. Rename them.")
    counted = pl.Series(COUNT, found.times.astype(np.int64))
    return pl.DataFrame(columns).with_columns(counted)


def read_patterns(table: pl.DataFrame, source: TableSource, options: InputOptions) -> tuple[CrowdLabels, Floats]:
    """The labels of each pattern, its row being the item, and how many items it stands for."""
    times = parse_counts(table, source)
    if CONFLICTS in table.columns:
        wrong = (table[CONFLICTS].cast(pl.Float64, strict=False).fill_null(1) != 0).arg_true().to_numpy()
        if len(wrong):
            what = (
                pluralise(int(table[CONFLICTS][int(wrong[0])]), "item has", "items have")
                + " several labels of one annotator"
            )
            raise row_error(source, wrong, what, "Keep one of these labels in the table, and group it again.")
    annotators = [name for name in table.columns if name not in (COUNT, CONFLICTS)]
    labels = from_wide(
        table.select(annotators),
        annotators=annotators,
        classes=options.classes,
        abstain=options.abstain,
        source=source,
    )
    return labels, times
