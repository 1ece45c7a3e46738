"""The vocabulary of rules: the predicates of the registry, and those that are added from Python.

    vocabulary = Vocabulary()
    vocabulary.table("Similar", frame)               # columns: two items, and truth when it is not always 1

    @vocabulary.predicate("Shouting")                # Shouting(S): how much of the text is in capitals
    def shouting(texts):
        return [sum(c.isupper() for c in text) / max(len(text), 1) for text in texts]

A rule file can use predicates of the vocabulary only; it cannot define predicates or run code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from crowdlogic.data.intake.contract import TableSource, row_error, to_polars
from crowdlogic.errors import OptionError, RuleError, did_you_mean
from crowdlogic.registry import PREDICATES
from crowdlogic.rules.predicates.definition import (
    Kind,
    Predicate,
    Role,
    TextFunction,
    TruthFunction,
    derived_predicate,
    truth_predicate,
)

TRUTH_COLUMNS = ("truth", "value")
"""The column of a table that holds truth values in [0, 1]; without one, every row is true."""


@dataclass(frozen=True, eq=False)
class Table:
    """Observed facts: arguments[a][row], and truth[row] (None when every row is true)."""

    arguments: tuple[pl.Series, ...]
    truth: pl.Series | None
    source: TableSource


class Vocabulary:
    """The predicates of the registry, and those that were added from Python."""

    def __init__(self) -> None:
        self._added: dict[str, Predicate] = {}
        self._registered: dict[str, Predicate] = {}  # predicates of the registry that were used so far
        self.tables: dict[str, Table] = {}
        self.word_lists: dict[str, tuple[str, ...]] = {}

    def table(self, name: str, frame: Any, *, source: TableSource | None = None) -> Vocabulary:
        """Add a predicate whose facts are listed in a table; what is not listed is false.

        Args:
            name: Name in rules.
            frame: A frame of pandas, polars or pyarrow: one column per argument, in order, and optionally a column
                `truth` or `value` with truth values in [0, 1]; without it, every row is true. An item is given by its
                name, a token by the name of its item and its number, starting at 1, such as "s7:3".
            source: Name of the table in messages.
        """
        origin = source or TableSource(f"the table of {name}")
        facts = _facts(to_polars(frame, origin), name, origin)
        self._add(Predicate(name=name, kinds=(Kind.name,) * len(facts.arguments), role=Role.table))
        self.tables[name.casefold()] = facts
        return self

    def word_list(self, name: str, words: Iterable[str]) -> Vocabulary:
        """Add a word list for rules that were not read from a file: InList(T, 'name').

        Args:
            name: Name in rules.
            words: Its words.
        """
        self.word_lists[name] = tuple(sorted(set(words)))
        return self

    def predicate(self, name: str, *, constants: int = 0) -> Callable[[TruthFunction], TruthFunction]:
        """Add a predicate of a text, by decorating f(texts, *constants) -> truth values in [0, 1].

        Args:
            name: Name in rules: Name(S), or Name(S, 'constant') with constants.
            constants: Number of quoted constants after the text.
        """

        def register(function: TruthFunction) -> TruthFunction:
            self._add(truth_predicate(name, function, constants=constants))
            return function

        return register

    def derived(self, name: str, *, constants: int = 0) -> Callable[[TextFunction], TextFunction]:
        """Add a predicate that derives a text, by decorating f(texts, *constants) -> texts, None where there is none.

        Args:
            name: Name in rules: Name(S, B), or Name(S, 'constant', B) with constants.
            constants: Number of quoted constants between the two texts.
        """

        def register(function: TextFunction) -> TextFunction:
            self._add(derived_predicate(name, function, constants=constants))
            return function

        return register

    def copy(self) -> Vocabulary:
        """Return a copy, to which predicates can be added without changing this vocabulary."""
        other = Vocabulary()
        other._added, other.tables, other.word_lists = dict(self._added), dict(self.tables), dict(self.word_lists)
        return other

    def without_tables(self) -> Vocabulary:
        """Return a copy without the predicates whose facts are listed in tables."""
        found = self.copy()
        found._added = {key: one for key, one in self._added.items() if key not in self.tables}
        found.tables = {}
        return found

    def updated(self, other: Vocabulary) -> Vocabulary:
        """Return a copy with the predicates of another vocabulary, which replace predicates of the same name."""
        found = self.copy()
        found._added |= other._added
        found.tables |= other.tables
        found.word_lists |= other.word_lists
        return found

    def find(self, name: str) -> Predicate | None:
        """Return the predicate with this name, ignoring case as PSL does."""
        key = name.casefold()
        if key not in self._added and key not in self._registered:
            found = find_registered(key)
            if found is not None:
                self._registered[key] = found
        return self._added.get(key) or self._registered.get(key)

    def function_names(self) -> tuple[str, ...]:
        """Return the names of the predicates that were registered from Python and cannot be saved in a file."""
        return tuple(one.name for one in self._added.values() if one.role is Role.function)

    def hint(self, name: str) -> str:
        """Return a question that suggests the nearest known name; empty if no name is similar."""
        return did_you_mean(name, [*PREDICATES, *(one.name for one in self._added.values())])

    def _add(self, predicate: Predicate) -> None:
        if not (predicate.name.isidentifier() and predicate.name.isascii()):
            raise OptionError(f"{predicate.name!r} cannot name a predicate: use letters, digits and _.")
        if self.find(predicate.name) is not None:
            raise OptionError(f"There is a predicate {predicate.name} already. Choose another name.")
        self._added[predicate.name.casefold()] = predicate


def find_registered(key: str) -> Predicate | None:
    """Import and return a predicate of the registry by its name in lower case."""
    name = next((name for name in PREDICATES if name.casefold() == key), None)
    if name is None:
        return None
    found = PREDICATES.load(name)
    if not isinstance(found, Predicate):
        raise OptionError(f"The entry {name!r} of {PREDICATES.group} is not a Predicate.")
    return found


def _facts(frame: pl.DataFrame, name: str, source: TableSource) -> Table:
    column = next((column for column in frame.columns if column.casefold() in TRUTH_COLUMNS), None)
    arguments = tuple(frame[other] for other in frame.columns if other != column)
    if not arguments:
        raise RuleError(f"{source.name}: {name} needs one column for each argument of the predicate, found none.")
    for series in arguments:
        missing = series.is_null().arg_true().to_numpy()
        if len(missing):
            raise row_error(
                source, missing, f"no {series.name}", "Supply every argument of each fact.", error=RuleError
            )
    if column is None:
        return Table(arguments, None, source)
    truth = frame[column].cast(pl.Float64, strict=False)
    wrong = (~truth.is_between(0.0, 1.0).fill_null(value=False)).arg_true().to_numpy()
    if len(wrong):
        found = frame[column][int(wrong[0])]
        raise row_error(
            source, wrong, f"{column} is {found!r}", "Truth values must lie between 0 and 1.", error=RuleError
        )
    return Table(arguments, truth, source)
