"""Plan: which labels to buy next, what they should bring, and when to stop."""

from crowdlogic.report.page import Page
from crowdlogic.report.pages.plan.computation import compute_plan
from crowdlogic.report.pages.plan.plots import draw_plan

PAGE = Page(title="Plan", package=__name__, compute=compute_plan, draw=draw_plan)
