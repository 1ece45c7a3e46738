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

# The border to classifiers of other people: what they give is checked once, and refused in one sentence.
#
# Our own classifiers are tested for all of this, and are not checked again. Axes: i unit, k class.

VERBS = {"fit_epoch": 3, "predict_proba": 1, "arrays": 0, "restore": 1}
"""What a classifier is called with: the number of arguments of each verb."""

WHAT_IT_IS = (
    "What build makes has fit_epoch(corpus, targets, weights=None), predict_proba(corpus), arrays() and "
    "restore(arrays), as docs/how-to/extending.md shows."
)
"""What a classifier must be, for messages."""


def is_ours(classifier: Any) -> bool:
    """Whether a classifier is one of crowdlogic's."""
    return type(classifier).__module__.startswith("crowdlogic.")


def check_verbs(classifier: Any, name: str) -> None:
    """Refuse what `build` made if it cannot be called as classifiers are.

    Args:
        classifier: What was made.
        name: The name of the options that made it.
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
    except ValueError:  # compiled code that does not say what it takes
        return True
    return True


def check_loss(classifier: Any, loss: Any) -> float:
    """The loss of an epoch as a number."""
    if is_ours(classifier):
        return float(loss)
    try:
        number = float(loss)
    except (TypeError, ValueError):
        raise OptionError(
            f"{type(classifier).__name__}: fit_epoch gave a {type(loss).__name__}. Give the mean loss of the epoch as "
            f"a number."
        ) from None
    if not np.isfinite(number):
        raise OptionError(f"{type(classifier).__name__}: fit_epoch gave a loss of {number}. {LOOK_FOR_EXTREMES}")
    return number


LOOK_FOR_EXTREMES = "Look for a logarithm of 0, a division by 0 or extreme numbers in it."
"""What to do where a classifier's numbers are none."""


def check_probabilities(
    classifier: Any, given: Any, corpus: Corpus, n_classes: int | None = None, *, where: str | None = None
) -> Beliefs:
    """Return p[i, k] as an array: one row per unit, finite, each row a distribution.

    Args:
        classifier: The classifier that predicted.
        given: Its predictions.
        corpus: The items.
        n_classes: Number of classes, if known.
        where: Beginning of error messages; by default, the classifier's `predict_proba`.
    """
    if is_ours(classifier):
        ours: Beliefs = given
        return ours
    where = f"{type(classifier).__name__}: predict_proba gave" if where is None else where
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


TABLE = "Give a row for each unit and a column for each class."
"""What `predict_proba` gives, for messages."""


def _check_rows(p: Beliefs, where: str) -> None:
    """Refuse rows that are no distributions."""
    total = row_sums(p)
    broken = np.flatnonzero(~np.isfinite(total))
    if len(broken):
        raise OptionError(f"{where} numbers that are not finite in row {broken[0]}. {LOOK_FOR_EXTREMES}")
    if p.min(initial=0.0) < 0:
        raise OptionError(
            f"{where} {p.min():.4g} in row {p.min(axis=1).argmin()}, which is below 0. Give probabilities."
        )
    apart = np.abs(total - 1.0)
    if apart.max(initial=0.0) > SUM_TOLERANCE:
        worst = int(apart.argmax())
        raise OptionError(
            f"{where} a row {worst} that sums to {total[worst]:.4g}. Divide each row by its sum: they are "
            f"probabilities."
        )


def check_arrays(classifier: Any, given: Any) -> dict[str, Any]:
    """The state of a classifier: arrays of numbers by name."""
    if is_ours(classifier):
        return dict(given)
    where = f"{type(classifier).__name__}: arrays()"
    if not isinstance(given, Mapping):
        raise OptionError(f"{where} gave a {type(given).__name__}. Give its state as named arrays: {EXAMPLE}.")
    for name, array in given.items():
        if not isinstance(name, str):
            raise OptionError(f"{where} has a name {name!r}, which is not text. Name its arrays as in {EXAMPLE}.")
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            kind = f"n array of {array.dtype}" if isinstance(array, np.ndarray) else f" {type(array).__name__}"
            raise OptionError(f"{where} has a{kind} as {name!r}. Give arrays of numbers: {EXAMPLE}.")
    return dict(given)


EXAMPLE = '{"model.weights": np.array(...)}'
"""What `arrays` gives, for messages."""


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


@runtime_checkable
class NeedsFiles(Protocol):
    """An architecture that reads files when it is built, such as pre-trained weights."""

    def check_files(self) -> None:
        """Raise an error if a file is missing, before any data are read."""


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
    """Return the predicted probabilities p[i, k] of every unit, checked to have `n_classes` columns if given."""
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


# A classifier that a run cannot hold, because Python made it: all that needs no answer of it works nevertheless.


@dataclass(frozen=True)
class AbsentClassifier:
    """Stands for a classifier that is not there; whoever asks it is told where to bring it.

    Attributes:
        run: The folder of the run.
        what: What the classifier is: "holds a Pipeline", "is 'own', one".
    """

    run: str
    what: str

    @property
    def message(self) -> str:
        """What is missing, and the call that brings it."""
        return (
            f"{self.run}: its classifier {self.what} that was made in Python and is not in the run. Load it from "
            f"Python with the same one: crowdlogic.load_run({self.run!r}, classifier=classifier)."
        )

    @property
    def notice(self) -> str:
        """What an explanation lacks without it."""
        return f"Rules that ask the classifier are shown together, not one by one. {self.message}"

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:  # noqa: ARG002
        """Refuse."""
        raise OptionError(self.message)

    def predict_proba(self, corpus: Corpus) -> Beliefs:  # noqa: ARG002
        """Refuse."""
        raise OptionError(self.message)

    def arrays(self) -> Arrays:
        """Refuse."""
        raise OptionError(self.message)

    def restore(self, arrays: Arrays) -> None:  # noqa: ARG002
        """Refuse."""
        raise OptionError(self.message)


def is_absent(classifier: object) -> bool:
    """Whether a classifier is not there."""
    return isinstance(classifier, AbsentClassifier)


# Arrays of a saved classifier, checked before anything is computed with them: a run may come from a stranger.

FLOATS, INTEGERS, BYTES, BOOLEANS = "f", "iu", "u", "b"
"""Kinds of numbers, as numpy's `dtype.kind` has them."""


def saved_array(arrays: Arrays, name: str, shape: tuple[int | None, ...], *, kind: str = FLOATS) -> NDArray[Any]:
    """An array of a saved state, if it is there, of its shape and its kind, and finite.

    Args:
        arrays: The saved state.
        name: The array's name.
        shape: The expected shape; None for any length.
        kind: The kinds of numbers that it may hold.
    """
    found = arrays.get(name)
    if found is None:
        raise _unfit(name, "missing", shape)
    fits = len(found.shape) == len(shape) and all(
        expected in (None, size) for size, expected in zip(found.shape, shape, strict=True)
    )
    if not fits:
        raise _unfit(name, str(found.shape), shape)
    if found.dtype.kind not in kind:
        raise FormatError(f"These arrays are of another classifier: {name} holds {found.dtype}.")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise FormatError(f"These arrays are damaged: {name} holds NaN or infinities.")
    return np.asarray(found)


def _unfit(name: str, found: str, shape: tuple[int | None, ...]) -> FormatError:
    expected = f"({', '.join('any' if size is None else str(size) for size in shape)}{',' * (len(shape) == 1)})"
    return FormatError(f"These arrays are of another classifier: {name} is {found} where {expected} is expected.")


def saved_number(arrays: Arrays, name: str, *, least: int, most: int) -> int:
    """A whole number of a saved state, within bounds."""
    found = int(saved_array(arrays, name, (), kind=INTEGERS))
    if not least <= found <= most:
        raise FormatError(f"These arrays are of another classifier: {name} is {found}, not from {least} to {most}.")
    return found


def saved_columns(arrays: Arrays, name: str, *, width: int) -> NDArray[Any]:
    """Column numbers of a saved state: rising, from 0 to below `width`."""
    found = saved_array(arrays, name, (None,), kind=INTEGERS).astype(np.int64)
    if len(found) and (found[0] < 0 or found[-1] >= width or (np.diff(found) <= 0).any()):
        raise FormatError(f"These arrays are of another classifier: {name} does not rise from 0 to below {width}.")
    return found


def saved_json(arrays: Arrays, name: str, kind: type) -> Any:
    """A value of a saved state that is kept as JSON, if it is of its kind."""
    try:
        found = decode_json(saved_array(arrays, name, (None,), kind=BYTES))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError, ValueError) as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"These arrays are damaged: {name} is not valid JSON ({problem}).") from problem
    if not isinstance(found, kind):
        raise FormatError(f"These arrays are of another classifier: {name} holds a {type(found).__name__}.")
    return found


def saved_words(arrays: Arrays, name: str) -> tuple[str, ...]:
    """Words of a saved state, each once."""
    found = saved_json(arrays, name, list)
    if not all(isinstance(word, str) for word in found) or len(set(found)) != len(found):
        raise FormatError(f"These arrays are of another classifier: {name} is not a list of words, each once.")
    return tuple(found)
