"""Combine noisy labels from people, LLM judges and labelling functions with logic rules.

The public names are listed in `__init__.pyi`; each is imported when it is first used.
"""

from crowdlogic.registry import lazy_exports

__version__ = "0.1.0"

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
