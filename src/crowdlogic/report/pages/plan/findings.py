"""Which labels to buy next, what they should bring, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.report.findings import ReportFinding


@dataclass(frozen=True, kw_only=True)
class ForecastPoint:
    """The expected accuracy after so many further labels, or after so many decisions by somebody who knows.

    Attributes:
        count: How many.
        votes: The expected accuracy after as many labels.
        decisions: The expected accuracy after as many decisions.
    """

    count: int
    votes: float
    decisions: float


@dataclass(frozen=True, kw_only=True)
class NextItem:
    """An item that is worth further labels.

    Attributes:
        item: Its name.
        answer: Its present answer.
        confidence: How sure that is.
        n_labels: How many labels it has.
        annotators: Who should label it.
        gain: By how much these labels should lower the number of wrong answers.
    """

    item: str
    answer: str
    confidence: float
    n_labels: int
    annotators: tuple[str, ...]
    gain: float


@dataclass(frozen=True, kw_only=True)
class PlanFindings:
    """What to buy next.

    Attributes:
        n_labels: How many labels were planned.
        n_items: How many items they are of; more than are shown.
        items: The items, the most valuable first.
        forecast: The expected accuracy after further labels and decisions.
        findings: The sentences of this page.
    """

    n_labels: int
    n_items: int
    items: tuple[NextItem, ...]
    forecast: tuple[ForecastPoint, ...]
    findings: tuple[ReportFinding, ...]
