"""Planning: which item to decide next, and which labels to buy next. Needs no gold."""

from crowdlogic.exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
