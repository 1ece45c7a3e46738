"""Simulated data with a known truth: crowds, reviews, sentences with entities. Results only depend on the seed."""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
