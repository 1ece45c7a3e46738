"""The border to classifiers of other people: what they give is checked once, and refused in one sentence.

Our own classifiers are tested for all of this, and are not checked again. Axes: i unit, k class.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import SUM_TOLERANCE, Beliefs
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError
from crowdlogic.numerics.sums import row_sums

VERBS = {"fit_epoch": 3, "predict_proba": 1, "arrays": 0, "restore": 1}
"""What a classifier is called with: the number of arguments of each verb."""

WHAT_IT_IS = (
    "What build makes has fit_epoch(corpus, targets, weights=None), predict_proba(corpus), arrays() and "
    "restore(arrays), as docs/extending.md shows."
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


def check_probabilities(classifier: Any, given: Any, corpus: Corpus, n_classes: int | None = None) -> Beliefs:
    """p[i, k] as an array: a row for each unit, finite, each row a distribution.

    Args:
        classifier: What gave them.
        given: What it gave.
        corpus: The items.
        n_classes: The number of classes, where it is known.
    """
    if is_ours(classifier):
        ours: Beliefs = given
        return ours
    where = f"{type(classifier).__name__}: predict_proba gave"
    if given is None:
        raise OptionError(f"{where} nothing. {TABLE}")
    try:
        p = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{where} a {type(given).__name__} that is no table of numbers. {TABLE}") from None
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
            raise OptionError(f"{where} has a name {name!r}, which is no text. Name its arrays as in {EXAMPLE}.")
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            kind = f"n array of {array.dtype}" if isinstance(array, np.ndarray) else f" {type(array).__name__}"
            raise OptionError(f"{where} has a{kind} as {name!r}. Give arrays of numbers: {EXAMPLE}.")
    return dict(given)


EXAMPLE = '{"model.weights": np.array(...)}'
"""What `arrays` gives, for messages."""
