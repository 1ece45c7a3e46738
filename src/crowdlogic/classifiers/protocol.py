"""Protocols for classifiers: fit one epoch on soft targets, predict probabilities, save and restore the state.

An Architecture is a frozen dataclass of hyper-parameters; its `build` makes a Classifier for a corpus and its classes.
A Classifier is mutable: `fit_epoch` updates its weights. Its whole state is a dictionary of named arrays, so training
can be interrupted and resumed, and a saved run contains only arrays and hyper-parameters.

A classifier predicts the units of a sequence independently of each other, and the posterior ([LNCL] eq. 13) multiplies
these probabilities with the annotators' evidence. A ChainClassifier also models transitions between tags: it returns
unary and transition scores. Eq. 13 is then one forward-backward pass over these scores and the evidence, and its
targets are marginals of units and of pairs of neighbours.

[LNCL] "Learning from Noisy Crowd Labels with Logics".

Axes: i unit (a document or a token), k class.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, ChainScores
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import SUM_TOLERANCE, Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, FormatError, OptionError
from crowdlogic.numerics.arrays import Floats, row_sums
from crowdlogic.registry import CLASSIFIERS

# Checks of user-defined classifiers: what they return is validated once, with a one-line error. Our own classifiers are
# tested for all of this and are not checked at run time.
#

VERBS = {"fit_epoch": 3, "predict_proba": 1, "arrays": 0, "restore": 1}
"""Methods of a classifier, with the number of their positional arguments."""

WHAT_IT_IS = (
    "`build` must return an object with fit_epoch(corpus, targets, weights=None), predict_proba(corpus), arrays() and "
    "restore(arrays), as docs/how-to/extending.md shows."
)
"""Requirements for a classifier, used in error messages."""


def is_ours(classifier: Any) -> bool:
    """Return whether a classifier is part of crowdlogic."""
    return type(classifier).__module__.startswith("crowdlogic.")


def check_verbs(classifier: Any, name: str) -> None:
    """Raise an error if the object that `build` returned lacks a method of the protocol.

    Args:
        classifier: The object that `build` returned.
        name: The name of the architecture.
    """
    if is_ours(classifier):
        return
    made = f"{name}: build made a {type(classifier).__name__}"
    for verb, count in VERBS.items():
        called = getattr(classifier, verb, None)
        if not callable(called):
            raise OptionError(f"{made}, which has no {verb}. {WHAT_IT_IS}")
        if not _takes(called, count):
            raise OptionError(f"{made}, which has {verb}{inspect.signature(called)}. {WHAT_IT_IS}")


def _takes(called: Any, count: int) -> bool:
    try:
        inspect.signature(called).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # compiled code without a signature
        return True
    return True


def check_loss(classifier: Any, loss: Any) -> float:
    """Return the loss of an epoch as a number."""
    if is_ours(classifier):
        return float(loss)
    try:
        number = float(loss)
    except (TypeError, ValueError):
        raise OptionError(
            f"{type(classifier).__name__}: fit_epoch returned a {type(loss).__name__}. Return the mean loss of the "
            f"epoch as a number."
        ) from None
    if not np.isfinite(number):
        raise OptionError(f"{type(classifier).__name__}: fit_epoch returned a loss of {number}. {LOOK_FOR_EXTREMES}")
    return number


LOOK_FOR_EXTREMES = "Look for a logarithm of 0, a division by 0 or extreme values in it."
"""Advice for infinite or undefined numbers."""


def check_probabilities(
    classifier: Any, given: Any, corpus: Corpus, n_classes: int | None = None, *, where: str | None = None
) -> Beliefs:
    """Return p[i, k] as an array: one row per unit, finite, each row a distribution.

    Args:
        classifier: The classifier that predicted.
        given: Its predictions.
        corpus: The items.
        n_classes: Number of classes, if known.
        where: Beginning of error messages. Default: the classifier's `predict_proba`.
    """
    if is_ours(classifier):
        ours: Beliefs = given
        return ours
    where = f"{type(classifier).__name__}: predict_proba returned" if where is None else where
    if given is None:
        raise OptionError(f"{where} nothing. {TABLE}")
    try:
        p = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{where} a {type(given).__name__} that is not a table of numbers. {TABLE}") from None
    if p.ndim != 2 or len(p) != corpus.n_units or n_classes not in (None, p.shape[1]):
        classes = "" if n_classes is None else f" and {pluralise(n_classes, 'class', 'classes')}"
        units = pluralise(corpus.n_units, "unit")
        raise OptionError(f"{where} an array of shape {p.shape} for {units}{classes}. {TABLE}")
    _check_rows(p, where)
    return p


TABLE = "Return one row per unit and one column per class."
"""Expected result of `predict_proba`, used in error messages."""


def _check_rows(p: Beliefs, where: str) -> None:
    """Raise an error unless every row is a probability distribution."""
    total = row_sums(p)
    broken = np.flatnonzero(~np.isfinite(total))
    if len(broken):
        raise OptionError(f"{where} numbers that are not finite in row {broken[0]}. {LOOK_FOR_EXTREMES}")
    if p.min(initial=0.0) < 0:
        raise OptionError(
            f"{where} {p.min():.4g} in row {p.min(axis=1).argmin()}, which is below 0. Return probabilities."
        )
    apart = np.abs(total - 1.0)
    if apart.max(initial=0.0) > SUM_TOLERANCE:
        worst = int(apart.argmax())
        raise OptionError(
            f"{where} probabilities that sum to {total[worst]:.4g} in row {worst}, not to 1. Divide each row by its "
            "sum."
        )


def check_arrays(classifier: Any, given: Any) -> dict[str, Any]:
    """Return the checked state of a classifier: arrays of numbers by name."""
    if is_ours(classifier):
        return dict(given)
    where = f"{type(classifier).__name__}: arrays()"
    if not isinstance(given, Mapping):
        raise OptionError(f"{where} returned a {type(given).__name__}. Return the state as named arrays: {EXAMPLE}.")
    for name, array in given.items():
        if not isinstance(name, str):
            raise OptionError(
                f"{where} returned the name {name!r}, which is not a string. Name the arrays as in {EXAMPLE}."
            )
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            kind = f"n array of {array.dtype}" if isinstance(array, np.ndarray) else f" {type(array).__name__}"
            raise OptionError(f"{where} returned a{kind} as {name!r}. Return arrays of numbers: {EXAMPLE}.")
    return dict(given)


EXAMPLE = '{"model.weights": np.array(...)}'
"""Example of a result of `arrays`, used in error messages."""


Arrays: TypeAlias = dict[str, NDArray[Any]]
"""State of a classifier, as named arrays. The prefix of a name tells its purpose: `model.` arrays are learned; `fixed.`
arrays never change after `build` and are returned without a copy; `progress.` arrays (the state of an optimiser, random
seeds) are needed to resume training but not to predict."""

MODEL, FIXED, PROGRESS = "model.", "fixed.", "progress."


@runtime_checkable
class Classifier(Protocol):
    """Protocol for models that are trained one epoch at a time."""

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
        """Return the predicted probabilities p[i, k] of every unit."""

    def arrays(self) -> Arrays:
        """Return the whole state."""

    def restore(self, arrays: Arrays) -> None:
        """Restore a state that `arrays` returned."""


@runtime_checkable
class ChainClassifier(Classifier, Protocol):
    """Protocol for classifiers of tags that model transitions."""

    def chain_scores(self, corpus: Corpus) -> ChainScores:
        """Return the scores of the chain; `predict_proba` returns its marginals."""

    def fit_chain_epoch(self, corpus: Corpus, targets: ChainBeliefs, weights: Floats | None = None) -> float:
        """Train for one epoch on soft targets of units and of pairs of neighbours; see `Classifier.fit_epoch`."""


@CLASSIFIERS.serves
@runtime_checkable
class Architecture(Protocol):
    """Protocol for the hyper-parameters of a classifier."""

    @property
    def name(self) -> str:
        """Name in the registry and on the command line."""

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> Classifier:
        """Return a new, untrained classifier for the vocabulary (or features) of a corpus and its classes."""

    def load(self, arrays: Arrays, classes: Classes) -> Classifier:
        """Return a classifier with a saved state."""


@runtime_checkable
class NeedsFiles(Protocol):
    """Protocol for architectures that read files when they are built, such as pre-trained weights."""

    def check_files(self) -> None:
        """Raise an error if a file is missing, before any data are read."""


def build(architecture: Architecture, corpus: Corpus, classes: Classes, *, seed: int) -> Classifier:
    """Build a new classifier and check that it has the methods of the protocol."""
    made = architecture.build(corpus, classes, seed=seed)
    check_verbs(made, architecture.name)
    return made


def fit_epoch(classifier: Classifier, corpus: Corpus, targets: AnyBeliefs, weights: Floats | None) -> float:
    """Train for one epoch, on targets of chains if the classifier models chains, otherwise on targets of units."""
    if isinstance(targets, ChainBeliefs) and isinstance(classifier, ChainClassifier):
        return check_loss(classifier, classifier.fit_chain_epoch(corpus, targets, weights))
    of_units = targets.q if isinstance(targets, ChainBeliefs) else targets
    return check_loss(classifier, classifier.fit_epoch(corpus, of_units, weights))


def predict(classifier: Classifier, corpus: Corpus, *, n_classes: int | None = None) -> AnyBeliefs:
    """Return the predictions for a corpus: beliefs of chains if the classifier models chains, otherwise of units."""
    if isinstance(classifier, ChainClassifier):
        return classifier.chain_scores(corpus).beliefs(pairs=False)
    return predict_units(classifier, corpus, n_classes=n_classes)


def predict_units(classifier: Classifier, corpus: Corpus, *, n_classes: int | None = None) -> Beliefs:
    """Return the predicted probabilities p[i, k] of every unit, checked to have `n_classes` columns if given."""
    return check_probabilities(classifier, classifier.predict_proba(corpus), corpus, n_classes)


def state_of(classifier: Classifier) -> Arrays:
    """Return the whole state of a classifier."""
    return check_arrays(classifier, classifier.arrays())


def supports_averaging(classifier: Classifier) -> bool:
    """Return whether weights may be averaged over epochs: true for networks and linear models, not for trees.

    A classifier declares this with a class attribute, `averages = True`.
    """
    return bool(getattr(classifier, "averages", False))


def averageable_weights(arrays: Arrays) -> Arrays:
    """Return the arrays that may be averaged over epochs: learned floating-point numbers."""
    learnt = {name: array for name, array in arrays.items() if name.startswith(MODEL)}
    return {name: array for name, array in learnt.items() if np.issubdtype(array.dtype, np.floating)}


def predict_texts(classifier: Classifier, texts: Sequence[str]) -> Beliefs:
    """Return the predicted probabilities p[i, k] of texts outside any corpus, such as a clause extracted by a rule."""
    return predict_units(classifier, Corpus(pl.Series(range(len(texts)), dtype=pl.Int64), texts=tuple(texts)))


def require_content(corpus: Corpus, what: str, name: str) -> Any:
    """Return the texts, tokens or features of a corpus, or raise an error that names the classifier that needs them."""
    found = getattr(corpus, what)
    if found is None:
        held = [part for part in ("texts", "tokens", "features") if getattr(corpus, part) is not None]
        raise CorpusError(
            f"{name} needs {what}, but the items have {' and '.join(held) or 'none'}. Choose another model."
        )
    return found


def check_targets(corpus: Corpus, targets: Beliefs, weights: Floats | None, n_classes: int) -> None:
    """Raise an error for targets or weights of the wrong shape, negative or not finite."""
    if targets.shape != (corpus.n_units, n_classes):
        raise OptionError(f"targets have shape {targets.shape} where ({corpus.n_units}, {n_classes}) is expected.")
    if not (np.isfinite(targets).all() and (targets >= 0).all()):
        raise OptionError("targets must be finite and at least 0. Look for units without beliefs.")
    if weights is None:
        return
    if weights.shape != (corpus.n_units,):
        raise OptionError(f"weights have shape {weights.shape} where ({corpus.n_units},) is expected.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise OptionError("weights must be finite and at least 0. Use 0 for units to leave out of training.")


def encode_json(value: Any) -> NDArray[np.uint8]:
    """Return a JSON value (a vocabulary, a configuration) as an array of bytes, to be stored among other arrays."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def decode_json(array: NDArray[np.uint8]) -> Any:
    """Return the value that `encode_json` encoded."""
    return json.loads(np.asarray(array).tobytes())


def derive_seed(seed: int, purpose: str) -> int:
    """Return a random seed for one purpose. Draws for one purpose do not affect those for another."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {purpose}".encode(), digest_size=7).digest(), "little")


@dataclass(frozen=True)
class AbsentClassifier:
    """Placeholder for a user-defined classifier that was not saved with the run. Its methods raise an error.

    Attributes:
        run: The folder of the run.
        what: Description of the classifier that continues "its classifier", such as "holds a Pipeline".
    """

    run: str
    what: str

    @property
    def message(self) -> str:
        """Message on what is missing and how to supply it."""
        return (
            f"{self.run}: its classifier {self.what} that was made in Python and is not saved with the run. Pass it "
            f"when you load the run: crowdlogic.load_run({self.run!r}, classifier=classifier)."
        )

    @property
    def notice(self) -> str:
        """Notice on what explanations cannot show without the classifier."""
        return f"Rules that need the classifier are shown together, not one by one. {self.message}"

    def refuse(self, *_: Any, **__: Any) -> Any:
        """Raise an error."""
        raise OptionError(self.message)

    fit_epoch = predict_proba = arrays = restore = refuse


def is_absent(classifier: object) -> bool:
    """Return whether a classifier is a placeholder."""
    return isinstance(classifier, AbsentClassifier)


# Arrays of a saved classifier are checked before anything is computed with them: a run may come from an untrusted
# source.

FLOATS, INTEGERS, BYTES, BOOLEANS = "f", "iu", "u", "b"
"""Kinds of numbers, as in numpy's `dtype.kind`."""


def saved_array(arrays: Arrays, name: str, shape: tuple[int | None, ...], *, kind: str = FLOATS) -> NDArray[Any]:
    """Return an array of a saved state after checking its shape, its kind, and that it is finite.

    Args:
        arrays: The saved state.
        name: The array's name.
        shape: The expected shape; None for any length.
        kind: The accepted kinds of numbers.
    """
    found = arrays.get(name)
    if found is None:
        raise _foreign_array(f"{name} is missing where {_shown(shape)} is expected")
    fits = len(found.shape) == len(shape) and all(
        expected in (None, size) for size, expected in zip(found.shape, shape, strict=True)
    )
    if not fits:
        raise _foreign_array(f"{name} is {found.shape} where {_shown(shape)} is expected")
    if found.dtype.kind not in kind:
        raise _foreign_array(f"{name} has type {found.dtype}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise FormatError(f"These arrays are damaged: {name} contains NaN or infinities.")
    return np.asarray(found)


def _shown(shape: tuple[int | None, ...]) -> str:
    return f"({', '.join('any' if size is None else str(size) for size in shape)}{',' * (len(shape) == 1)})"


def _foreign_array(what: str) -> FormatError:
    return FormatError(f"These arrays belong to a different classifier: {what}.")


def saved_number(arrays: Arrays, name: str, *, least: int, most: int) -> int:
    """Return an integer of a saved state after checking its bounds."""
    found = int(saved_array(arrays, name, (), kind=INTEGERS))
    if not least <= found <= most:
        raise _foreign_array(f"{name} is {found}, not from {least} to {most}")
    return found


def saved_columns(arrays: Arrays, name: str, *, width: int) -> NDArray[Any]:
    """Return column numbers of a saved state, which must increase and lie in [0, width)."""
    found = saved_array(arrays, name, (None,), kind=INTEGERS).astype(np.int64)
    if len(found) and (found[0] < 0 or found[-1] >= width or (np.diff(found) <= 0).any()):
        raise _foreign_array(f"{name} does not increase from 0 to below {width}")
    return found


def saved_json(arrays: Arrays, name: str, kind: type) -> Any:
    """Return a value that is saved as JSON, after checking its type."""
    try:
        found = decode_json(saved_array(arrays, name, (None,), kind=BYTES))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError, ValueError) as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"These arrays are damaged: {name} is not valid JSON ({problem}).") from problem
    if not isinstance(found, kind):
        raise _foreign_array(f"{name} contains a {type(found).__name__}")
    return found


def saved_words(arrays: Arrays, name: str) -> tuple[str, ...]:
    """Return the words of a saved state, which must be distinct."""
    found = saved_json(arrays, name, list)
    if not all(isinstance(word, str) for word in found) or len(set(found)) != len(found):
        raise _foreign_array(f"{name} is not a list of distinct words")
    return tuple(found)
