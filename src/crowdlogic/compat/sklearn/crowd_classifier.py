"""CrowdClassifier: Algorithm 1 as a scikit-learn classifier.

[LNCL] "Learning from Noisy Crowd Labels with Logics".

Axes: i item, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.compat.sklearn.annotations import read_annotations
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import sum_evidence
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.imitation import ConstantImitation, GrowingImitation, Imitation
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping.held_out import SHARPNESS, HeldOut
from crowdlogic.learning.stopping.protocol import TrainingLimits
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.registry import ANNOTATOR_MODELS, CLASSIFIERS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet


class CrowdEstimator(BaseEstimator):  # type: ignore[misc]
    """What the classifier and the tagger share: the options of Algorithm 1 as parameters, and the fit."""

    def __init__(
        self,
        estimator: Any = "linear",
        *,
        rules: Any = None,
        strength: float = 5.0,
        imitation: Any = "growing",
        annotators: Any = "confusion",
        epochs: int = 20,
        held_out: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.rules = rules
        self.strength = strength
        self.imitation = imitation
        self.annotators = annotators
        self.epochs = epochs
        self.held_out = held_out
        self.random_state = random_state

    def _learn(self, corpus: Corpus, labels: CrowdLabels) -> Learned:
        """Run Algorithm 1 with these parameters."""
        held = None if self.held_out is None else HeldOut(share=self.held_out)
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        method = LogicLNCL(
            classifier=make_architecture(self.estimator),
            annotators=ANNOTATOR_MODELS.create(self.annotators)
            if isinstance(self.annotators, str)
            else self.annotators,
            projector=Projector(strength=self.strength),
            imitation=make_imitation(self.imitation),
            limits=TrainingLimits(epochs=self.epochs, held_out=held, seed=int(rng.randint(2**31 - 1))),
        )
        return method.fit(corpus, labels, rules=make_rules(self.rules))

    def _keep(self, learned: Learned) -> None:
        """The attributes of a fit."""
        self.learned_ = learned
        self.annotators_ = learned.task.labels.annotators.to_list()
        self.confusion_ = learned.estimate.confusion
        self.n_iter_ = len(learned.history)

    def _log_likelihood(self, labels: CrowdLabels, view: Floats) -> float:
        """The mean log-likelihood of annotations, given beliefs about their units, through the fitted annotators."""
        if not labels.n_labels:
            raise OptionError("There is no annotation to score by. Give annotations of annotators that the fit knew.")
        return annotation_log_likelihood(labels, self.learned_.epoch.annotators.confusion, view)


class CrowdClassifier(ClassifierMixin, CrowdEstimator):  # type: ignore[misc]
    """A classifier, the annotators and the truth, learnt together from annotations ([LNCL] Algorithm 1).

    Args:
        estimator: What learns from the items: a classifier of crowdlogic by name ("linear", "kim-cnn", ...) or with
            options, or any scikit-learn classifier with `predict_proba` and sample weights.
        rules: Rules as text, or a RuleSet; X must be texts for rules that look at them.
        strength: C, how strongly the rules pull.
        imitation: k, how much the targets take in of the rules' view: a number for all epochs, "growing", or a function
            of the epoch.
        annotators: The annotator model: "confusion", "one-coin", ...
        epochs: Maximum number of epochs.
        held_out: The share of items whose annotations are held out to choose the number of epochs; None runs all.
        random_state: Random seed.

    Attributes:
        classes_: The classes.
        labels_: The estimated class of each training item.
        label_distributions_: Their distributions.
        annotators_: The name (or column) of each annotator.
        confusion_: confusion_[j, m, n], how often annotator j says n where the truth is m.
        learned_: The fit as crowdlogic has it.
        n_features_in_: Number of features, where X is numbers.
    """

    def fit(self, X: Any, y: Any = None, *, annotations: Any = None) -> CrowdClassifier:  # noqa: N803 (scikit-learn's)
        """Learn from annotations.

        Args:
            X: A matrix of numbers, dense or sparse, or a list of texts.
            y: The annotations: a matrix of items x annotators with missing values, a sparse one, a wide or a long
                frame, or a vector (one annotator). With `annotations`, y is not looked at.
            annotations: The annotations, where scikit-learn routes them as metadata.
        """
        given = y if annotations is None else annotations
        if given is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        corpus = self._read_items(X, reset=True)
        if getattr(given, "ndim", 0) == 1:
            check_classification_targets(given)
        labels = read_annotations(given, len(corpus.items))
        self.classes_ = _class_array(labels, given)
        if len(self.classes_) < 2:
            raise ValueError(
                f"Classifier can't train when only one class is present: all annotations are {self.classes_[0]!r}."
            )
        self._keep(self._learn(corpus, labels))
        self.label_distributions_ = self.learned_.estimate.beliefs
        self.labels_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 (scikit-learn's)
        """p[i, k] of new items, by the classifier and the rules."""
        check_is_fitted(self)
        return np.asarray(self.learned_.predict(self._read_items(X, reset=False)))

    def predict(self, X: Any) -> Any:  # noqa: N803 (scikit-learn's)
        """The class of new items."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, annotations: Any = None) -> float:  # noqa: N803
        """By annotations, their mean log-likelihood given the predictions; by a vector of true classes, accuracy.

        Args:
            X: Items.
            y: Their annotations, as in fit, or a vector of their true classes.
            sample_weight: Weights of the items, for the accuracy.
            annotations: The annotations, where scikit-learn routes them as metadata.
        """
        given = y if annotations is None else annotations
        if annotations is None and getattr(given, "ndim", 2 if _is_nested(given) else 1) == 1:
            return float(accuracy_score(given, self.predict(X), sample_weight=sample_weight))
        view = self.predict_proba(X)
        classes = [one.item() if hasattr(one, "item") else one for one in self.classes_]
        labels = read_annotations(given, len(view), annotators=self.annotators_, classes=classes)
        return self._log_likelihood(labels, view)

    def _read_items(self, X: Any, *, reset: bool) -> Corpus:  # noqa: N803 (scikit-learn's)
        """Items as a corpus: texts, or numbers that scikit-learn validates."""
        texts = as_texts(X)
        if texts is not None:
            return Corpus(pl.Series(np.arange(len(texts))), texts=texts)
        features = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        return Corpus(pl.Series(np.arange(features.shape[0])), features=features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = (
            not hasattr(self.estimator, "__sklearn_tags__") or get_tags(self.estimator).input_tags.sparse
        )
        return tags


def annotation_log_likelihood(labels: CrowdLabels, confusion: Floats, view: Floats) -> float:
    """The mean log-likelihood of annotations: log sum_k view[i, k] prod_j confusion[j, k, label], per annotation.

    The view is calibrated first, by one power for all units: what is scored is the order of the answers, and not how
    overconfident a classifier became.
    """
    log_table = np.ascontiguousarray(safe_log(confusion).transpose(0, 2, 1))  # [j, n, k]
    units = np.unique(labels.unit)
    evidence, log_view = sum_evidence(make_shards(labels), log_table)[units], safe_log(view[units])
    tried = (normalise(evidence + safe_log(normalise(power * log_view)[0]))[1].sum() for power in SHARPNESS)
    return float(max(tried)) / labels.n_labels


def as_texts(given: Any) -> tuple[str, ...] | None:
    """The items as texts, if they are."""
    if hasattr(given, "ndim") and given.ndim != 1:
        return None
    if not isinstance(given, Sequence | np.ndarray) and not hasattr(given, "to_list"):
        return None
    values = given.to_list() if hasattr(given, "to_list") else list(given)
    return tuple(values) if values and all(isinstance(value, str) for value in values) else None


def _is_nested(given: Any) -> bool:
    """Whether it is no vector: a frame, a sparse matrix, or a list of lists."""
    if hasattr(given, "columns") or isinstance(given, CrowdLabels):
        return True
    return (
        isinstance(given, Sequence) and bool(given) and isinstance(given[0], Sequence) and not isinstance(given[0], str)
    )


def _class_array(labels: CrowdLabels, given: Any) -> Any:
    """The classes as an array, of the type that a vector of labels has."""
    classes = np.array(labels.classes)
    kind = getattr(given, "dtype", np.dtype(object))
    return classes.astype(kind) if getattr(given, "ndim", 0) == 1 and kind != np.dtype(object) else classes


def make_architecture(given: Any) -> Architecture:
    """A classifier by name, with options, or of scikit-learn."""
    if isinstance(given, str):
        made: Architecture = CLASSIFIERS.create(given)
        return made
    return given if isinstance(given, Architecture) else Scikit(estimator=given)


def make_imitation(given: Any) -> Imitation:
    """K as a schedule."""
    if given == "growing":
        return GrowingImitation()
    if callable(given):
        schedule: Imitation = given
        return schedule
    return ConstantImitation(float(given))


def make_rules(given: Any) -> RuleSet | None:
    """Rules from their text."""
    return parse_rules(given) if isinstance(given, str) else given
