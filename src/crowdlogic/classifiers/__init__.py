"""Classifiers that learn from soft targets, one epoch at a time. `registry.CLASSIFIERS` lists them by name."""

from crowdlogic.exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
