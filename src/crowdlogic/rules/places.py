"""Positions in a rule file, and messages that point at them with a caret."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crowdlogic.errors import RuleError


@dataclass(frozen=True)
class Place:
    """A line and a column of a source, with the line's text.

    Attributes:
        source: The file's name, or what to call a text that came from no file.
        line: Counted from 1.
        column: Counted from 1.
        text: The whole line.
        folder: Where the source's own files lie; None for a text that came from no file.
    """

    source: str
    line: int
    column: int
    text: str
    folder: Path | None = None

    def message(self, what: str) -> str:
        """The message with its place in front, and the line with a caret below."""
        return f"{self}: {what}\n{self.caret()}"

    def caret(self) -> str:
        """The line, and a caret under the column. What cannot be printed shows as a space, to keep columns true."""
        shown = "".join(character if character.isprintable() else " " for character in self.text)
        return f"    {shown}\n    {' ' * (self.column - 1)}^"

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


def rule_error(place: Place, what: str) -> RuleError:
    """The error for something at a place."""
    return RuleError(place.message(what))
