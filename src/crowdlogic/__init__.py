"""Noisy crowd labels and the rules people already know, made into clean labels and a verdict on every annotator.

The public names are listed in `__init__.pyi`; each is imported when it is first used.
"""

from crowdlogic.exports import lazy_exports

__version__ = "0.1.0"

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
