"""Scores of answers, and coefficients of agreement among annotators."""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
