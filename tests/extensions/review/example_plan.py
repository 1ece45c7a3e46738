"""A made-up report with a page of the plan; names and texts are as hostile as data can be."""

from __future__ import annotations

import dataclasses

from tests.report.example_reports import documents, finding, hostile

from crowdlogic.extensions.review.plan_page import ForecastPoint, NextItem, PlanFindings
from crowdlogic.reporting.findings import Urgency
from crowdlogic.reporting.report import Report


def plan() -> PlanFindings:
    items = tuple(
        NextItem(
            item=f"review_{place} {hostile(place)}",
            answer="neg",
            confidence=0.5,
            n_labels=4,
            annotators=("w1", hostile(place)),
            gain=0.1,
        )
        for place in range(12)
    )
    forecast = tuple(
        ForecastPoint(count=100 * at, votes=0.9 + 0.005 * at, decisions=0.9 + 0.02 * at) for at in range(5)
    )
    return PlanFindings(
        n_labels=300,
        n_items=250,
        items=items,
        forecast=forecast,
        findings=(finding("300 more labels bring more.", "plan", Urgency.know),),
    )


def documents_with_plan() -> Report:
    made = documents()
    return dataclasses.replace(made, pages={**made.pages, "plan": plan()})
