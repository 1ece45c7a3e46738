"""Definition of predicates: name, kinds of arguments, and source of truth values.

Another package adds a predicate of texts by defining one, and naming it in an entry point:

    SHOUTING = truth_predicate("Shouting", lambda texts: [float(text.isupper()) for text in texts])

    [project.entry-points."crowdlogic.predicates"]
    Shouting = "my_package.my_module:SHOUTING"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints


class Kind(StrEnum):
    """The kind of an argument of a predicate."""

    unit = "an item or token"
    label = "a class"
    readable = "an item, a token or a text"
    text = "a text"
    name = "a name"
    word = "a quoted word"
    pattern = "a quoted pattern"
    file = "a quoted file name"


class Role(StrEnum):
    """Source of a predicate's truth values."""

    latent = "latent"
    """The latent label."""
    predicted = "predicted"
    """The current classifier."""
    structure = "structure"
    """The order of the units: f(corpus, max_rows) -> Facts."""
    features = "features"
    """The numeric features: f(corpus, max_rows, *constants) -> Facts."""
    text = "text"
    """The text: f(texts, *constants) over a polars series."""
    function = "function"
    """The text: a function registered from Python, f(texts, *constants) over a list."""
    table = "table"
    """A table of facts."""


FIXED = (Kind.word, Kind.pattern, Kind.file)
"""Kinds of arguments that must be quoted constants."""

TruthFunction: TypeAlias = Callable[..., Sequence[float | bool] | np.ndarray[Any, Any]]
"""Function f(texts, *constants) that returns a truth value in [0, 1] for each text."""

TextFunction: TypeAlias = Callable[..., Sequence[str | None]]
"""Function f(texts, *constants) that derives a text from each text, or None."""


@dataclass(frozen=True, eq=False)
class Facts:
    """Facts of a predicate: codes for each argument that is not a fixed constant, and the truth (None: all are 1)."""

    columns: tuple[Ints, ...]
    truth: Floats | None = None


@dataclass(frozen=True, kw_only=True)
class Predicate:
    """A predicate that rules can use.

    Attributes:
        name: Name of the predicate in rules.
        kinds: The kind of each argument.
        role: Where the truth comes from.
        units: The items that it applies to: documents, tokens, or both (None).
        function: Function that computes its facts; None if none are computed.
        example: An atom of it, for documentation.
        meaning: Meaning of that atom, for documentation.
    """

    name: str
    kinds: tuple[Kind, ...]
    role: Role
    units: str | None = None
    function: Callable[..., Any] | None = None
    example: str = ""
    meaning: str = ""


def truth_predicate(name: str, function: TruthFunction, *, constants: int = 0) -> Predicate:
    """Return a predicate of a text: Name(S), or Name(S, 'constant') with constants."""
    kinds = (Kind.readable, *(Kind.word,) * constants)
    return Predicate(name=name, kinds=kinds, role=Role.function, function=function)


def derived_predicate(name: str, function: TextFunction, *, constants: int = 0) -> Predicate:
    """Return a predicate that derives a text: Name(S, B), or Name(S, 'constant', B) with constants."""
    kinds = (Kind.readable, *(Kind.word,) * constants, Kind.text)
    return Predicate(name=name, kinds=kinds, role=Role.function, function=function)


def documented(
    example: str,
    meaning: str,
    kinds: tuple[Kind, ...],
    role: Role,
    function: Callable[..., Any] | None = None,
    units: str | None = None,
) -> Predicate:
    """Return a predicate with its documentation; its name is that of the example, such as Label(X, C)."""
    name = example.partition("(")[0]
    return Predicate(
        name=name, kinds=kinds, role=role, units=units, function=function, example=example, meaning=meaning
    )


# The latent label, and the current classifier's prediction of it.

LABEL = documented("Label(X, C)", "X has the class C (the unobserved true label)", (Kind.unit, Kind.label), Role.latent)
PREDICTED = documented(
    "Predicted(X, C)",
    "the current classifier predicts class C for X (an item or a derived text); the truth value is its probability",
    (Kind.readable, Kind.label),
    Role.predicted,
)
