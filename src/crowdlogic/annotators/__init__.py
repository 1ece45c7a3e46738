"""What an annotator's label says of the truth: models that truth methods and Algorithm 1 share.

`registry.ANNOTATOR_MODELS` lists them by name; `protocol` says what a model can do.
"""

from crowdlogic.exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
