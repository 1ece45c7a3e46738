"""The state of a fitted scikit-learn estimator as arrays, without pickle: its attributes, or its training examples.

Axes: i unit, f feature, k class, e example (a copy of a unit with a class).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from crowdlogic.classifiers.features import Features
from crowdlogic.classifiers.protocol import MODEL, Arrays
from crowdlogic.classifiers.saved_arrays import saved_array
from crowdlogic.classifiers.scikit_estimators import sample_weight_name
from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Floats, Ints

ATTRIBUTE, EXAMPLES = MODEL + "attribute.", MODEL + "examples."
MIN_WEIGHT = 1e-6
"""Copies of a unit with a weight up to this are left out."""
PROBE_SIZE = 64
"""Number of units on which the predictions of two estimators are compared."""


@dataclass(frozen=True, eq=False)
class TrainingExamples:
    """What an estimator is fitted to: features[i, f], targets[i, k] and weights[i] of the units of weight > 0."""

    features: Features
    targets: Beliefs
    weights: Floats

    def copies(self) -> tuple[Features, Ints, Floats]:
        """features[e, f], class[e], weight[e]: a copy of each unit for each class of positive probability."""
        weight = self.targets * self.weights[:, None]
        unit, label = np.nonzero(weight > MIN_WEIGHT)
        return self.features[unit], label, weight[unit, label]

    @property
    def probe(self) -> TrainingExamples:
        """The first few of them."""
        return TrainingExamples(self.features[:PROBE_SIZE], self.targets[:PROBE_SIZE], self.weights[:PROBE_SIZE])

    def arrays(self) -> Arrays:
        """As named arrays; a sparse matrix by its three parts."""
        held = {"targets": self.targets, "weights": self.weights}
        if not isinstance(self.features, sparse.csr_array):
            return {EXAMPLES + name: array for name, array in (held | {"features": self.features}).items()}
        parts = {"entries": self.features.data, "columns": self.features.indices, "pointers": self.features.indptr}
        return {EXAMPLES + name: array for name, array in (held | parts).items()}


def load_examples(arrays: Arrays, n_features: int) -> TrainingExamples:
    """Examples from what `arrays` returned."""
    targets = saved_array(arrays, EXAMPLES + "targets", (None, None))
    weights = saved_array(arrays, EXAMPLES + "weights", (len(targets),))
    if EXAMPLES + "features" in arrays:
        features = saved_array(arrays, EXAMPLES + "features", (len(targets), n_features), kind="fiub")
        return TrainingExamples(features, targets, weights)
    return TrainingExamples(_load_sparse(arrays, len(targets), n_features), targets, weights)


def _load_sparse(arrays: Arrays, n_rows: int, n_features: int) -> sparse.csr_array:
    """A sparse matrix from its three parts, if they make one."""
    pointers = saved_array(arrays, EXAMPLES + "pointers", (n_rows + 1,), kind="iu")
    entries = saved_array(arrays, EXAMPLES + "entries", (None,))
    columns = saved_array(arrays, EXAMPLES + "columns", entries.shape, kind="iu")
    sound = pointers[0] == 0 and pointers[-1] == len(entries) and (np.diff(pointers.astype(np.int64)) >= 0).all()
    if not sound or (len(columns) and not (columns.min() >= 0 and columns.max() < n_features)):
        raise FormatError("These arrays are damaged: the examples make no matrix of features.")
    return sparse.csr_array((entries, columns, pointers), shape=(n_rows, n_features))


def fit_estimator(estimator: Any, examples: TrainingExamples) -> Any:
    """A copy of the estimator, fitted to the examples."""
    from sklearn.base import clone

    features, label, weight = examples.copies()
    try:
        return clone(estimator).fit(features, label, **{sample_weight_name(estimator): weight})
    except (TypeError, ValueError) as problem:
        raise OptionError(f"{type(estimator).__name__} cannot learn from these items: {problem}") from problem


def partial_fit_estimator(estimator: Any, examples: TrainingExamples) -> None:
    """One call of `partial_fit`, in place."""
    features, label, weight = examples.copies()
    classes = np.arange(examples.targets.shape[1])
    try:
        estimator.partial_fit(features, label, classes=classes, sample_weight=weight)
    except (TypeError, ValueError) as problem:
        raise OptionError(f"{type(estimator).__name__} cannot learn from these items: {problem}") from problem


def numeric_attributes(estimator: Any) -> Arrays:
    """The numeric attributes of a fitted estimator that are not its parameters."""
    parameters = estimator.get_params(deep=False)
    return {
        ATTRIBUTE + name: np.array(value)
        for name, value in vars(estimator).items()
        if name not in parameters and isinstance(value, np.ndarray | np.generic | int | float)
        if np.asarray(value).dtype.kind in "biuf"
    }


def restore_attributes(estimator: Any, arrays: Arrays) -> Any:
    """A copy of an unfitted estimator with the numeric attributes of a fitted one."""
    from sklearn.base import clone

    copy = clone(estimator)
    for name, array in arrays.items():
        if name.startswith(ATTRIBUTE):
            attribute = name.removeprefix(ATTRIBUTE)
            if not attribute.isidentifier() or hasattr(type(copy), attribute) or attribute.startswith("__"):
                raise FormatError(f"These arrays are of another classifier: {name} is no number that was fitted.")
            setattr(copy, attribute, np.array(array) if np.ndim(array) else np.asarray(array).item())
    return copy


def check_attributes(estimator: Any, *, n_features: int, n_classes: int) -> None:
    """Raise unless an estimator with restored attributes predicts: one row of zeros is tried."""
    try:
        codes = np.asarray(estimator.classes_)
        p = estimator.predict_proba(np.zeros((1, n_features)))
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError) as problem:
        raise FormatError(
            f"These arrays are damaged: {type(estimator).__name__} cannot predict with them ({problem})."
        ) from problem
    sound = codes.dtype.kind in "iu" and codes.shape == p.shape[1:] and np.isfinite(p).all()
    if not sound or len(set(codes.tolist())) != len(codes) or codes.min() < 0 or codes.max() >= n_classes:
        raise FormatError(f"These arrays are damaged: {type(estimator).__name__} predicts no probabilities with them.")


def attributes_suffice(estimator: Any, unfitted: Any, examples: TrainingExamples, *, partial: bool) -> bool:
    """Whether an estimator with the same numeric attributes predicts the same (and after `partial_fit`, if asked)."""
    try:
        own, twin = deepcopy(estimator), restore_attributes(unfitted, numeric_attributes(estimator))
        same = _predict_alike(own, twin, examples.probe)
        if same and partial:
            partial_fit_estimator(own, examples.probe)
            partial_fit_estimator(twin, examples.probe)
            same = _predict_alike(own, twin, examples.probe)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):  # any part of its state that is no number
        return False
    return same


def _predict_alike(own: Any, twin: Any, probe: TrainingExamples) -> bool:
    return bool(np.array_equal(own.predict_proba(probe.features), twin.predict_proba(probe.features)))


def refit_estimator(unfitted: Any, examples: TrainingExamples, probe: Floats) -> Any:
    """The estimator, fitted to saved examples again; it must predict the saved probabilities of the first of them."""
    refitted = fit_estimator(unfitted, examples)
    predicted = refitted.predict_proba(examples.probe.features)
    if predicted.shape != probe.shape or not np.allclose(predicted, probe, rtol=0, atol=1e-6):
        raise FormatError(
            f"{type(unfitted).__name__}, fitted to its examples again, no longer predicts the same. "
            f"Use the scikit-learn version that it was fitted with, or fit it again."
        )
    return refitted
