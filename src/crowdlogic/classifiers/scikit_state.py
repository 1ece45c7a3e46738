"""A fitted scikit-learn estimator as arrays, without pickle: by its attributes, or by the examples it was fitted to.

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
from crowdlogic.classifiers.scikit_estimators import sample_weight_name
from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Floats, Ints

ATTRIBUTE, EXAMPLES = MODEL + "attribute.", MODEL + "examples."
SLIGHT = 1e-6
"""A copy of a unit that weighs no more than this is left out."""
PROBE = 64
"""Units that two estimators are compared on."""


@dataclass(frozen=True, eq=False)
class TrainingExamples:
    """What an estimator learns from: features[i, f], targets[i, k] and weights[i] of the units that count."""

    features: Features
    targets: Beliefs
    weights: Floats

    def copies(self) -> tuple[Features, Ints, Floats]:
        """features[e, f], class[e], weight[e]: a copy of each unit for each class that is believed in."""
        weight = self.targets * self.weights[:, None]
        unit, label = np.nonzero(weight > SLIGHT)
        return self.features[unit], label, weight[unit, label]

    @property
    def probe(self) -> TrainingExamples:
        """A few of them."""
        return TrainingExamples(self.features[:PROBE], self.targets[:PROBE], self.weights[:PROBE])

    def arrays(self) -> Arrays:
        """As named arrays."""
        held = {"targets": self.targets, "weights": self.weights}
        if not isinstance(self.features, sparse.csr_array):
            return {EXAMPLES + name: array for name, array in (held | {"features": self.features}).items()}
        parts = {"entries": self.features.data, "columns": self.features.indices, "pointers": self.features.indptr}
        return {EXAMPLES + name: array for name, array in (held | parts).items()}


def load_examples(arrays: Arrays, n_features: int) -> TrainingExamples:
    """From what `arrays` gave."""
    held = {name.removeprefix(EXAMPLES): np.asarray(array) for name, array in arrays.items()}
    if "features" in held:
        return TrainingExamples(held["features"], held["targets"], held["weights"])
    parts = (held["entries"], held["columns"], held["pointers"])
    features = sparse.csr_array(parts, shape=(len(held["targets"]), n_features))
    return TrainingExamples(features, held["targets"], held["weights"])


def fit_estimator(estimator: Any, examples: TrainingExamples) -> Any:
    """A copy of the estimator, fitted to the examples."""
    from sklearn.base import clone

    features, label, weight = examples.copies()
    try:
        return clone(estimator).fit(features, label, **{sample_weight_name(estimator): weight})
    except (TypeError, ValueError) as problem:
        raise OptionError(f"{type(estimator).__name__} cannot learn from these items: {problem}") from problem


def partial_fit_estimator(estimator: Any, examples: TrainingExamples) -> None:
    """A pass of `partial_fit`."""
    features, label, weight = examples.copies()
    classes = np.arange(examples.targets.shape[1])
    try:
        estimator.partial_fit(features, label, classes=classes, sample_weight=weight)
    except (TypeError, ValueError) as problem:
        raise OptionError(f"{type(estimator).__name__} cannot learn from these items: {problem}") from problem


def numeric_attributes(estimator: Any) -> Arrays:
    """The numbers that it learnt."""
    options = estimator.get_params(deep=False)
    return {
        ATTRIBUTE + name: np.array(value)
        for name, value in vars(estimator).items()
        if name not in options and isinstance(value, np.ndarray | np.generic | int | float)
        if np.asarray(value).dtype.kind in "biuf"
    }


def restore_attributes(estimator: Any, arrays: Arrays) -> Any:
    """A copy of an unfitted estimator with the numbers of a fitted one."""
    from sklearn.base import clone

    copy = clone(estimator)
    for name, array in arrays.items():
        if name.startswith(ATTRIBUTE):
            setattr(copy, name.removeprefix(ATTRIBUTE), np.array(array) if np.ndim(array) else np.asarray(array).item())
    return copy


def attributes_suffice(estimator: Any, unfitted: Any, examples: TrainingExamples, *, goes_on: bool) -> bool:
    """Whether its numbers alone make an estimator that predicts the same, and that learns on in the same way."""
    try:
        own, twin = deepcopy(estimator), restore_attributes(unfitted, numeric_attributes(estimator))
        same = _agree(own, twin, examples.probe)
        if same and goes_on:
            partial_fit_estimator(own, examples.probe)
            partial_fit_estimator(twin, examples.probe)
            same = _agree(own, twin, examples.probe)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):  # whatever it misses of a fitted one
        return False
    return same


def _agree(own: Any, twin: Any, probe: TrainingExamples) -> bool:
    return bool(np.array_equal(own.predict_proba(probe.features), twin.predict_proba(probe.features)))


def refit_estimator(unfitted: Any, examples: TrainingExamples, probe: Floats) -> Any:
    """The estimator fitted to the examples again; it must say of the first of them what it said before."""
    again = fit_estimator(unfitted, examples)
    said = again.predict_proba(examples.probe.features)
    if said.shape != probe.shape or not np.allclose(said, probe, rtol=0, atol=1e-6):
        raise FormatError(
            f"{type(unfitted).__name__}, fitted to its examples again, no longer says the same. "
            f"Use the scikit-learn version that it was fitted with, or fit anew."
        )
    return again
