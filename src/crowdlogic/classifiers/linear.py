"""Multinomial logistic regression on hashed features, trained on soft targets. No torch.

The loss is the weighted mean cross-entropy with an L2 penalty on the weights. It is convex, so an epoch is a few steps
of L-BFGS on all units, starting from the last epoch's weights. It is deterministic.

[RAY] Raykar et al., "Learning from crowds", 2010, which uses this classifier with two classes.

Axes: i unit, f feature, k class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from crowdlogic.classifiers.features import (
    FeatureColumns,
    FeatureOptions,
    Features,
    find_columns,
    find_weighted_columns,
    load_columns,
)
from crowdlogic.classifiers.protocol import MODEL, Arrays, check_targets, saved_array
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import normalise

WEIGHTS, BIAS = MODEL + "weights", MODEL + "bias"


@dataclass(frozen=True)
class Linear(FeatureOptions):
    """Multinomial logistic regression on numeric features, on tokens and their neighbours, or on the n-grams of texts.

    Attributes:
        ridge: Strength of the L2 penalty: half of it times the squared weights is added to the mean loss.
        steps: Number of L-BFGS steps in an epoch.
        max_ngram: The maximum length of the n-grams of a text.
        hash_bits: Features of words are hashed to 2^hash_bits columns.
        idf_power: Exponent of the inverse document frequency that weights the n-grams of texts; 0 ignores it.
        ngram_weight: Weight of a pair of words relative to a single word, of a triple relative to a pair, and so on.
    """

    idf_power: float = 0.5
    ngram_weight: float = 0.5

    name = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 <= self.idf_power < math.inf and 0 < self.ngram_weight < math.inf):
            raise OptionError(f"{self.name}: idf_power must be at least 0, and ngram_weight above 0.")

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> LinearClassifier:  # noqa: ARG002 (deterministic)
        """Return a classifier with zero weights for the features of a corpus."""
        if corpus.features is None and not corpus.is_sequential:
            columns = find_weighted_columns(
                corpus,
                self.features,
                max_ngram=self.max_ngram,
                idf_power=self.idf_power,
                ngram_weight=self.ngram_weight,
            )
        else:
            columns = find_columns(corpus, self.features)
        return LinearClassifier(self, columns, np.zeros((len(columns), len(classes))), np.zeros(len(classes)))

    def load(self, arrays: Arrays, classes: Classes) -> LinearClassifier:
        """Return a classifier with a saved state."""
        columns = load_columns(arrays, self.features)
        made = LinearClassifier(self, columns, np.zeros((len(columns), len(classes))), np.zeros(len(classes)))
        made.restore(arrays)
        return made


class LinearClassifier:
    """Logistic regression with its current weights[f, k] and bias[k], and the feature columns that they belong to."""

    averages = True

    def __init__(self, options: Linear, columns: FeatureColumns, weights: Floats, bias: Floats) -> None:
        self.options, self.columns, self.weights, self.bias = options, columns, weights, bias

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Run a few steps of L-BFGS and return the loss after them."""
        check_targets(corpus, targets, weights, len(self.bias))
        sample_weight = np.ones(corpus.n_units) if weights is None else weights
        rows = np.flatnonzero(sample_weight)
        if not len(rows):
            return 0.0
        features, row_targets = self.columns.select(corpus)[rows], targets[rows]
        share = sample_weight[rows] / sample_weight.sum()

        def loss_and_gradient(flat: Floats) -> tuple[float, Floats]:
            weights, bias = self._unflatten(flat)
            return objective(weights, bias, features, targets=row_targets, share=share, ridge=self.options.ridge)

        start: Floats = np.concatenate([self.weights.ravel(), self.bias])
        found = optimize.minimize(
            loss_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": self.options.steps}
        )
        self.weights, self.bias = self._unflatten(found.x)
        return float(found.fun)

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Return p[i, k] of every unit."""
        return normalise(logits(self.columns.select(corpus), self.weights, self.bias))[0]

    def arrays(self) -> Arrays:
        """Return weights, bias and the columns they belong to."""
        return self.columns.arrays() | {WEIGHTS: self.weights.copy(), BIAS: self.bias.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Set weights and bias to a saved state."""
        saved = [saved_array(arrays, name, own.shape) for name, own in ((WEIGHTS, self.weights), (BIAS, self.bias))]
        self.weights, self.bias = (np.array(array, dtype=np.float64) for array in saved)

    def _unflatten(self, flat: Floats) -> tuple[Floats, Floats]:
        cut = self.weights.size
        return flat[:cut].reshape(self.weights.shape), flat[cut:]


def logits(features: Features, weights: Floats, bias: Floats) -> Floats:
    """Return logits[i, k]."""
    return np.asarray(features @ weights) + bias


def objective(
    weights: Floats, bias: Floats, features: Features, *, targets: Beliefs, share: Floats, ridge: float
) -> tuple[float, Floats]:
    """Return the mean cross-entropy with its L2 penalty, and its gradient with respect to weights and bias.

    Args:
        weights: weights[f, k].
        bias: bias[k].
        features: features[i, f].
        targets: targets[i, k].
        share: share[i], the sample weight of unit i divided by the sum of all weights.
        ridge: Strength of the L2 penalty.
    """
    score = logits(features, weights, bias)
    p, log_sum = normalise(score)
    mass = targets.sum(axis=1)  # 1 for a distribution
    loss = float(share @ (log_sum * mass - (targets * score).sum(axis=1))) + 0.5 * ridge * float((weights**2).sum())
    # slope[i, k], the derivative of the loss with respect to logits[i, k]
    slope = share[:, None] * (p * mass[:, None] - targets)
    gradient = np.asarray(features.T @ slope) + ridge * weights
    return loss, np.concatenate([gradient.ravel(), slope.sum(axis=0)])
