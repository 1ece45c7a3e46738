"""TruthEstimator: a truth method with scikit-learn's interface. Its X is the annotations.

Axes: i item, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from crowdlogic.compat.sklearn.annotations import is_long_frame, read_annotations
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import sum_evidence, tally
from crowdlogic.errors import OptionError, did_you_mean
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.truth.methods import TruthMethod, truth_method

PREFIX = "method__"
"""How the options of the method are called among the parameters."""

SMOOTHING = 0.5
"""Labels added to every cell where a confusion matrix is counted from beliefs."""


class TruthEstimator(BaseEstimator):  # type: ignore[misc]
    """A truth method: `fit(annotations)`, then `labels_`, `predict` and `predict_proba`.

    Args:
        method: The name of a truth method, or one with options; `set_params(method__smoothing=0.1)` changes an option.

    Attributes:
        classes_: The classes.
        labels_: The class of each item.
        label_distributions_: Their distributions.
        annotators_: The name (or column) of each annotator.
        confusion_: confusion_[j, m, n]: the method's, or counted from its beliefs where it has none.
        prior_: prior_[k], the share of each class.
        estimate_: What the method believes, as crowdlogic has it.
        n_features_in_: Number of annotators.
    """

    def __init__(self, method: Any = "dawid-skene") -> None:
        self.method = method

    def fit(self, X: Any, y: Any = None) -> TruthEstimator:  # noqa: N803, ARG002 (scikit-learn's)
        """Estimate the truth from annotations: items x annotators, or whatever CrowdClassifier takes as y."""
        labels = self._read(X)
        if not labels.n_labels:
            raise ValueError("Found array with 0 sample(s): no item has an annotation.")
        method = self._method()
        self.estimate_ = method.infer(labels)
        self.classes_ = np.array(labels.classes)
        self.annotators_ = labels.annotators.to_list()
        self.n_features_in_ = len(self.annotators_)
        self.label_distributions_ = self.estimate_.beliefs
        self.labels_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        self.prior_, self.confusion_ = _parameters(labels, self.estimate_)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 (scikit-learn's)
        """The distributions of items by their annotations, given the annotators as the fit has them."""
        check_is_fitted(self)
        labels = self._read(X, fitted=True)
        log_table = safe_log(self.confusion_).transpose(0, 2, 1)  # [j, n, k]
        evidence = sum_evidence(make_shards(labels), np.ascontiguousarray(log_table))
        return normalise(evidence + safe_log(self.prior_))[0]

    def predict(self, X: Any) -> Any:  # noqa: N803 (scikit-learn's)
        """The classes of items by their annotations."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def fit_predict(self, X: Any, y: Any = None) -> Any:  # noqa: N803 (scikit-learn's)
        """Fit, and give the class of each item."""
        return self.fit(X, y).labels_

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803 (scikit-learn's)
        """By true classes, accuracy; without any, the mean log-likelihood of the annotations."""
        if y is not None:
            return float(np.mean(self.predict(X) == np.asarray(y)))
        check_is_fitted(self)
        labels = self._read(X, fitted=True)
        log_table = np.ascontiguousarray(safe_log(self.confusion_).transpose(0, 2, 1))
        log_q = sum_evidence(make_shards(labels), log_table) + safe_log(self.prior_)
        return float(normalise(log_q)[1].sum()) / max(labels.n_labels, 1)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The method, and its options as method__option."""
        found: dict[str, Any] = {"method": self.method}
        made = self._method() if deep else None
        if made is not None and is_dataclass(made):
            found |= {f"{PREFIX}{one.name}": getattr(made, one.name) for one in fields(made)}
        return found

    def set_params(self, **params: Any) -> TruthEstimator:
        """Set the method, or options of it."""
        if "method" in params:
            self.method = params.pop("method")
        for name, value in params.items():
            known = [one for one in self.get_params() if one != "method"]
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}.{did_you_mean(name, known)}")
            self.method = replace(self._method(), **{name.removeprefix(PREFIX): value})
        return self

    def _method(self) -> Any:
        if isinstance(self.method, str):
            return truth_method(self.method)
        if not hasattr(self.method, "infer"):
            raise OptionError(f"method: {self.method!r} is no truth method.")
        method: TruthMethod = self.method
        return method

    def _read(self, X: Any, *, fitted: bool = False) -> CrowdLabels:  # noqa: N803 (scikit-learn's)
        shape = getattr(X, "shape", (1, 1))
        if len(shape) == 1:
            raise ValueError(
                "Expected 2D array, got 1D array instead. Reshape your data: a row for each item, a column for each "
                "annotator."
            )
        if 0 in shape[:2]:
            what = "sample" if shape[0] == 0 else "feature"
            raise ValueError(f"Found array with 0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is required.")
        n_items = _n_items(X)
        if not fitted:
            return read_annotations(X, n_items)
        if hasattr(X, "shape") and len(X.shape) == 2 and not is_long_frame(X) and X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                f"as input."
            )
        return read_annotations(X, n_items, annotators=self.annotators_, classes=self.classes_.tolist())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.classifier_tags = ClassifierTags()
        return tags


def _n_items(given: Any) -> int:
    if isinstance(given, CrowdLabels):
        return len(given.items)
    if is_long_frame(given):
        return int(given[find_roles(list(given.columns))["item"]].max()) + 1
    return int(given.shape[0]) if hasattr(given, "shape") else len(given)


def _parameters(labels: CrowdLabels, estimate: Any) -> tuple[Floats, Floats]:
    """prior[k] and confusion[j, m, n]: the method's own, or counted from its beliefs."""
    found = tally(make_shards(labels), np.asarray(estimate.beliefs))
    prior = (found.totals + SMOOTHING) / (found.totals + SMOOTHING).sum() if estimate.prior is None else estimate.prior
    if estimate.confusion is not None:
        return np.asarray(prior), np.asarray(estimate.confusion)
    counts = found.counts.transpose(0, 2, 1) + SMOOTHING  # [j, m, n]
    return np.asarray(prior), np.asarray(counts / counts.sum(axis=2, keepdims=True))
