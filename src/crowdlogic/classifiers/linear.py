"""The classifier without torch: multinomial regression on hashed features, towards soft targets.

The loss is the weighted mean cross-entropy with a ridge on the weights; it is convex, so an epoch is a few steps of
L-BFGS on all units, from where the last epoch ended. No chance enters: the same data give the same classifier.

[RAY] Raykar et al., "Learning from crowds", 2010, whose classifier this is in its two-class case.

Axes: i unit, f feature, k class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from crowdlogic.classifiers.features import FeatureColumns, Features, extract_features, find_columns, load_columns
from crowdlogic.classifiers.protocol import MODEL, Arrays, check_targets
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import normalise

WEIGHTS, BIAS = MODEL + "weights", MODEL + "bias"


@dataclass(frozen=True)
class Linear:
    """Multinomial regression on given features, the neighbourhood of tokens, or the words of texts.

    Attributes:
        ridge: How strongly weights are drawn to zero: half of it times their squares is added to the mean loss.
        steps: Steps of L-BFGS in an epoch.
        max_ngram: The longest run of words that is a feature of a text.
        hash_bits: Features of words are hashed to 2^hash_bits columns.
    """

    ridge: float = 1e-4
    steps: int = 10
    max_ngram: int = 2
    hash_bits: int = 18

    name = "linear"

    def __post_init__(self) -> None:
        if not (0 <= self.ridge < math.inf and self.steps >= 1 and self.max_ngram >= 1 and 1 <= self.hash_bits <= 30):
            raise OptionError(
                f"{self.name}: ridge must be 0 or more, steps and max_ngram 1 or more, hash_bits from 1 to 30."
            )

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> LinearClassifier:  # noqa: ARG002 (no chance)
        """Zero weights for the features that the corpus has."""
        columns = find_columns(corpus, self.features)
        return LinearClassifier(self, columns, np.zeros((len(columns), len(classes))), np.zeros(len(classes)))

    def load(self, arrays: Arrays, classes: Classes) -> LinearClassifier:
        """The classifier that these arrays were taken from."""
        columns = load_columns(arrays, self.features)
        made = LinearClassifier(self, columns, np.zeros((len(columns), len(classes))), np.zeros(len(classes)))
        made.restore(arrays)
        return made

    def features(self, corpus: Corpus) -> Features:
        """features[i, f] of every unit: those given, else those of its words."""
        return extract_features(corpus, max_ngram=self.max_ngram, hash_bits=self.hash_bits, name=self.name)


class LinearClassifier:
    """weights[f, k] and bias[k]."""

    averages = True

    def __init__(self, options: Linear, columns: FeatureColumns, weights: Floats, bias: Floats) -> None:
        self.options, self.columns, self.weights, self.bias = options, columns, weights, bias

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """A few steps of L-BFGS towards the targets; the loss where they end."""
        check_targets(corpus, targets, weights, len(self.bias))
        counting = np.ones(corpus.n_units) if weights is None else weights
        rows = np.flatnonzero(counting)
        if not len(rows):
            return 0.0
        features, goal = self.columns.of(corpus)[rows], targets[rows]
        share = counting[rows] / counting.sum()

        def lost(flat: Floats) -> tuple[float, Floats]:
            return objective(self._unflat(flat), features, goal, share, self.options.ridge)

        start: Floats = np.concatenate([self.weights.ravel(), self.bias])
        found = optimize.minimize(lost, start, jac=True, method="L-BFGS-B", options={"maxiter": self.options.steps})
        self.weights, self.bias = self._unflat(found.x)
        return float(found.fun)

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k] of every unit."""
        return normalise(scores(self.columns.of(corpus), self.weights, self.bias))[0]

    def arrays(self) -> Arrays:
        """Weights and the columns they belong to."""
        return self.columns.arrays() | {WEIGHTS: self.weights.copy(), BIAS: self.bias.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Go on where `arrays` was taken."""
        for name, own in ((WEIGHTS, self.weights), (BIAS, self.bias)):
            found = arrays[name].shape if name in arrays else "missing"
            if found != own.shape:
                raise FormatError(
                    f"These weights are of another linear classifier: {name} is {found} where {own.shape} is expected."
                )
        self.weights, self.bias = np.array(arrays[WEIGHTS]), np.array(arrays[BIAS])

    def _unflat(self, flat: Floats) -> tuple[Floats, Floats]:
        cut = self.weights.size
        return flat[:cut].reshape(self.weights.shape), flat[cut:]


def scores(features: Features, weights: Floats, bias: Floats) -> Floats:
    """scores[i, k]."""
    return np.asarray(features @ weights) + bias


def objective(
    model: tuple[Floats, Floats], features: Features, targets: Beliefs, share: Floats, ridge: float
) -> tuple[float, Floats]:
    """The mean cross-entropy with its ridge, unit i counting share[i], and the gradient in weights, then bias."""
    weights, bias = model
    score = scores(features, weights, bias)
    p, log_sum = normalise(score)
    mass = targets.sum(axis=1)
    loss = float(share @ (log_sum * mass - (targets * score).sum(axis=1))) + 0.5 * ridge * float((weights**2).sum())
    slope = share[:, None] * (p * mass[:, None] - targets)
    gradient = np.asarray(features.T @ slope) + ridge * weights
    return loss, np.concatenate([gradient.ravel(), slope.sum(axis=0)])
