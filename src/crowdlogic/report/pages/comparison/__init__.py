"""Comparison: several methods on the same labels."""

from crowdlogic.report.page import Page
from crowdlogic.report.pages.comparison.computation import compute_comparison
from crowdlogic.report.pages.comparison.plots import draw_comparison

PAGE = Page(title="Comparison", package=__name__, compute=compute_comparison, draw=draw_comparison)
