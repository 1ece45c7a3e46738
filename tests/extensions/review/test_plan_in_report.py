"""The page of the plan in a report: its plot, what it says, and that hostile texts stay texts."""

from __future__ import annotations

import dataclasses

from tests.extensions.review.example_plan import documents_with_plan, plan
from tests.report.example_reports import documents

from crowdlogic.extensions.review.plan_page import draw_plan
from crowdlogic.reporting.findings import TaskKind
from crowdlogic.reporting.html import to_html


def test_the_plan_has_a_plot() -> None:
    assert [plot.name for plot in draw_plan(plan(), TaskKind.documents)["main"]] == ["plan"]


def test_the_plan_says_how_many_items_it_leaves_out_or_that_these_are_all() -> None:
    made = documents_with_plan()
    plan = made.pages["plan"]
    whole = dataclasses.replace(plan, n_items=len(plan.items))
    more = dataclasses.replace(plan, n_items=len(plan.items) + 1)

    pages = [to_html(dataclasses.replace(made, pages={**made.pages, "plan": one})) for one in (whole, more)]

    assert "worth another label, the most valuable first; <code>crowdlogic next</code>" in pages[0]
    assert (
        f"The {len(plan.items)} most valuable of {len(plan.items) + 1} items; <code>crowdlogic next</code>" in pages[1]
    )


def test_hostile_texts_of_the_plan_stay_texts() -> None:
    without, page = to_html(documents()), to_html(documents_with_plan())

    assert len(page) > len(without)
    for mark in ("<script", "<img", "<svg onload"):
        assert page.count(mark) == without.count(mark)
