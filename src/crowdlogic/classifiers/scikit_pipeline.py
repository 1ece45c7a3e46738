"""The linear classifier as a fitted scikit-learn pipeline: hashed n-grams of a text, then a LogisticRegression.

Axes: i item, f feature (hashed column), k class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from crowdlogic.classifiers.features import FeatureColumns, document_features
from crowdlogic.classifiers.linear import LinearClassifier
from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError


class HashedNgrams(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The n-grams of texts, hashed: the columns that a linear classifier learnt weights for.

    Args:
        max_ngram: The maximum length of the n-grams.
        hash_bits: Features are hashed to 2^hash_bits columns.
        columns: The columns that are kept; None keeps all.
    """

    def __init__(self, max_ngram: int = 2, hash_bits: int = 18, columns: Any = None) -> None:
        self.max_ngram = max_ngram
        self.hash_bits = hash_bits
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> HashedNgrams:  # noqa: N803, ARG002 (scikit-learn's)
        """There is nothing to learn."""
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803 (scikit-learn's)
        """features[i, f] of texts, a sparse matrix."""
        found = document_features(list(X), max_ngram=self.max_ngram, hash_bits=self.hash_bits)
        return found if self.columns is None else found[:, self.columns]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def make_pipeline(classifier: Any, classes: Classes, *, sequential: bool) -> Pipeline:
    """A pipeline with the weights of a linear classifier over texts or numbers."""
    if not isinstance(classifier, LinearClassifier) or sequential:
        kind = "tags tokens" if sequential else f"has a {type(classifier).__name__}"
        raise OptionError(
            f"A scikit-learn pipeline can be made of the linear model over documents; this run {kind}. "
            f"Use `crowdlogic export RUN --to onnx` (or hf, for a transformer)."
        )
    steps = [("features", _features(classifier)), ("model", _logistic_regression(classifier, classes))]
    return Pipeline(steps)


def _features(classifier: LinearClassifier) -> Any:
    """Hashed n-grams, where the classifier looks at texts; numbers as they are."""
    columns: FeatureColumns = classifier.columns
    if columns.width != 1 << classifier.options.hash_bits:
        return FunctionTransformer()
    options = classifier.options
    return HashedNgrams(max_ngram=options.max_ngram, hash_bits=options.hash_bits, columns=columns.kept)


def _logistic_regression(classifier: LinearClassifier, classes: Classes) -> LogisticRegression:
    model = LogisticRegression()
    model.classes_ = np.array(classes)
    weights, bias = classifier.weights, classifier.bias
    if len(classes) == 2:  # scikit-learn keeps the difference of the two
        weights, bias = weights[:, 1:] - weights[:, :1], bias[1:] - bias[:1]
    model.coef_, model.intercept_ = np.ascontiguousarray(weights.T), bias.copy()
    model.n_features_in_ = weights.shape[0]
    model.n_iter_ = np.array([0])
    return model
