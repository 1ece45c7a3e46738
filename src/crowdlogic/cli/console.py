"""What commands print, and where: figures on standard output, remarks on standard error.

Standard output and standard error may be closed, or on a full disk. A remark that cannot be written is dropped. Figures
that cannot be written are an error if they are all that a command gives, and are dropped if its files are written.
"""

from __future__ import annotations

import io
import json
import math
import os
import signal
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from crowdlogic.errors import SpreadsheetWarning, harmless, one_line, shorten

if TYPE_CHECKING:
    from crowdlogic.workflows.inputs import ResultTable

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C (SIGINT) and SIGTERM: 128 and the signal's number, as shells have it."""

_received: list[int] = []
"""The termination signals that this process received."""


def catch_termination() -> None:
    """Have SIGTERM end a command as Ctrl-C does: what is half-written is removed, and one line says what is saved."""

    def interrupt(number: int, _: Any) -> None:
        _received.append(number)
        raise KeyboardInterrupt

    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGTERM, interrupt)


def interruption() -> tuple[str, int]:
    """Return how the command was stopped, in a word, and its exit code."""
    return ("terminated", TERMINATED) if _received else ("interrupted", INTERRUPTED)


def was_terminated() -> bool:
    """Return whether SIGTERM arrived."""
    return bool(_received)


MOST_SAID = 4000
"""How many characters a remark may have."""

FALLBACK_WIDTH = 120
"""How wide a table may be when the output is no terminal."""


class TolerantStream(io.TextIOWrapper):
    """Standard error that drops what cannot be written."""

    def write(self, text: str) -> int:
        """Write a text, or drop it."""
        with suppress(OSError):
            return super().write(text)
        discard_output(self)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered, or drop it."""
        try:
            super().flush()
        except OSError:
            discard_output(self)


def protect_streams() -> None:
    """Make sure that the three standard streams exist, and that remarks cannot fail.

    The descriptor of a closed stream would otherwise be given to the next file that is opened, and prints would go
    into that file. Standard output that was closed fails when something is written to it.
    """
    for descriptor, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 (stays open)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is sys.__stderr__ and isinstance(stderr, io.TextIOWrapper):  # None, or Python's own
        coding = stderr.encoding
        sys.stderr = TolerantStream(stderr.detach(), encoding=coding, errors="backslashreplace", line_buffering=True)


def discard_output(stream: Any) -> None:
    """Send everything that is written to a stream from now on, and what it has buffered, to the null device."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


@contextmanager
def summary() -> Iterator[None]:
    """Print a summary of what was written to files: that it cannot be printed is no error."""
    try:
        yield
        sys.stdout.flush()
    except OSError:
        discard_output(sys.stdout)


@contextmanager
def show_spreadsheet_warnings() -> Iterator[None]:
    """Say what a SpreadsheetWarning says, once."""
    show_others = warnings.showwarning
    said: list[str] = []

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, SpreadsheetWarning):
            show_others(message, category, *place, **more)
        elif not said:
            said.append(str(message))
            say(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", SpreadsheetWarning)
        warnings.showwarning = show
        yield


def say(*sentences: str) -> None:
    """Remarks for the person at the terminal, a line each, on standard error."""
    for sentence in sentences:
        sys.stderr.write(f"{one_line(shorten(sentence, MOST_SAID))}\n")


def complain(sentence: str) -> None:
    """One line about what went wrong."""
    sys.stderr.write(f"crowdlogic: {one_line(shorten(sentence, MOST_SAID))}\n")


def point(message: str) -> None:
    """What went wrong in a rule: the lines are kept, since a caret stands under one of them."""
    sys.stderr.write(f"crowdlogic: {message}\n")


def show_lines(texts: Iterable[str]) -> None:
    """Write texts to standard output, without control characters: rules and findings quote names from data."""
    for text in texts:
        sys.stdout.write(f"{harmless(text)}\n")


def show_json(figures: Any) -> None:
    """Figures as one JSON object on standard output; what is not a number is null."""
    sys.stdout.write(json.dumps(_plain(figures), ensure_ascii=False) + "\n")


def show_tables(*tables: ResultTable) -> None:
    """Tables on standard output. Columns after the first are figures, aligned to the right."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console.width = FALLBACK_WIDTH
    for table in tables:
        drawn = Table()
        for position, name in enumerate(table.columns):
            drawn.add_column(escape(one_line(name)), justify="right" if position else "left")
        for row in table.rows:
            drawn.add_row(*(escape(one_line(_format_cell(cell))) for cell in row))
        console.print(escape(one_line(table.title)), style="bold", soft_wrap=True)
        console.print(drawn)


def _format_cell(cell: Any) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return "-" if math.isnan(cell) else f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
