"""The protocols of a classifier: fit one epoch on soft targets, predict probabilities, save and restore the state.

An Architecture is a frozen dataclass of hyper-parameters; `build` makes a Classifier for a corpus and its classes. A
Classifier is mutable: `fit_epoch` updates its weights. Its whole state is a dictionary of named arrays, so a fit can be
interrupted and resumed, and a run directory holds arrays and hyper-parameters only.

A classifier predicts the units of a sequence independently of each other, and the posterior of [LNCL] eq. 13 multiplies
these probabilities with the annotators' evidence. A ChainClassifier knows how tags follow each other, and says more:
the scores of a chain, unary and of transitions. Eq. 13 is then one forward-backward over its scores and the evidence,
and what it learns are marginals of units and of neighbours.

[LNCL] "Learning from Noisy Crowd Labels with Logics".

Axes: i unit (a document or a token), k class.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.classifiers.border import check_arrays, check_loss, check_probabilities, check_verbs
from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, ChainScores
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.registry import CLASSIFIERS

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""The state of a classifier, as named arrays. The prefix of a name says what it is for: `model.` arrays are learnt;
`fixed.` arrays never change after `build`, and are returned without a copy; `progress.` arrays (the state of an
optimiser, random seeds) are needed to resume training but not to predict."""

MODEL, FIXED, PROGRESS = "model.", "fixed.", "progress."


@runtime_checkable
class Classifier(Protocol):
    """A model that is trained one epoch at a time."""

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Train for one epoch on soft targets.

        Args:
            corpus: The training items.
            targets: targets[i, k], the probability of class k for unit i.
            weights: weights[i], the sample weight of unit i; a unit of weight 0 is ignored. All are 1 by default.

        Returns:
            The mean loss of the epoch.
        """

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Predicted probabilities p[i, k] of every unit."""

    def arrays(self) -> Arrays:
        """The whole state."""

    def restore(self, arrays: Arrays) -> None:
        """Set the state to one that `arrays` returned."""


@runtime_checkable
class ChainClassifier(Classifier, Protocol):
    """A classifier of tags that form chains."""

    def chain_scores(self, corpus: Corpus) -> ChainScores:
        """The scores of the chain; `predict_proba` gives its marginals."""

    def fit_chain_epoch(self, corpus: Corpus, targets: ChainBeliefs, weights: Floats | None = None) -> float:
        """Train for one epoch on soft targets of units and of neighbours; see `Classifier.fit_epoch`."""


@CLASSIFIERS.serves
@runtime_checkable
class Architecture(Protocol):
    """The hyper-parameters of a classifier."""

    @property
    def name(self) -> str:
        """Its name in the registry and on the command line."""

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> Classifier:
        """A new, untrained classifier for the vocabulary (or features) of a corpus and its classes."""

    def load(self, arrays: Arrays, classes: Classes) -> Classifier:
        """A classifier with the state of an earlier one."""


def build(architecture: Architecture, corpus: Corpus, classes: Classes, *, seed: int) -> Classifier:
    """A new classifier; one that cannot be called as all are is refused."""
    made = architecture.build(corpus, classes, seed=seed)
    check_verbs(made, architecture.name)
    return made


def fit_epoch(classifier: Classifier, corpus: Corpus, targets: AnyBeliefs, weights: Floats | None) -> float:
    """Train for one epoch on targets of units, or on those of chains where the classifier is one."""
    if isinstance(targets, ChainBeliefs) and isinstance(classifier, ChainClassifier):
        return check_loss(classifier, classifier.fit_chain_epoch(corpus, targets, weights))
    of_units = targets.q if isinstance(targets, ChainBeliefs) else targets
    return check_loss(classifier, classifier.fit_epoch(corpus, of_units, weights))


def predict(classifier: Classifier, corpus: Corpus, *, n_classes: int | None = None) -> AnyBeliefs:
    """What a classifier believes of the units, or of chains where it is a classifier of chains."""
    if isinstance(classifier, ChainClassifier):
        return classifier.chain_scores(corpus).beliefs(pairs=False)
    return predict_units(classifier, corpus, n_classes=n_classes)


def predict_units(classifier: Classifier, corpus: Corpus, *, n_classes: int | None = None) -> Beliefs:
    """Predicted probabilities p[i, k] of every unit; with n_classes, of so many classes."""
    return check_probabilities(classifier, classifier.predict_proba(corpus), corpus, n_classes)


def state_of(classifier: Classifier) -> Arrays:
    """The whole state of a classifier."""
    return check_arrays(classifier, classifier.arrays())


def supports_averaging(classifier: Classifier) -> bool:
    """Whether weights may be averaged over epochs: those of a network or a linear model may, those of a tree may not.

    A classifier declares it with a class attribute, `averages = True`.
    """
    return bool(getattr(classifier, "averages", False))


def averageable_weights(arrays: Arrays) -> Arrays:
    """The arrays of a classifier's state that an average over epochs is taken of: learnt floating-point numbers."""
    learnt = {name: array for name, array in arrays.items() if name.startswith(MODEL)}
    return {name: array for name, array in learnt.items() if np.issubdtype(array.dtype, np.floating)}


def predict_texts(classifier: Classifier, texts: Sequence[str]) -> Beliefs:
    """Predicted probabilities p[i, k] of texts outside any corpus, such as a clause that a rule cuts out."""
    return predict_units(classifier, Corpus(pl.Series(range(len(texts)), dtype=pl.Int64), texts=tuple(texts)))


def require_content(corpus: Corpus, what: str, name: str) -> Any:
    """The texts, tokens or features of a corpus, which the classifier of this name needs."""
    found = getattr(corpus, what)
    if found is None:
        held = [part for part in ("texts", "tokens", "features") if getattr(corpus, part) is not None]
        raise CorpusError(
            f"{name} looks at {what}; the items have {' and '.join(held) or 'none'}. Choose another model."
        )
    return found


def check_targets(corpus: Corpus, targets: Beliefs, weights: Floats | None, n_classes: int) -> None:
    """Raise an error for targets or weights of the wrong shape, negative or not finite."""
    if targets.shape != (corpus.n_units, n_classes):
        raise OptionError(f"targets are {targets.shape} where ({corpus.n_units}, {n_classes}) is expected.")
    if not (np.isfinite(targets).all() and (targets >= 0).all()):
        raise OptionError("targets must be 0 or more and finite. Look for units without beliefs.")
    if weights is None:
        return
    if weights.shape != (corpus.n_units,):
        raise OptionError(f"weights are {weights.shape} where ({corpus.n_units},) is expected.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise OptionError("weights must be 0 or more and finite. Use 0 for a unit that is not to be learnt from.")


def encode_json(value: Any) -> NDArray[np.uint8]:
    """A JSON value (a vocabulary, a configuration) as an array of bytes, to be stored among other arrays."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def decode_json(array: NDArray[np.uint8]) -> Any:
    """The value that `encode_json` encoded."""
    return json.loads(np.asarray(array).tobytes())


def derive_seed(seed: int, purpose: str) -> int:
    """A random seed for one purpose, so that draws for one purpose are independent of how many another makes."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {purpose}".encode(), digest_size=7).digest(), "little")
