"""Numbers and names in sentences: counts with their nouns, cautious percentages, names of readable length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import polars as pl

NAME_LENGTH = 60
"""Maximum length of a name in a sentence; longer names are cut."""


def pluralise(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, such as 1 item, 2 items or 1,000 items."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def percent(share: float | None) -> str:
    """Format a share in percent, with a digit after the point below 1% and above 99%; 0% and 100% are exact."""
    if share is None or math.isnan(share):
        return "an unknown share"
    if share in (0.0, 1.0):
        return f"{100 * share:.0f}%"
    if 0.01 <= share <= 0.99:
        return f"{100 * share:.0f}%"
    shown = min(max(round(100 * share, 1), 0.1), 99.9)
    return f"{'less than ' if 0 < share < 0.001 else 'more than ' if share > 0.999 else ''}{shown:g}%"


def approximate(expected: float) -> str:
    """Format an expected number: rounded to an integer from 10 on, otherwise to one digit, and never to 0."""
    if 0 < expected < 0.1:
        return "less than 0.1"
    return f"about {expected:,.0f}" if expected >= 9.95 else f"about {expected:.1f}".removesuffix(".0")


def shorten_name(name: object) -> str:
    """Return a name for a sentence: on one line, cut at NAME_LENGTH characters."""
    text = " ".join(str(name).split())
    return text if len(text) <= NAME_LENGTH else f"{text[: NAME_LENGTH - 1]}…"


def list_names(names: Sequence[object], most: int = 4) -> str:
    """Return the first names and the number of the others: w01, w02, w03 and 5 more."""
    shown = ", ".join(shorten_name(name) for name in names[:most])
    rest = len(names) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


# Display in notebooks: a line of facts and the first rows of a table, as HTML.

SHOWN_ROWS = 8
SHOWN_COLUMNS = 12
LONGEST_CELL = 80


def html_table(title: str, facts: str, frame: pl.DataFrame, n_rows: int) -> str:
    """Return a small HTML table. All text from the data is escaped.

    Args:
        title: Name of the class, such as CrowdLabels.
        facts: Description of the size, in one line.
        frame: The first rows.
        n_rows: Total number of rows.
    """
    shown = frame.head(SHOWN_ROWS)
    columns = shown.columns[:SHOWN_COLUMNS]
    more = "" if len(columns) == len(shown.columns) else "<th>...</th>"
    header = "".join(f"<th>{escape(name)}</th>" for name in columns) + more
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row[: len(columns)]) + "</tr>" for row in shown.rows()
    )
    rest = n_rows - len(shown)
    footer = f"<p>... {rest:,} more rows</p>" if rest > 0 else ""
    return (
        f"<div><p><b>{escape(title)}</b>: {escape(facts)}</p>"
        f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>{footer}</div>"
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 3]}...")


def pluralise_votes(count: float) -> str:
    """Return a number of independent votes in words, such as 4.8 votes."""
    return "one vote" if count < 1.05 else f"{count:.1f} votes" if count < 9.95 else f"{count:.0f} votes"
