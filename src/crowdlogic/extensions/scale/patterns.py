"""Patterns: items with identical labels as one row with a count, grouped locally or by SQL in a warehouse.

With few annotators who label everything, there are few distinct rows: with five annotators, five classes and missing
labels, at most 6^5. A wide Parquet file (one row per item, one column per annotator) of any length is grouped while it
is read, by DuckDB if installed, otherwise by polars. The answers of the patterns are joined back to the items the same
way. A table of patterns, as created by a GROUP BY in a warehouse, gets an answer for each row. The estimates equal
those of a fit to all items, since every sum is weighted by the counts.

Axes: p pattern.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.confidence.expected_accuracy import accuracy_range, describe_mistakes
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import STANDARD_STREAM, InputFile, atomic_write, require_file
from crowdlogic.data.formats.parquet import check_footer
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.frames import annotator_columns, from_wide
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import TableSource, row_error
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import as_text, class_column
from crowdlogic.data.reading import read_table, write_table
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import FormatError, LabelError, OptionError, ResourceError, name_list, parse_choice
from crowdlogic.numerics.arrays import Floats, sum_by
from crowdlogic.numerics.logspace import HALF, credible_interval
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dependence import Dependence, state_confidence
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    Fitting,
    estimate_of_fit,
    find_patterns,
    fits_over_engines,
    own_checkpoint,
    pattern_shards,
)
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.pool import Ensemble
from crowdlogic.truth.ties import Ties
from crowdlogic.workflows.aggregate import (
    AggregateOptions,
    Answered,
    check_answers,
    parse_dependence,
    suggest_method,
)
from crowdlogic.workflows.inputs import InputOptions, check_outputs, check_writable

COUNT = "n_items"
"""Column with the number of items of each pattern."""

CONFLICTS = "n_conflicts"
"""Column with the number of items that have several labels by one annotator (from long tables)."""


@dataclass(frozen=True, kw_only=True)
class LongColumns:
    """Column names of a long table, which has one row per label."""

    item: str
    annotator: str
    label: str


def quote_name(name: str, mark: str = '"') -> str:
    """Quote a column name for SQL; quotation marks within it are doubled."""
    if "\0" in name:
        raise OptionError(f"{name!r} is not a valid column name.")
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def quote_text(text: str) -> str:
    """Quote a string literal for SQL."""
    return "'" + text.replace("'", "''") + "'"


def quote_table(name: str, mark: str = '"') -> str:
    """Quote a table name, such as analytics.verdicts, part by part."""
    return ".".join(quote_name(part, mark) for part in name.split("."))


def group_wide_sql(table: str, annotators: Sequence[str], mark: str = '"') -> str:
    """Return the GROUP BY query for a wide table.

    Args:
        table: The table, quoted for SQL.
        annotators: The columns with labels.
        mark: Quotation mark for names: a backtick in BigQuery, MySQL and Spark.
    """
    listed = ", ".join(quote_name(name, mark) for name in annotators)
    return f"SELECT {listed}, count(*) AS {quote_name(COUNT, mark)}\nFROM {table}\nGROUP BY {listed}\nORDER BY {listed}"


def group_long_sql(table: str, columns: LongColumns, annotators: Sequence[str], mark: str = '"') -> str:
    """Return the GROUP BY query for a long table, which first creates one row per item.

    Args:
        table: The table, quoted for SQL.
        columns: Columns of the table.
        annotators: Names of all annotators.
        mark: Quotation mark for names.
    """
    item, who, label = (quote_name(name, mark) for name in (columns.item, columns.annotator, columns.label))
    theirs = [f"CASE WHEN {who} = {quote_text(name)} THEN {label} END" for name in annotators]
    listed = [quote_name(name, mark) for name in annotators]
    wide = [f"min({case}) AS {name}" for case, name in zip(theirs, listed, strict=True)]
    twice = " OR ".join(f"min({case}) <> max({case})" for case in theirs)
    conflict, names = quote_name("conflict", mark), ", ".join(listed)
    count, conflicts = quote_name(COUNT, mark), quote_name(CONFLICTS, mark)
    lines = [
        f"SELECT {names}, count(*) AS {count}, sum({conflict}) AS {conflicts}",
        "FROM (",
        "  SELECT",
        *(f"    {one}," for one in wide),
        f"    CASE WHEN {twice} THEN 1 ELSE 0 END AS {conflict}",
        f"  FROM {table}",
        f"  GROUP BY {item}",
        ") AS items",
        f"GROUP BY {names}",
        f"ORDER BY {names}",
    ]
    return "\n".join(lines)


def join_sql(
    table: str,
    answers: str,
    *,
    annotators: Sequence[str],
    kept: Mapping[str, str],
    added: Sequence[str],
    mark: str = '"',
) -> str:
    """Return the query that joins the answers of patterns to a wide table; missing labels compare equal.

    Args:
        table: The wide table, quoted for SQL.
        answers: The table with the answers of the patterns, quoted for SQL.
        annotators: The columns that both tables have.
        kept: Columns of the wide table to keep -> new names.
        added: Columns of the answers to add.
        mark: Quotation mark for names.
    """
    columns = [f"t.{quote_name(name, mark)} AS {quote_name(new, mark)}" for name, new in kept.items()]
    columns += [f"a.{quote_name(name, mark)}" for name in added]
    pairs = ((f"t.{quote_name(name, mark)}", f"a.{quote_name(name, mark)}") for name in annotators)
    same = "\n  AND ".join(f"{left} IS NOT DISTINCT FROM {right}" for left, right in pairs)
    return f"SELECT {', '.join(columns)}\nFROM {table} AS t\nLEFT JOIN {answers} AS a ON {same}"


ROW_NUMBER = "file_row_number"
"""Name of the row number column of a file."""

GLOB = set("*?[]{}")
"""Characters that DuckDB would interpret as a glob pattern in a file name."""

UNREADABLE_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError)
"""Exceptions that polars raises for a damaged file."""


def group_rows(path: str | Path, annotators: Sequence[str], *, threads: int = 2) -> pl.DataFrame:
    """Return the sorted distinct rows of a wide Parquet file, with their counts in the column n_items.

    Args:
        path: The file.
        annotators: The columns with labels.
        threads: Number of threads.
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
    except UNREADABLE_ERRORS as problem:
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
    """Write a Parquet file with one row per row of a wide file: the item and the answer of its pattern.

    Args:
        path: The wide file.
        answers: The columns of the annotators, and the columns to write for each pattern.
        annotators: The columns of the annotators.
        item: The column of the items; None to number the rows from 0.
        out: The file to write. It should be a new file, because a failure leaves it incomplete.
        threads: Number of threads.
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
    except UNREADABLE_ERRORS as problem:
        raise _unreadable(path, problem) from problem


def has_duckdb(place: Path) -> bool:
    """Return whether DuckDB is installed and would not interpret the path as a glob pattern."""
    return find_spec("duckdb") is not None and not GLOB & set(str(place))


def parse_counts(table: pl.DataFrame, source: TableSource) -> Floats:
    """Parse the item counts of a table of patterns: integers of at least 1."""
    counts = table[COUNT].cast(pl.Float64, strict=False)
    wrong = (counts.is_null() | ~counts.is_finite() | (counts < 1) | (counts % 1 != 0)).fill_null(value=True)
    if wrong.any():
        at = wrong.arg_true().to_numpy()
        what = f"{COUNT} must be the number of items of the row, got {table[COUNT][int(at[0])]!r}"
        raise row_error(source, at, what, "Give an integer of at least 1.")
    return counts.to_numpy().astype(np.float64)


def _scan(place: Path, *, numbered: bool = False) -> str:
    return f"read_parquet({quote_text(str(place))}{', file_row_number=true' if numbered else ''})"


def _copy(query: str, out: Path, path: str | Path, *, threads: int) -> None:
    """Run a query with DuckDB and write the result to a Parquet file."""
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
            if "No space left" in str(problem):
                raise ResourceError(f"{out}: no space left on the disk. Free some space, or write elsewhere.") from None
            raise _unreadable(path, problem) from problem


def _unreadable(path: str | Path, problem: Exception) -> FormatError:
    return FormatError(f"{path}: cannot be read as a Parquet file ({_first_line(problem)[:80]}).")


def _first_line(problem: Exception) -> str:
    return (str(problem).strip() or type(problem).__name__).splitlines()[0]


PARQUET = "parquet"
"""Format whose wide tables are grouped while reading."""


@dataclass(frozen=True, kw_only=True)
class PatternOptions:
    """Options of `write_patterns` and `pattern_query`.

    Attributes:
        labels: File of labels; for a query also a table in the warehouse.
        out: Output file.
        format: Output format; None to infer it from the suffix.
        spreadsheet_safe: Whether csv and tsv cells that a spreadsheet would read as formulas get a leading quote.
        table: For a query: name of the table in the warehouse; None for the name of the file.
        annotators: For a query: names of the annotators, if there is no file to read them from.
        mark: For a query: quotation mark for names.
        threads: Number of threads.
        input: Options for reading the file.
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
    """Write the patterns of a file of labels: one column per annotator, and n_items."""
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
    """Return the GROUP BY query that creates the patterns of a table in a warehouse."""
    known = Path(options.labels).is_file()
    table = quote_table(options.table or (Path(options.labels).stem if known else options.labels), options.mark)
    if not known and not options.annotators:
        raise OptionError(
            f"{options.labels}: file not found, so the annotators are unknown. Name them: --annotators ann,bob."
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
    """Return the query for a long table with the column names and annotators of a file."""
    rows, source = read_table(options.labels, format=options.input.format)
    roles = find_roles(rows.columns, options.input.columns, where=source.name)
    missing = [role for role in ("item", "annotator", "label") if role not in roles]
    if missing:
        raise LabelError(
            f"{source.name}: no column for the {missing[0]}. Name it with --column {missing[0]}=NAME, or read a table "
            f"with one column per annotator with --wide."
        )
    found = as_text(rows[roles["annotator"]].drop_nulls().unique(maintain_order=True)).to_list()
    columns = LongColumns(**{role: roles[role] for role in ("item", "annotator", "label")})
    return group_long_sql(table, columns, options.annotators or found, options.mark)


def is_parquet(path: str, options: InputOptions) -> bool:
    """Return whether the file is a plain Parquet file, which can be grouped while reading."""
    file = InputFile(path)
    if file.is_standard_input or file.is_folder or not Path(path).is_file():
        return False
    return detect_format(file, options.format).name == PARQUET and file.is_plain


def wide_columns(path: str, options: InputOptions) -> tuple[str | None, list[str]]:
    """Return the item column and the annotator columns of a wide table."""
    if is_parquet(path, options):
        columns = list(pl.read_parquet_schema(path))
    else:
        columns = read_table(path, format=options.format)[0].columns
    item = find_roles(columns, options.columns, where=path).get("item")
    return item, annotator_columns(columns, item)[0]


def tabulate_patterns(labels: CrowdLabels) -> pl.DataFrame:
    """Return the patterns of labels in memory: one column per annotator, and n_items."""
    found = find_patterns(labels)
    if found is None or labels.negated is not None:
        raise LabelError(
            "These labels cannot be grouped into patterns, which requires few annotators and unweighted, complete "
            "labels, one per annotator and item. Aggregate the labels directly."
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
        raise LabelError(f"The annotator {COUNT!r} has the name of the count column. Rename the annotator.")
    counted = pl.Series(COUNT, found.times.astype(np.int64))
    return pl.DataFrame(columns).with_columns(counted)


def read_patterns(table: pl.DataFrame, source: TableSource, options: InputOptions) -> tuple[CrowdLabels, Floats]:
    """Read the labels of each pattern, with rows as items, and the number of items of each pattern."""
    times = parse_counts(table, source)
    if CONFLICTS in table.columns:
        wrong = (table[CONFLICTS].cast(pl.Float64, strict=False).fill_null(1) != 0).arg_true().to_numpy()
        if len(wrong):
            what = (
                pluralise(int(table[CONFLICTS][int(wrong[0])]), "item has", "items have")
                + " several labels of one annotator"
            )
            raise row_error(source, wrong, what, "Keep one of these labels in the table and group it again.")
    annotators = [name for name in table.columns if name not in (COUNT, CONFLICTS)]
    labels = from_wide(
        table.select(annotators),
        annotators=annotators,
        classes=options.classes,
        abstain=options.abstain,
        source=source,
    )
    return labels, times


def fits_over_patterns(name: str) -> bool:
    """Return whether the named method can be fitted to patterns."""
    return name == Ensemble.name or fits_over_engines(name)


def infer_patterns(
    method: TruthMethod,
    labels: CrowdLabels,
    times: Floats,
    *,
    fitting: Fitting = DEFAULT_FIT,
    dependence: Dependence | None = None,
) -> Estimate:
    """Fit a method to patterns and return the estimate of each pattern.

    Args:
        method: The truth method.
        labels: The labels of each pattern, with patterns as items.
        times: times[p], the number of items of each pattern.
        fitting: Options of the fit, without anchors or an earlier estimate, which refer to items.
        dependence: Assumed dependence between labels of an item; None for the method's own posterior.
    """
    if not fits_over_patterns(method.name):
        able = name_list((name for name in TRUTH_METHODS.loadable() if fits_over_patterns(name)), most=20)
        raise OptionError(f"{method.name} requires items instead of patterns. Methods for patterns: {able}.")
    engine = pattern_shards(labels, times)

    def infer(one: Any) -> Estimate:
        own = fitting if one is method else own_checkpoint(fitting, one.name)
        return estimate_of_fit(one, one.fit_over(engine, fitting=own), labels, answer_all=fitting.answer_all)

    if isinstance(method, Ensemble):
        members = list(method.members(labels, infer, times=times))
        return method.pooled(labels, members, fitting=fitting, times=times)
    found = infer(method)
    return found if dependence is None else state_confidence(labels, found, dependence=dependence, times=times)


MIN_STREAMED_ROWS = 1_000_000
"""Wide Parquet files with at least this many rows are grouped while reading."""

SAMPLE_ROWS, MAX_ANNOTATORS = 10_000, 40
"""Rows in a sample, of which fewer than half may be distinct, and the maximum number of annotators."""

LEVEL = 0.95
"""Probability of credible intervals."""

ITEM_OPTIONS = ("anchors", "gold", "items", "min_confidence", "save")
"""Options that refer to single items."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternSource:
    """Source of patterns.

    Attributes:
        path: The file.
        item: Item column of a wide file; None if its rows are numbered.
        annotators: Annotator columns of a wide file; empty for a table of patterns.
    """

    path: str
    item: str | None = None
    annotators: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternTable:
    """Patterns as read: the rows, their labels and the number of items of each."""

    rows: pl.DataFrame
    labels: CrowdLabels
    times: Floats


def find_pattern_source(options: AggregateOptions) -> PatternSource | None:
    """Return the source of patterns: a table of patterns or a wide Parquet file with few; otherwise None."""
    if not options.input.wide or options.labels == STANDARD_STREAM or not Path(options.labels).is_file():
        return None
    item, annotators = wide_columns(options.labels, options.input)
    if COUNT in annotators:
        return PatternSource(path=options.labels)
    if any(getattr(options, name) is not None for name in ITEM_OPTIONS) or Path(options.out).suffix != ".parquet":
        return None
    if not is_parquet(options.labels, options.input) or not 0 < len(annotators) <= MAX_ANNOTATORS:
        return None
    found = PatternSource(path=options.labels, item=item, annotators=tuple(annotators))
    return found if _has_few_patterns(options, annotators) else None


def _has_few_patterns(options: AggregateOptions, annotators: list[str]) -> bool:
    """Return whether the method supports patterns, and the file is large and has few of them."""
    if options.method is not None and not fits_over_patterns(options.method):
        return False
    rows = pl.scan_parquet(options.labels, glob=False)
    size = int(rows.select(pl.len()).collect().item())
    if size < MIN_STREAMED_ROWS:
        return False
    sample = rows.slice(0, SAMPLE_ROWS).select(annotators).collect()
    return sample.n_unique() * 2 < len(sample)


@contextmanager
def open_patterns(options: AggregateOptions, source: PatternSource) -> Iterator[OpenedPatterns]:
    """Read or compute the patterns of a source."""
    check_answers(options)
    refuse_options(options, source)
    table = read_pattern_table(options, source)
    yield OpenedPatterns(options=options, source=source, table=table, notices=tuple(table.labels.intake.messages()))


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenedPatterns:
    """Patterns ready to be fitted; see `workflows.aggregate.OpenedLabels`."""

    options: AggregateOptions
    source: PatternSource
    table: PatternTable
    notices: tuple[str, ...]

    def suggest_method(self) -> tuple[str, str]:
        """Return the name of the recommended method, and the reason."""
        return suggest_method(self.table.labels)

    def fit(self, method: TruthMethod) -> FittedPatterns:
        """Fit a method to the patterns."""
        notices: tuple[str, ...] = ()
        if isinstance(method, MajorityVote) and parse_choice(Ties, method.ties, "ties") is Ties.random:
            method = MajorityVote(ties=Ties.first, weighted=method.weighted)
            notices = ("Ties go to the first class, since items with the same labels get the same answer.",)
        estimate = infer_patterns(
            method,
            self.table.labels,
            self.table.times,
            fitting=Fitting(checkpoint=self.options.checkpoint),
            dependence=parse_dependence(self.options.dependence),
        )
        return FittedPatterns(opened=self, estimate=estimate, notices=notices)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedPatterns:
    """The estimate of each pattern; see `workflows.aggregate.FittedLabels`."""

    opened: OpenedPatterns
    estimate: Estimate
    notices: tuple[str, ...]

    def write_answers(self) -> Answered:
        """Write the answer of each pattern, or of each item of a wide file."""
        options, table, estimate = self.opened.options, self.opened.table, self.estimate
        _write(options, self.opened.source, table, estimate)
        expected = None  # the expected accuracy, if the confidence is calibrated
        if estimate.calibration is not None and estimate.answered.any():
            times = table.times[estimate.answered]
            mean = float(np.average(estimate.confidence[estimate.answered], weights=times))
            expected = accuracy_range(mean, n=int(times.sum()), calibration=estimate.calibration)
        return Answered(
            estimate=estimate,
            size=(
                f"{pluralise(int(table.times.sum()), 'item')} in {pluralise(len(table.times), 'pattern')}, "
                f"{pluralise(len(estimate.annotators), 'annotator')}"
            ),
            counts={
                "items": int(table.times.sum()),
                "patterns": len(table.times),
                "annotators": len(estimate.annotators),
            },
            written=options.out,
            expected=expected,
            mistakes="" if expected is None else describe_mistakes(expected),
            notices=self.notices,
        )

    def annotator_table(self) -> pl.DataFrame:
        """Return one row per annotator."""
        return annotators_of_patterns(self.opened.table, self.estimate)


def annotators_of_patterns(table: PatternTable, estimate: Estimate) -> pl.DataFrame:
    """Return one row per annotator: number of labels, expected accuracy, weight and confusion probabilities.

    The column `says x if y` is the probability of label x for true label y, for methods with confusion matrices.
    """
    labels, size = table.labels, len(table.labels.annotators)
    each = table.times[labels.unit]  # number of labels behind each row
    given = sum_by(labels.annotator, size, each)
    right = sum_by(labels.annotator, size, each * estimate.beliefs[labels.unit, labels.label])
    low, high = credible_interval(right, given, LEVEL)
    columns: dict[str, object] = {"annotator": labels.annotators, "labels": given.astype(np.int64)}
    columns |= {"reliability": (right + HALF) / (given + 2 * HALF), "reliability_low": low, "reliability_high": high}
    if estimate.reliability is not None:
        columns["weight"] = estimate.reliability
    if estimate.confusion is not None:
        pairs = [(m, n) for m in range(labels.n_classes) for n in range(labels.n_classes)]
        names = labels.classes
        columns |= {f"says {names[n]} if {names[m]}": estimate.confusion[:, m, n] for m, n in pairs}
    return pl.DataFrame(columns)


def read_pattern_table(options: AggregateOptions, source: PatternSource) -> PatternTable:
    """Read the patterns of a source, or compute them by grouping its rows."""
    if source.annotators:
        rows = group_rows(source.path, source.annotators, threads=options.threads or 2)
        place = TableSource(f"the patterns of {source.path}")
    else:
        rows, place = read_table(source.path, format=options.input.format)
    labels, times = read_patterns(rows, place, options.input)
    return PatternTable(rows=rows, labels=labels, times=times)


def refuse_options(options: AggregateOptions, source: PatternSource) -> None:
    """Raise an error for options about single items, which a table of patterns does not contain."""
    given = [name for name in ITEM_OPTIONS if getattr(options, name) is not None]
    if given:
        raise OptionError(
            f"--{given[0].replace('_', '-')} refers to single items, but {source.path} is a table of patterns. "
            f"Remove it, or aggregate the items themselves."
        )


def _write(options: AggregateOptions, source: PatternSource, table: PatternTable, estimate: Estimate) -> None:
    answers = estimate.to_frame().drop("item")
    beside = pl.concat([table.rows, answers], how="horizontal")
    if not source.annotators:
        write_table(options.out, beside, format=options.format, spreadsheet_safe=options.spreadsheet_safe)
        return
    with atomic_write(options.out) as new:
        found = beside.select(*source.annotators, *answers.columns)
        join_rows(source.path, found, source.annotators, item=source.item, out=new, threads=options.threads or 2)
