"""What a classifier is: something that learns from soft targets one epoch at a time, and predicts beliefs.

An Architecture is a frozen dataclass of options; `build` makes a Classifier for a corpus and its classes. A Classifier
is the one thing here that changes: `fit_epoch` moves its weights. All that it knows can be taken out as named arrays
and put back, so that a fit can be stopped and go on, and a run directory needs nothing but arrays and options.

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

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.numerics.arrays import Floats
from crowdlogic.registry import CLASSIFIERS

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""Named arrays: what a classifier knows. `model.` ones are learnt; `fixed.` ones never change after `build`, and are
handed out without a copy; `progress.` ones (an optimiser's memory, the state of chance) are needed to go on learning
but not to predict."""

MODEL, FIXED, PROGRESS = "model.", "fixed.", "progress."


@runtime_checkable
class Classifier(Protocol):
    """Learns one epoch at a time."""

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """One pass over the corpus towards targets[i, k], unit i counting weights[i]; the mean loss of the pass.

        Nothing is learnt from a unit whose weight is 0.
        """

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k] of every unit."""

    def arrays(self) -> Arrays:
        """All that it knows."""

    def restore(self, arrays: Arrays) -> None:
        """Take over what `arrays` gave."""


@CLASSIFIERS.serves
@runtime_checkable
class Architecture(Protocol):
    """The options of a classifier, and how one is made of them."""

    @property
    def name(self) -> str:
        """As the command line calls it."""

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> Classifier:
        """A new classifier for the words (or features) of a corpus and its classes."""

    def load(self, arrays: Arrays, classes: Classes) -> Classifier:
        """A classifier from what an earlier one knew."""


def supports_averaging(classifier: Classifier) -> bool:
    """Whether the mean of a classifier's weights over epochs is one of its kind, too: of a network, not of a tree.

    A classifier says so of itself, with `averages = True`.
    """
    return bool(getattr(classifier, "averages", False))


def averageable_weights(arrays: Arrays) -> Arrays:
    """What there is to average of the arrays that a classifier gave."""
    learnt = {name: array for name, array in arrays.items() if name.startswith(MODEL)}
    return {name: array for name, array in learnt.items() if np.issubdtype(array.dtype, np.floating)}


def predict_texts(classifier: Classifier, texts: Sequence[str]) -> Beliefs:
    """p[i, k] of texts that are no items of a corpus, such as the clause that a rule cut out."""
    return classifier.predict_proba(Corpus(pl.Series(range(len(texts)), dtype=pl.Int64), texts=tuple(texts)))


def require_content(corpus: Corpus, what: str, name: str) -> Any:
    """A part of a corpus that a classifier looks at: texts, tokens or features."""
    found = getattr(corpus, what)
    if found is None:
        held = [part for part in ("texts", "tokens", "features") if getattr(corpus, part) is not None]
        raise CorpusError(
            f"{name} looks at {what}; the items have {' and '.join(held) or 'none'}. Choose another model."
        )
    return found


def check_targets(corpus: Corpus, targets: Beliefs, weights: Floats | None, n_classes: int) -> None:
    """Refuse targets or weights that are not one per unit, or that nothing can be learnt from."""
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
    """Names or a state of chance as bytes, so that they can stand among arrays."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def decode_json(array: NDArray[np.uint8]) -> Any:
    """What `packed` packed."""
    return json.loads(np.asarray(array).tobytes())


def derive_seed(seed: int, purpose: str) -> int:
    """A seed for one purpose, so that what is drawn for one never shifts what is drawn for another."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {purpose}".encode(), digest_size=7).digest(), "little")
