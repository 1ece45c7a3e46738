"""How data shows itself in a notebook: a line of facts and the first rows of a table, as HTML."""

from __future__ import annotations

from html import escape
from typing import Any

import polars as pl

SHOWN_ROWS = 8
SHOWN_COLUMNS = 12
LONGEST_CELL = 80


def html_table(title: str, facts: str, frame: pl.DataFrame, n_rows: int) -> str:
    """A small HTML table. Everything that comes from data is escaped.

    Args:
        title: What it is, such as CrowdLabels.
        facts: Its size, in a line.
        frame: The first rows.
        n_rows: How many rows there are in all.
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
