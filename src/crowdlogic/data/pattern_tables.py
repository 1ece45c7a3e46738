"""Tables of patterns: items that were labelled alike are one row, with how many they are.

Few annotators who label everything give few different rows: five of them with five classes, and missing cells, at most
6^5. A wide table (a row per item, a column per annotator) of any length is grouped while it is read: by DuckDB where it
is installed, else by polars. What is found for a pattern is joined back to its items the same way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.files import require_file
from crowdlogic.data.formats.parquet_footer import check_footer
from crowdlogic.data.intake.contract import TableSource, row_error
from crowdlogic.data.pattern_sql import COUNT, group_wide_sql, join_sql, quote_text
from crowdlogic.errors import FormatError, LabelError, ResourceError
from crowdlogic.numerics.arrays import Floats

ROW_NUMBER = "file_row_number"
"""The column in which the rows of a file are numbered."""

GLOB = set("*?[]{}")
"""Characters that DuckDB would take for a pattern of file names."""

UNGROUPED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError)
"""What polars raises on a file that is not what it claims to be."""


def group_rows(path: str | Path, annotators: Sequence[str], *, threads: int = 2) -> pl.DataFrame:
    """The different rows of a wide Parquet file, sorted, and how many items each stands for, in the column n_items.

    Args:
        path: The file.
        annotators: Its columns that hold labels.
        threads: How many threads may work at once.
    """
    place = require_file(path)
    check_footer(place)
    if has_duckdb(place):
        with tempfile.TemporaryDirectory(prefix="crowdlogic-") as folder:
            found = Path(folder) / "patterns.parquet"
            _copy(group_wide_sql(_scan(place), annotators), found, path, threads=threads)
            return pl.read_parquet(found)
    grouped = pl.scan_parquet(place, glob=False).group_by(*annotators).agg(pl.len().cast(pl.Int64).alias(COUNT))
    try:
        return grouped.collect(engine="streaming").sort(*annotators)
    except UNGROUPED as problem:
        raise _unreadable(path, problem) from problem


def join_rows(
    path: str | Path,
    answers: pl.DataFrame,
    annotators: Sequence[str],
    *,
    item: str | None,
    out: Path,
    threads: int = 2,
) -> None:
    """Write a Parquet file with a row for each of a wide one: its item, and the answer of its pattern.

    Args:
        path: The wide file.
        answers: The columns of the annotators, and what is to be written of each pattern.
        annotators: The columns of the annotators.
        item: The column of the items; None to number the rows from 0.
        out: The file to write. It should be a new one: a failure leaves it half-written.
        threads: How many threads may work at once.
    """
    place, added = require_file(path), [name for name in answers.columns if name not in annotators]
    if has_duckdb(place):
        with tempfile.TemporaryDirectory(prefix="crowdlogic-") as folder:
            beside = Path(folder) / "answers.parquet"
            answers.write_parquet(beside)
            named = {item or ROW_NUMBER: "item"}
            joined = join_sql(
                _scan(place, numbered=item is None), _scan(beside), annotators=annotators, kept=named, added=added
            )
            _copy(joined, out, path, threads=threads)
        return
    rows = pl.scan_parquet(place, glob=False, row_index_name=ROW_NUMBER if item is None else None)
    found = rows.join(answers.lazy(), on=list(annotators), how="left", nulls_equal=True, maintain_order="left")
    try:
        found.select(pl.col(item or ROW_NUMBER).alias("item"), *added).sink_parquet(out)
    except UNGROUPED as problem:
        raise _unreadable(path, problem) from problem


def has_duckdb(place: Path) -> bool:
    """Whether DuckDB is installed, and takes the path for this very file."""
    return find_spec("duckdb") is not None and not GLOB & set(str(place))


def parse_counts(table: pl.DataFrame, source: TableSource) -> Floats:
    """How many items each row of a table of patterns stands for: whole numbers from 1 on."""
    counts = table[COUNT].cast(pl.Float64, strict=False)
    wrong = (counts.is_null() | ~counts.is_finite() | (counts < 1) | (counts % 1 != 0)).fill_null(value=True)
    if wrong.any():
        at = wrong.arg_true().to_numpy()
        what = f"{COUNT} is {table[COUNT][int(at[0])]!r}, and should be how many items the row stands for"
        raise row_error(source, at, what, "Give a whole number, 1 or more.")
    return counts.to_numpy().astype(np.float64)


def is_pattern_table(columns: Sequence[str]) -> bool:
    """Whether the columns are those of a table of patterns."""
    return COUNT in columns


def _scan(place: Path, *, numbered: bool = False) -> str:
    return f"read_parquet({quote_text(str(place))}{', file_row_number=true' if numbered else ''})"


def _copy(query: str, out: Path, path: str | Path, *, threads: int) -> None:
    """Run a query with DuckDB, from a Parquet file to another."""
    import duckdb

    config: dict[str, Any] = {"threads": threads}
    config |= {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    with duckdb.connect(config=config) as connection:
        connection.execute("SET enable_progress_bar = false")
        try:
            connection.execute(f"COPY ({query}) TO {quote_text(str(out))} (FORMAT parquet, COMPRESSION zstd)")
        except duckdb.BinderException as problem:
            raise LabelError(f"{path}: {_first_line(problem)}") from problem
        except (duckdb.InvalidInputException, duckdb.IOException, duckdb.InternalException) as problem:
            raise _failure(path, out, problem) from problem


def _failure(path: str | Path, out: Path, problem: Exception) -> FormatError | ResourceError:
    """A full disk, or a file that cannot be read."""
    if "No space left" in str(problem):
        return ResourceError(f"{out}: no space left on the disk. Free some, or write elsewhere.")
    return _unreadable(path, problem)


def _unreadable(path: str | Path, problem: Exception) -> FormatError:
    return FormatError(f"{path}: is not a parquet file that can be read ({_first_line(problem)[:80]}).")


def _first_line(problem: Exception) -> str:
    return (str(problem).strip() or type(problem).__name__).splitlines()[0]
