"""Data structures of inputs and results: labels, corpus, estimates, files."""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
