"""CrowdTagger: Algorithm 1 over token sequences, with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from crowdlogic.compat.sklearn.annotations import read_annotations
from crowdlogic.compat.sklearn.crowd_classifier import CrowdEstimator
from crowdlogic.data.corpus import Corpus, sentences
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, LabelError
from crowdlogic.learning.scoring import score
from crowdlogic.numerics.arrays import Floats


class CrowdTagger(CrowdEstimator):
    """A tagger, the annotators and the true tags, learnt together from annotations.

    Parameters and attributes are those of CrowdClassifier; `labels_` is a list of tags for each training sentence.
    """

    def fit(self, X: Any, y: Any = None, *, annotations: Any = None) -> CrowdTagger:  # noqa: N803 (scikit-learn's)
        """Learn from annotations.

        Args:
            X: A list of sentences, each a list of tokens.
            y: The annotations, for each sentence a mapping {annotator: tags} or a list with the tags of each annotator
                (None where there are none); or a long frame with item (row number of X), annotator and tags.
            annotations: The annotations, where scikit-learn routes them as metadata.
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
        """For each sentence p[i, k] of its tokens."""
        check_is_fitted(self)
        corpus = read_sentences(X)
        return [np.asarray(part) for part in np.split(self.learned_.predict(corpus), _cuts(corpus))]

    def predict(self, X: Any) -> list[list[Any]]:  # noqa: N803 (scikit-learn's)
        """For each sentence the tags of its tokens."""
        check_is_fitted(self)
        corpus = read_sentences(X)
        return self._split(self.classes_[self.learned_.answer(corpus)], corpus)

    def score(self, X: Any, y: Any = None, *, annotations: Any = None) -> float:  # noqa: N803 (scikit-learn's)
        """By annotations, their mean log-likelihood given the predictions; by lists of true tags, span F1 or accuracy.

        Args:
            X: Sentences.
            y: Their annotations, as in fit, or the true tags of each.
            annotations: The annotations, where scikit-learn routes them as metadata.
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
        return self._log_likelihood(_over(labels, corpus), view)

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
    """Sentences as a corpus."""
    values = list(given)
    if not values or any(isinstance(tokens, str) or not isinstance(tokens, Sequence | np.ndarray) for tokens in values):
        raise CorpusError("X must be a list of sentences, each a list of tokens.")
    return sentences(range(len(values)), [[str(token) for token in tokens] for tokens in values])


def read_tags(given: Any, n_items: int) -> CrowdLabels:
    """Annotations of sentences as CrowdLabels; items are row numbers of X."""
    if isinstance(given, CrowdLabels):
        return given
    if hasattr(given, "columns"):
        return from_frame(given)
    if len(given) != n_items:
        raise LabelError(f"Found {pluralise(n_items, 'sentence')} in X and annotations of {len(given):,}.")
    rows = [(s, who, tags) for s, each in enumerate(given) for who, tags in _pairs(each) if tags is not None]
    return from_sequences(rows)


def _pairs(each: Any) -> list[tuple[Any, Any]]:
    return list(each.items()) if isinstance(each, Mapping) else list(enumerate(each))


def _are_tags(given: Any) -> bool:
    """Whether each sentence has its true tags, and not annotations."""
    if hasattr(given, "columns") or isinstance(given, CrowdLabels):
        return False
    return all(not isinstance(each, Mapping) and all(isinstance(tag, str) for tag in each) for each in given)


def _over(labels: CrowdLabels, corpus: Corpus) -> CrowdLabels:
    """The labels over all sentences of the corpus."""
    from crowdlogic.data.corpus import align

    return align(labels, corpus)[0]


def _cuts(corpus: Corpus) -> Any:
    return np.asarray(corpus.offsets)[1:-1]
