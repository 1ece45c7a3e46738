"""Parts of the findings of all pages: sentences, numbers with intervals, histograms.

The findings are the whole content of a report, as frozen dataclasses; templates and plots only display them. Numbers
are Python numbers, or None if undefined; shares lie in [0, 1]. The names of items, annotators and classes are unchanged
text from the input, which templates and scripts escape. Long tables are shortened, and their full length is stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import credible_interval


class TaskKind(StrEnum):
    """Kind of task: labels of documents, tags of tokens, or span tags of tokens (BIO)."""

    documents = "documents"
    tags = "tags"
    spans = "spans"


class Urgency(StrEnum):
    """What readers should do about a finding: act, take a look, or only know."""

    act = "act"
    look = "look"
    know = "know"


@dataclass(frozen=True)
class ReportFinding:
    """One finding as a sentence.

    Attributes:
        text: The sentence, with its numbers.
        severity: What readers should do about it.
        importance: Sort key of findings, largest first.
        about: Name of the annotator, item, rule or method that it is about; None if it is about all.
        is_collective: Whether it summarises the findings about single annotators on the same page with the same
            severity. The summary of the report then leaves those out.
        page: Name of the page that explains it; set by `make_report`.
    """

    text: str
    severity: Urgency
    _: KW_ONLY
    importance: float
    about: str | None = None
    is_collective: bool = False
    page: str = ""


class PageFindings(Protocol):
    """Protocol for the content of a page: a dataclass with the sentences of the page and other attributes."""

    @property
    def findings(self) -> tuple[ReportFinding, ...]:
        """The sentences of the page, most important first."""
        ...


@dataclass(frozen=True)
class Summary:
    """The most important findings of a report.

    Attributes:
        findings: The most important findings; those that require action come first.
        others: Number of further findings that require action or a look, by page.
    """

    findings: tuple[ReportFinding, ...]
    others: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Quantity:
    """A number with its interval.

    Attributes:
        value: The number; None if it is undefined.
        low: Lower end of its interval; None without an interval.
        high: Upper end of its interval.
    """

    value: float | None
    _: KW_ONLY
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """Units whose confidence lies in [low, high).

    Attributes:
        low: Lower end.
        high: Upper end.
        n: Number of units.
        confidence: Mean confidence; None without units.
        accuracy: Share of right answers; None without units.
        accuracy_low: Lower end of the 95% interval of the accuracy.
        accuracy_high: Upper end of the 95% interval of the accuracy.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None
    accuracy_low: float | None = None
    accuracy_high: float | None = None


@dataclass(frozen=True)
class Histogram:
    """Counts in bins: bin b counts values in [edges[b], edges[b + 1]); the last bin includes its upper edge."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


def round_figure(value: object) -> float | None:
    """Return a number as a Python float with six decimals; None for None, NaN and infinities."""
    if value is None:
        return None
    found = float(value)  # type: ignore[arg-type]
    return round(found, 6) if math.isfinite(found) else None


def round_quantity(value: object, low: object = None, high: object = None) -> Quantity:
    """Return a number and its interval as Python floats with six decimals; see `round_figure`."""
    return Quantity(round_figure(value), low=round_figure(low), high=round_figure(high))


def share_with_interval(right: float, n: float, level: float) -> Quantity:
    """Return the share of `right` among `n` with its credible interval; undefined if n is 0."""
    if not n:
        return Quantity(None)
    low, high = credible_interval(np.array([right]), np.array([n], dtype=np.float64), level)
    return round_quantity(right / n, low[0], high[0])


def sort_by_importance(findings: Iterable[ReportFinding]) -> tuple[ReportFinding, ...]:
    """Sort findings by importance; equally important ones keep their order."""
    return tuple(sorted(findings, key=lambda finding: -finding.importance))


def share_histogram(shares: Floats, bins: int) -> Histogram:
    """Count shares in equal bins over [0, 1]; a value on an edge belongs to the bin above it."""
    edges = np.arange(bins + 1) / bins
    bin_of = np.clip(np.searchsorted(edges, shares, side="right") - 1, 0, bins - 1)
    return Histogram(tuple(edges.tolist()), tuple(np.bincount(bin_of, minlength=bins).tolist()))


def count_histogram(numbers: Ints, most: int) -> Histogram:
    """Count each whole number from 0; the last bin counts `most` and all larger numbers."""
    top = int(numbers.max(initial=0))
    counts = np.bincount(np.minimum(numbers, most), minlength=min(top, most) + 1)
    edges = [*range(len(counts)), max(top, 0) + 1]
    return Histogram(tuple(map(float, edges)), tuple(counts.tolist()))
