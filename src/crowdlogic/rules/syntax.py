"""The syntax tree of a rule file, with the position of each part. `str` converts a node back to the text of a rule.

[PSL] Bach, Broecheler, Huang, Getoor 2017, "Hinge-loss Markov random fields and probabilistic soft logic".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from crowdlogic.data.files import open_regular
from crowdlogic.errors import DataError, RuleError

# Positions in a rule file, and messages that point at them with a caret.

SHOWN = 500
"""Maximum number of characters of a line in a message."""
LONGEST_WORD, SHOWN_OF_WORD, LONGEST_MESSAGE = 120, 60, 1000
"""Words of messages longer than LONGEST_WORD are cut to SHOWN_OF_WORD characters, messages to LONGEST_MESSAGE."""


def shorten_message(what: str) -> str:
    """Shorten the names in a message, which come from files and may be of any length."""
    short = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda found: f"{found[0][:SHOWN_OF_WORD]}...", what)
    return short if len(short) <= LONGEST_MESSAGE else f"{short[:LONGEST_MESSAGE]}..."


@dataclass(frozen=True)
class Place:
    """A line and a column of a source, with the line's text.

    Attributes:
        source: Name of the file, or a description of a text that was not read from a file.
        line: Counted from 1.
        column: Counted from 1.
        text: The whole line.
        folder: Folder of the rule file; None for a text that was not read from a file.
        root: Folder that must contain all files named in the rules; None for any folder.
    """

    source: str
    line: int
    column: int
    text: str
    folder: Path | None = None
    root: Path | None = None

    def message(self, what: str) -> str:
        """Return a message of two parts: the position and the message, then the line with a caret below."""
        return f"{self}: {shorten_message(what)}\n{self.caret()}"

    def caret(self) -> str:
        """Return the line with a caret under the column. A long line is cut to the part around the column.

        Characters that cannot be printed are replaced by spaces, so that the caret is under the right character.
        """
        first = max(0, self.column - 1 - SHOWN // 2) if len(self.text) > SHOWN else 0
        part = self.text[first : first + SHOWN]
        shown = "".join(character if character.isprintable() else " " for character in part)
        cut = "..." if first else ""
        end = "..." if len(self.text) > first + SHOWN else ""
        return f"    {cut}{shown}{end}\n    {' ' * (len(cut) + self.column - 1 - first)}^"

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


def rule_error(place: Place, what: str) -> RuleError:
    """Return an error whose message points at a place in the rules."""
    return RuleError(place.message(what))


EQUAL, UNEQUAL = "==", "!="
COMPARISONS = (EQUAL, UNEQUAL)
OPPOSITE = {EQUAL: UNEQUAL, UNEQUAL: EQUAL}
ESCAPES = {"\\": "\\\\", "'": "\\'", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def quote(value: str) -> str:
    """Return a constant in quotes, as it is written in a rule file."""
    return f"'{''.join(ESCAPES.get(character, character) for character in value)}'"


@dataclass(frozen=True)
class Variable:
    """A name that stands for every unit, class, text or name that fits. `summed` is PSL's +C."""

    name: str
    place: Place = field(compare=False, repr=False)
    summed: bool = False

    def __str__(self) -> str:
        return f"+{self.name}" if self.summed else self.name


@dataclass(frozen=True)
class Constant:
    """A quoted name."""

    value: str
    place: Place = field(compare=False, repr=False)

    def __str__(self) -> str:
        return quote(self.value)


@dataclass(frozen=True)
class GroupName:
    """$NAME: any of the constants of a group."""

    name: str
    place: Place = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"${self.name}"


Term: TypeAlias = Variable | Constant | GroupName


@dataclass(frozen=True)
class Atom:
    """A predicate and its terms, or a comparison of two terms."""

    predicate: str
    terms: tuple[Term, ...]
    place: Place = field(compare=False, repr=False)

    @property
    def is_comparison(self) -> bool:
        """Whether this compares two terms (== or !=)."""
        return self.predicate in COMPARISONS

    def variables(self) -> Iterator[Variable]:
        """Return the variables, in order, repeated ones again."""
        return (term for term in self.terms if isinstance(term, Variable))

    def __str__(self) -> str:
        if self.is_comparison:
            return f"{self.terms[0]} {self.predicate} {self.terms[1]}"
        return f"{self.predicate}({', '.join(map(str, self.terms))})"


@dataclass(frozen=True)
class Literal:
    """An atom or its negation. A comparison is never negated: the parser turns == into != instead."""

    atom: Atom
    negated: bool = False

    def __str__(self) -> str:
        return f"!{self.atom}" if self.negated else str(self.atom)


@dataclass(frozen=True)
class LogicalRule:
    """Body -> head: if every literal of the body holds, some literal of the head should.

    Attributes:
        weight: Cost of a violation; None for a hard rule.
        body: Literals joined by and; empty for a rule without an arrow.
        head: Literals joined by or. A comparison never stands here: the parser moves its opposite to the body.
        squared: Whether the distance to satisfaction is squared.
        place: Where the rule begins.
        insisted: Whether the weight is kept even if labels contradict the rule: an exclamation mark after it.
    """

    weight: float | None
    body: tuple[Literal, ...]
    head: tuple[Literal, ...]
    squared: bool
    place: Place = field(compare=False, repr=False)
    insisted: bool = False

    @property
    def literals(self) -> tuple[Literal, ...]:
        """The literals of the rule as a disjunction: the negated literals of the body, and those of the head."""
        return tuple(Literal(literal.atom, not literal.negated) for literal in self.body) + self.head

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Every atom, the body's first."""
        return tuple(literal.atom for literal in self.body + self.head)

    def __str__(self) -> str:
        body, head = self.body, self.head
        if not head and body and body[-1].atom.is_comparison:
            # The parser moved it here from the head, where its opposite stood
            body, head = body[:-1], (opposite(body[-1]),)
        shown = " | ".join(map(str, head))
        text = f"{' & '.join(map(str, body))} -> {shown}" if body else shown
        return with_weight(self, f"{text} ^2" if self.squared else text)


def with_weight(statement: Rule | IncludedSet, text: str) -> str:
    """Return the text of a statement with its weight in front, or a full stop at the end if it is hard."""
    return f"{text} ." if statement.weight is None else f"{statement.weight!r}{'!' * statement.insisted}: {text}"


def opposite(comparison: Literal) -> Literal:
    """Return X != Y for X == Y, and vice versa."""
    return Literal(replace(comparison.atom, predicate=OPPOSITE[comparison.atom.predicate]))


@dataclass(frozen=True)
class Summand:
    """A coefficient times an atom."""

    coefficient: float
    atom: Atom


@dataclass(frozen=True)
class ArithmeticRule:
    """A linear inequality or equation over truth values: sum of coefficient * atom, relation, constant.

    Attributes:
        weight: Cost of a violation; None for a hard rule.
        summands: The left side.
        relation: One of <=, >=, =.
        constant: The right side.
        squared: Whether the distance to satisfaction is squared.
        place: Where the rule begins.
        insisted: Whether the weight is kept even if labels contradict the rule.
    """

    weight: float | None
    summands: tuple[Summand, ...]
    relation: str
    constant: float
    squared: bool
    place: Place = field(compare=False, repr=False)
    insisted: bool = False

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Every atom."""
        return tuple(summand.atom for summand in self.summands)

    def __str__(self) -> str:
        left = " + ".join(
            str(summand.atom) if summand.coefficient == 1 else f"{summand.coefficient!r} * {summand.atom}"
            for summand in self.summands
        )
        if left.startswith("-"):  # it would be taken for a difference, together with the rule before it
            left = f"0.0 + {left}"
        text = f"{left} {self.relation} {self.constant!r}"
        return with_weight(self, f"{text} ^2" if self.squared else text)


Rule: TypeAlias = LogicalRule | ArithmeticRule


@dataclass(frozen=True)
class IncludedSet:
    """A ready-made rule set, included by name: include bio('PER').

    Attributes:
        name: Name of the set.
        arguments: Constants in the parentheses.
        weight: The weight of its rules; None for hard rules.
        place: Its place in the file.
        insisted: Whether its rules keep their weight even if labels contradict them.
    """

    name: str
    arguments: tuple[str, ...]
    weight: float | None
    place: Place = field(compare=False, repr=False)
    insisted: bool = False

    def __str__(self) -> str:
        arguments = ", ".join(str(Constant(value, self.place)) for value in self.arguments)
        return with_weight(self, f"include {self.name}{f'({arguments})' if arguments else ''}")


@dataclass(frozen=True)
class RuleSet:
    """The rules of a file and of the files that it includes, in order.

    Attributes:
        statements: Rules, and ready-made rule sets, which are expanded when the classes are known.
        groups: The constants of each group, by the name of the group.
        source: Name of the file.
    """

    statements: tuple[Rule | IncludedSet, ...]
    groups: dict[str, tuple[Constant, ...]] = field(default_factory=dict)
    source: str = "the rules"

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules without ready-made sets, which `expand` converts to rules."""
        return tuple(item for item in self.statements if not isinstance(item, IncludedSet))

    def __len__(self) -> int:
        return len(self.statements)

    def __str__(self) -> str:
        groups = [f"${name} = {{{', '.join(map(str, members))}}}" for name, members in self.groups.items()]
        return "".join(f"{line}\n" for line in [*groups, *map(str, self.statements)])


# Files that rules name: other rule files, and word lists. They are regular files beside or below the rule file.
#
# A rule file may come from an untrusted source, and the files that it reads become part of the run, which may be
# shared. Therefore it cannot read files outside of its folder unless this is allowed explicitly.


def find_nearby(name: str, folder: Path, root: Path | None) -> Path:
    """Return the path of a file that a rule file names.

    Args:
        name: The file as the rule file names it.
        folder: The folder of the rule file.
        root: Folder that must contain the file after links are followed; None for any folder.
    """
    try:
        path = (folder / name).resolve()
    except (OSError, ValueError, RuntimeError) as problem:  # a zero byte in it, too long, or links in a circle
        raise RuleError(f"{name!r:.80} is not a valid file name ({problem}). Use another name.") from None
    if root is not None and not path.is_relative_to(root.resolve()):
        raise RuleError(
            f"{name!r:.80} is outside the folder of the rule file, so it is not read. Copy it there, or allow it with "
            f"--allow-outside (allow_outside=True)."
        )
    return path


def read_nearby(path: Path) -> bytes:
    """Return the content of a file that a rule file names. Error messages do not reveal any of the content."""
    try:
        with open_regular(path) as file:
            return file.read()
    except DataError as problem:
        raise RuleError(str(problem)) from None
    except OSError as problem:
        raise RuleError(f"{path.name}: cannot be read ({problem.strerror}).") from None
