"""scikit-learn estimators: CrowdClassifier and CrowdTagger run Algorithm 1, TruthEstimator a truth method.

[LNCL] "Learning from Noisy Crowd Labels with Logics".

Axes: i item, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import ClassifierTags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from crowdlogic.annotators.label_sums import sum_evidence, tally
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.corpus import Corpus, align, sentences
from crowdlogic.data.frames import FRAME, from_frame, from_sequences
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import to_polars
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import find
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, LabelError, OptionError, did_you_mean
from crowdlogic.learning.algorithm import ConstantImitation, GrowingImitation, Imitation, LogicLNCL
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping import SHARPNESS, HeldOut, TrainingLimits
from crowdlogic.learning.task import score
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.registry import ANNOTATOR_MODELS, CLASSIFIERS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.truth.methods import TruthMethod, truth_method

MISSING = -1
"""Code of a missing label in an integer matrix."""


class LabelKindError(LabelError, TypeError):
    """A label is neither a string nor a number."""


Cells = tuple[Ints, Ints, NDArray[Any]]
"""Row, column and value of each label."""


def read_annotations(
    given: Any, n_items: int, *, annotators: Sequence[Any] | None = None, classes: Sequence[Any] | None = None
) -> CrowdLabels:
    """Read the annotations of n items in any supported form.

    A dense matrix[item, annotator] has NaN, None or (for numbers) -1 where there is no label. A sparse matrix contains
    labels only, including stored zeros. A wide data frame has one column per annotator, a long one has one row per
    label, with row numbers of X as items. A vector contains the labels of a single annotator.

    Args:
        given: The annotations.
        n_items: Number of items.
        annotators: Annotators known to a fitted model; the labels of others are ignored.
        classes: Classes known to a fitted model; labels of other classes are ignored.
    """
    if isinstance(given, CrowdLabels):
        labels = given
    elif is_long_frame(given):
        labels = _by_row_number(from_frame(given), n_items)
    else:
        (row, column, value), shape, names = _cells(given)
        if shape[0] != n_items:
            raise LabelError(
                f"Found annotations of {pluralise(shape[0], 'item')}, but {pluralise(n_items, 'item')} in X. Give one "
                f"row per item."
            )
        try:
            kinds, codes = np.unique(value, return_inverse=True)
        except TypeError as problem:
            raise LabelError(
                "Labels have mixed types, such as strings and numbers. Use one type for all labels."
            ) from problem
        labels = CrowdLabels(
            unit=row,
            annotator=column,
            label=codes,
            items=pl.Series(np.arange(n_items)),
            annotators=pl.Series(list(range(shape[1]) if names is None else names)),
            classes=tuple(kinds.tolist()),
        )
    return labels if annotators is None else _known(labels, annotators, classes if classes is not None else ())


def is_long_frame(given: Any) -> bool:
    """Return whether this is a data frame with columns for the item, the annotator and the label."""
    header = [str(name) for name in getattr(given, "columns", ())]
    return bool(header) and {"item", "annotator", "label"} <= set(find_roles(header))


def _cells(given: Any) -> tuple[Cells, tuple[int, int], Sequence[Any] | None]:
    """Return the labels of a matrix, its shape, and the names of its columns if it has any."""
    if sparse.issparse(given):
        held: Any = given
        entries = sparse.coo_array(held)
        return (entries.row, entries.col, _whole(entries.data)), entries.shape, None
    if getattr(given, "columns", None) is not None:
        table = to_polars(given, FRAME)
        columns = [np.array(table[name].to_list(), dtype=object) for name in table.columns]
        return _present(_plain(np.stack(columns, axis=1))), table.shape, table.columns
    # numpy would turn a list of text and numbers into text
    dense = _plain(np.array(given, dtype=object) if isinstance(given, list | tuple) else np.asarray(given))
    if dense.ndim not in (1, 2):
        raise LabelError(f"annotations must be a matrix of items x annotators, got {dense.ndim} axes.")
    if dense.dtype.kind == "c":
        raise LabelError("Complex data not supported: labels are names or numbers.")
    matrix = dense if dense.ndim == 2 else dense[:, None]
    return _present(matrix, vector=dense.ndim == 1), matrix.shape, None


def _plain(cells: NDArray[Any]) -> NDArray[Any]:
    """Convert a matrix of objects to numbers if all its labels are numbers."""
    if cells.dtype != object:
        return cells
    there = ~_missing(cells)
    kinds = {type(value) for value in cells[there]}
    odd = [kind for kind in kinds if not issubclass(kind, str | int | float | np.generic)]
    if odd:
        raise LabelKindError(f"A label argument must be a string or a number, not a {odd[0].__name__}.")
    if kinds and kinds <= {int, float, np.int64, np.int32, np.float64}:
        numbers = np.full(cells.shape, np.nan)
        numbers[there] = cells[there].astype(np.float64)
        return numbers
    return cells


def _missing(cells: NDArray[Any]) -> Bools:
    """Return a mask of the cells that are None or NaN."""
    return np.array([value is None or value != value for value in cells.ravel()], dtype=bool).reshape(cells.shape)  # noqa: PLR0124 (NaN differs from itself)


def _present(cells: NDArray[Any], *, vector: bool = False) -> Cells:
    if cells.dtype == object:
        there = ~_missing(cells)
    elif cells.dtype.kind == "f":
        there = ~np.isnan(cells)
    else:
        there = np.ones(cells.shape, dtype=bool)
    if cells.dtype.kind in "if" and not vector:
        there &= cells != MISSING
    row, column = np.nonzero(there)
    return row, column, _whole(cells[row, column])


def _whole(values: NDArray[Any]) -> NDArray[Any]:
    """Convert integral floats to integers, since NaN among labels makes all of them floats."""
    if values.dtype.kind == "f" and len(values) and (values == np.round(values)).all() and np.abs(values).max() < 2**53:
        return values.astype(np.int64)
    return values


def _by_row_number(labels: CrowdLabels, n_items: int) -> CrowdLabels:
    """Reorder the labels of a long data frame, whose items are row numbers of X."""
    where = find(labels.items, pl.Series(np.arange(n_items)))
    if len(where) and (where < 0).any():
        lost = labels.items[int(np.flatnonzero(where < 0)[0])]
        raise LabelError(
            f"Found annotations of {len(labels.items):,} items, but {n_items:,} items in X; item {lost!r} is not a row "
            f"number of X. Name items by their row number in X, starting at 0."
        )
    return replace(labels, unit=np.asarray(where)[labels.unit], items=pl.Series(np.arange(n_items)))


def _known(labels: CrowdLabels, annotators: Sequence[Any], classes: Sequence[Any]) -> CrowdLabels:
    """Restrict the labels to the annotators and classes known to a fitted model."""
    people = {str(name): j for j, name in enumerate(annotators)}
    kinds = {str(name): k for k, name in enumerate(classes)}
    who = np.array([people.get(str(name), -1) for name in labels.annotators], dtype=np.int64)
    what = np.array([kinds.get(str(name), -1) for name in labels.classes], dtype=np.int64)
    rows = (who[labels.annotator] >= 0) & (what[labels.label] >= 0)
    return CrowdLabels(
        unit=labels.unit[rows],
        annotator=who[labels.annotator[rows]],
        label=what[labels.label[rows]],
        items=labels.items,
        annotators=pl.Series(list(annotators)),
        classes=tuple(classes),
        offsets=labels.offsets,
        weight=None if labels.weight is None else labels.weight[rows],
    )


class CrowdEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of the classifier and the tagger: parameters of Algorithm 1 and the fit."""

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
        """Run Algorithm 1 with the parameters of this estimator."""
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
        """Set the fitted attributes."""
        self.learned_ = learned
        self.annotators_ = learned.task.labels.annotators.to_list()
        self.confusion_ = learned.estimate.confusion
        self.n_iter_ = len(learned.history)

    def _log_likelihood(self, labels: CrowdLabels, view: Floats) -> float:
        """Return the mean log-likelihood of annotations given beliefs about the units."""
        if not labels.n_labels:
            raise OptionError("There are no annotations to score. Give annotations by annotators seen in fit.")
        return annotation_log_likelihood(labels, self.learned_.epoch.annotators.confusion, view)


class CrowdClassifier(ClassifierMixin, CrowdEstimator):  # type: ignore[misc]
    """Classifier learnt from crowd annotations jointly with the annotators' reliability ([LNCL] Algorithm 1).

    Args:
        estimator: Classifier to train: the name of a crowdlogic classifier ("linear", "kim-cnn", ...), an instance of
            one, or any scikit-learn classifier with `predict_proba` and sample weights.
        rules: Rules as text, or a RuleSet; X must be texts for rules about the text.
        strength: C, the strength of the rules.
        imitation: k, the weight of the rules' posterior in the training targets: a number for all epochs, "growing", or
            a function of the epoch.
        annotators: Annotator model: "confusion", "one-coin", ...
        epochs: Maximum number of epochs.
        held_out: Share of items whose annotations are held out to choose the number of epochs; None runs all.
        random_state: Random seed.

    Attributes:
        classes_: The classes.
        labels_: Estimated class of each training item.
        label_distributions_: Posterior distribution over classes of each training item.
        annotators_: Name (or column) of each annotator.
        confusion_: confusion_[j, m, n], the probability that annotator j gives label n if the true class is m.
        learned_: crowdlogic's result object of the fit.
        n_features_in_: Number of features, if X is numeric.
    """

    def fit(self, X: Any, y: Any = None, *, annotations: Any = None) -> CrowdClassifier:  # noqa: N803 (scikit-learn's)
        """Fit to annotations.

        Args:
            X: Numeric matrix, dense or sparse, or a list of texts.
            y: The annotations: a matrix of items x annotators with missing values, a sparse matrix, a wide or long
                data frame, or a vector (one annotator). Ignored if `annotations` is given.
            annotations: The annotations, for scikit-learn's metadata routing.
        """
        given = y if annotations is None else annotations
        if given is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        corpus = self._read_items(X, reset=True)
        if getattr(given, "ndim", 0) == 1:
            check_classification_targets(given)
        labels = read_annotations(given, len(corpus.items))
        # The classes have the dtype of a vector of labels
        kind = getattr(given, "dtype", np.dtype(object))
        is_typed = getattr(given, "ndim", 0) == 1 and kind != np.dtype(object)
        self.classes_ = np.array(labels.classes).astype(kind) if is_typed else np.array(labels.classes)
        if len(self.classes_) < 2:
            raise ValueError(
                f"Classifier can't train when only one class is present: all annotations are {self.classes_[0]!r}."
            )
        self._keep(self._learn(corpus, labels))
        self.label_distributions_ = self.learned_.estimate.beliefs
        self.labels_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 (scikit-learn's)
        """Return p[i, k] of new items, predicted by the classifier and the rules."""
        check_is_fitted(self)
        return np.asarray(self.learned_.predict(self._read_items(X, reset=False)))

    def predict(self, X: Any) -> Any:  # noqa: N803 (scikit-learn's)
        """Return the predicted class of new items."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, annotations: Any = None) -> float:  # noqa: N803
        """Return the accuracy for a vector of true classes, or the mean log-likelihood of annotations.

        Args:
            X: Items.
            y: Annotations of the items, as in fit, or a vector of true classes.
            sample_weight: Weights of the items, for the accuracy.
            annotations: The annotations, for scikit-learn's metadata routing.
        """
        given = y if annotations is None else annotations
        if annotations is None and getattr(given, "ndim", 2 if _is_nested(given) else 1) == 1:
            return float(accuracy_score(given, self.predict(X), sample_weight=sample_weight))
        view = self.predict_proba(X)
        classes = [one.item() if hasattr(one, "item") else one for one in self.classes_]
        labels = read_annotations(given, len(view), annotators=self.annotators_, classes=classes)
        return self._log_likelihood(labels, view)

    def _read_items(self, X: Any, *, reset: bool) -> Corpus:  # noqa: N803 (scikit-learn's)
        """Convert items to a corpus: texts, or numbers validated by scikit-learn."""
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
    """Return the log-likelihood per annotation: log sum_k view[i, k] prod_j confusion[j, k, label].

    The view is first calibrated with one power for all units, so that the score reflects the ranking of the answers,
    not the overconfidence of the classifier.
    """
    log_table = np.ascontiguousarray(safe_log(confusion).transpose(0, 2, 1))  # [j, n, k]
    units = np.unique(labels.unit)
    evidence, log_view = sum_evidence(make_shards(labels), log_table)[units], safe_log(view[units])
    tried = (normalise(evidence + safe_log(normalise(power * log_view)[0]))[1].sum() for power in SHARPNESS)
    return float(max(tried)) / labels.n_labels


def as_texts(given: Any) -> tuple[str, ...] | None:
    """Return the items as a tuple if all are strings, otherwise None."""
    if hasattr(given, "ndim") and given.ndim != 1:
        return None
    if not isinstance(given, Sequence | np.ndarray) and not hasattr(given, "to_list"):
        return None
    values = given.to_list() if hasattr(given, "to_list") else list(given)
    return tuple(values) if values and all(isinstance(value, str) for value in values) else None


def _is_nested(given: Any) -> bool:
    """Return whether this is not a vector but a data frame, CrowdLabels or a list of lists."""
    if hasattr(given, "columns") or isinstance(given, CrowdLabels):
        return True
    return (
        isinstance(given, Sequence) and bool(given) and isinstance(given[0], Sequence) and not isinstance(given[0], str)
    )


def make_architecture(given: Any) -> Architecture:
    """Return the classifier for a name, an instance, or a scikit-learn estimator."""
    if isinstance(given, str):
        made: Architecture = CLASSIFIERS.create(given)
        return made
    return given if isinstance(given, Architecture) else Scikit(estimator=given)


def make_imitation(given: Any) -> Imitation:
    """Return the imitation schedule for a name, a function or a number."""
    if given == "growing":
        return GrowingImitation()
    if callable(given):
        schedule: Imitation = given
        return schedule
    return ConstantImitation(float(given))


def make_rules(given: Any) -> RuleSet | None:
    """Parse rules if given as text."""
    return parse_rules(given) if isinstance(given, str) else given


class CrowdTagger(CrowdEstimator):
    """Tagger learnt from crowd annotations jointly with the annotators' reliability ([LNCL] Algorithm 1).

    Parameters and attributes as in CrowdClassifier, except that `labels_` has a list of tags per training sentence.
    """

    def fit(self, X: Any, y: Any = None, *, annotations: Any = None) -> CrowdTagger:  # noqa: N803 (scikit-learn's)
        """Fit to annotations.

        Args:
            X: List of sentences, each a list of tokens.
            y: The annotations: for each sentence a mapping {annotator: tags} or a list with the tags of each annotator
                (None if missing), or a long data frame with item (row number of X), annotator and tags.
            annotations: The annotations, for scikit-learn's metadata routing.
        """
        corpus = read_sentences(X)
        given = y if annotations is None else annotations
        if given is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        self._keep(self._learn(corpus, read_tags(given, len(corpus.items))))
        self.classes_ = np.array(self.learned_.task.labels.classes)
        self.labels_ = self._split(self.classes_[self.learned_.estimate.answer], corpus)
        return self

    def predict_proba(self, X: Any) -> list[Floats]:  # noqa: N803 (scikit-learn's)
        """Return p[i, k] of the tokens of each sentence."""
        check_is_fitted(self)
        corpus = read_sentences(X)
        return [np.asarray(part) for part in np.split(self.learned_.predict(corpus), _cuts(corpus))]

    def predict(self, X: Any) -> list[list[Any]]:  # noqa: N803 (scikit-learn's)
        """Return the predicted tags of each sentence."""
        check_is_fitted(self)
        corpus = read_sentences(X)
        return self._split(self.classes_[self.learned_.answer(corpus)], corpus)

    def score(self, X: Any, y: Any = None, *, annotations: Any = None) -> float:  # noqa: N803 (scikit-learn's)
        """Return span F1 or accuracy for lists of true tags, or the mean log-likelihood of annotations.

        Args:
            X: Sentences.
            y: Annotations of the sentences, as in fit, or their true tags.
            annotations: The annotations, for scikit-learn's metadata routing.
        """
        check_is_fitted(self)
        given = y if annotations is None else annotations
        corpus = read_sentences(X)
        view = self.learned_.predict(corpus)
        if _are_tags(given):
            gold = sentences(range(len(given)), X, gold=given).with_classes(tuple(self.classes_.tolist()))
            return score(gold, view)
        labels = read_annotations(
            read_tags(given, len(corpus.items)),
            len(corpus.items),
            annotators=self.annotators_,
            classes=self.classes_.tolist(),
        )
        return self._log_likelihood(align(labels, corpus)[0], view)

    @staticmethod
    def _split(tags: Any, corpus: Corpus) -> list[list[Any]]:
        return [part.tolist() for part in np.split(tags, _cuts(corpus))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


def read_sentences(given: Any) -> Corpus:
    """Convert sentences to a corpus."""
    values = list(given)
    if not values or any(isinstance(tokens, str) or not isinstance(tokens, Sequence | np.ndarray) for tokens in values):
        raise CorpusError("X must be a list of sentences, each a list of tokens.")
    return sentences(range(len(values)), [[str(token) for token in tokens] for tokens in values])


def read_tags(given: Any, n_items: int) -> CrowdLabels:
    """Convert annotations of sentences to CrowdLabels with row numbers of X as items."""
    if isinstance(given, CrowdLabels):
        return given
    if hasattr(given, "columns"):
        return from_frame(given)
    if len(given) != n_items:
        raise LabelError(f"Found {pluralise(n_items, 'sentence')} in X, but annotations of {len(given):,}.")
    pairs = [list(each.items()) if isinstance(each, Mapping) else list(enumerate(each)) for each in given]
    return from_sequences([(s, who, tags) for s, each in enumerate(pairs) for who, tags in each if tags is not None])


def _are_tags(given: Any) -> bool:
    """Return whether these are true tags of sentences instead of annotations."""
    if hasattr(given, "columns") or isinstance(given, CrowdLabels):
        return False
    return all(not isinstance(each, Mapping) and all(isinstance(tag, str) for tag in each) for each in given)


def _cuts(corpus: Corpus) -> Any:
    return np.asarray(corpus.offsets)[1:-1]


PREFIX = "method__"
"""Prefix of the method's options among the parameters."""

SMOOTHING = 0.5
"""Pseudo-count added to every cell when a confusion matrix is computed from beliefs."""


class TruthEstimator(BaseEstimator):  # type: ignore[misc]
    """scikit-learn interface to a truth method; its X is the annotations.

    Args:
        method: Name or instance of a truth method; `set_params(method__smoothing=0.1)` sets an option.

    Attributes:
        classes_: The classes.
        labels_: Estimated class of each item.
        label_distributions_: Posterior distribution over classes of each item.
        annotators_: Name (or column) of each annotator.
        confusion_: confusion_[j, m, n], taken from the method, or computed from its beliefs.
        prior_: prior_[k], the share of each class.
        estimate_: crowdlogic's result object.
        n_features_in_: Number of annotators.
    """

    def __init__(self, method: Any = "dawid-skene") -> None:
        self.method = method

    def fit(self, X: Any, y: Any = None) -> TruthEstimator:  # noqa: N803, ARG002 (scikit-learn's)
        """Estimate the true classes from annotations: items x annotators, or any form accepted by CrowdClassifier."""
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
        # The parameters of the method, or computed from its beliefs
        found = tally(make_shards(labels), np.asarray(self.estimate_.beliefs))
        shares, counts = found.totals + SMOOTHING, found.counts.transpose(0, 2, 1) + SMOOTHING  # [k], [j, m, n]
        prior, confusion = self.estimate_.prior, self.estimate_.confusion
        self.prior_ = np.asarray(shares / shares.sum() if prior is None else prior)
        self.confusion_ = np.asarray(counts / counts.sum(axis=2, keepdims=True) if confusion is None else confusion)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 (scikit-learn's)
        """Return the class distributions of items given their annotations and the fitted annotators."""
        return self._posterior(X)[0]

    def _posterior(self, X: Any) -> tuple[Floats, Floats, CrowdLabels]:  # noqa: N803 (scikit-learn's)
        """Return q[i, k], the log evidence of each item, and the labels."""
        check_is_fitted(self)
        labels = self._read(X, fitted=True)
        log_table = np.ascontiguousarray(safe_log(self.confusion_).transpose(0, 2, 1))  # [j, n, k]
        q, log_evidence = normalise(sum_evidence(make_shards(labels), log_table) + safe_log(self.prior_))
        return q, log_evidence, labels

    def predict(self, X: Any) -> Any:  # noqa: N803 (scikit-learn's)
        """Return the estimated classes of items given their annotations."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def fit_predict(self, X: Any, y: Any = None) -> Any:  # noqa: N803 (scikit-learn's)
        """Fit and return the estimated class of each item."""
        return self.fit(X, y).labels_

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803 (scikit-learn's)
        """Return the accuracy for true classes `y`, or the mean log-likelihood of the annotations if y is None."""
        if y is not None:
            return float(np.mean(self.predict(X) == np.asarray(y)))
        _, log_evidence, labels = self._posterior(X)
        return float(log_evidence.sum()) / max(labels.n_labels, 1)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the method, and its options as method__option."""
        found: dict[str, Any] = {"method": self.method}
        made = self._method() if deep else None
        if made is not None and is_dataclass(made):
            found |= {f"{PREFIX}{one.name}": getattr(made, one.name) for one in fields(made)}
        return found

    def set_params(self, **params: Any) -> TruthEstimator:
        """Set the method or its options."""
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
            raise OptionError(f"method: {self.method!r} is not a truth method.")
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
        if isinstance(X, CrowdLabels):
            n_items = len(X.items)
        elif is_long_frame(X):
            n_items = int(X[find_roles(list(X.columns))["item"]].max()) + 1
        else:
            n_items = int(X.shape[0]) if hasattr(X, "shape") else len(X)
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
