"""Overview: what was labelled, how far annotators agree, what was estimated, and how right that is."""

from crowdlogic.report.page import Page
from crowdlogic.report.pages.overview.computation import compute_overview
from crowdlogic.report.pages.overview.plots import draw_overview

PAGE = Page(title="Overview", package=__name__, compute=compute_overview, draw=draw_overview)
