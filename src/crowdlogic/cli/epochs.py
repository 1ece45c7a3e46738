"""A fit while it runs: a table that grows on a terminal, plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from crowdlogic.cli.console import percent, say
from crowdlogic.data.wording import pluralise
from crowdlogic.learning.course import Progress, Row

HELD_OUT = "held-out log likelihood"

LAST = 12
"""How many epochs the table on a terminal shows; a longer one would not fit a small window."""


@contextmanager
def epochs_shown(stopping: str) -> Iterator[Progress]:
    """Something to tell of every epoch.

    Args:
        stopping: What the stopping score is called; empty when there is none.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda row, most: say(line_of(row, most, stopping))
        return
    rows: list[Row] = []
    with Live(console=console, auto_refresh=False) as live:

        def show(row: Row, most: int) -> None:
            if row.again and rows and not rows[0].again:
                live.console.print(table_of(rows, len(rows), stopping))  # the first pass stays above the second
                rows.clear()
            rows.append(row)
            live.update(table_of(rows, most, stopping), refresh=True)

        yield show


def line_of(row: Row, most: int, stopping: str) -> str:
    """One epoch in a line."""
    score = f"{stopping} {score_of(row, stopping)}, " if stopping and not row.again else ""
    which = (
        f"again with all labels, epoch {row.epoch} of {most}" if row.again else f"epoch {row.epoch} of at most {most}"
    )
    left = seconds(row.seconds * (most - row.epoch))
    return (
        f"{which}: loss {row.loss:.4f}, {score}{percent(row.change)} of answers changed, k {row.k:.2f}, "
        f"{seconds(row.seconds)}, {'about' if row.again else 'at most'} {left} left"
    )


def table_of(rows: list[Row], most: int, stopping: str) -> Table:
    """The last epochs of a pass; the one that is kept so far is marked."""
    again = rows[-1].again
    best = next((row for row in reversed(rows) if row.kept), None)
    stopping = "" if again else stopping
    title = f"again with all labels, {pluralise(most, 'epoch')}" if again else None
    caption = f"epoch {rows[-1].epoch} of {'' if again else 'at most '}{most}, {_left(rows, most)} left"
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    for name in ("epoch", "loss", *([stopping] if stopping else []), "changed", "k", "time"):
        table.add_column(name, justify="right")
    for row in rows[-LAST:]:
        score = [score_of(row, stopping)] if stopping else []
        cells = (row.epoch, f"{row.loss:.4f}", *score, percent(row.change), f"{row.k:.2f}", seconds(row.seconds))
        table.add_row(*map(str, cells), style="bold" if row is best and not again else None)
    return table


def _left(rows: list[Row], most: int) -> str:
    mean = sum(row.seconds for row in rows) / len(rows)
    return f"at most {seconds(mean * (most - rows[-1].epoch))}"


def score_of(row: Row, stopping: str) -> str:
    """The stopping score: a share in percent; a log likelihood as it is."""
    return f"{row.stopping:.4f}" if stopping == HELD_OUT else percent(row.stopping)


def seconds(count: float) -> str:
    """A time as a person would say it."""
    if count < 100:
        return f"{count:.1f} s"
    return f"{count / 60:.0f} min" if count < 7200 else f"{count / 3600:.1f} h"
