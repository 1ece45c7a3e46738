"""Patterns to answers: a fit over items that were labelled alike, from a table of patterns or from a wide Parquet file.

A wide file of any length is grouped while it is read, fitted over its patterns, and the answers are joined back. A
table of patterns, as a GROUP BY of a warehouse makes it, gets an answer for each of its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import STANDARD_STREAM, atomic_write, written_together
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.pattern_tables import group_rows, is_pattern_table, join_rows
from crowdlogic.data.reading import read_table
from crowdlogic.data.wording import pluralise
from crowdlogic.data.writing import write_table
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.intervals import HALF, credible_interval
from crowdlogic.numerics.sums import sum_by
from crowdlogic.truth.expected_accuracy import ExpectedAccuracy, accuracy_interval, describe_mistakes
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.over_patterns import fits_over_patterns, infer_patterns
from crowdlogic.truth.ties import Ties
from crowdlogic.workflows.patterns import is_parquet, read_patterns, wide_columns
from crowdlogic.workflows.truth_methods import collect_convergence_warnings, parse_dependence

if TYPE_CHECKING:
    from crowdlogic.workflows.aggregate import AggregateOptions

Choose: TypeAlias = "Callable[[AggregateOptions, CrowdLabels], tuple[TruthMethod, str]]"
"""The method for some labels, and why."""

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


@dataclass(frozen=True, kw_only=True, eq=False)
class AggregatedPatterns:
    """What `aggregate_patterns` did.

    Attributes:
        method: The truth method.
        reason: Why it was chosen; empty when the user named it.
        estimate: The estimate of each pattern.
        times: How many items each pattern stands for.
        written: Where the answers are.
        notices: What a person should know of the labels and the fit.
    """

    method: str
    reason: str
    estimate: Estimate
    times: Floats
    written: str
    notices: tuple[str, ...]
    scores: tuple[()] = ()

    @property
    def message(self) -> str:
        """The outcome in one sentence."""
        why = f" (chosen because {self.reason})" if self.reason else ""
        return (
            f"{self.method}{why}: {pluralise(int(self.times.sum()), 'item')} in "
            f"{pluralise(len(self.times), 'pattern')}, {pluralise(len(self.estimate.annotators), 'annotator')} -> "
            f"{self.written}"
        )

    @property
    def expected(self) -> ExpectedAccuracy | None:
        """How many answers should be right; None where no confidence was calibrated."""
        answered, calibration = self.estimate.answered, self.estimate.calibration
        if calibration is None or not answered.any():
            return None
        mean = float(np.average(self.estimate.confidence[answered], weights=self.times[answered]))
        return accuracy_interval(mean, n=int(self.times[answered].sum()), calibration=calibration)

    @property
    def confidence_message(self) -> str:
        """How many answers are likely wrong, in one sentence; empty where that is not known."""
        return "" if self.expected is None else describe_mistakes(self.expected)


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


def aggregate_patterns(options: AggregateOptions, source: PatternSource, choose: Choose) -> AggregatedPatterns:
    """Fit a method over patterns, and write the answer of each, or of each item of a wide file.

    Args:
        options: The options.
        source: Where the patterns come from.
        choose: The method for the labels of patterns, and why.
    """
    refuse_options(options, source)
    table = read_pattern_table(options, source)
    method, reason = choose(options, table.labels)
    method, notices = _with_first_ties(method)
    with collect_convergence_warnings() as warned:
        estimate = infer_patterns(
            method,
            table.labels,
            table.times,
            fitting=Fitting(checkpoint=options.checkpoint),
            dependence=parse_dependence(options.dependence),
        )
    with written_together():
        _write(options, source, table, estimate)
        if options.annotators is not None:
            write_table(
                options.annotators,
                annotators_of_patterns(table, estimate),
                spreadsheet_safe=options.spreadsheet_safe,
            )
    return AggregatedPatterns(
        method=method.name,
        reason=reason,
        estimate=estimate,
        times=table.times,
        written=options.out,
        notices=(*table.labels.intake.messages(), *warned, *notices),
    )


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
