"""Labels: how sure the answers are, the items most in doubt, and gold that is probably wrong."""

from crowdlogic.report.page import Page
from crowdlogic.report.pages.labels.computation import compute_labels, evidence_units
from crowdlogic.report.pages.labels.plots import draw_labels, highlight_labels
from crowdlogic.report.pages.labels.script_data import select_items

PAGE = Page(
    title="Labels",
    package=__name__,
    compute=compute_labels,
    draw=draw_labels,
    evidence_units=evidence_units,
    highlight=highlight_labels,
    script_data=select_items,
)
