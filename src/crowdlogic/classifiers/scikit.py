"""Any scikit-learn classifier with `predict_proba` and sample weights, trained on soft targets.

A soft target becomes weighted copies of a unit: one for each class, with the class probability times the unit's weight.

No pickle is ever written. The state of a fitted estimator is saved in the first of two ways that is found to work: as
its numeric attributes (enough for linear models and naive Bayes), or as the examples it was fitted to, from which it is
fitted again (trees, pipelines; every random_state comes from our seed).

Axes: i unit, f feature, k class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from crowdlogic.classifiers.features import (
    FeatureColumns,
    FeatureExtractor,
    Features,
    extract_features,
    find_columns,
    load_columns,
)
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays, check_targets, derive_seed
from crowdlogic.classifiers.saved_arrays import saved_array, saved_number
from crowdlogic.classifiers.scikit_estimators import (
    build_estimator,
    describe_estimator,
    sample_weight_name,
    seed_estimator,
)
from crowdlogic.classifiers.scikit_state import (
    ATTRIBUTE,
    EXAMPLES,
    TrainingExamples,
    attributes_suffice,
    check_attributes,
    fit_estimator,
    load_examples,
    numeric_attributes,
    partial_fit_estimator,
    refit_estimator,
    restore_attributes,
)
from crowdlogic.classifiers.text_pipeline import (
    fit_vectorizer,
    load_vectorizer,
    split_pipeline,
    vectorize,
    vectorizer_arrays,
)
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import safe_log

SEED, PROBE, CLASSES = MODEL + "seed", MODEL + "probe", FIXED + "classes"


@dataclass(frozen=True)
class Scikit:
    """A scikit-learn classifier on numeric features, on tokens and their neighbours, or on the n-grams of texts.

    Attributes:
        estimator: The name of a scikit-learn classifier, or an unfitted estimator of any package. An estimator that a
            name and plain parameters can describe is replaced by these. A pipeline may begin with a text vectoriser.
        parameters: The parameters of a classifier given by name.
        refit: Whether it is fitted from scratch in every epoch. None: yes, unless it has `partial_fit` and is no naive
            Bayes (whose `partial_fit` would add up the targets of all epochs).
        min_probability: The minimum probability of a class. A zero, as trees predict, would overrule all annotators.
        max_ngram: The maximum length of the n-grams of a text.
        hash_bits: Features of words are hashed to 2^hash_bits columns.
    """

    estimator: Any = "LogisticRegression"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    refit: bool | None = None
    min_probability: float = 1e-4
    max_ngram: int = 2
    hash_bits: int = 18

    name = "scikit"

    def __post_init__(self) -> None:
        if not (0 <= self.min_probability < 0.5 and self.max_ngram >= 1 and 1 <= self.hash_bits <= 30):
            raise OptionError(
                f"{self.name}: min_probability must lie from 0 to below 0.5, max_ngram be 1 or more, hash_bits 1 to 30."
            )
        plain = None if isinstance(self.estimator, str) else describe_estimator(self.estimator)
        if plain is not None:
            object.__setattr__(self, "estimator", plain[0])
            object.__setattr__(self, "parameters", plain[1])
        _check_estimator(self.make_estimator(), refit=self.refit)

    def make_estimator(self) -> Any:
        """The estimator, unfitted; of a pipeline, what comes after a text vectoriser."""
        if isinstance(self.estimator, str):
            return build_estimator(self.estimator, self.parameters)
        return split_pipeline(self.estimator)[1]

    @property
    def vectorizer(self) -> Any | None:
        """The text vectoriser at the head of a pipeline, unfitted; None where there is none."""
        return None if isinstance(self.estimator, str) else split_pipeline(self.estimator)[0]

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> ScikitClassifier:
        """A new, unfitted classifier for the features of a corpus."""
        vectorizer = None if self.vectorizer is None else fit_vectorizer(self.vectorizer, corpus)
        columns = find_columns(corpus, self._extractor(vectorizer))
        return ScikitClassifier(self, columns, len(classes), seed=seed, vectorizer=vectorizer)

    def load(self, arrays: Arrays, classes: Classes) -> ScikitClassifier:
        """A classifier with a saved state."""
        vectorizer = None if self.vectorizer is None else load_vectorizer(self.vectorizer, arrays)
        columns = load_columns(arrays, self._extractor(vectorizer))
        made = ScikitClassifier(self, columns, len(classes), seed=0, vectorizer=vectorizer)
        made.restore(arrays)
        return made

    def _extractor(self, vectorizer: Any | None) -> FeatureExtractor:
        return self.features if vectorizer is None else partial(vectorize, vectorizer)

    def features(self, corpus: Corpus) -> Features:
        """features[i, f] of every unit: numeric features if there are any, else those of its words."""
        return extract_features(corpus, max_ngram=self.max_ngram, hash_bits=self.hash_bits, name=self.name)


class ScikitClassifier:
    """An estimator, and the examples it was last fitted to."""

    def __init__(
        self, options: Scikit, columns: FeatureColumns, n_classes: int, *, seed: int, vectorizer: Any | None = None
    ) -> None:
        if options.min_probability * n_classes >= 1:
            raise OptionError(
                f"min_probability: {options.min_probability} for each of {n_classes} classes leaves nothing to "
                f"distinguish them."
            )
        self.options, self.columns, self.n_classes, self.seed = options, columns, n_classes, seed
        self.vectorizer = vectorizer
        self.refit = must_refit(options.make_estimator()) if options.refit is None else options.refit
        self.estimator: Any = None
        self._examples: TrainingExamples | None = None  # None if restored from attributes

    @property
    def unfitted(self) -> Any:
        """A new, unfitted estimator, seeded."""
        return seed_estimator(self.options.make_estimator(), derive_seed(self.seed, "scikit") % 2**32)

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Fit from scratch, or call `partial_fit` once; the mean loss afterwards."""
        check_targets(corpus, targets, weights, self.n_classes)
        sample_weight = np.ones(corpus.n_units) if weights is None else weights
        rows = np.flatnonzero(sample_weight)
        if not len(rows):
            return 0.0
        features = self.columns.select(corpus)[rows]
        self._examples = TrainingExamples(features, targets[rows].copy(), sample_weight[rows].copy())
        if self.refit:
            self.estimator = fit_estimator(self.unfitted, self._examples)
        else:
            self.estimator = self.unfitted if self.estimator is None else self.estimator
            partial_fit_estimator(self.estimator, self._examples)
        p = self._predict(self._examples.features)
        # per_unit[i], the cross-entropy; a class of target 0 adds nothing, even where its log probability is -inf
        per_unit = -(targets[rows] * np.where(targets[rows] > 0, safe_log(p), 0.0)).sum(axis=1)
        return float(sample_weight[rows] @ per_unit / sample_weight.sum())

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k] of every unit; uniform before the first epoch."""
        return self._predict(self.columns.select(corpus))

    def _predict(self, features: Features) -> Beliefs:
        if self.estimator is None or not features.shape[0]:
            return np.full((features.shape[0], self.n_classes), 1.0 / self.n_classes)
        p = np.zeros((features.shape[0], self.n_classes))
        p[:, self.estimator.classes_] = self.estimator.predict_proba(features)
        # Mixed with the uniform distribution, so that no class has less than min_probability.
        return (1.0 - self.n_classes * self.options.min_probability) * p + self.options.min_probability

    def arrays(self) -> Arrays:
        """The attributes of the estimator, or the examples it was fitted to."""
        fixed = {} if self.vectorizer is None else vectorizer_arrays(self.vectorizer)
        fixed |= self.columns.arrays() | {SEED: np.array(self.seed), CLASSES: np.array(self.n_classes)}
        examples = self._examples
        if self.estimator is None:
            return fixed
        if examples is None or attributes_suffice(self.estimator, self.unfitted, examples, partial=not self.refit):
            return fixed | numeric_attributes(self.estimator)
        if not self.refit:
            raise OptionError(
                f"{type(self.unfitted).__name__} is trained incrementally, and its state cannot be saved as plain "
                f"arrays. Set refit = true to fit it from scratch in every epoch, or choose another classifier."
            )
        return fixed | examples.arrays() | {PROBE: self.estimator.predict_proba(examples.probe.features)}

    def restore(self, arrays: Arrays) -> None:
        """Set the estimator to a saved state."""
        saved = load_columns(arrays, self.columns.extract)
        if saved.width != self.columns.width or not np.array_equal(saved.kept, self.columns.kept):
            raise FormatError("These arrays are of a classifier built for another corpus: the features differ.")
        if SEED not in arrays or CLASSES not in arrays:
            raise FormatError(f"These arrays are not of a scikit-learn classifier with {self.n_classes} classes.")
        saved_number(arrays, CLASSES, least=self.n_classes, most=self.n_classes)
        self.seed = saved_number(arrays, SEED, least=0, most=2**63)
        self.estimator = self._examples = None
        if any(name.startswith(ATTRIBUTE) for name in arrays):
            self.estimator = restore_attributes(self.unfitted, arrays)
            check_attributes(self.estimator, n_features=len(self.columns), n_classes=self.n_classes)
        elif any(name.startswith(EXAMPLES) for name in arrays):
            self._examples = load_examples(arrays, len(self.columns))
            self.estimator = refit_estimator(self.unfitted, self._examples, saved_array(arrays, PROBE, (None, None)))


def must_refit(estimator: Any) -> bool:
    """Whether an estimator has no `partial_fit`, or one that adds up the targets of all epochs (naive Bayes)."""
    return not hasattr(estimator, "partial_fit") or type(estimator).__module__.startswith("sklearn.naive_bayes")


def _check_estimator(estimator: Any, *, refit: bool | None) -> None:
    """Refuse an estimator without `predict_proba` or sample weights."""
    name = type(estimator).__name__
    if not hasattr(estimator, "predict_proba"):
        raise OptionError(_why_no_probabilities(estimator, name))
    if refit is False and not hasattr(estimator, "partial_fit"):
        raise OptionError(f"{name} has no partial_fit. Leave refit out, or set it to true.")
    sample_weight_name(estimator)


def _why_no_probabilities(estimator: Any, name: str) -> str:
    """What an estimator without `predict_proba` is, and what to use instead."""
    from sklearn.base import is_regressor

    if not hasattr(estimator, "predict"):
        return (
            f"{name} is no classifier. Put it in a pipeline before one: make_pipeline({name}(), LogisticRegression())."
        )
    if is_regressor(estimator):
        return f"{name} is a regression, and no classifier. Choose a classifier, such as LogisticRegression()."
    return (
        f"{name} gives no probabilities with these parameters. Wrap it, CalibratedClassifierCV({name}()), or choose "
        f"another, such as LogisticRegression()."
    )
