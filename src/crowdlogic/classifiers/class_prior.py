"""The class prior as a classifier, which ignores the items and predicts the mean target.

With it, Algorithm 1 is Dawid-Skene.

Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.classifiers.protocol import MODEL, Arrays, check_targets, saved_array
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError
from crowdlogic.numerics.arrays import Floats

PRIOR = MODEL + "prior"


@dataclass(frozen=True)
class ClassPrior:
    """Classifier that predicts the frequency of each class for every item: the baseline to beat."""

    name = "prior"

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> PriorClassifier:  # noqa: ARG002 (not needed here)
        """Return a uniform prior."""
        return PriorClassifier(np.full(len(classes), 1.0 / len(classes)))

    def load(self, arrays: Arrays, classes: Classes) -> PriorClassifier:
        """Return a classifier with the state of an earlier one."""
        made = PriorClassifier(np.zeros(len(classes)))
        made.restore(arrays)
        return made


class PriorClassifier:
    """Classifier with one parameter, prior[k], which it predicts for every unit."""

    def __init__(self, prior: Floats) -> None:
        self.prior = prior

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Set the prior to the weighted mean of the targets, which minimises the loss among all constants."""
        check_targets(corpus, targets, weights, len(self.prior))
        sample_weight = np.ones(len(targets)) if weights is None else weights
        if not sample_weight.any():
            return 0.0
        self.prior = sample_weight @ targets / sample_weight.sum()
        seen = self.prior > 0
        # The mean cross-entropy between the targets and their mean is the entropy of that mean.
        return float(-(self.prior[seen] * np.log(self.prior[seen])).sum())

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Return the prior for every unit."""
        return np.tile(self.prior, (corpus.n_units, 1))

    def arrays(self) -> Arrays:
        """Return the prior as a named array."""
        return {PRIOR: self.prior.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Set the prior to a saved one."""
        found = arrays[PRIOR].shape if PRIOR in arrays else "missing"
        if found != self.prior.shape:
            raise FormatError(
                f"These arrays belong to a classifier with other classes: {PRIOR} is {found}, not {self.prior.shape}."
            )
        self.prior = np.array(saved_array(arrays, PRIOR, self.prior.shape), dtype=np.float64)
