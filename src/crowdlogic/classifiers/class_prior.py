"""The classifier that does not look: every unit has the mean of the targets. With it, Algorithm 1 is Dawid-Skene.

Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.classifiers.protocol import MODEL, Arrays, check_targets
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError
from crowdlogic.numerics.arrays import Floats

PRIOR = MODEL + "prior"


@dataclass(frozen=True)
class ClassPrior:
    """How often each class is, and nothing else: what a classifier must beat."""

    name = "prior"

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> PriorClassifier:  # noqa: ARG002 (it looks at nothing)
        """Every class alike."""
        return PriorClassifier(np.full(len(classes), 1.0 / len(classes)))

    def load(self, arrays: Arrays, classes: Classes) -> PriorClassifier:
        """The classifier that these arrays were taken from."""
        made = PriorClassifier(np.zeros(len(classes)))
        made.restore(arrays)
        return made


class PriorClassifier:
    """prior[k]."""

    def __init__(self, prior: Floats) -> None:
        self.prior = prior

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """The weighted mean of the targets, which has the least loss of all constants."""
        check_targets(corpus, targets, weights, len(self.prior))
        share = np.ones(len(targets)) if weights is None else weights
        if not share.any():
            return 0.0
        self.prior = share @ targets / share.sum()
        seen = self.prior > 0
        return float(-(self.prior[seen] * np.log(self.prior[seen])).sum())

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """The same for every unit."""
        return np.tile(self.prior, (corpus.n_units, 1))

    def arrays(self) -> Arrays:
        """The prior."""
        return {PRIOR: self.prior.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Take over a prior."""
        found = arrays[PRIOR].shape if PRIOR in arrays else "missing"
        if found != self.prior.shape:
            raise FormatError(f"These arrays are of other classes: {PRIOR} is {found}, not {self.prior.shape}.")
        self.prior = np.array(arrays[PRIOR])
