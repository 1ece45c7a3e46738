"""Exceptions and warnings of crowdlogic.

    CrowdLogicError
    ├── DataError (ValueError)               invalid input; the message says where and what to do
    │   ├── FormatError                      a file that cannot be read as what it claims to be
    │   │   └── SizeLimitError               a file that exceeds a limit; the message says how to raise it
    │   ├── LabelError                       a table of labels that breaks the input contract
    │   ├── CorpusError                      texts, tokens, features or gold that do not match the labels
    │   ├── RuleError                        a rule that cannot be read, grounded or satisfied; most show a caret
    │   └── MissingDataError (FileNotFoundError)   a file or data set that does not exist
    ├── OptionError (ValueError)             an option with an invalid value, alone or in combination
    ├── MissingExtraError (ImportError)      an optional dependency that is not installed
    ├── ResourceError (OSError)              the disk is full or memory ran out; the message says what is saved
    └── Interrupted                          a long job was interrupted; the message says how to resume it

    CrowdLogicWarning (UserWarning)
    ├── ConvergenceWarning                   an iterative method stopped before it converged
    └── SpreadsheetWarning                   a csv or tsv file with cells that a spreadsheet would interpret as formulas

`cli.app.main` turns any CrowdLogicError into one line on stderr and exit code 2; everything else is a bug.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

Choice = TypeVar("Choice", bound=StrEnum)


def require_kind(value: object, kind: type | tuple[type, ...], where: str, remedy: str) -> None:
    """Raise an error if a value has the wrong type.

    Args:
        value: The given value.
        kind: Expected type or types.
        where: Name of the function or option, for the message.
        remedy: Advice in the message.
    """
    if not isinstance(value, kind):
        raise OptionError(f"{where}: {type(value).__name__} cannot be used here. {remedy}")


def parse_choice(kind: type[Choice], name: str, option: str) -> Choice:
    """Return the member of an enumeration with this name; `option` is the name of the option in the error message."""
    try:
        return kind(name)
    except ValueError:
        raise OptionError(f"{option}: expected one of {', '.join(kind)}; got {name!r}.") from None


def json_reason(problem: Exception) -> str:
    """Return why a text is not JSON, in the same words for every version of Python."""
    return "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a hint for a message: " Did you mean 'x'?", or an empty string if no name is similar."""
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def name_list(names: Iterable[object], *, most: int = 8) -> str:
    """Return a few names for a message: a, b, c, ... (12 in all)."""
    shown = [str(name) for name in names]
    if len(shown) <= most:
        return ", ".join(shown)
    return f"{', '.join(shown[:most])}, ... ({len(shown)} in all)"


def one_line(text: str) -> str:
    """Return text that may quote data in a form that is safe for a terminal: one line, no control characters."""
    return escape_controls(" ".join(text.split()))


def harmless(text: str) -> str:
    """Return text that may quote data in a form that is safe for a terminal, keeping line breaks and tabs."""
    return escape_controls(text, kept="\n\t")


def escape_controls(text: str, *, kept: str = "") -> str:
    """Escape the control characters of a text, except for those in `kept`."""
    return "".join(c if c.isprintable() or c in kept else f"\\u{ord(c):04x}" for c in text)


LONGEST_LINE = 1000
"""Maximum number of characters of a line in a message."""


def shorten(text: str, most: int = LONGEST_LINE) -> str:
    """Shorten a long text to its beginning and its end, since messages may quote values of any length."""
    end = most // 4
    return text if len(text) <= most else f"{text[: most - end - 5]} ... {text[-end:]}"


class CrowdLogicError(Exception):
    """Base class of all errors of crowdlogic."""


class DataError(CrowdLogicError, ValueError):
    """The input is invalid. The message is one line of limited length, even if it quotes data."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(shorten(message)))


class FormatError(DataError):
    """A file cannot be read as what it claims to be."""


class SizeLimitError(FormatError):
    """A file exceeds a limit that protects the memory. The message names the limit and says how to raise it."""


class LabelError(DataError):
    """A table of labels breaks the input contract."""


class CorpusError(DataError):
    """Texts, tokens, features or gold do not fit the labels."""


class RuleError(DataError):
    """A rule cannot be read, grounded or satisfied. The message may have several lines, one of them with a caret."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, "\n".join(shorten(escape_controls(line)) for line in message.split("\n")))


class MissingDataError(DataError, FileNotFoundError):
    """A file or a data set does not exist."""


class OptionError(CrowdLogicError, ValueError):
    """The value of an option is invalid, alone or in combination. The message has a limited length."""

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message))


class MissingExtraError(CrowdLogicError, ImportError):
    """An optional dependency is not installed."""


class ResourceError(CrowdLogicError, OSError):
    """The disk is full, or memory ran out. The message says what is saved, and how to resume."""


class Interrupted(CrowdLogicError):  # noqa: N818 (it is not an error of anyone's)
    """A long job was interrupted (Ctrl-C). The message says what is saved, and how to resume."""


class CrowdLogicWarning(UserWarning):
    """Base class of warnings."""


class ConvergenceWarning(CrowdLogicWarning):
    """An iterative method stopped before it converged."""


class SpreadsheetWarning(CrowdLogicWarning):
    """A csv or tsv file has cells that a spreadsheet would interpret as formulas."""
