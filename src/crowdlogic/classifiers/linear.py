"""The classifier without torch: multinomial regression on hashed features, towards soft targets.

The loss is the weighted mean cross-entropy with a ridge on the weights; it is convex, so an epoch is a few steps of
L-BFGS on all units, from where the last epoch ended. No chance enters: the same data give the same classifier.

[RAY] Raykar et al., "Learning from crowds", 2010, whose classifier this is in its two-class case.

Axes: i unit, f feature, k class.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from scipy import optimize, sparse

from crowdlogic.classifiers.features import document_features, token_features
from crowdlogic.classifiers.protocol import FIXED, Arrays, check_targets, needed
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import normalise

WEIGHTS, BIAS, COLUMNS = "model.weights", "model.bias", FIXED + "columns"


@dataclass(frozen=True)
class Linear:
    """Multinomial regression on the words of texts, the neighbourhood of tokens, or given features.

    Attributes:
        ridge: How strongly weights are drawn to zero.
        steps: Steps of L-BFGS in an epoch.
        grams: The longest run of words that is a feature of a text.
        bits: Features are hashed to 2^bits columns.
    """

    ridge: float = 1e-4
    steps: int = 10
    grams: int = 2
    bits: int = 18

    name = "linear"

    def __post_init__(self) -> None:
        if not (self.ridge >= 0 and self.steps >= 1 and self.grams >= 1 and 1 <= self.bits <= 30):
            raise OptionError(f"{self.name}: ridge must be 0 or more, steps and grams 1 or more, bits from 1 to 30.")

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> LinearClassifier:  # noqa: ARG002 (no chance enters)
        """Zero weights for the features that the corpus has."""
        found = self.features(corpus)
        columns = np.unique(found.indices).astype(np.int64)
        return LinearClassifier(self, columns, np.zeros((len(columns), len(classes))), np.zeros(len(classes)))

    def load(self, arrays: Arrays, classes: Classes) -> LinearClassifier:
        """The classifier that these arrays were taken from."""
        if any(name not in arrays for name in (COLUMNS, WEIGHTS, BIAS)) or len(arrays[BIAS]) != len(classes):
            raise FormatError("These arrays are not of a linear classifier with these classes.")
        return LinearClassifier(self, *(np.asarray(arrays[name]) for name in (COLUMNS, WEIGHTS, BIAS)))

    def features(self, corpus: Corpus) -> sparse.csr_array:
        """features[i, f] of every unit: those given, else those of its words."""
        if corpus.features is not None:
            return sparse.csr_array(corpus.features)
        if corpus.tokens is not None:
            return token_features(corpus, bits=self.bits)
        needed(corpus, "texts", self.name)
        return document_features(corpus, grams=self.grams, bits=self.bits)


class LinearClassifier:
    """weights[f, k] of the features that the training corpus has; others count for nothing."""

    def __init__(self, options: Linear, columns: Ints, weights: Floats, bias: Floats) -> None:
        self.options, self.columns, self.weights, self.bias = options, columns, weights, bias
        self._seen: WeakKeyDictionary[Corpus, sparse.csr_array] = WeakKeyDictionary()

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """A few steps of L-BFGS towards the targets; the mean loss where they end."""
        check_targets(corpus, targets, weights)
        counting = np.ones(corpus.n_units) if weights is None else weights
        rows = np.flatnonzero(counting)
        if not len(rows):
            return 0.0
        features, goal, share = self._features(corpus)[rows], targets[rows], counting[rows] / counting.sum()
        found = optimize.minimize(
            lambda flat: self._objective(flat, features, goal, share), self._flat(), jac=True, method="L-BFGS-B",
            options={"maxiter": self.options.steps},
        )  # fmt: skip
        self.weights, self.bias = self._unflat(found.x)
        return float(found.fun)

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k] of every unit."""
        return normalise(np.asarray(self._features(corpus) @ self.weights) + self.bias)[0]

    def arrays(self) -> Arrays:
        """Weights and the columns they belong to."""
        return {COLUMNS: self.columns, WEIGHTS: self.weights.copy(), BIAS: self.bias.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Go on where `arrays` was taken."""
        self.weights, self.bias = np.asarray(arrays[WEIGHTS]).copy(), np.asarray(arrays[BIAS]).copy()

    def _objective(
        self, flat: Floats, features: sparse.csr_array, goal: Beliefs, share: Floats
    ) -> tuple[float, Floats]:
        """The loss and its gradient."""
        weights, bias = self._unflat(flat)
        scores = np.asarray(features @ weights) + bias
        p, log_sum = normalise(scores)
        loss = share @ (log_sum * goal.sum(axis=1) - (goal * scores).sum(axis=1))
        slope = share[:, None] * (p * goal.sum(axis=1, keepdims=True) - goal)
        ridge = self.options.ridge
        gradient = np.asarray(features.T @ slope) + ridge * weights
        total = float(loss) + 0.5 * ridge * float((weights**2).sum())
        return total, np.concatenate([gradient.ravel(), slope.sum(axis=0)])

    def _flat(self) -> Floats:
        return np.concatenate([self.weights.ravel(), self.bias])

    def _unflat(self, flat: Floats) -> tuple[Floats, Floats]:
        cut = self.weights.size
        return flat[:cut].reshape(self.weights.shape), flat[cut:]

    def _features(self, corpus: Corpus) -> sparse.csr_array:
        """The features that have weights, computed once for a corpus."""
        if corpus not in self._seen:
            self._seen[corpus] = self.options.features(corpus)[:, self.columns]
        return self._seen[corpus]
