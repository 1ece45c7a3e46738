"""Truth inference: estimation of the true class of every item from the labels. One module per method."""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
