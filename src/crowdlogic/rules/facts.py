"""Facts about one corpus: the facts of each predicate as a relation over integer codes.

A unit is an item, or a token of a sentence. Units and classes have the codes of the corpus; names and derived texts get
codes in the order in which they appear. Relations are cached, since many rules need the same one.

Axes: i unit, k class, s sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.intake.contract import row_error
from crowdlogic.data.names import Classes, as_text, encode, find
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import RuleError, did_you_mean, name_list
from crowdlogic.numerics.arrays import Bools, Floats, Ints, stable_order
from crowdlogic.rules.checking import Finding, warning
from crowdlogic.rules.expansion import variable_kinds
from crowdlogic.rules.predicates.definition import FIXED, Facts, Kind, Predicate, Role
from crowdlogic.rules.predicates.tokens import read_word_list
from crowdlogic.rules.predicates.vocabulary import Table, Vocabulary
from crowdlogic.rules.syntax import Atom, Constant, Place, RuleSet, Variable, find_nearby, rule_error

# Relations with integer columns, and joins of sorted columns, without a loop over rows.
#
# Every join counts its rows before it makes them, so that a rule with too many groundings is refused early.

MAX_ROWS = 50_000_000
"""Maximum number of rows of one rule: about 400 MB per column during joins."""


@dataclass(frozen=True, eq=False)
class Relation:
    """Rows over named columns.

    Attributes:
        columns: The codes of each variable.
        size: Number of rows.
        truths: truths[a][row], the truth of the a-th atom joined; left out where it is always 1.
    """

    columns: dict[str, Ints]
    size: int
    truths: dict[int, Floats] = field(default_factory=dict)

    def take(self, rows: Ints | Bools) -> Relation:
        """Return a relation with some of the rows."""
        size = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Relation(columns, size, {atom: truth[rows] for atom, truth in self.truths.items()})

    def with_column(self, name: str, column: Ints) -> Relation:
        """Return the relation with one more column."""
        return Relation({**self.columns, name: column}, self.size, self.truths)


NOTHING_JOINED = Relation({}, 1)
"""The relation that every join begins with: one row without columns."""


def join(left: Relation, right: Relation, limit: Callable[[int], None]) -> Relation:
    """Return every pair of rows that agree on the columns of both relations.

    Args:
        left: One relation.
        right: The other.
        limit: Function that raises an error if a number of rows is too large; called before the rows are made.
    """
    if not left.columns and left.size == 1 and not left.truths:
        limit(right.size)
        return right
    shared = [name for name in left.columns if name in right.columns]
    if shared:
        keys_left, keys_right = row_keys([left.columns[n] for n in shared], [right.columns[n] for n in shared])
        order = stable_order(keys_right)
        sorted_right = keys_right[order]
        # The partners of row r of the left are the run low[r] .. low[r] + counts[r] of the sorted right side.
        low = np.searchsorted(sorted_right, keys_left, side="left")
        counts = np.searchsorted(sorted_right, keys_left, side="right") - low
        limit(int(counts.sum()))
        rows_left = np.repeat(np.arange(left.size), counts)
        # within[row] counts the partners of one left row from 0
        within = np.arange(len(rows_left)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows_right = order[np.repeat(low, counts) + within]
    else:
        limit(left.size * right.size)
        rows_left = np.repeat(np.arange(left.size), right.size)
        rows_right = np.tile(np.arange(right.size), left.size)
    ours, theirs = left.take(rows_left), right.take(rows_right)
    return Relation({**theirs.columns, **ours.columns}, ours.size, {**ours.truths, **theirs.truths})


def row_keys(left: Sequence[Ints], right: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return one integer for each row of both sides, equal for rows that are equal in all columns."""
    key_left = np.zeros(len(left[0]), dtype=np.int64)
    key_right = np.zeros(len(right[0]), dtype=np.int64)
    span = 1
    for mine, theirs in zip(left, right, strict=True):
        size = 1 + max(int(mine.max(initial=0)), int(theirs.max(initial=0)))
        if span * size >= 1 << 62:  # the next key would overflow: number the distinct keys so far instead
            _, codes = np.unique(np.concatenate([key_left, key_right]), return_inverse=True)
            key_left, key_right = codes[: len(key_left)], codes[len(key_left) :]
            span = int(codes.max(initial=0)) + 1
        key_left = key_left * size + mine
        key_right = key_right * size + theirs
        span *= size
    return key_left, key_right


def look_up(facts: Sequence[Ints], value: Floats | None, wanted: Sequence[Ints]) -> Floats:
    """Return the truth of each wanted row among listed facts; rows that are not listed have the truth 0."""
    known, queried = row_keys(facts, wanted)
    if not len(known):
        return np.zeros(len(queried))
    order = stable_order(known)
    known = known[order]
    at = np.minimum(np.searchsorted(known, queried), len(known) - 1)
    truth = 1.0 if value is None else value[order][at]
    return np.where(known[at] == queried, truth, 0.0)


def row_limit(rule: object, limit: int) -> Callable[[int], None]:
    """Return a function that raises an error if a rule has more rows than the limit."""

    def check(rows: int) -> None:
        if rows > limit:
            raise RuleError(
                f"{rule} would ground to {rows:,} rows, and the limit is {limit:,}. Add an atom that binds its "
                f"variables more tightly, or raise the limit (max_rows)."
            )

    return check


class Pool:
    """Texts with integer codes, in the order in which they appear."""

    def __init__(self) -> None:
        self.texts = pl.Series("text", [], dtype=pl.String)

    def codes(self, texts: pl.Series) -> Ints:
        """Return the codes of texts. New texts get new codes."""
        together, names = encode(pl.concat([self.texts, texts.rename("text").cast(pl.String)]))
        known = len(self.texts)
        self.texts = names
        return together[known:].astype(np.int64)


@dataclass(eq=False)
class World:
    """The facts of a vocabulary's predicates about a corpus.

    Attributes:
        corpus: The items.
        classes: The classes.
        vocabulary: The predicates.
        max_rows: Maximum number of rows of any relation.
        names: The names in tables and tokens.
        derived: The derived texts.
        notices: Notices about facts in tables that were left out.
    """

    corpus: Corpus
    classes: Classes
    vocabulary: Vocabulary
    max_rows: int = MAX_ROWS
    names: Pool = field(default_factory=Pool)
    derived: Pool = field(default_factory=Pool)
    notices: list[Finding] = field(default_factory=list)
    _cache: dict[object, Facts] = field(default_factory=dict)

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
        """The name of each unit: the name of the item, or item:number for tokens, counted from 1."""
        items = as_text(self.corpus.items)
        if self.corpus.offsets is None:
            return items
        lengths = np.diff(self.corpus.offsets)
        number = np.arange(self.corpus.n_units) - np.repeat(self.corpus.offsets[:-1], lengths) + 1
        return items.gather(np.repeat(np.arange(len(items)), lengths)) + ":" + pl.Series(number).cast(pl.String)

    def unit(self, constant: Constant) -> int:
        """Return the code of the unit that a constant names."""
        (code,) = find(pl.Series([constant.value]), self.unit_names)
        if code < 0:
            hint = did_you_mean(constant.value, self.unit_names.head(2000).to_list())
            raise rule_error(constant.place, f"there is no item or token {constant}.{hint}")
        return int(code)

    def facts(self, atom: Atom, predicate: Predicate, kinds: Sequence[Kind], inputs: Ints | None = None) -> Facts:
        """Return the facts of an atom, with a column for each argument that is not a fixed constant.

        Args:
            atom: The atom.
            predicate: Its predicate.
            kinds: The kind of each argument in this rule.
            inputs: For a function of derived texts: the codes of these texts.
        """
        constants = tuple(
            t.value
            for t, kind in zip(atom.terms, predicate.kinds, strict=True)
            if isinstance(t, Constant) and kind in FIXED
        )
        key = (predicate.name, constants, tuple(kinds), atom.place.folder)
        if inputs is not None:
            return self._text_facts(atom, predicate, constants, np.unique(inputs))
        if key not in self._cache:
            if predicate.role in (Role.structure, Role.features):
                try:
                    self._cache[key] = self._call(predicate, self.corpus, self.max_rows, *constants)
                except RuleError as problem:
                    raise rule_error(atom.place, str(problem)) from None
            elif predicate.role is Role.table:
                self._cache[key] = self._table_facts(self.vocabulary.tables[predicate.name.casefold()], atom, kinds)
            else:
                self._cache[key] = self._text_facts(atom, predicate, constants, None)
        return self._cache[key]

    def word_facts(self, atom: Atom, predicate: Predicate, words: Ints, inputs: Ints | None = None) -> Facts:
        """Return the facts of an atom such as Contains(S, W), where W is a word from a table.

        Args:
            atom: The atom.
            predicate: Its predicate.
            words: The codes of the words.
            inputs: The codes of the derived texts to examine; None for all units.
        """
        codes = np.unique(words)
        asked = self.names.texts.gather(codes).to_list()
        texts = None if inputs is None else np.unique(inputs)
        found = [self._text_facts(atom, predicate, (word,), texts) for word in asked]
        nothing = np.zeros(0, dtype=np.int64)
        units = np.concatenate([nothing, *(one.columns[0] for one in found)])
        of_word = np.repeat(codes, [len(one.columns[0]) for one in found]).astype(np.int64)
        if all(one.truth is None for one in found):
            return Facts((units, of_word))
        truth = [np.ones(len(one.columns[0])) if one.truth is None else one.truth for one in found]
        return Facts((units, of_word), np.concatenate(truth))

    def _text_facts(self, atom: Atom, predicate: Predicate, constants: tuple[str, ...], inputs: Ints | None) -> Facts:
        """Return facts that a function computes for all units, or for the derived texts with the given codes."""
        texts = self.texts if inputs is None else self.derived.texts.gather(inputs)
        codes: Ints = np.arange(len(texts)) if inputs is None else inputs
        try:
            answer = self._answer(predicate, texts, constants, atom)
        except RuleError as problem:
            raise rule_error(atom.place, str(problem)) from None
        if answer.dtype == pl.String:
            rows = answer.is_not_null().arg_true().to_numpy()
            pool = self.derived if predicate.kinds[-1] is Kind.text else self.names
            return Facts((codes[rows], pool.codes(answer.gather(rows))))
        truth = answer.cast(pl.Float64).to_numpy()
        rows = np.flatnonzero(truth > 0)
        return Facts((codes[rows],), None if (truth[rows] == 1).all() else truth[rows])

    def _answer(self, predicate: Predicate, texts: pl.Series, constants: tuple[str, ...], atom: Atom) -> pl.Series:
        """Return the values of a predicate's function for texts; a word list is passed as its words."""
        if predicate.role is not Role.function:
            kinds = [kind for kind in predicate.kinds if kind in FIXED]
            given = [
                self._words(value, atom.place) if kind is Kind.file else value
                for value, kind in zip(constants, kinds, strict=True)
            ]
            found: pl.Series = self._call(predicate, texts, *given)
            return found

        # A function that users registered may fail, or return anything
        try:
            answer = self._call(predicate, texts.to_list(), *constants)
        except Exception as problem:
            raise RuleError(
                f"{predicate.name}: its function failed ({type(problem).__name__}: {problem}). It is called once with "
                f"the list of all texts{', and then the constants' if constants else ''}, and answers each with a "
                f"truth from 0 to 1."
            ) from problem
        gives_text = predicate.kinds[-1] is Kind.text
        try:
            column = pl.Series(answer, dtype=pl.String if gives_text else pl.Float64, strict=False)
        except TypeError:
            each = "a text, or None," if gives_text else "a number from 0 to 1"
            raise RuleError(
                f"{predicate.name} returned a {type(answer).__name__}. Its function takes a list of texts, and must "
                f"return {each} for each of them."
            ) from None
        if len(column) != len(texts):
            raise RuleError(
                f"{predicate.name} gave {pluralise(len(column), 'answer')} for {pluralise(len(texts), 'text')}. Return "
                f"one answer for each text."
            )
        if not gives_text and len(column) and not column.is_between(0.0, 1.0).fill_null(value=False).all():
            raise RuleError(f"{predicate.name} returned a truth value outside [0, 1]. Scale the values.")
        return column

    def _words(self, name: str, place: Place) -> tuple[str, ...]:
        """Return a word list from a file near the rule file, or from the vocabulary for rules without a file."""
        if place.folder is not None:
            return read_word_list(find_nearby(name, place.folder, place.root))
        if name not in self.vocabulary.word_lists:
            raise RuleError(
                "a rule that was not read from a file cannot load a word list; use read_rules, or add the list to "
                "the vocabulary (word_list)."
            )
        return self.vocabulary.word_lists[name]

    def _call(self, predicate: Predicate, *arguments: Any) -> Any:
        if predicate.function is None:
            raise RuleError(f"{predicate.name} has neither facts nor a function that computes its truth.")
        return predicate.function(*arguments)

    def _table_facts(self, table: Table, atom: Atom, kinds: Sequence[Kind]) -> Facts:
        columns = [self._encode(table, series, kind) for series, kind in zip(table.arguments, kinds, strict=True)]
        known = np.logical_and.reduce([column >= 0 for column in columns])
        if not known.all():
            row = int(np.flatnonzero(~known)[0])
            place = next(a for a, column in enumerate(columns) if kinds[a] is Kind.unit and column[row] < 0)
            name = str(as_text(table.arguments[place])[row])
            about = f"{np.count_nonzero(~known):,} of {pluralise(len(known), 'fact is', 'facts are')} about items"
            what = (
                f"{table.source.name}: {about} that are not here, such as {name!r}, and were left out (here are "
                f"{name_list(self.unit_names.head(3))}, ...)."
            )
            self.notices.append(warning(atom.place, what))
        truth = None if table.truth is None else table.truth.to_numpy()[known]
        columns = [column[known] for column in columns]
        if known.any():
            order = np.lexsort(tuple(columns))  # equal facts become neighbours
            same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in columns])
            if same.any():
                again = np.sort(np.flatnonzero(known)[order[1:][same]])
                raise row_error(table.source, again, "this fact is repeated", "List each fact once.", error=RuleError)
        return Facts(tuple(columns), None if truth is None or (truth == 1).all() else truth)

    def _encode(self, table: Table, series: pl.Series, kind: Kind) -> Ints:
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
                f"{name!r} is not a class",
                f"The classes are {name_list(self.classes)}.{hint}",
                error=RuleError,
            )
        return codes.astype(np.int64)


# Facts are about items, not about names: another data set may give the same names to other items.


def refuse_namesakes(
    rules: RuleSet, vocabulary: Vocabulary, corpus: Corpus, *, given_for: Corpus, except_for: Container[str] = ()
) -> None:
    """Raise an error if facts about some items would be applied to other items of the same name.

    Args:
        rules: The rules, with ready-made sets expanded.
        vocabulary: Their predicates.
        corpus: The items that the rules are applied to.
        given_for: The items that the tables of facts are about.
        except_for: Names in lower case of tables that are about the items of the corpus.
    """
    theirs = find(as_text(corpus.items), as_text(given_for.items))
    for rule in rules.rules:
        kinds = variable_kinds(rule, vocabulary)
        for atom in rule.atoms:
            table = None if atom.is_comparison else vocabulary.tables.get(atom.predicate.casefold())
            if table is None or atom.predicate.casefold() in except_for:
                continue
            for term, series in zip(atom.terms, table.arguments, strict=False):
                if not isinstance(term, Variable) or kinds[term.name] is not Kind.unit:
                    continue
                names = as_text(series).unique()
                if corpus.is_sequential:  # a token is named by its item and its number
                    names = names.str.replace(r":\d+$", "").unique()
                ours = find(names, as_text(corpus.items))
                for s in ours[ours >= 0].tolist():
                    if theirs[s] >= 0 and not _same_content(corpus, s, given_for, int(theirs[s])):
                        raise rule_error(
                            atom.place,
                            f"{table.source.name}: these facts were given for other items, one of which is called "
                            f"{str(corpus.items[s])!r}, as is another item here. Give the facts about the items here: "
                            f"--table {atom.predicate}=FILE (in Python vocabulary=Vocabulary().table("
                            f"{atom.predicate!r}, frame)). Or give the items names of their own.",
                        )


def _same_content(corpus: Corpus, s: int, other: Corpus, t: int) -> bool:
    """Return whether two items have the same content, as far as both corpora contain any."""
    found = []
    if corpus.texts is not None and other.texts is not None:
        found.append(corpus.texts[s] == other.texts[t])
    if corpus.tokens is not None and other.tokens is not None:
        found.append(corpus.sentence(s) == other.sentence(t))
    if corpus.features is not None and other.features is not None and not corpus.is_sequential:
        one, two = corpus.features[[s]], other.features[[t]]
        found.append(one.shape == two.shape and bool(abs(one - two).max() == 0))
    return bool(found) and all(found)
