"""A fit while it runs: a table that grows on a terminal, plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crowdlogic.cli.console import say
from crowdlogic.data.wording import pluralise
from crowdlogic.learning.epoch import EpochCallback, HistoryRow
from crowdlogic.workflows.tables import percent
from crowdlogic.workflows.train import HELD_OUT

if TYPE_CHECKING:
    from rich.table import Table

SHOWN_EPOCHS = 12
"""How many epochs the table on a terminal shows; a longer one would not fit a small window."""


@contextmanager
def show_epochs(stopping: str) -> Iterator[EpochCallback]:
    """A callback that shows each epoch.

    Args:
        stopping: The name of the stopping score; empty when there is none.
    """
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda row, most: say(epoch_line(row, most, stopping))
        return
    rows: list[HistoryRow] = []
    with Live(console=console, auto_refresh=False) as live:

        def show(row: HistoryRow, most: int) -> None:
            if row.refit and rows and not rows[0].refit:
                live.console.print(epoch_table(rows, len(rows), stopping))  # the first pass stays above the refit
                rows.clear()
            rows.append(row)
            live.update(epoch_table(rows, most, stopping), refresh=True)

        yield show


def epoch_line(row: HistoryRow, most: int, stopping: str) -> str:
    """One epoch in a line."""
    score = f"{stopping} {format_score(row, stopping)}, " if stopping and not row.refit else ""
    which = (
        f"refit with all labels, epoch {row.epoch} of {most}" if row.refit else f"epoch {row.epoch} of at most {most}"
    )
    left = format_seconds(row.seconds * (most - row.epoch))
    return (
        f"{which}: loss {row.loss:.4f}, {score}{percent(row.change)} of answers changed, k {row.k:.2f}, "
        f"{format_seconds(row.seconds)}, {'about' if row.refit else 'at most'} {left} left"
    )


def epoch_table(rows: Sequence[HistoryRow], most: int, stopping: str) -> Table:
    """The last epochs of a pass; the best one so far is bold."""
    from rich.table import Table

    refit = rows[-1].refit
    best = next((row for row in reversed(rows) if row.kept), None)
    stopping = "" if refit else stopping
    title = f"refit with all labels, {pluralise(most, 'epoch')}" if refit else None
    caption = f"epoch {rows[-1].epoch} of {'' if refit else 'at most '}{most}, {_time_left(rows, most)} left"
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    for name in ("epoch", "loss", *([stopping] if stopping else []), "changed", "k", "time"):
        table.add_column(name, justify="right")
    for row in rows[-SHOWN_EPOCHS:]:
        score = [format_score(row, stopping)] if stopping else []
        cells = (row.epoch, f"{row.loss:.4f}", *score, percent(row.change), f"{row.k:.2f}", format_seconds(row.seconds))
        table.add_row(*map(str, cells), style="bold" if row is best and not refit else None)
    return table


def _time_left(rows: Sequence[HistoryRow], most: int) -> str:
    mean = sum(row.seconds for row in rows) / len(rows)
    return f"at most {format_seconds(mean * (most - rows[-1].epoch))}"


def format_score(row: HistoryRow, stopping: str) -> str:
    """The stopping score: a share in percent; a log likelihood as it is."""
    return f"{row.stopping:.4f}" if stopping == HELD_OUT else percent(row.stopping)


def format_seconds(count: float) -> str:
    """A time as a person would say it."""
    if count < 100:
        return f"{count:.1f} s"
    return f"{count / 60:.0f} min" if count < 7200 else f"{count / 3600:.1f} h"
