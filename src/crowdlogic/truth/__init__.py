"""What is true, from the labels alone: one module per family of methods."""

from crowdlogic.exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
