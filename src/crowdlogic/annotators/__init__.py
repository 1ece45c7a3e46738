"""Annotator models, p(label | true class, annotator), shared by truth methods and Algorithm 1.

`registry.ANNOTATOR_MODELS` lists them by name; `protocol` defines their interface.
"""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
