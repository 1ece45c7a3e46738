"""Plan: which labels to buy next, what they should bring, and when to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.protocol import MOST_CELLS
from crowdlogic.confidence.annotator_verdicts import askable
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import list_names
from crowdlogic.extensions.review.next_labels import Forecast, NextLabels, annotator_skills, choose_next, make_forecast
from crowdlogic.reporting.charts import Curve, Plot, line_chart
from crowdlogic.reporting.findings import ReportFinding, TaskKind, Urgency, sort_by_importance
from crowdlogic.reporting.inputs import Context, ReportInputs, annotator_verdicts
from crowdlogic.reporting.page import Page

# Which labels to buy next, what they should bring, and when to stop.


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


# The plan of the next labels, for documents: `crowdlogic next` writes the same as a file. Axes: s item.

MOST_ITEMS = 50
"""How many items are shown."""
POINTS = 25
"""Points of the curve of the forecast."""
SHORTEST = 100
"""Labels that the curve goes to, if fewer are worth buying."""


def compute_plan(context: Context) -> PlanFindings | None:
    """The findings of the page; None for tags, and where nothing can be planned."""
    inputs = context.inputs
    if not _can_plan(inputs):
        return None
    labels, estimate = inputs.labels, inputs.estimate
    available, flagged = askable(labels, context.once(annotator_verdicts))
    skills = annotator_skills(labels, estimate, available=available)
    batch = choose_next(labels, estimate, skills)
    forecast = make_forecast(labels, estimate, skills, batch)
    if not len(forecast.votes):
        return None  # everybody has labelled everything
    return PlanFindings(
        n_labels=len(batch.item),
        n_items=len(np.unique(batch.item)),
        items=_items(labels, estimate, batch),
        forecast=_points(forecast),
        findings=_findings(forecast, flagged),
    )


def _can_plan(inputs: ReportInputs) -> bool:
    """Whether confidence is stated on a calibrated scale, of documents with a choice of classes."""
    labels, estimate = inputs.labels, inputs.estimate
    size = len(labels.annotators) * labels.n_classes**2
    is_stated = estimate.calibration is not None and bool(estimate.answered.any())
    return inputs.task is TaskKind.documents and is_stated and labels.n_classes > 1 and size <= MOST_CELLS


def _items(labels: CrowdLabels, estimate: Estimate, batch: NextLabels) -> tuple[NextItem, ...]:
    """The items of a plan, the most valuable first, with all who should label them."""
    _, first = np.unique(batch.item, return_index=True)
    given, names = labels.labels_per_unit(), estimate.answer_names()
    found = []
    for item in batch.item[np.sort(first)][:MOST_ITEMS].tolist():
        at = np.flatnonzero(batch.item == item)
        found.append(
            NextItem(
                item=str(labels.items[item]),
                answer="" if names[item] is None else str(names[item]),
                confidence=round(float(estimate.beliefs[item].max()), 6),
                n_labels=int(given[item]),
                annotators=tuple(str(labels.annotators[j]) for j in batch.annotator[at].tolist()),
                gain=round(float(batch.gain[at].sum()), 6),
            )
        )
    return tuple(found)


def _points(forecast: Forecast) -> tuple[ForecastPoint, ...]:
    """The curve of the forecast, up to twice as many labels as are worth buying."""
    last = max(2 * forecast.worth_buying, len(forecast.batch.item), SHORTEST)
    counts = np.unique(np.linspace(0, min(last, len(forecast.votes)), POINTS).astype(np.int64))
    units = max(forecast.units, 1)
    return tuple(
        ForecastPoint(
            count=count,
            votes=round(forecast.accuracy_after(count), 6),
            decisions=round(forecast.accuracy + float(forecast.decisions[:count].sum()) / units, 6),
        )
        for count in counts.tolist()
    )


def _findings(forecast: Forecast, flagged: Sequence[str]) -> tuple[ReportFinding, ...]:
    batch, end, gold = forecast.sentences()
    found = [
        ReportFinding(batch, Urgency.know, importance=30),
        ReportFinding(end, Urgency.know, importance=28),
        ReportFinding(gold, Urgency.know, importance=26),
    ]
    if flagged:
        who = f"{list_names(flagged)} {'is' if len(flagged) == 1 else 'are'}"
        text = f"{who} not asked for more labels: see why on the page of annotators."
        found.append(ReportFinding(text, Urgency.know, importance=24))
    return sort_by_importance(found)


# The plot of the plan: the expected accuracy after further labels, and after decisions.


def draw_plan(found: PlanFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """The plots of the page of the plan."""
    curves = [
        Curve("further labels", [(float(one.count), one.votes) for one in found.forecast]),
        Curve("an expert's decisions", [(float(one.count), one.decisions) for one in found.forecast]),
    ]
    heading = "What more labels, or an expert's decisions, should bring"
    return {"main": [line_chart("plan", heading, curves, x="labels, or items decided", y="expected accuracy")]}


PAGE = Page(title="Plan", module=__name__, compute=compute_plan, draw=draw_plan)
