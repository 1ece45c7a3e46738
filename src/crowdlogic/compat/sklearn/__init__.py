"""scikit-learn's interface: `fit`, `predict`, `score`, `clone`, pipelines, grid search and metadata routing.

    from crowdlogic.compat.sklearn import CrowdClassifier

The annotations stand where scikit-learn has y: a matrix of items x annotators with missing values.
"""

from crowdlogic.exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
