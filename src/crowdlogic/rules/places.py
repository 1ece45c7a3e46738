"""Positions in a rule file, and messages that point at them with a caret."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crowdlogic.errors import RuleError

SHOWN = 500
"""How many characters of a line a message shows."""


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
        """The message with its place in front, and the line with a caret below."""
        return f"{self}: {what}\n{self.caret()}"

    def caret(self) -> str:
        """The line, and a caret under the column. What cannot be printed shows as a space, to keep columns true.

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
    """The error for something at a place."""
    return RuleError(place.message(what))
