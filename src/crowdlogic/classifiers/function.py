"""Functions from items to probabilities as classifiers, such as a zero-shot model or a call of an LLM.

The function is not trained: its probabilities enter [LNCL] eq. 13 unchanged, together with the annotators and the
rules. To learn from the crowd as well, use a model that can be trained.

Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from crowdlogic.classifiers.protocol import Arrays, check_probabilities, check_targets
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import safe_log


@dataclass(frozen=True)
class Function:
    """Architecture that wraps a function, which predicts and is not trained.

    Attributes:
        function: Function that is called with the items (a list of texts, a list of token lists, or an array of
            features). It returns one row per unit (a document, or a token), with one probability per class in the order
            of `labels.classes`.
    """

    function: Callable[[Any], Any]

    name = "function"

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> FunctionClassifier:  # noqa: ARG002
        """Return the classifier for these classes."""
        return FunctionClassifier(self.function, len(classes))

    def load(self, arrays: Arrays, classes: Classes) -> FunctionClassifier:  # noqa: ARG002 (there is no state)
        """Return the classifier for these classes."""
        return FunctionClassifier(self.function, len(classes))


def items_of(corpus: Corpus) -> Any:
    """Return the content of a corpus as passed to functions of users: token lists, texts, or features[i, d]."""
    if corpus.tokens is not None and corpus.offsets is not None:
        return [list(corpus.tokens[begin:end]) for begin, end in pairwise(corpus.offsets.tolist())]
    if corpus.texts is not None:
        return list(corpus.texts)
    if corpus.features is None:
        raise CorpusError("The items have neither texts nor tokens nor features. Supply one of them.")
    return corpus.features


class FunctionClassifier:
    """A classifier that calls a function, once per corpus."""

    def __init__(self, function: Callable[[Any], Any], n_classes: int) -> None:
        self._function, self._n_classes = function, n_classes
        self._predicted: WeakKeyDictionary[Corpus, Beliefs] = WeakKeyDictionary()

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Return the mean cross-entropy without training."""
        check_targets(corpus, targets, weights, self._n_classes)
        loss = -(targets * safe_log(self.predict_proba(corpus))).sum(axis=1)
        used = np.ones(corpus.n_units) if weights is None else weights
        return float((used * loss).sum() / max(np.count_nonzero(used), 1))

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Return p[i, k], the checked result of the function."""
        if corpus not in self._predicted:
            self._predicted[corpus] = self._call(corpus)
        return self._predicted[corpus]

    def _call(self, corpus: Corpus) -> Beliefs:
        name = getattr(self._function, "__name__", type(self._function).__name__)
        try:
            found = self._function(items_of(corpus))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as problem:
            raise OptionError(
                f"classifier: the function {name} failed on {len(corpus.items):,} items: "
                f"{type(problem).__name__}: {problem}. It must accept a list of items and return one row per unit."
            ) from problem
        return check_probabilities(
            self._function, found, corpus, self._n_classes, where=f"The function {name} returned"
        )

    def arrays(self) -> Arrays:
        """Return an empty dictionary, since a function has no state."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """Do nothing, since a function has no state."""
