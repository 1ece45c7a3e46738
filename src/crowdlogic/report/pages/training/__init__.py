"""Training: the history of a fit, why it stopped, and what each source would have answered."""

from crowdlogic.report.page import Page
from crowdlogic.report.pages.training.computation import compute_training
from crowdlogic.report.pages.training.plots import draw_training

PAGE = Page(title="Training", package=__name__, compute=compute_training, draw=draw_training)
