"""The facts about one corpus: every predicate that lists its facts, as a relation over codes.

Units and classes have the codes of the corpus. Names and derived texts are coded here as they appear.
Relations are made once and kept, since many rules ask for the same one. Axes: i unit, k class, s sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.intake.contract import row_error
from crowdlogic.data.names import Classes, as_text, encode, find
from crowdlogic.data.tagging import sequence_starts
from crowdlogic.errors import RuleError, did_you_mean, name_list
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.rules import text_functions
from crowdlogic.rules.places import refusal
from crowdlogic.rules.predicates import Kind, Role, Signature, Table, Vocabulary
from crowdlogic.rules.relations import MOST_ROWS
from crowdlogic.rules.syntax import Atom, Constant


@dataclass(frozen=True, eq=False)
class Facts:
    """What makes a predicate true: a column of codes for each of its open places, and the truth (None when 1)."""

    columns: tuple[Ints, ...]
    truth: Floats | None = None


class Pool:
    """Texts that get codes as they appear; a text keeps its code."""

    def __init__(self) -> None:
        self.texts = pl.Series("text", [], dtype=pl.String)

    def codes(self, texts: pl.Series) -> Ints:
        """The codes of texts, new ones for new texts."""
        together, names = encode(pl.concat([self.texts, texts.rename("text").cast(pl.String)]))
        known = len(self.texts)
        self.texts = names
        return together[known:].astype(np.int64)


@dataclass(eq=False)
class World:
    """A corpus seen through a vocabulary.

    Attributes:
        corpus: The items.
        classes: The classes.
        vocabulary: The predicates.
        max_rows: The most rows of any relation.
        names: The names that tables and tokens speak of.
        derived: The derived texts.
        notices: What was left out of tables, and why.
    """

    corpus: Corpus
    classes: Classes
    vocabulary: Vocabulary
    max_rows: int = MOST_ROWS
    names: Pool = field(default_factory=Pool)
    derived: Pool = field(default_factory=Pool)
    notices: list[str] = field(default_factory=list)
    _kept: dict[object, Facts] = field(default_factory=dict)

    @cached_property
    def texts(self) -> pl.Series:
        """The text of each unit: a document's text, a token itself."""
        return pl.Series(
            "text", self.corpus.tokens if self.corpus.is_sequential else self.corpus.texts, dtype=pl.String
        )

    @cached_property
    def class_codes(self) -> dict[str, int]:
        """The code of each class by its name."""
        return {str(name): k for k, name in enumerate(self.classes)}

    @cached_property
    def unit_names(self) -> pl.Series:
        """The name of each unit: the item's, or item:number for tokens, counted from 1."""
        items = as_text(self.corpus.items)
        if self.corpus.offsets is None:
            return items
        lengths = np.diff(self.corpus.offsets)
        number = np.arange(self.corpus.n_units) - np.repeat(self.corpus.offsets[:-1], lengths) + 1
        return items.gather(np.repeat(np.arange(len(items)), lengths)) + ":" + pl.Series(number).cast(pl.String)

    def unit(self, constant: Constant) -> int:
        """The unit of a name."""
        (code,) = find(pl.Series([constant.value]), self.unit_names)
        if code < 0:
            hint = did_you_mean(constant.value, self.unit_names.head(2000).to_list())
            raise refusal(constant.place, f"there is no item or token {constant}.{hint}")
        return int(code)

    def facts(self, atom: Atom, signature: Signature, kinds: Sequence[Kind], inputs: Ints | None = None) -> Facts:
        """The facts of an atom, over its places that are not fixed constants.

        Args:
            atom: The atom.
            signature: Its predicate.
            kinds: What stands at each place in this rule.
            inputs: For a function of derived texts: the codes of the texts it is asked about.
        """
        constants = tuple(
            t.value
            for t, kind in zip(atom.terms, signature.kinds, strict=True)
            if isinstance(t, Constant) and kind in (Kind.word, Kind.pattern, Kind.file)
        )
        key = (signature.name, constants, tuple(kinds), atom.place.folder)
        if inputs is not None:
            return self._of_text(atom, signature, constants, np.unique(inputs))
        if key not in self._kept:
            self._kept[key] = self._facts(atom, signature, kinds, constants)
        return self._kept[key]

    def _facts(self, atom: Atom, signature: Signature, kinds: Sequence[Kind], constants: tuple[str, ...]) -> Facts:
        if signature.role is Role.structure:
            return STRUCTURE[signature.name](self)
        if signature.role is Role.table:
            return self._of_table(self.vocabulary.tables[signature.name.casefold()], atom, kinds)
        return self._of_text(atom, signature, constants, None)

    def _of_text(self, atom: Atom, signature: Signature, constants: tuple[str, ...], inputs: Ints | None) -> Facts:
        """Facts of a function: over all units, or over the derived texts that are asked about."""
        texts = self.texts if inputs is None else self.derived.texts.gather(inputs)
        codes: Ints = np.arange(len(texts)) if inputs is None else inputs
        try:
            answer = self._answer(signature, texts, constants, atom)
        except RuleError as problem:
            raise refusal(atom.place, str(problem)) from None
        if answer.dtype == pl.String:
            rows = answer.is_not_null().arg_true().to_numpy()
            pool = self.derived if signature.kinds[-1] is Kind.text else self.names
            return Facts((codes[rows], pool.codes(answer.gather(rows))))
        truth = answer.cast(pl.Float64).to_numpy()
        rows = np.flatnonzero(truth > 0)
        return Facts((codes[rows],), None if (truth[rows] == 1).all() else truth[rows])

    def _answer(self, signature: Signature, texts: pl.Series, constants: tuple[str, ...], atom: Atom) -> pl.Series:
        if signature.role is Role.function:
            return _checked(
                self.vocabulary.functions[signature.name.casefold()](texts.to_list(), *constants), texts, signature
            )
        if signature.name == "InList":
            if atom.place.folder is None:
                raise RuleError("a rule that came from no file cannot read a word list; use read_rules on a file.")
            return text_functions.in_list(texts, Path(atom.place.folder) / constants[0])
        return TEXT[signature.name](texts, *constants)

    def _of_table(self, table: Table, atom: Atom, kinds: Sequence[Kind]) -> Facts:
        columns = [self._coded(table, series, kind) for series, kind in zip(table.arguments, kinds, strict=True)]
        known = np.logical_and.reduce([column >= 0 for column in columns])
        if not known.all():
            self.notices.append(
                f"{atom.predicate}: {np.count_nonzero(~known):,} of {len(known):,} facts are about items that are "
                f"not here, and were left out."
            )
        truth = None if table.truth is None else table.truth.to_numpy()[known]
        columns = [column[known] for column in columns]
        self._refuse_repeats(table, columns, np.flatnonzero(known))
        return Facts(tuple(columns), None if truth is None or (truth == 1).all() else truth)

    def _coded(self, table: Table, series: pl.Series, kind: Kind) -> Ints:
        if kind is Kind.unit:
            return find(as_text(series), self.unit_names).astype(np.int64)
        if kind is not Kind.label:
            return self.names.codes(as_text(series))
        codes = find(as_text(series), pl.Series([str(name) for name in self.classes], dtype=pl.String))
        lost = np.flatnonzero(codes < 0)
        if len(lost):
            name = as_text(series)[int(lost[0])]
            hint = did_you_mean(name, list(self.class_codes))
            raise row_error(
                table.source,
                lost,
                f"{name!r} is no class",
                f"The classes are {name_list(self.classes)}.{hint}",
                RuleError,
            )
        return codes.astype(np.int64)

    def _refuse_repeats(self, table: Table, columns: Sequence[Ints], rows: Ints) -> None:
        if not len(rows):
            return
        order = np.lexsort(tuple(columns))
        same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in columns])
        if same.any():
            again = np.sort(rows[order[1:][same]])
            raise row_error(table.source, again, "this fact stands twice", "Give each fact once.", RuleError)


def _checked(answer: Any, texts: pl.Series, signature: Signature) -> pl.Series:
    """What a registered function said, as a column; refused when it does not fit."""
    gives_text = signature.kinds[-1] is Kind.text
    column = pl.Series(answer, dtype=pl.String if gives_text else pl.Float64, strict=False)
    if len(column) != len(texts):
        raise RuleError(f"{signature.name} gave {len(column):,} answers for {len(texts):,} texts.")
    if not gives_text and len(column) and not column.is_between(0.0, 1.0).fill_null(value=False).all():
        raise RuleError(f"{signature.name} gave a truth value outside [0, 1].")
    return column


def _first(world: World) -> Facts:
    return Facts((np.flatnonzero(_begins(world)),))


def _last(world: World) -> Facts:
    ends = np.roll(_begins(world), -1) if world.corpus.n_units else np.zeros(0, dtype=bool)
    return Facts((np.flatnonzero(ends),))


def _previous(world: World) -> Facts:
    later = np.flatnonzero(~_begins(world))
    return Facts((later, later - 1))


def _next(world: World) -> Facts:
    later = np.flatnonzero(~_begins(world))
    return Facts((later - 1, later))


def _begins(world: World) -> Any:
    return sequence_starts(world.corpus.n_units, _offsets(world))


def _offsets(world: World) -> Ints:
    offsets = world.corpus.offsets
    if offsets is None:
        raise RuleError("the items are documents, and have no sequences.")
    return offsets


def _same_sequence(world: World) -> Facts:
    """Every pair of different units of one sequence, in both orders."""
    offsets = _offsets(world)
    lengths = np.diff(offsets)
    rows = int((lengths * (lengths - 1)).sum())
    if rows > world.max_rows:
        raise RuleError(f"SameSequence has {rows:,} pairs here, and the limit is {world.max_rows:,} (max_rows).")
    others = np.repeat(lengths - 1, lengths)
    one = np.repeat(np.arange(world.corpus.n_units), others)
    rank = np.arange(rows) - np.repeat(np.cumsum(others) - others, others)
    other = np.repeat(np.repeat(offsets[:-1], lengths), others) + rank
    return Facts((one, other + (other >= one)))


STRUCTURE: dict[str, Callable[[World], Facts]] = {
    "First": _first,
    "Last": _last,
    "Previous": _previous,
    "Next": _next,
    "SameSequence": _same_sequence,
}

TEXT: dict[str, Callable[..., pl.Series]] = {
    "After": text_functions.after,
    "Before": text_functions.before,
    "Contains": text_functions.contains,
    "Matches": text_functions.matches,
    "Token": lambda tokens: tokens,
    "Shape": text_functions.shape,
}
