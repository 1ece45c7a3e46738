"""Rules: which to keep, and the answers that they changed."""

from crowdlogic.report.page import Page
from crowdlogic.report.pages.rules.computation import compute_rules, evidence_units
from crowdlogic.report.pages.rules.plots import draw_rules

PAGE = Page(title="Rules", package=__name__, compute=compute_rules, draw=draw_rules, evidence_units=evidence_units)
