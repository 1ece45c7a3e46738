"""The syntax tree of a rule file: what was written, and where. Every node prints as the text it came from would read.

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
        source: The file's name, or what to call a text that came from no file.
        line: Counted from 1.
        column: Counted from 1.
        text: The whole line.
        folder: Where the source's own files lie; None for a text that came from no file.
        root: What the files that it names must lie in; None for anywhere.
    """

    source: str
    line: int
    column: int
    text: str
    folder: Path | None = None
    root: Path | None = None

    def message(self, what: str) -> str:
        """Return the message with its place in front, and the line with a caret below."""
        return f"{self}: {shorten_message(what)}\n{self.caret()}"

    def caret(self) -> str:
        """Return the line, and a caret under the column. What cannot be printed shows as a space, to keep columns true.

        Of a long line, what is around the column.
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
    """Return the error for something at a place."""
    return RuleError(place.message(what))


EQUAL, UNEQUAL = "==", "!="
COMPARISONS = (EQUAL, UNEQUAL)
OPPOSITE = {EQUAL: UNEQUAL, UNEQUAL: EQUAL}
ESCAPES = {"\\": "\\\\", "'": "\\'", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def quote(value: str) -> str:
    """Return a constant as a rule file has it."""
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
        """The literals of the clause that the rule is: the body's, negated, and the head's."""
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
        return _with_weight(self, text)


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
        return _with_weight(self, f"{left} {self.relation} {self.constant!r}")


Rule: TypeAlias = LogicalRule | ArithmeticRule


def _with_weight(rule: Rule, text: str) -> str:
    if rule.weight is None:
        return f"{text} ."
    return f"{rule.weight!r}{'!' * rule.insisted}: {text}{' ^2' if rule.squared else ''}"


@dataclass(frozen=True)
class IncludedSet:
    """A ready-made rule set, included by name: include bio('PER').

    Attributes:
        name: Which one.
        arguments: What stands in the parentheses.
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
        text = f"include {self.name}{f'({arguments})' if arguments else ''}"
        return f"{text} ." if self.weight is None else f"{self.weight!r}{'!' * self.insisted}: {text}"


@dataclass(frozen=True)
class RuleSet:
    """The rules of a file and of what it includes, in the order of the file.

    Attributes:
        statements: Rules, and ready-made sets that wait for the classes.
        groups: The constants behind each group's name.
        source: The file's name.
    """

    statements: tuple[Rule | IncludedSet, ...]
    groups: dict[str, tuple[Constant, ...]] = field(default_factory=dict)
    source: str = "the rules"

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that are written out; `expand` writes out the ready-made ones too."""
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
        root: What the file must lie in, links followed; None for anywhere.
    """
    try:
        path = (folder / name).resolve()
    except (OSError, ValueError, RuntimeError) as problem:  # a zero byte in it, too long, or links in a circle
        raise RuleError(f"{name!r:.80} cannot name a file ({problem}).") from None
    if root is not None and not path.is_relative_to(root.resolve()):
        raise RuleError(
            f"{name!r:.80} lies outside of the rule file's folder, and is not read. Copy it there, or allow it with "
            f"--allow-outside (allow_outside=True)."
        )
    return path


def read_nearby(path: Path) -> bytes:
    """Return the content of a file that a rule file names; the error for an unreadable file reveals no content."""
    try:
        with open_regular(path) as file:
            return file.read()
    except DataError as problem:
        raise RuleError(str(problem)) from None
    except OSError as problem:
        raise RuleError(f"{path.name}: cannot be read ({problem.strerror}).") from None
