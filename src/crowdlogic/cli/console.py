"""Output of commands: results on standard output, as tables or as one JSON object, and messages on standard error.

The JSON object of a command is declared as a dataclass (`Output`), which its module lists in `OUTPUTS` (command ->
class). docs/reference/json.md is generated from these classes.

Standard output and standard error may be closed or on a full disk. A message that cannot be written is dropped. Results
that cannot be written are an error if they are the only output of a command; otherwise they are dropped as well.
"""

from __future__ import annotations

import io
import json
import math
import os
import signal
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdlogic.errors import OptionError, SpreadsheetWarning, harmless, one_line, shorten

if TYPE_CHECKING:
    from crowdlogic.confidence.expected_accuracy import ExpectedAccuracy
    from crowdlogic.workflows.inputs import ResultTable

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C (SIGINT) and SIGTERM: 128 plus the number of the signal, as in shells."""

_received: list[int] = []
"""Termination signals that this process received."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM.

    CPython ends a process by SIGINT, whatever its exit code, once a plain KeyboardInterrupt has left Python code that
    an extension module runs, even if the exception is handled later. It compares the exact class.
    """


def catch_termination() -> None:
    """Treat SIGTERM like Ctrl-C: partial files are removed, and one line says what is saved."""

    def interrupt(number: int, _: Any) -> None:
        if number == signal.SIGTERM:
            _received.append(number)
        raise Stopped

    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGTERM, interrupt)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # otherwise it is ignored, as under nohup
            signal.signal(signal.SIGINT, interrupt)


def interruption() -> tuple[str, int]:
    """Return how the command was stopped, and its exit code."""
    return ("terminated", TERMINATED) if _received else ("interrupted", INTERRUPTED)


def was_terminated() -> bool:
    """Return whether SIGTERM arrived."""
    return bool(_received)


MOST_SAID = 4000
"""Maximum number of characters of a message."""

FALLBACK_WIDTH = 120
"""Width of tables if the output is not a terminal."""


class TolerantStream(io.TextIOWrapper):
    """Standard error that ignores write errors."""

    def write(self, text: str) -> int:
        """Write a text, or drop it on an error."""
        with suppress(OSError):
            return super().write(text)
        discard_output(self)
        return len(text)

    def flush(self) -> None:
        """Flush the buffer, or drop it on an error."""
        try:
            super().flush()
        except OSError:
            discard_output(self)


def protect_streams() -> None:
    """Make sure that the three standard streams exist, and that messages cannot fail.

    Without this, the descriptor of a closed stream would be given to the next file that is opened, and output would be
    written to that file. Writing to a closed standard output raises an error.
    """
    for descriptor, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, flags)  # opens the lowest free descriptor, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 (stays open)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is sys.__stderr__ and isinstance(stderr, io.TextIOWrapper):  # None, or replaced by another stream
        coding = stderr.encoding
        sys.stderr = TolerantStream(stderr.detach(), encoding=coding, errors="backslashreplace", line_buffering=True)


def discard_output(stream: Any) -> None:
    """Redirect a stream and its buffer to the null device."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


@contextmanager
def summary() -> Iterator[None]:
    """Print a summary of written files, ignoring errors of standard output."""
    try:
        yield
        sys.stdout.flush()
    except OSError:
        discard_output(sys.stdout)


@contextmanager
def show_spreadsheet_warnings() -> Iterator[None]:
    """Show every SpreadsheetWarning once, as a message."""
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
    """Print messages on standard error, one line each."""
    for sentence in sentences:
        sys.stderr.write(f"{one_line(shorten(sentence, MOST_SAID))}\n")


def complain(sentence: str) -> None:
    """Print one line about an error."""
    sys.stderr.write(f"crowdlogic: {one_line(shorten(sentence, MOST_SAID))}\n")


def point(message: str) -> None:
    """Print an error in a rule with its lines, because a caret marks the position."""
    sys.stderr.write(f"crowdlogic: {message}\n")


def show_lines(texts: Iterable[str]) -> None:
    """Write texts to standard output without control characters, since rules and findings quote data."""
    for text in texts:
        sys.stdout.write(f"{harmless(text)}\n")


def show_tables(*tables: ResultTable) -> None:
    """Print tables on standard output. Columns after the first are right-aligned numbers."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    class PipeConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1

    console = PipeConsole(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console.width = FALLBACK_WIDTH

    def format_cell(cell: Any) -> str:
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return "-"
        if isinstance(cell, float):
            return f"{cell:.3f}"
        return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)

    for table in tables:
        drawn = Table()
        for position, name in enumerate(table.columns):
            drawn.add_column(escape(one_line(name)), justify="right" if position else "left")
        for row in table.rows:
            drawn.add_row(*(escape(one_line(format_cell(cell))) for cell in row))
        console.print(escape(one_line(table.title)), style="bold", soft_wrap=True)
        console.print(drawn)


# The JSON objects of commands.

MERGED: Mapping[str, bool] = {"merged": True}
"""Metadata of a mapping whose entries are merged into the enclosing object."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """Fields that are part of every command's output.

    Attributes:
        command: The command.
        notices: Notices on data that were left out or changed, or that look like mistakes.
        written: Paths of the files and folders that were written.
    """

    command: str
    notices: Sequence[str] = ()
    written: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Expected accuracy.

    Attributes:
        mean: The expected share.
        low: Lower end of the range; null if it cannot be estimated.
        high: Upper end of the range; null if it cannot be estimated.
        source: Basis of the range: gold, labels, or the reason why there is none.
    """

    mean: float
    low: float
    high: float
    source: str


def make_interval(expected: ExpectedAccuracy | None) -> Interval | None:
    """Return the expected accuracy with its interval; None if the confidence is not calibrated."""
    if expected is None:
        return None
    rests_on = "gold" if expected.calibration.checked else "labels"
    source = rests_on if expected.is_known else expected.calibration.unknown
    return Interval(mean=expected.mean, low=expected.low, high=expected.high, source=source)


def list_written(*paths: str | Path | None) -> tuple[str, ...]:
    """Return the written paths, without None and standard output."""
    from crowdlogic.data.files import STANDARD_STREAM

    return tuple(str(path) for path in paths if path is not None and str(path) != STANDARD_STREAM)


def require_free_output(out: str | None, *, as_json: bool) -> None:
    """Raise an error if --json is combined with writing the result to standard output."""
    from crowdlogic.data.files import STANDARD_STREAM

    if as_json and out == STANDARD_STREAM:
        raise OptionError("--json and -o - both print to standard output. Write the result to a file with -o FILE.")


def show_output(output: Output) -> None:
    """Print the output of a command as one JSON object; NaN and infinities become null."""
    found: dict[str, Any] = {}
    for one in fields(output):
        value = getattr(output, one.name)
        found |= value if one.metadata.get("merged") else {one.name: value}
    sys.stdout.write(json.dumps(_plain(found), ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    """Return a value that can be converted to JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def merged() -> Any:
    """Return the default of a mapping whose entries are merged into the enclosing object."""
    return field(default_factory=dict, metadata=MERGED)
