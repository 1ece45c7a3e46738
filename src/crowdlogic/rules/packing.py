"""Convert rules to plain data that can be saved: their text, and the tables of facts and word lists that they use.

Included files become part of the text. Each word list gets a unique name, by which the packed rules refer to it, so
that unpacking never reads a file. Predicates registered from Python are code and cannot be packed: users must supply
them again when the rules are unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import FormatError, OptionError, RuleError
from crowdlogic.registry import PREDICATES
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import Kind
from crowdlogic.rules.predicates.tokens import parse_word_list, word_list_bytes
from crowdlogic.rules.syntax import (
    ArithmeticRule,
    Atom,
    Constant,
    GroupName,
    IncludedSet,
    LogicalRule,
    Place,
    Rule,
    RuleSet,
    Term,
    find_nearby,
)
from crowdlogic.store.runs import PackedRules

TRUTH = "truth"


def pack_rules(rules: RuleSet, vocabulary: Vocabulary | None = None) -> PackedRules:
    """Return rules as plain data. Only the files of word lists are read.

    Args:
        rules: The rules.
        vocabulary: Predicates in addition to the built-in ones.
    """
    words = vocabulary or Vocabulary()
    packing = _Packing(words, dict(rules.groups))
    statements = tuple(_rename_lists(one, packing) for one in rules.statements)
    # Tables are found by their name in lower case, and packed under the name that was given. A table becomes a frame
    # with one column per argument, and the truth if it is not always 1.
    tables = {getattr(words.find(name), "name", name): table for name, table in words.tables.items()}
    frames = {}
    for name, table in tables.items():
        columns = {f"{place}": series for place, series in enumerate(table.arguments, start=1)}
        frames[name] = pl.DataFrame(columns if table.truth is None else {**columns, TRUTH: table.truth})
    return PackedRules(
        text=str(replace(rules, statements=statements, groups=packing.groups)),
        source=rules.source,
        tables=frames,
        table_sources={name: table.source.name for name, table in tables.items()},
        word_lists=dict(packing.lists.values()),
        functions=used_functions(rules, words),
    )


def used_functions(rules: RuleSet, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the predicates of the rules that were registered from Python and cannot be saved in a file."""
    used = {atom.predicate.casefold() for rule in rules.rules for atom in rule.atoms}
    return tuple(name for name in vocabulary.function_names() if name.casefold() in used)


def missing_functions(packed: PackedRules, vocabulary: Vocabulary | None = None) -> list[str]:
    """Return the predicates from Python that packed rules need and that are not available."""
    words = Vocabulary() if vocabulary is None else vocabulary
    return [name for name in packed.functions if words.find(name) is None]


def check_packing(rules: RuleSet, vocabulary: Vocabulary | None = None) -> None:
    """Raise an error if rules would change when they are packed and unpacked, as a run does."""
    packed = pack_rules(rules, vocabulary)
    added = None if vocabulary is None else vocabulary.copy()
    try:
        again, _ = unpack_rules(packed, added, where=rules.source)
    except FormatError as problem:
        raise RuleError(f"{rules.source}: these rules could not be read again from a run. {problem}") from problem
    if str(again) != packed.text:
        raise RuleError(f"{rules.source}: these rules would change when saved in a run. Write them in a simpler form.")


def unpack_rules(
    packed: PackedRules, vocabulary: Vocabulary | None = None, *, where: str = "the run"
) -> tuple[RuleSet, Vocabulary]:
    """Return the rules and their vocabulary.

    Args:
        packed: The rules as plain data.
        vocabulary: Predicates in addition to the packed ones, and tables that replace packed ones.
        where: Name of the source of the data in messages, such as a folder.
    """
    words = Vocabulary() if vocabulary is None else vocabulary.copy()
    for name, frame in packed.tables.items():
        if words.find(name) is None:
            words.table(name, frame, source=TableSource(packed.table_sources.get(name, f"the table of {name}")))
    missing = missing_functions(packed, words)
    if missing:
        raise OptionError(
            f"{where}: its rules use {missing[0]}, which was registered from Python and is not saved with the run. "
            f"Load it with a vocabulary that contains it: crowdlogic.load_run({where!r}, vocabulary=vocabulary). "
            f"Commands only know the predicates of installed packages: name it in an entry point of the group "
            f"{PREDICATES.group}."
        )
    try:
        rules = parse_rules(packed.text, source=packed.source)  # from no folder, so that no file can be included
        for name, content in packed.word_lists.items():
            words.word_list(name, parse_word_list(content, name))
    except RuleError as problem:
        raise FormatError(f"{where}: the run is damaged (its rules cannot be read). {problem}") from None
    for constant in _named_lists(rules, words):
        if constant.value not in packed.word_lists:
            raise FormatError(
                f"{where}: the run is damaged (its rules name the word list {constant}, which is not among its own). "
                f"Train it again."
            )
    return rules, words


def _named_lists(rules: RuleSet, vocabulary: Vocabulary) -> Iterator[Constant]:
    """Yield the name of every word list that appears in rules."""
    for atom in (atom for rule in rules.rules for atom in rule.atoms):
        predicate = vocabulary.find(atom.predicate)
        for term, kind in zip(atom.terms, () if predicate is None else predicate.kinds, strict=False):
            if kind is Kind.file and isinstance(term, Constant):
                yield term
            elif kind is Kind.file and isinstance(term, GroupName):
                yield from rules.groups.get(term.name, ())


@dataclass(eq=False)
class _Packing:
    """The word lists that are packed.

    Attributes:
        vocabulary: The predicates, and the word lists that were not read from files.
        groups: The groups of the rules, and the groups of packed names that replace some of them.
        lists: The packed name and the content of each list, by its source (a file, or a name in the vocabulary).
        stand_ins: The name of the group that replaces a group of word lists, by that group and the folder of the rule.
    """

    vocabulary: Vocabulary
    groups: dict[str, tuple[Constant, ...]]
    lists: dict[Path | str, tuple[str, bytes]] = field(default_factory=dict)
    stand_ins: dict[tuple[str, Path | None], str] = field(default_factory=dict)

    def rename(self, term: Term, place: Place) -> Term:
        """Return a term in which the name of a word list, or a group of names, is replaced by packed names."""
        folder = place.folder
        if isinstance(term, Constant):
            return replace(term, value=self.pack(term.value, place))
        if not isinstance(term, GroupName) or term.name not in self.groups:
            return term
        if (term.name, folder) not in self.stand_ins:
            # A new group, since the same constants may be words elsewhere, or be read from another folder
            names = (f"{term.name}_LISTS{end}" for end in ("", *(f"_{n}" for n in range(2, len(self.groups) + 3))))
            name = next(name for name in names if name not in self.groups)
            self.groups[name] = tuple(
                replace(member, value=self.pack(member.value, place)) for member in self.groups[term.name]
            )
            self.stand_ins[term.name, folder] = name
        return replace(term, name=self.stand_ins[term.name, folder])

    def pack(self, value: str, place: Place) -> str:
        """Pack a word list and return its packed name: its own name, with a number if that name is taken."""
        source: Path | str = value if place.folder is None else find_nearby(value, place.folder, place.root)
        if source not in self.lists:
            path, taken = Path(value), {name for name, _ in self.lists.values()}
            names = (path.name, *(f"{path.stem}-{number}{path.suffix}" for number in range(2, len(taken) + 3)))
            name = next(name for name in names if name not in taken)
            if isinstance(source, Path):
                content = word_list_bytes(source)
            elif source in self.vocabulary.word_lists:
                content = "".join(f"{word}\n" for word in self.vocabulary.word_lists[source]).encode()
            else:
                raise RuleError(
                    f"rules that were not read from a file name the word list {source!r}, which the vocabulary does "
                    f"not contain. Add it with word_list."
                )
            self.lists[source] = (name, content)
        return self.lists[source][0]


def _rename_lists(statement: Rule | IncludedSet, packing: _Packing) -> Rule | IncludedSet:
    """Return a rule with its word lists replaced by their packed names."""
    if isinstance(statement, LogicalRule):
        body, head = (
            tuple(replace(literal, atom=_rename_in_atom(literal.atom, packing)) for literal in side)
            for side in (statement.body, statement.head)
        )
        return replace(statement, body=body, head=head)
    if isinstance(statement, ArithmeticRule):
        summands = (replace(one, atom=_rename_in_atom(one.atom, packing)) for one in statement.summands)
        return replace(statement, summands=tuple(summands))
    return statement


def _rename_in_atom(atom: Atom, packing: _Packing) -> Atom:
    predicate = None if atom.is_comparison else packing.vocabulary.find(atom.predicate)
    if predicate is None or Kind.file not in predicate.kinds:
        return atom
    terms = tuple(
        packing.rename(term, atom.place) if kind is Kind.file else term
        for term, kind in zip(atom.terms, predicate.kinds, strict=True)
    )
    return replace(atom, terms=terms)
