"""The predicates that rules may speak of: what each is called, and what may stand at each of its places.

Four sources: the latent Label, the structure of sequences, tables of observed facts, and functions of the text; and
Predicted, which is what the current classifier says. Tables and functions are added from Python:

    vocabulary = Vocabulary()
    vocabulary.table("Similar", frame)               # columns: two items, and truth when it is not always 1

    @vocabulary.predicate("Shouting")                # Shouting(S): how much of the text is in capitals
    def shouting(texts):
        return [sum(c.isupper() for c in text) / max(len(text), 1) for text in texts]

A rule file can only name what is here; it cannot define or run anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from crowdlogic.data.intake.contract import TableSource, row_error
from crowdlogic.data.intake.dataframes import to_polars
from crowdlogic.errors import OptionError, RuleError, did_you_mean

TRUTH_COLUMNS = ("truth", "value")
"""The column of a table that holds truth values in [0, 1]; without one, every row is true."""


class Kind(StrEnum):
    """What may stand at a place of a predicate."""

    unit = "an item or token"
    label = "a class"
    readable = "an item, a token or a text"
    text = "a text"
    name = "a name"
    word = "a quoted word"
    pattern = "a quoted pattern"
    file = "a quoted file name"


class Role(StrEnum):
    """Where a predicate's truth comes from."""

    latent = "latent"
    predicted = "predicted"
    structure = "structure"
    text = "text"
    function = "function"
    table = "table"


FIXED = (Kind.word, Kind.pattern, Kind.file)
"""Places that take a quoted constant and nothing else."""


@dataclass(frozen=True)
class Signature:
    """A predicate's name, what stands at its places, and where its truth comes from.

    Attributes:
        name: As it is written.
        kinds: What may stand at each place.
        role: Where the truth comes from.
        units: Whether it is about documents, tokens, or either (None).
    """

    name: str
    kinds: tuple[Kind, ...]
    role: Role
    units: str | None = None


def _signature(name: str, *kinds: Kind, role: Role, units: str | None = None) -> Signature:
    return Signature(name, kinds, role, units)


BUILT_IN = {
    signature.name.casefold(): signature
    for signature in (
        _signature("Label", Kind.unit, Kind.label, role=Role.latent),
        _signature("Predicted", Kind.readable, Kind.label, role=Role.predicted),
        _signature("Previous", Kind.unit, Kind.unit, role=Role.structure, units="tokens"),
        _signature("Next", Kind.unit, Kind.unit, role=Role.structure, units="tokens"),
        _signature("First", Kind.unit, role=Role.structure, units="tokens"),
        _signature("Last", Kind.unit, role=Role.structure, units="tokens"),
        _signature("SameSequence", Kind.unit, Kind.unit, role=Role.structure, units="tokens"),
        _signature("After", Kind.readable, Kind.word, Kind.text, role=Role.text, units="documents"),
        _signature("Before", Kind.readable, Kind.word, Kind.text, role=Role.text, units="documents"),
        _signature("Contains", Kind.readable, Kind.word, role=Role.text, units="documents"),
        _signature("Matches", Kind.readable, Kind.pattern, role=Role.text),
        _signature("Token", Kind.unit, Kind.name, role=Role.text, units="tokens"),
        _signature("Shape", Kind.unit, Kind.name, role=Role.text, units="tokens"),
        _signature("InList", Kind.readable, Kind.file, role=Role.text),
    )
}

TruthFunction: TypeAlias = Callable[..., Sequence[float | bool] | np.ndarray[Any, Any]]
"""Truth values in [0, 1] for texts: f(texts, *constants)."""

TextFunction: TypeAlias = Callable[..., Sequence[str | None]]
"""A text for each text, None where there is none: f(texts, *constants)."""


@dataclass(frozen=True, eq=False)
class Table:
    """Observed facts: arguments[a][row], and truth[row] (None when every row is true)."""

    arguments: tuple[pl.Series, ...]
    truth: pl.Series | None
    source: TableSource


class Vocabulary:
    """The built-in predicates, and those that were added."""

    def __init__(self) -> None:
        self._added: dict[str, Signature] = {}
        self.tables: dict[str, Table] = {}
        self.functions: dict[str, TruthFunction | TextFunction] = {}

    def table(self, name: str, frame: Any, *, source: TableSource | None = None) -> Vocabulary:
        """Add a predicate whose facts are listed in a table; what is not listed is false.

        Args:
            name: What rules call it.
            frame: A frame of pandas, polars or pyarrow: one column per place, in order, and a column `truth` or
                `value` (in any case) with values in [0, 1] when not every row is simply true. An item is given by its
                name; a token by the name of its item and its number, counted from 1: "s7:3".
            source: What to call the table in messages.
        """
        origin = source or TableSource(f"the table of {name}")
        facts = _facts(to_polars(frame, origin), name, origin)
        self._add(Signature(name, (Kind.name,) * len(facts.arguments), Role.table))
        self.tables[name.casefold()] = facts
        return self

    def predicate(self, name: str, *, constants: int = 0) -> Callable[[TruthFunction], TruthFunction]:
        """Add a predicate of a text, by decorating f(texts, *constants) -> truth values in [0, 1].

        Args:
            name: What rules call it: Name(S), or Name(S, 'constant') with constants.
            constants: How many quoted constants follow the text.
        """

        def register(function: TruthFunction) -> TruthFunction:
            self._add(Signature(name, (Kind.readable, *(Kind.word,) * constants), Role.function))
            self.functions[name.casefold()] = function
            return function

        return register

    def derived(self, name: str, *, constants: int = 0) -> Callable[[TextFunction], TextFunction]:
        """Add a predicate that derives a text, by decorating f(texts, *constants) -> texts, None where there is none.

        Args:
            name: What rules call it: Name(S, B), or Name(S, 'constant', B) with constants.
            constants: How many quoted constants stand between.
        """

        def register(function: TextFunction) -> TextFunction:
            self._add(Signature(name, (Kind.readable, *(Kind.word,) * constants, Kind.text), Role.function))
            self.functions[name.casefold()] = function
            return function

        return register

    def copy(self) -> Vocabulary:
        """The same predicates, to which others can be added."""
        other = Vocabulary()
        other._added, other.tables, other.functions = dict(self._added), dict(self.tables), dict(self.functions)
        return other

    def find(self, name: str) -> Signature | None:
        """The predicate of a name, whatever its case, as in PSL."""
        key = name.casefold()
        return BUILT_IN.get(key) or self._added.get(key)

    def hint(self, name: str) -> str:
        """The nearest known name, as a question, or nothing."""
        return did_you_mean(name, [signature.name for signature in (*BUILT_IN.values(), *self._added.values())])

    def _add(self, signature: Signature) -> None:
        if not (signature.name.isidentifier() and signature.name.isascii()):
            raise OptionError(f"{signature.name!r} cannot name a predicate: use letters, digits and _.")
        if self.find(signature.name) is not None:
            raise OptionError(f"There is a predicate {signature.name} already. Choose another name.")
        self._added[signature.name.casefold()] = signature


def _facts(frame: pl.DataFrame, name: str, source: TableSource) -> Table:
    column = next((column for column in frame.columns if column.casefold() in TRUTH_COLUMNS), None)
    arguments = tuple(frame[other] for other in frame.columns if other != column)
    if not arguments:
        raise RuleError(f"{source.name}: {name} needs a column for each of its places.")
    for series in arguments:
        missing = series.is_null().arg_true().to_numpy()
        if len(missing):
            raise row_error(source, missing, f"no {series.name}", "Give every argument of a fact.", RuleError)
    if column is None:
        return Table(arguments, None, source)
    truth = frame[column].cast(pl.Float64, strict=False)
    wrong = (~truth.is_between(0.0, 1.0).fill_null(value=False)).arg_true().to_numpy()
    if len(wrong):
        found = frame[column][int(wrong[0])]
        raise row_error(source, wrong, f"{column} is {found!r}", "Truth values lie between 0 and 1.", RuleError)
    return Table(arguments, truth, source)
