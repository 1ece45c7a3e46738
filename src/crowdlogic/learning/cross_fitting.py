"""Cross-fitting: what the classifier says of a training item comes from one that did not learn it.

A network soon knows its training items by heart, the errors of their labels included, and then outvotes the annotators
in eq. 13 with what it has from them. So some more networks are trained, each without one part of the items, and speak
of the part that they have not seen. New items are answered by the one that learnt all.

[CF18] Chernozhukov et al., "Double/debiased machine learning", 2018, section 3. Axes: i unit, k class, f fold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdlogic.classifiers.protocol import (
    PROGRESS,
    Architecture,
    Arrays,
    ChainClassifier,
    Classifier,
    build,
    derive_seed,
    fit_epoch,
    predict_units,
    state_of,
    supports_averaging,
)
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints


class CrossFitted:
    """A classifier of all training items, and one for each fold that learns all but its items.

    Attributes:
        whole: The one that learns all items.
    """

    def __init__(
        self,
        whole: Classifier,
        others: Sequence[Classifier],
        fold: Ints,
        corpus: Corpus,
        *,
        n_classes: int | None = None,
    ) -> None:
        self.whole, self._others, self._fold, self._corpus = whole, tuple(others), fold, corpus
        self._n_classes = n_classes
        self.averages = supports_averaging(whole)

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """One epoch of all; the mean loss of the one that learns all items."""
        loss = fit_epoch(self.whole, corpus, targets, weights)
        sample_weight = np.ones(corpus.n_units) if weights is None else weights
        for f, other in enumerate(self._others):
            fit_epoch(other, corpus, targets, np.where(self._fold == f, 0.0, sample_weight))
        return loss

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k]: of training items by those that have not learnt them, of others by the one that learnt all."""
        if corpus is not self._corpus:
            return predict_units(self.whole, corpus, n_classes=self._n_classes)
        p = np.stack([predict_units(other, corpus, n_classes=self._n_classes) for other in self._others])
        return np.asarray(p[self._fold, np.arange(len(self._fold))])

    def arrays(self) -> Arrays:
        """The state of the one that answers new items, and, to resume training, that of the others."""
        others = {
            f"{PROGRESS}fold{f}.{name}": array
            for f, other in enumerate(self._others)
            for name, array in state_of(other).items()
        }
        return state_of(self.whole) | others

    def restore(self, arrays: Arrays) -> None:
        """Set the states of all."""
        begin = f"{PROGRESS}fold"
        self.whole.restore({name: array for name, array in arrays.items() if not name.startswith(begin)})
        for f, other in enumerate(self._others):
            mine = f"{begin}{f}."
            other.restore({n.removeprefix(mine): array for n, array in arrays.items() if n.startswith(mine)})


def build_classifier(
    architecture: Architecture, corpus: Corpus, classes: Classes, *, seed: int, folds: int = 1
) -> Classifier:
    """A new classifier; with two folds or more, a cross-fitted one."""
    whole = build(architecture, corpus, classes, seed=seed)
    if folds == 1:
        return whole
    if isinstance(whole, ChainClassifier):
        raise OptionError(
            f"folds: the tags of {architecture.name} form chains, for which there is no cross-fitting. Leave it at 1."
        )
    seeds = [derive_seed(seed, f"fold {f}") for f in range(folds)]
    others = [build(architecture, corpus, classes, seed=one) for one in seeds]
    return CrossFitted(whole, others, fold_of_units(corpus, folds, seed=seed), corpus, n_classes=len(classes))


def fold_of_units(corpus: Corpus, folds: int, *, seed: int) -> Ints:
    """fold[i], drawn item by item, all folds of the same size up to one."""
    n_items = len(corpus.items)
    fold = np.random.default_rng(derive_seed(seed, "folds")).permutation(np.arange(n_items) % folds)
    return fold if corpus.offsets is None else np.repeat(fold, np.diff(corpus.offsets))


def answering(classifier: Classifier) -> Classifier:
    """The classifier that answers new items."""
    return classifier.whole if isinstance(classifier, CrossFitted) else classifier
