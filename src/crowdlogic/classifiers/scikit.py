"""Train any scikit-learn classifier that has `predict_proba` and sample weights on soft targets.

A soft target becomes weighted copies of a unit: one per class, weighted by the class probability times the unit's
weight.

Pickle is never used. The state of a fitted estimator is saved in one of two ways: as its numeric attributes if they
suffice (linear models and naive Bayes), otherwise as its training examples, to which it is fitted again on loading
(trees, pipelines; every random_state is derived from our seed).

Axes: i unit, f feature, k class, e example (a copy of a unit with a class).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import has_fit_parameter

from crowdlogic.classifiers.features import (
    FeatureColumns,
    FeatureExtractor,
    Features,
    document_features,
    extract_features,
    find_columns,
    load_columns,
    weigh_columns,
)
from crowdlogic.classifiers.linear import LinearClassifier
from crowdlogic.classifiers.protocol import (
    FIXED,
    MODEL,
    Arrays,
    check_targets,
    decode_json,
    derive_seed,
    encode_json,
    require_content,
    saved_array,
    saved_number,
)
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import CorpusError, FormatError, OptionError, did_you_mean
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import safe_log

# scikit-learn's classifiers by name, with plain parameters. A name read from a file never imports another package.

MODULES = (
    "linear_model", "ensemble", "naive_bayes", "neighbors", "svm", "tree", "neural_network", "discriminant_analysis",
    "gaussian_process", "semi_supervised", "calibration", "dummy",
)  # fmt: skip
"""Modules of scikit-learn that contain classifiers."""


def find_class(name: str) -> type[Any]:
    """Return the scikit-learn classifier with this name."""
    known: list[str] = []
    for module in MODULES:
        for public, found in inspect.getmembers(import_module(f"sklearn.{module}"), inspect.isclass):
            if issubclass(found, ClassifierMixin) and not public.startswith(("_", "ClassifierMixin", "Base")):
                known.append(public)
                if public == name:
                    return found
    raise OptionError(f"scikit-learn has no classifier {name!r}.{did_you_mean(name, known)}")


def build_estimator(name: str, parameters: Mapping[str, Any]) -> Any:
    """Return a new, unfitted estimator with this name and these parameters."""
    kind = find_class(name)
    known = list(inspect.signature(kind).parameters)
    unknown = [parameter for parameter in parameters if parameter not in known]
    if unknown:
        raise OptionError(f"{name} has no parameter {unknown[0]!r}.{did_you_mean(unknown[0], known)}")
    try:
        return kind(**parameters)
    except TypeError as problem:
        raise OptionError(f"{name} cannot be created with {dict(parameters)}: {problem}") from problem


def describe_estimator(estimator: Any) -> tuple[str, dict[str, Any]] | None:
    """Return name and parameters from which `build_estimator` makes an equal estimator; None if they are not plain."""
    name = type(estimator).__name__
    try:
        if find_class(name) is not type(estimator):
            return None
        defaults = type(estimator)().get_params(deep=False)
        changed = {key: value for key, value in estimator.get_params(deep=False).items() if value != defaults[key]}
        return (name, changed) if json.loads(json.dumps(changed)) == changed else None
    except (OptionError, TypeError, ValueError):  # of another package, or parameters that JSON cannot express
        return None


def seed_estimator(estimator: Any, seed: int) -> Any:
    """Return an unfitted copy in which every `random_state` that is not an integer is set to the seed."""
    copy = clone(estimator)
    states = {key: value for key, value in copy.get_params().items() if key.split("__")[-1] == "random_state"}
    return copy.set_params(**{key: seed for key, value in states.items() if not isinstance(value, int)})


def sample_weight_name(estimator: Any) -> str:
    """Return the keyword argument of `fit` for sample weights; for a pipeline, that of its last step."""
    step, last = estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)
    if not has_fit_parameter(last, "sample_weight"):
        raise OptionError(
            f"{type(last).__name__} does not accept sample weights, which soft targets need. Choose another estimator."
        )
    return f"{step}__sample_weight" if step else "sample_weight"


# The linear classifier as a fitted scikit-learn pipeline: hashed n-grams of a text, then a LogisticRegression.


class HashedNgrams(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transformer of texts to hashed n-grams, restricted to the columns that a linear classifier has weights for.

    Args:
        max_ngram: The maximum length of the n-grams.
        hash_bits: Features are hashed to 2^hash_bits columns.
        columns: The columns to keep; None keeps all.
        scale: The weights of these columns; None for equal weights.
    """

    def __init__(self, max_ngram: int = 2, hash_bits: int = 18, columns: Any = None, scale: Any = None) -> None:
        self.max_ngram = max_ngram
        self.hash_bits = hash_bits
        self.columns = columns
        self.scale = scale

    def fit(self, X: Any, y: Any = None) -> HashedNgrams:  # noqa: N803, ARG002 (scikit-learn's)
        """Do nothing, since there is nothing to fit."""
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803 (scikit-learn's)
        """Return features[i, f] of texts as a sparse matrix."""
        found = document_features(list(X), max_ngram=self.max_ngram, hash_bits=self.hash_bits)
        kept = found if self.columns is None else found[:, self.columns]
        return kept if self.scale is None else weigh_columns(kept, self.scale)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def make_pipeline(classifier: Any, classes: Classes, *, sequential: bool) -> Pipeline:
    """Return a pipeline with the weights of a linear classifier for texts or numbers."""
    if not isinstance(classifier, LinearClassifier) or sequential:
        kind = "tags tokens" if sequential else f"has a {type(classifier).__name__}"
        raise OptionError(
            f"A scikit-learn pipeline can only be made from the linear model for documents; this run {kind}. Use "
            f"`crowdlogic export RUN --to onnx` (or hf, for a transformer)."
        )
    options, columns, weights, bias = classifier.options, classifier.columns, classifier.weights, classifier.bias
    features: Any = FunctionTransformer()  # numbers are unchanged
    if columns.width == 1 << options.hash_bits:
        features = HashedNgrams(options.max_ngram, options.hash_bits, columns=columns.kept, scale=columns.scale)
    if len(classes) == 2:  # scikit-learn keeps only the difference of the two
        weights, bias = weights[:, 1:] - weights[:, :1], bias[1:] - bias[:1]
    model = LogisticRegression()
    model.classes_, model.n_iter_, model.n_features_in_ = np.array(classes), np.array([0]), weights.shape[0]
    model.coef_, model.intercept_ = np.ascontiguousarray(weights.T), bias.copy()
    return Pipeline([("features", features), ("model", model)])


# The state of a fitted scikit-learn estimator as arrays, without pickle: its attributes, or its training examples.

ATTRIBUTE, EXAMPLES = MODEL + "attribute.", MODEL + "examples."
MIN_WEIGHT = 1e-6
"""Copies of a unit with at most this weight are left out."""
PROBE_SIZE = 64
"""Number of units on which the predictions of two estimators are compared."""


@dataclass(frozen=True, eq=False)
class TrainingExamples:
    """Training data of an estimator: features[i, f], targets[i, k] and weights[i] of the units of weight > 0."""

    features: Features
    targets: Beliefs
    weights: Floats

    def copies(self) -> tuple[Features, Ints, Floats]:
        """Return features[e, f], class[e], weight[e]: a copy of each unit for each class of positive probability."""
        weight = self.targets * self.weights[:, None]
        unit, label = np.nonzero(weight > MIN_WEIGHT)
        return self.features[unit], label, weight[unit, label]

    @property
    def probe(self) -> TrainingExamples:
        """The first PROBE_SIZE examples, on which predictions are compared."""
        return TrainingExamples(self.features[:PROBE_SIZE], self.targets[:PROBE_SIZE], self.weights[:PROBE_SIZE])

    def arrays(self) -> Arrays:
        """Return the examples as named arrays; a sparse matrix is stored as its three parts."""
        held: Arrays = {"targets": self.targets, "weights": self.weights}
        if isinstance(self.features, sparse.csr_array):
            data, columns, pointers = self.features.data, self.features.indices, self.features.indptr
            held |= {"entries": data, "columns": columns, "pointers": pointers}
        else:
            held["features"] = self.features
        return {EXAMPLES + name: array for name, array in held.items()}


def load_examples(arrays: Arrays, n_features: int) -> TrainingExamples:
    """Return the examples in a dictionary from `arrays`."""
    targets = saved_array(arrays, EXAMPLES + "targets", (None, None))
    weights = saved_array(arrays, EXAMPLES + "weights", (len(targets),))
    if EXAMPLES + "features" in arrays:
        features = saved_array(arrays, EXAMPLES + "features", (len(targets), n_features), kind="fiub")
        return TrainingExamples(features, targets, weights)
    # A sparse matrix, from its three parts
    pointers = saved_array(arrays, EXAMPLES + "pointers", (len(targets) + 1,), kind="iu")
    entries = saved_array(arrays, EXAMPLES + "entries", (None,))
    columns = saved_array(arrays, EXAMPLES + "columns", entries.shape, kind="iu")
    sound = pointers[0] == 0 and pointers[-1] == len(entries) and (np.diff(pointers.astype(np.int64)) >= 0).all()
    if not sound or (len(columns) and not (columns.min() >= 0 and columns.max() < n_features)):
        raise FormatError("These arrays are damaged: the examples do not form a matrix of features.")
    shape = (len(targets), n_features)
    return TrainingExamples(sparse.csr_array((entries, columns, pointers), shape=shape), targets, weights)


def fit_estimator(estimator: Any, examples: TrainingExamples, *, partial: bool = False) -> Any:
    """Return a copy of the estimator, fitted to the examples; with `partial`, call its `partial_fit` once in place."""
    features, label, weight = examples.copies()
    try:
        if not partial:
            return clone(estimator).fit(features, label, **{sample_weight_name(estimator): weight})
        classes = np.arange(examples.targets.shape[1])
        return estimator.partial_fit(features, label, classes=classes, sample_weight=weight)
    except (TypeError, ValueError) as problem:
        raise OptionError(f"{type(estimator).__name__} cannot be fitted to these items: {problem}") from problem


def numeric_attributes(estimator: Any) -> Arrays:
    """Return the numeric attributes of a fitted estimator that are not its parameters."""
    parameters = estimator.get_params(deep=False)
    return {
        ATTRIBUTE + name: np.array(value)
        for name, value in vars(estimator).items()
        if name not in parameters and isinstance(value, np.ndarray | np.generic | int | float)
        if np.asarray(value).dtype.kind in "biuf"
    }


def restore_attributes(estimator: Any, arrays: Arrays) -> Any:
    """Return a copy of an unfitted estimator with the numeric attributes of a fitted one."""
    copy = clone(estimator)
    for name, array in arrays.items():
        if name.startswith(ATTRIBUTE):
            attribute = name.removeprefix(ATTRIBUTE)
            if not attribute.isidentifier() or hasattr(type(copy), attribute) or attribute.startswith("__"):
                raise FormatError(f"These arrays belong to a different classifier: {name} is not a fitted number.")
            setattr(copy, attribute, np.array(array) if np.ndim(array) else np.asarray(array).item())
    return copy


def check_attributes(estimator: Any, *, n_features: int, n_classes: int) -> None:
    """Check that an estimator with restored attributes can predict, with one row of zeros."""
    try:
        codes = np.asarray(estimator.classes_)
        p = estimator.predict_proba(np.zeros((1, n_features)))
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError) as problem:
        raise FormatError(
            f"These arrays are damaged: {type(estimator).__name__} cannot predict with them ({problem})."
        ) from problem
    sound = codes.dtype.kind in "iu" and codes.shape == p.shape[1:] and np.isfinite(p).all()
    if not sound or len(set(codes.tolist())) != len(codes) or codes.min() < 0 or codes.max() >= n_classes:
        raise FormatError(
            f"These arrays are damaged: {type(estimator).__name__} does not predict probabilities with them."
        )


def attributes_suffice(estimator: Any, unfitted: Any, examples: TrainingExamples, *, partial: bool) -> bool:
    """Return whether the numeric attributes suffice to predict (and to continue with `partial_fit`, if asked)."""
    probe = examples.probe

    def predicts_alike(one: Any, other: Any) -> bool:
        return bool(np.array_equal(one.predict_proba(probe.features), other.predict_proba(probe.features)))

    try:
        own, twin = deepcopy(estimator), restore_attributes(unfitted, numeric_attributes(estimator))
        if not predicts_alike(own, twin) or not partial:
            return predicts_alike(own, twin)
        for one in (own, twin):
            fit_estimator(one, probe, partial=True)
        return predicts_alike(own, twin)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):  # part of the state is not a number
        return False


def refit_estimator(unfitted: Any, examples: TrainingExamples, probe: Floats) -> Any:
    """Fit the estimator to saved examples again, and check that it predicts the saved probabilities of the probe."""
    refitted = fit_estimator(unfitted, examples)
    predicted = refitted.predict_proba(examples.probe.features)
    if predicted.shape != probe.shape or not np.allclose(predicted, probe, rtol=0, atol=1e-6):
        raise FormatError(
            f"{type(unfitted).__name__}, fitted to its examples again, predicts different probabilities. Use the "
            f"scikit-learn version that it was fitted with, or train it again."
        )
    return refitted


# scikit-learn pipelines that begin with a text vectoriser, such as TfidfVectorizer. The vectoriser learns its
# vocabulary from the training texts when the classifier is built; the rest of the pipeline is then trained on its
# features, epoch by epoch. Vocabulary and idf are saved as arrays, so no pickle is needed.

VOCABULARY, IDF = FIXED + "vocabulary", FIXED + "idf"


def split_pipeline(estimator: Any) -> tuple[Any | None, Any]:
    """Return the text vectoriser at the head of a pipeline (None if there is none), and the rest of the pipeline."""
    if not isinstance(estimator, Pipeline) or not hasattr(estimator.steps[0][1], "build_analyzer"):
        return None, estimator
    rest = estimator.steps[1:]
    return estimator.steps[0][1], rest[0][1] if len(rest) == 1 else Pipeline(rest)


def fit_vectorizer(vectorizer: Any, corpus: Corpus) -> Any:
    """Return a copy of the vectoriser, fitted to the texts of a corpus."""
    texts = require_content(corpus, "texts", type(vectorizer).__name__)
    try:
        return clone(vectorizer).fit(texts)
    except ValueError as problem:  # an empty vocabulary
        raise CorpusError(f"{type(vectorizer).__name__} finds no words in the texts: {problem}.") from problem


def vectorize(vectorizer: Any, corpus: Corpus) -> sparse.csr_array:
    """Return features[i, f] of every text."""
    found = vectorizer.transform(require_content(corpus, "texts", type(vectorizer).__name__))
    return sparse.csr_array(found, dtype=np.float64)


def vectorizer_arrays(vectorizer: Any) -> Arrays:
    """Return the fitted state of the vectoriser as arrays."""
    known = getattr(vectorizer, "vocabulary_", None)
    arrays: Arrays = {} if known is None else {VOCABULARY: encode_json({word: int(n) for word, n in known.items()})}
    idf = getattr(vectorizer, "idf_", None)
    return arrays if idf is None else arrays | {IDF: np.asarray(idf)}


def load_vectorizer(vectorizer: Any, arrays: Arrays) -> Any:
    """Return the vectoriser with a saved state."""
    if VOCABULARY not in arrays:
        return clone(vectorizer)
    made = clone(vectorizer).set_params(vocabulary=decode_json(arrays[VOCABULARY]))
    if IDF in arrays:
        made.idf_ = np.asarray(arrays[IDF])
    return made


SEED, PROBE, CLASSES = MODEL + "seed", MODEL + "probe", FIXED + "classes"


@dataclass(frozen=True)
class Scikit:
    """scikit-learn classifier on numeric features, on tokens and their neighbours, or on the n-grams of texts.

    Attributes:
        estimator: The name of a scikit-learn classifier, or an unfitted estimator of any package. An estimator that is
            fully described by a name and plain parameters is replaced by these. A pipeline may begin with a text
            vectoriser.
        parameters: Parameters for a classifier given by name.
        refit: Whether to fit from scratch in every epoch. Default: true, unless the estimator has `partial_fit` and is
            not a naive Bayes (whose `partial_fit` would add up the targets of all epochs).
        min_probability: The minimum probability of a class. A zero, which trees predict, would overrule all annotators.
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
                f"{self.name}: min_probability must be at least 0 and below 0.5, max_ngram at least 1, hash_bits from "
                f"1 to 30."
            )
        plain = None if isinstance(self.estimator, str) else describe_estimator(self.estimator)
        if plain is not None:
            object.__setattr__(self, "estimator", plain[0])
            object.__setattr__(self, "parameters", plain[1])
        _check_estimator(self.make_estimator(), refit=self.refit)

    def make_estimator(self) -> Any:
        """Return the unfitted estimator; for a pipeline, the part after a text vectoriser."""
        if isinstance(self.estimator, str):
            return build_estimator(self.estimator, self.parameters)
        return split_pipeline(self.estimator)[1]

    @property
    def vectorizer(self) -> Any | None:
        """The unfitted text vectoriser at the head of a pipeline; None if there is none."""
        return None if isinstance(self.estimator, str) else split_pipeline(self.estimator)[0]

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> ScikitClassifier:
        """Return a new, unfitted classifier for the features of a corpus."""
        vectorizer = None if self.vectorizer is None else fit_vectorizer(self.vectorizer, corpus)
        columns = find_columns(corpus, self._extractor(vectorizer))
        return ScikitClassifier(self, columns, len(classes), seed=seed, vectorizer=vectorizer)

    def load(self, arrays: Arrays, classes: Classes) -> ScikitClassifier:
        """Return a classifier with a saved state."""
        vectorizer = None if self.vectorizer is None else load_vectorizer(self.vectorizer, arrays)
        columns = load_columns(arrays, self._extractor(vectorizer))
        made = ScikitClassifier(self, columns, len(classes), seed=0, vectorizer=vectorizer)
        made.restore(arrays)
        return made

    def _extractor(self, vectorizer: Any | None) -> FeatureExtractor:
        return self.features if vectorizer is None else partial(vectorize, vectorizer)

    def features(self, corpus: Corpus) -> Features:
        """Return features[i, f] of every unit: numeric features if there are any, otherwise those of its words."""
        return extract_features(corpus, max_ngram=self.max_ngram, hash_bits=self.hash_bits, name=self.name)


class ScikitClassifier:
    """Wrapper of an estimator and the examples it was last fitted to."""

    def __init__(
        self, options: Scikit, columns: FeatureColumns, n_classes: int, *, seed: int, vectorizer: Any | None = None
    ) -> None:
        if options.min_probability * n_classes >= 1:
            raise OptionError(
                f"min_probability: {options.min_probability} for each of {n_classes} classes leaves no probability to "
                f"distinguish them. Choose a smaller value."
            )
        self.options, self.columns, self.n_classes, self.seed = options, columns, n_classes, seed
        self.vectorizer = vectorizer
        # By default, refit unless there is a `partial_fit` that does not add up the targets of all epochs (naive Bayes)
        made = options.make_estimator()
        adds_up = type(made).__module__.startswith("sklearn.naive_bayes")
        must_refit = not hasattr(made, "partial_fit") or adds_up
        self.refit = must_refit if options.refit is None else options.refit
        self.estimator: Any = None
        self._examples: TrainingExamples | None = None  # None if restored from attributes

    @property
    def unfitted(self) -> Any:
        """A new, unfitted and seeded estimator."""
        return seed_estimator(self.options.make_estimator(), derive_seed(self.seed, "scikit") % 2**32)

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Fit from scratch, or call `partial_fit` once; return the mean loss afterwards."""
        check_targets(corpus, targets, weights, self.n_classes)
        sample_weight = np.ones(corpus.n_units) if weights is None else weights
        rows = np.flatnonzero(sample_weight)
        if not len(rows):
            return 0.0
        features = self.columns.select(corpus)[rows]
        self._examples = TrainingExamples(features, targets[rows].copy(), sample_weight[rows].copy())
        begun = self.unfitted if self.refit or self.estimator is None else self.estimator
        self.estimator = fit_estimator(begun, self._examples, partial=not self.refit)
        p = self._predict(self._examples.features)
        # per_unit[i], the cross-entropy; a class of target 0 adds nothing, even where its log probability is -inf
        per_unit = -(targets[rows] * np.where(targets[rows] > 0, safe_log(p), 0.0)).sum(axis=1)
        return float(sample_weight[rows] @ per_unit / sample_weight.sum())

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Return p[i, k] of every unit; uniform before the first epoch."""
        return self._predict(self.columns.select(corpus))

    def _predict(self, features: Features) -> Beliefs:
        if self.estimator is None or not features.shape[0]:
            return np.full((features.shape[0], self.n_classes), 1.0 / self.n_classes)
        p = np.zeros((features.shape[0], self.n_classes))
        p[:, self.estimator.classes_] = self.estimator.predict_proba(features)
        # Mix with the uniform distribution, so that no class has less than min_probability.
        return (1.0 - self.n_classes * self.options.min_probability) * p + self.options.min_probability

    def arrays(self) -> Arrays:
        """Return the attributes of the estimator, or the examples it was fitted to."""
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
            raise FormatError("These arrays belong to a classifier built for another corpus: the features differ.")
        if SEED not in arrays or CLASSES not in arrays:
            raise FormatError(f"These arrays do not belong to a scikit-learn classifier with {self.n_classes} classes.")
        saved_number(arrays, CLASSES, least=self.n_classes, most=self.n_classes)
        self.seed = saved_number(arrays, SEED, least=0, most=2**63)
        self.estimator = self._examples = None
        if any(name.startswith(ATTRIBUTE) for name in arrays):
            self.estimator = restore_attributes(self.unfitted, arrays)
            check_attributes(self.estimator, n_features=len(self.columns), n_classes=self.n_classes)
        elif any(name.startswith(EXAMPLES) for name in arrays):
            self._examples = load_examples(arrays, len(self.columns))
            self.estimator = refit_estimator(self.unfitted, self._examples, saved_array(arrays, PROBE, (None, None)))


def _check_estimator(estimator: Any, *, refit: bool | None) -> None:
    """Raise an error for an estimator without `predict_proba` or sample weights."""
    name = type(estimator).__name__
    if not hasattr(estimator, "predict_proba"):
        if not hasattr(estimator, "predict"):
            what = (
                f"is not a classifier. Put it in a pipeline before one: make_pipeline({name}(), LogisticRegression())."
            )
        elif is_regressor(estimator):
            what = "is a regressor, not a classifier. Choose a classifier, such as LogisticRegression()."
        else:
            what = (
                f"does not provide probabilities with these parameters. Wrap it, as in "
                f"CalibratedClassifierCV({name}()), or choose another estimator, such as LogisticRegression()."
            )
        raise OptionError(f"{name} {what}")
    if refit is False and not hasattr(estimator, "partial_fit"):
        raise OptionError(f"{name} has no partial_fit. Leave refit out, or set it to true.")
    sample_weight_name(estimator)
