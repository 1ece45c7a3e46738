"""What the findings of every page are made of: sentences, numbers with intervals, histograms.

Findings are everything that a report says, as plain frozen dataclasses; templates and plots show them and compute
nothing. Numbers are Python's own, None where undefined. Names of items, annotators and classes are the text of the
input, however hostile: templates and scripts escape it. Long tables are cut, with the full length beside them. Shares
lie in [0, 1].
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
    """What carries a label: a document, a token with a tag, or a token with a span tag (BIO)."""

    documents = "documents"
    tags = "tags"
    spans = "spans"


class Urgency(StrEnum):
    """What a finding asks of the reader: to act, to look, or only to know."""

    act = "act"
    look = "look"
    know = "know"


@dataclass(frozen=True)
class ReportFinding:
    """One finding as a sentence.

    Attributes:
        text: The sentence, in plain words, with its figures.
        severity: What it asks of the reader.
        importance: What findings are sorted by, the largest first.
        about: The annotator, item, rule or method it is about, by name; None when it is about all.
        is_collective: Whether it covers those findings of the same page and severity that are about a single annotator;
            the summary then leaves these out.
        page: The name of the page that explains it; `make_report` fills it in.
    """

    text: str
    severity: Urgency
    _: KW_ONLY
    importance: float
    about: str | None = None
    is_collective: bool = False
    page: str = ""


class PageFindings(Protocol):
    """What a page says: a dataclass with, among others, the sentences of the page."""

    @property
    def findings(self) -> tuple[ReportFinding, ...]:
        """The sentences of the page, the most important first."""
        ...


@dataclass(frozen=True)
class Summary:
    """What to know in one minute.

    Attributes:
        findings: The most important ones, those to act on first; every other one is on its page.
        others: How many further findings ask to act or to look, page by page.
    """

    findings: tuple[ReportFinding, ...]
    others: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Quantity:
    """A number with its interval.

    Attributes:
        value: The number; None where it is undefined.
        low: The lower end of its interval; None where there is none.
        high: The upper end.
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
        n: How many units there are.
        confidence: Their mean confidence; None without any.
        accuracy: The share that is right; None without any.
        accuracy_low: Lower end of its 95% interval.
        accuracy_high: Upper end of it.
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
    """Return the share of `right` among `n` with its credible interval; undefined without any."""
    if not n:
        return Quantity(None)
    low, high = credible_interval(np.array([right]), np.array([n], dtype=np.float64), level)
    return round_quantity(right / n, low[0], high[0])


def sort_by_importance(findings: Iterable[ReportFinding]) -> tuple[ReportFinding, ...]:
    """Return the most important first; equally important ones stay in order."""
    return tuple(sorted(findings, key=lambda finding: -finding.importance))


def share_histogram(shares: Floats, bins: int) -> Histogram:
    """Return shares in equal bins over [0, 1]; a value on an edge belongs to the bin above it."""
    edges = np.arange(bins + 1) / bins
    bin_of = np.clip(np.searchsorted(edges, shares, side="right") - 1, 0, bins - 1)
    return Histogram(tuple(edges.tolist()), tuple(np.bincount(bin_of, minlength=bins).tolist()))


def count_histogram(numbers: Ints, most: int) -> Histogram:
    """Return how often each whole number occurs, from 0; the last bin holds `most` and all above."""
    top = int(numbers.max(initial=0))
    counts = np.bincount(np.minimum(numbers, most), minlength=min(top, most) + 1)
    edges = [*range(len(counts)), max(top, 0) + 1]
    return Histogram(tuple(map(float, edges)), tuple(counts.tolist()))
