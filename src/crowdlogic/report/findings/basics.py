"""What findings are made of: sentences, numbers with intervals, histograms."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Task(StrEnum):
    """What carries a label."""

    documents = "documents"
    tags = "tags"
    spans = "spans"


class Severity(StrEnum):
    """What a finding asks of the reader: to act, to look, or only to know."""

    act = "act"
    look = "look"
    know = "know"


class Page(StrEnum):
    """Where a finding is explained."""

    overview = "overview"
    labels = "labels"
    annotators = "annotators"
    rules = "rules"
    training = "training"
    comparison = "comparison"


@dataclass(frozen=True)
class Finding:
    """One finding as a sentence.

    Attributes:
        text: The sentence, plain words, with its figures.
        severity: What it asks of the reader.
        page: Where its figures stand.
        about: The annotator, item, rule or method it speaks of, by name; None when it speaks of all.
        importance: What findings are ordered by, the largest first.
    """

    text: str
    severity: Severity
    page: Page
    about: str | None = None
    importance: float = 0.0


@dataclass(frozen=True)
class Summary:
    """What to know in one minute.

    Attributes:
        findings: At most eight, the most important first; every other one stands on its page.
        n_others: How many findings of severity act or look did not fit in.
    """

    findings: tuple[Finding, ...]
    n_others: int


@dataclass(frozen=True)
class Figure:
    """A number with its interval.

    Attributes:
        value: The number; None where it is undefined.
        low: The lower end of its interval; None where there is none.
        high: The upper end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Histogram:
    """Counts in bins: bin b holds what lies in [edges[b], edges[b + 1]); the last one holds its upper edge, too."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Setting:
    """An option of the method, as text: dotted name and value."""

    name: str
    value: str
