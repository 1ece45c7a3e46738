"""Labels to patterns: items that were labelled alike as one row with a count, here or by a warehouse's SQL."""

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

from crowdlogic.confidence.expected_accuracy import ExpectedAccuracy, accuracy_interval, describe_mistakes
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
from crowdlogic.errors import FormatError, LabelError, OptionError, ResourceError, name_list
from crowdlogic.numerics.arrays import Floats, sum_by
from crowdlogic.numerics.intervals import HALF, credible_interval
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dependence import Dependence, state_confidence
from crowdlogic.truth.ensemble import Ensemble, own_checkpoint
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    Fitting,
    estimate_of_fit,
    find_patterns,
    fits_over_engines,
    pattern_shards,
)
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.ties import Ties
from crowdlogic.workflows.aggregate import (
    AggregateOptions,
    Answered,
    check_answers,
    parse_dependence,
    suggest_method,
)
from crowdlogic.workflows.inputs import InputOptions, check_outputs, check_writable

# The SQL that groups items by their labels, for a warehouse that holds them, and that joins the answers back.
#
# A wide table has a row per item and a column per annotator; a long one a row per label. Either way the result is a
# table
# of patterns: a column per annotator, and n_items. Names are quoted, so that any name is a name and never SQL.

COUNT = "n_items"
"""The column that says how many items a pattern stands for."""

CONFLICTS = "n_conflicts"
"""The column that says for how many of them an annotator gave several labels, where a long table was grouped."""


@dataclass(frozen=True, kw_only=True)
class LongColumns:
    """The columns of a long table: a row per label."""

    item: str
    annotator: str
    label: str


def quote_name(name: str, mark: str = '"') -> str:
    """A column's name as SQL has it; a mark within it is doubled."""
    if "\0" in name:
        raise OptionError(f"{name!r}: is not a name of a column.")
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def quote_text(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def quote_table(name: str, mark: str = '"') -> str:
    """A table's name, such as analytics.verdicts: each part is quoted by itself."""
    return ".".join(quote_name(part, mark) for part in name.split("."))


def group_wide_sql(table: str, annotators: Sequence[str], mark: str = '"') -> str:
    """The GROUP BY of a wide table.

    Args:
        table: The table, as SQL has it.
        annotators: The columns that hold labels.
        mark: The quotation mark of names: a backtick in BigQuery, MySQL and Spark.
    """
    listed = ", ".join(quote_name(name, mark) for name in annotators)
    return f"SELECT {listed}, count(*) AS {quote_name(COUNT, mark)}\nFROM {table}\nGROUP BY {listed}\nORDER BY {listed}"


def group_long_sql(table: str, columns: LongColumns, annotators: Sequence[str], mark: str = '"') -> str:
    """The GROUP BY of a long table: first a row per item, then the GROUP BY of these.

    Args:
        table: The table, as SQL has it.
        columns: Its columns.
        annotators: The names of all annotators.
        mark: The quotation mark of names.
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
    """The answers of patterns joined back to a wide table, in which a missing label equals a missing label.

    Args:
        table: The wide table, as SQL has it.
        answers: The table of the patterns' answers, as SQL has it.
        annotators: The columns that both have.
        kept: The columns of the wide table to keep, and what to call them.
        added: The columns of the answers to add.
        mark: The quotation mark of names.
    """
    columns = [f"t.{quote_name(name, mark)} AS {quote_name(new, mark)}" for name, new in kept.items()]
    columns += [f"a.{quote_name(name, mark)}" for name in added]
    pairs = ((f"t.{quote_name(name, mark)}", f"a.{quote_name(name, mark)}") for name in annotators)
    same = "\n  AND ".join(f"{left} IS NOT DISTINCT FROM {right}" for left, right in pairs)
    return f"SELECT {', '.join(columns)}\nFROM {table} AS t\nLEFT JOIN {answers} AS a ON {same}"


# Tables of patterns: items that were labelled alike are one row, with how many they are.
#
# Few annotators who label everything give few different rows: five of them with five classes, and missing cells, at
# most
# 6^5. A wide table (a row per item, a column per annotator) of any length is grouped while it is read: by DuckDB
# where it
# is installed, else by polars. What is found for a pattern is joined back to its items the same way.

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


# Truth methods over patterns: labels of which each row stands for many items that were labelled alike.
#
# The estimate has one unit per pattern, which is what every item with these labels gets. It is that of the whole
# table:
# sums count a pattern as often as there are items, and what is stated of an item depends on its labels alone.
#
# Axes: p pattern.


def fits_over_patterns(name: str) -> bool:
    """Whether the method of that name can be fitted over patterns."""
    return name == Ensemble.name or fits_over_engines(name)


def infer_patterns(
    method: TruthMethod,
    labels: CrowdLabels,
    times: Floats,
    *,
    fitting: Fitting = DEFAULT_FIT,
    dependence: Dependence | None = None,
) -> Estimate:
    """Fit a method, and state its beliefs: the estimate of each pattern.

    Args:
        method: The truth method.
        labels: The labels of each pattern, the pattern being the item.
        times: times[p], how many items it stands for.
        fitting: Options of the fit; anchors and an earlier estimate name items, and there are none here.
        dependence: How far labels of one item depend on each other; None keeps the method's own posterior.
    """
    if not fits_over_patterns(method.name):
        able = name_list((name for name in TRUTH_METHODS.loadable() if fits_over_patterns(name)), most=20)
        raise OptionError(f"{method.name} needs the items themselves, not patterns. These do not: {able}.")
    engine = pattern_shards(labels, times)

    def infer(one: Any) -> Estimate:
        own = fitting if one is method else own_checkpoint(fitting, one.name)
        return estimate_of_fit(one, one.fit_over(engine, fitting=own), labels, answer_all=fitting.answer_all)

    if isinstance(method, Ensemble):
        members = list(method.members(labels, infer, times=times))
        return method.pooled(labels, members, fitting=fitting, times=times)
    found = infer(method)
    return found if dependence is None else state_confidence(labels, found, dependence=dependence, times=times)


# Patterns to answers: a fit over items that were labelled alike, from a table of patterns or from a wide Parquet
# file.
#
# A wide file of any length is grouped while it is read, fitted over its patterns, and the answers are joined back. A
# table of patterns, as a GROUP BY of a warehouse makes it, gets an answer for each of its rows.

STREAMED = 1_000_000
"""From this many rows on, a wide Parquet file is grouped while it is read."""

SAMPLE, MOST_ANNOTATORS = 10_000, 40
"""A sample of this many rows must have fewer than half as many patterns, of at most so many annotators."""

LEVEL = 0.95
"""The probability that a credible interval holds the truth."""

NEED_ITEMS = ("anchors", "gold", "items", "min_confidence", "save")
"""Options that are about single items."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternSource:
    """Where patterns come from.

    Attributes:
        path: The file.
        item: In a wide file, the column of the items; None where its rows are numbered.
        annotators: In a wide file, the columns of the annotators; empty for a table of patterns.
    """

    path: str
    item: str | None = None
    annotators: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternTable:
    """Patterns as they were read: a row each, with its labels and how many items it stands for."""

    rows: pl.DataFrame
    labels: CrowdLabels
    times: Floats


def find_pattern_source(options: AggregateOptions) -> PatternSource | None:
    """The patterns to aggregate: a table of them, or a wide Parquet file with few; None for any other labels."""
    if not options.input.wide or options.labels == STANDARD_STREAM or not Path(options.labels).is_file():
        return None
    item, annotators = wide_columns(options.labels, options.input)
    if is_pattern_table(annotators):
        return PatternSource(path=options.labels)
    if any(getattr(options, name) is not None for name in NEED_ITEMS) or Path(options.out).suffix != ".parquet":
        return None
    if not is_parquet(options.labels, options.input) or not 0 < len(annotators) <= MOST_ANNOTATORS:
        return None
    found = PatternSource(path=options.labels, item=item, annotators=tuple(annotators))
    return found if _pays(options, annotators) else None


def _pays(options: AggregateOptions, annotators: list[str]) -> bool:
    """Whether a method over patterns was asked for, and a large file has few of these."""
    if options.method is not None and not fits_over_patterns(options.method):
        return False
    rows = pl.scan_parquet(options.labels, glob=False)
    size = int(rows.select(pl.len()).collect().item())
    if size < STREAMED:
        return False
    sample = rows.slice(0, SAMPLE).select(annotators).collect()
    return sample.n_unique() * 2 < len(sample)


@contextmanager
def open_patterns(options: AggregateOptions, source: PatternSource) -> Iterator[OpenedPatterns]:
    """Read or make the patterns of a source."""
    check_answers(options)
    refuse_options(options, source)
    table = read_pattern_table(options, source)
    yield OpenedPatterns(options=options, source=source, table=table, notices=tuple(table.labels.intake.messages()))


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenedPatterns:
    """Patterns that are ready for a fit; see `workflows.aggregate.OpenedLabels`."""

    options: AggregateOptions
    source: PatternSource
    table: PatternTable
    notices: tuple[str, ...]

    def suggest_method(self) -> tuple[str, str]:
        """Return the name of the method that suits the labels, and why."""
        return suggest_method(self.table.labels)

    def fit(self, method: TruthMethod) -> FittedPatterns:
        """Fit a method over the patterns."""
        method, notices = _with_first_ties(method)
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
        expected = self._expected()
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

    def _expected(self) -> ExpectedAccuracy | None:
        """Return how many answers should be right; None where no confidence was calibrated."""
        answered, calibration = self.estimate.answered, self.estimate.calibration
        if calibration is None or not answered.any():
            return None
        times = self.opened.table.times[answered]
        mean = float(np.average(self.estimate.confidence[answered], weights=times))
        return accuracy_interval(mean, n=int(times.sum()), calibration=calibration)


def annotators_of_patterns(table: PatternTable, estimate: Estimate) -> pl.DataFrame:
    """What is believed of each annotator: labels, the expected share of right ones, weight, and how often which label.

    The column `says x if y` is how often they say x where the truth is y, for methods with confusion matrices.
    """
    labels, size = table.labels, len(table.labels.annotators)
    each = table.times[labels.unit]  # how many labels a row stands for
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
    """The patterns of a source: as they stand there, or grouped now."""
    if source.annotators:
        rows = group_rows(source.path, source.annotators, threads=options.threads or 2)
        place = TableSource(f"the patterns of {source.path}")
    else:
        rows, place = read_table(source.path, format=options.input.format)
    labels, times = read_patterns(rows, place, options.input)
    return PatternTable(rows=rows, labels=labels, times=times)


def refuse_options(options: AggregateOptions, source: PatternSource) -> None:
    """Refuse options about single items, of which a table of patterns knows nothing."""
    given = [name for name in NEED_ITEMS if getattr(options, name) is not None]
    if given:
        raise OptionError(
            f"--{given[0].replace('_', '-')} is about single items, and {source.path} is a table of patterns. "
            f"Leave it out, or aggregate the items themselves."
        )


def _with_first_ties(method: TruthMethod) -> tuple[TruthMethod, tuple[str, ...]]:
    """Majority vote with ties decided by the order of classes: items with the same labels get the same answer."""
    if isinstance(method, MajorityVote) and Ties.named(method.ties) is Ties.random:
        notice = "Ties go to the first class, since items with the same labels get the same answer."
        return MajorityVote(ties=Ties.first, weighted=method.weighted), (notice,)
    return method, ()


def _write(options: AggregateOptions, source: PatternSource, table: PatternTable, estimate: Estimate) -> None:
    answers = estimate.to_frame().drop("item")
    beside = pl.concat([table.rows, answers], how="horizontal")
    if not source.annotators:
        write_table(options.out, beside, format=options.format, spreadsheet_safe=options.spreadsheet_safe)
        return
    with atomic_write(options.out) as new:
        found = beside.select(*source.annotators, *answers.columns)
        join_rows(source.path, found, source.annotators, item=source.item, out=new, threads=options.threads or 2)
