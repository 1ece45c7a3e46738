"""Classifiers that learn from soft targets, one epoch at a time. `registry.CLASSIFIERS` lists them by name.

| | modules |
|---|---|
| protocols and checks | protocol |
| without torch | class_prior, linear, crf, scikit; features has the text features that they share |
| your own function | function |

Neural networks are in `extensions.networks`.
"""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
