"""Rules that a run carries with it: their text, the tables of facts and the word lists that they speak of.

Included files are part of the text. A word list is copied into the run and the rule names the copy, so that nothing
outside the run is needed, wherever it is moved; and nothing outside it is read, whatever its config.json says.
Predicates registered from Python are code and cannot be kept: whoever loads such a run brings them along.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType
from typing import Any

import polars as pl

from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import FormatError, OptionError, RuleError
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Kind, Table, Vocabulary
from crowdlogic.rules.syntax import ArithmeticRule, Atom, Constant, GroupName, LogicalRule, Ready, Rule, RuleSet, Term
from crowdlogic.store.damage import require, require_entry
from crowdlogic.store.files import get_table, put_bytes, put_table
from crowdlogic.store.layout import TABLES, WORDS

TRUTH = "truth"


def carry_rules(folder: Path, rules: RuleSet, vocabulary: Vocabulary) -> dict[str, Any]:
    """Write what rules need into the run; what config.json says of them."""
    copies = _Copies(vocabulary, dict(rules.groups))
    statements = tuple(_with_copies(one, copies) for one in rules.statements)
    found = replace(rules, statements=statements, groups=copies.groups)
    tables = {}
    for name, table in vocabulary.tables.items():
        signature = vocabulary.find(name)
        shown = name if signature is None else signature.name
        (folder / TABLES).mkdir(exist_ok=True)
        put_table(folder / TABLES / f"{shown}.parquet", _frame(table))
        tables[shown] = table.source.name
    for path, name in copies.lists.items():
        (folder / WORDS).mkdir(exist_ok=True)
        put_bytes(folder / name, path.read_bytes())
    functions = [signature.name for name in vocabulary.functions if (signature := vocabulary.find(name)) is not None]
    return {"source": rules.source, "text": str(found), "tables": tables, "functions": functions}


def carried_rules(
    folder: Path, noted: Mapping[str, Any], vocabulary: Vocabulary | None = None
) -> tuple[RuleSet, Vocabulary]:
    """The rules of a run, and their vocabulary.

    Args:
        folder: The run.
        noted: What config.json says of the rules.
        vocabulary: Predicates to use beside (or instead of) those that the run carries.
    """
    words = Vocabulary() if vocabulary is None else vocabulary.copy()
    tables, functions, text, given = (
        require_entry(noted, name, kind, where="rules")
        for name, kind in (("tables", Mapping), ("functions", list), ("text", str), ("source", (str, NoneType)))
    )
    for name, source in tables.items():
        if not (name.isidentifier() and name.isascii()):
            raise FormatError(f"{folder}: the run is damaged ({name!r} cannot name a table). Train it again.")
        if words.find(name) is None:
            facts = get_table(folder / TABLES / f"{name}.parquet")
            words.table(name, facts, source=TableSource(require(source, str, f"rules: {name}")))
    missing = [name for name in functions if words.find(name) is None]
    if missing:
        raise OptionError(
            f"{folder}: its rules speak of {missing[0]}, which was registered from Python. Load the run from Python "
            f"with a vocabulary that has it."
        )
    try:
        rules = parse_rules(text, source=given, folder=folder, includes=False)
    except RuleError as problem:
        raise FormatError(f"{folder}: the run is damaged (its rules cannot be read). {problem}") from None
    _refuse_foreign_lists(folder, rules, words)
    return rules, words


def _refuse_foreign_lists(folder: Path, rules: RuleSet, vocabulary: Vocabulary) -> None:
    """A run reads its own word lists and no other file."""
    own = (folder / WORDS).resolve()
    for constant in _lists_of(rules, vocabulary):
        if not (folder / constant.value).resolve().is_relative_to(own):
            raise FormatError(
                f"{folder}: the run is damaged (its rules name the word list {constant}, which is not in its folder "
                f"{WORDS!r}). Train it again."
            )


def _lists_of(rules: RuleSet, vocabulary: Vocabulary) -> Iterator[Constant]:
    """The name of every word list that rules speak of."""
    for atom in (atom for rule in rules.rules for atom in rule.atoms):
        signature = vocabulary.find(atom.predicate)
        for term, kind in zip(atom.terms, () if signature is None else signature.kinds, strict=False):
            if kind is Kind.file and isinstance(term, Constant):
                yield term
            elif kind is Kind.file and isinstance(term, GroupName):
                yield from rules.groups.get(term.name, ())


def _frame(table: Table) -> pl.DataFrame:
    """Facts as a table: a column per place, and the truth when it is not always 1."""
    columns = {f"{place}": series for place, series in enumerate(table.arguments, start=1)}
    return pl.DataFrame(columns if table.truth is None else {**columns, TRUTH: table.truth})


@dataclass(eq=False)
class _Copies:
    """The word lists that a run copies.

    Attributes:
        vocabulary: Says at which places a predicate names a word list.
        groups: The groups of the rules, and those of copied names that stand in for some of them.
        lists: Where the run keeps each list.
        stand_ins: The group of copied names for a group as a file in some folder reads it.
    """

    vocabulary: Vocabulary
    groups: dict[str, tuple[Constant, ...]]
    lists: dict[Path, str] = field(default_factory=dict)
    stand_ins: dict[tuple[str, Path], str] = field(default_factory=dict)

    def of(self, term: Term, folder: Path) -> Term:
        """A term that names one word list, or a group of them, as the run names its copies."""
        if isinstance(term, Constant):
            return replace(term, value=self.name_of((folder / term.value).resolve()))
        if not isinstance(term, GroupName) or term.name not in self.groups:
            return term
        if (term.name, folder) not in self.stand_ins:
            # a group of its own: the same constants may serve as words elsewhere, or be read from another folder
            name = _free(f"{term.name}_LISTS", self.groups)
            self.groups[name] = tuple(
                replace(member, value=self.name_of((folder / member.value).resolve()))
                for member in self.groups[term.name]
            )
            self.stand_ins[term.name, folder] = name
        return replace(term, name=self.stand_ins[term.name, folder])

    def name_of(self, path: Path) -> str:
        """Where the run keeps a word list: under its own name, or a numbered one when that is taken."""
        if path not in self.lists:
            name, number = f"{WORDS}/{path.name}", 1
            while name in self.lists.values():
                number += 1
                name = f"{WORDS}/{path.stem}-{number}{path.suffix}"
            self.lists[path] = name
        return self.lists[path]


def _free(name: str, taken: Container[str]) -> str:
    """A name for a group that none has yet."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _with_copies(statement: Rule | Ready, copies: _Copies) -> Rule | Ready:
    """The same rule, naming the run's copies of its word lists."""
    if isinstance(statement, LogicalRule):
        body, head = (
            tuple(replace(literal, atom=_copied(literal.atom, copies)) for literal in side)
            for side in (statement.body, statement.head)
        )
        return replace(statement, body=body, head=head)
    if isinstance(statement, ArithmeticRule):
        summands = (replace(one, atom=_copied(one.atom, copies)) for one in statement.summands)
        return replace(statement, summands=tuple(summands))
    return statement


def _copied(atom: Atom, copies: _Copies) -> Atom:
    signature = None if atom.is_comparison else copies.vocabulary.find(atom.predicate)
    folder = atom.place.folder
    if signature is None or Kind.file not in signature.kinds or folder is None:
        return atom
    terms = tuple(
        copies.of(term, folder) if kind is Kind.file else term
        for term, kind in zip(atom.terms, signature.kinds, strict=True)
    )
    return replace(atom, terms=terms)
