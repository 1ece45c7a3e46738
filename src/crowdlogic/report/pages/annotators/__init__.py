"""Annotators: whom to trust, with flags and their reasons, drift over time, and who agrees with whom."""

from crowdlogic.report.page import Page
from crowdlogic.report.pages.annotators.computation import compute_annotators
from crowdlogic.report.pages.annotators.plots import draw_annotators, highlight_annotators

PAGE = Page(
    title="Annotators",
    package=__name__,
    compute=compute_annotators,
    draw=draw_annotators,
    highlight=highlight_annotators,
)
