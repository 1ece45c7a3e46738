"""From nodes of the parse tree to atoms and terms, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lark import Token

from crowdlogic.errors import RuleError
from crowdlogic.rules.parse_tree import Node, children, first_token
from crowdlogic.rules.places import Place, rule_error
from crowdlogic.rules.syntax import Atom, Constant, GroupName, Term, Variable

ESCAPED = {"\\": "\\", "'": "'", '"': '"', "t": "\t", "n": "\n", "r": "\r"}

MAX_DEPTH = 100
"""The deepest nesting of parentheses and negations."""


@dataclass(frozen=True)
class TermBuilder:
    """What turns nodes of one source into atoms and terms.

    Attributes:
        source: What to call the text in messages.
        lines: Its lines.
        folder: Where its own files lie, if anywhere.
        root: What the files that it names must lie in; None for anywhere.
    """

    source: str
    lines: list[str]
    folder: Path | None = None
    root: Path | None = None

    def place(self, line: int, column: int) -> Place:
        """A place by line and column."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return Place(source=self.source, line=line, column=column, text=text, folder=self.folder, root=self.root)

    def end(self) -> Place:
        """The end of the last line that says something."""
        last = max((n for n, line in enumerate(self.lines, start=1) if line.strip()), default=1)
        return self.place(last, len(self.lines[last - 1].rstrip()) + 1)

    def at(self, node: Node) -> Place:
        """Where a node begins."""
        token = node if isinstance(node, Token) else first_token(node)
        return self.place(token.line or 1, token.column or 1)

    def atom(self, node: Node) -> Atom:
        """A predicate and its terms."""
        name, _, *terms = children(node)
        return Atom(str(name), tuple(self.term(children(term)) for term in terms), self.at(name))

    def term(self, parts: list[Node]) -> Term:
        """A variable, a constant or the name of a group; a plus in front sums over a variable."""
        token = parts[-1]
        plus = len(parts) > 1 and parts[0] is not None
        if not isinstance(token, Token):
            raise RuleError(f"{self.source}: a term is missing.")
        place = self.at(token)
        if token.type == "NUMBER":
            raise rule_error(place, f"constants are quoted: write '{token}'.")
        if plus and token.type != "NAME":
            raise rule_error(place, f"+{token}: only a variable can be summed over.")
        if token.type == "STRING":
            return self.constant(token)
        return GroupName(str(token)[1:], place) if token.type == "GROUP" else Variable(str(token), place, summed=plus)

    def constant(self, token: Token) -> Constant:
        """A quoted constant, with its escapes resolved."""
        place, text, value = self.at(token), str(token)[1:-1], []
        characters: Iterator[tuple[int, str]] = iter(enumerate(text))
        for at, character in characters:
            if character != "\\":
                value.append(character)
                continue
            escaped = next(characters)[1]
            if escaped not in ESCAPED:
                where = replace(place, column=place.column + at + 1)
                raise rule_error(where, f"unknown escape \\{escaped}; known are \\\\, \\', \\\", \\t, \\n and \\r.")
            value.append(ESCAPED[escaped])
        return Constant("".join(value), place)

    def too_deep(self, node: Node) -> RuleError:
        """The error for nesting that no person writes."""
        return rule_error(self.at(node), f"parentheses and negations are nested more than {MAX_DEPTH} deep.")
