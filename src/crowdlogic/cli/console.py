"""What commands say, and where: figures on standard output, remarks on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from crowdlogic.errors import one_line, shorten

if TYPE_CHECKING:
    from crowdlogic.workflows.tables import ResultTable

MOST_SAID = 4000
"""How many characters a remark may have."""

FALLBACK_WIDTH = 120
"""How wide a table may be when the output is no terminal."""


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
    """Texts on standard output as they are; rules and findings about them have harmless lines already."""
    for text in texts:
        sys.stdout.write(f"{text}\n")


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
            drawn.add_column(escape(name), justify="right" if position else "left")
        for row in table.rows:
            drawn.add_row(*(escape(one_line(_format_cell(cell))) for cell in row))
        console.print(escape(one_line(table.title)), style="bold", soft_wrap=True)
        console.print(drawn)


def show_result(result: Any, *, as_json: bool) -> None:
    """The figures of a result: one JSON object (`figures()`), or its table (`table()`)."""
    if as_json:
        show_json(result.figures())
    else:
        show_tables(result.table())


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
