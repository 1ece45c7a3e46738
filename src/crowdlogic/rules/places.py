"""Where something stands in a rule file, and messages that point at it with a caret."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.errors import RuleError


@dataclass(frozen=True)
class Place:
    """A line and a column of a source, with the line's text.

    Attributes:
        source: The file's name, or what to call a text that came from no file.
        line: Counted from 1.
        column: Counted from 1.
        text: The whole line.
    """

    source: str
    line: int
    column: int
    text: str

    def message(self, what: str) -> str:
        """The message with its place in front, and the line with a caret below."""
        return f"{self}: {what}\n{self.caret()}"

    def caret(self) -> str:
        """The line, and a caret under the column. Tabs are kept, so that the caret stays under its character."""
        before = self.text[: self.column - 1]
        padding = "".join("\t" if character == "\t" else " " for character in before)
        return f"    {self.text}\n    {padding}^"

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


def refusal(place: Place, what: str) -> RuleError:
    """The error for something at a place."""
    return RuleError(place.message(what))
