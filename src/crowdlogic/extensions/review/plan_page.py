"""Page "Plan" of the report: which labels to buy next, their expected gain, and when to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.label_sums import MOST_CELLS
from crowdlogic.confidence.annotator_verdicts import askable
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import list_names
from crowdlogic.extensions.review.next import NextLabels, annotator_skills, choose_next, make_forecast
from crowdlogic.reporting.charts import Curve, Plot, line_chart
from crowdlogic.reporting.findings import ReportFinding, TaskKind, Urgency, sort_by_importance
from crowdlogic.reporting.inputs import Context, annotator_verdicts
from crowdlogic.reporting.page import Page


@dataclass(frozen=True, kw_only=True)
class ForecastPoint:
    """Expected accuracy after a number of further labels, or of expert decisions.

    Attributes:
        count: Number of labels or decisions.
        votes: Expected accuracy after this number of labels.
        decisions: Expected accuracy after this number of expert decisions.
    """

    count: int
    votes: float
    decisions: float


@dataclass(frozen=True, kw_only=True)
class NextItem:
    """Item that is worth further labels.

    Attributes:
        item: Name of the item.
        answer: Current answer.
        confidence: Confidence of the answer.
        n_labels: Number of labels.
        annotators: Annotators who should label it.
        gain: Expected reduction in the number of wrong answers by these labels.
    """

    item: str
    answer: str
    confidence: float
    n_labels: int
    annotators: tuple[str, ...]
    gain: float


@dataclass(frozen=True, kw_only=True)
class PlanFindings:
    """Content of the page.

    Attributes:
        n_labels: Number of planned labels.
        n_items: Number of items in the plan, which may exceed the number shown.
        items: The items, most valuable first.
        forecast: Expected accuracy after further labels and decisions.
        findings: Sentences of this page.
    """

    n_labels: int
    n_items: int
    items: tuple[NextItem, ...]
    forecast: tuple[ForecastPoint, ...]
    findings: tuple[ReportFinding, ...]


MAX_ITEMS = 50
"""Maximum number of items shown."""
CURVE_POINTS = 25
"""Number of points on the curve of the forecast."""
MIN_CURVE_LABELS = 100
"""Minimum range of the curve in labels."""


def compute_plan(context: Context) -> PlanFindings | None:
    """Compute the content of the page; None for tags, and if nothing can be planned."""
    labels, estimate = context.inputs.labels, context.inputs.estimate
    size = len(labels.annotators) * labels.n_classes**2
    is_stated = estimate.calibration is not None and bool(estimate.answered.any())
    if context.inputs.task is not TaskKind.documents or not is_stated or labels.n_classes < 2 or size > MOST_CELLS:
        return None
    available, flagged = askable(labels, context.once(annotator_verdicts))
    skills = annotator_skills(labels, estimate, available=available)
    batch = choose_next(labels, estimate, skills)
    forecast = make_forecast(labels, estimate, skills, batch)
    if not len(forecast.votes):
        return None  # everybody has labelled everything

    # The curve of the forecast, up to twice the number of labels that are worth buying
    last = max(2 * forecast.worth_buying, len(batch.item), MIN_CURVE_LABELS)
    counts = np.unique(np.linspace(0, min(last, len(forecast.votes)), CURVE_POINTS).astype(np.int64))
    units = max(forecast.units, 1)
    points = tuple(
        ForecastPoint(
            count=count,
            votes=round(forecast.accuracy_after(count), 6),
            decisions=round(forecast.accuracy + float(forecast.decisions[:count].sum()) / units, 6),
        )
        for count in counts.tolist()
    )
    findings = [
        ReportFinding(sentence, Urgency.know, importance=30 - place)
        for place, sentence in enumerate(forecast.sentences())
    ]
    if flagged:
        who = f"{list_names(flagged)} {'is' if len(flagged) == 1 else 'are'}"
        text = f"{who} not asked for more labels: see the page on annotators for the reasons."
        findings.append(ReportFinding(text, Urgency.know, importance=24))
    return PlanFindings(
        n_labels=len(batch.item),
        n_items=len(np.unique(batch.item)),
        items=_items(labels, estimate, batch),
        forecast=points,
        findings=sort_by_importance(findings),
    )


def _items(labels: CrowdLabels, estimate: Estimate, batch: NextLabels) -> tuple[NextItem, ...]:
    """Return the items of a plan, most valuable first, with the annotators who should label them."""
    _, first = np.unique(batch.item, return_index=True)
    given, names = labels.labels_per_unit(), estimate.answer_names()
    found = []
    for item in batch.item[np.sort(first)][:MAX_ITEMS].tolist():
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


def draw_plan(found: PlanFindings, task: TaskKind) -> Mapping[str, Sequence[Plot]]:  # noqa: ARG001
    """Draw the plots of the page."""
    curves = [
        Curve("further labels", [(float(one.count), one.votes) for one in found.forecast]),
        Curve("an expert's decisions", [(float(one.count), one.decisions) for one in found.forecast]),
    ]
    heading = "What more labels, or an expert's decisions, should bring"
    return {"main": [line_chart("plan", heading, curves, x="labels, or items decided", y="expected accuracy")]}


PAGE = Page(title="Plan", module=__name__, compute=compute_plan, draw=draw_plan)
