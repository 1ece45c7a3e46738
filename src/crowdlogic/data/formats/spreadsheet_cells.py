"""Cells that a spreadsheet would take for a formula: written with a leading quote, and read without it.

Whoever opens a csv file in a spreadsheet runs what its cells say: =HYPERLINK(...), or @SUM(...), or -2+3+cmd|... . A
cell that begins with = + - @, a tab or a line break is written with a quote (') in front, unless it is a number or a
single sign; one that has such a quote already gets another. Reading takes one off again, so that nothing is lost.
"""

from __future__ import annotations

import re

import polars as pl

PLAIN = r"^(?:[+-]|[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)$"
"""A number, or a sign alone."""

FORMULA, GUARDED = r"^'*[=+\-@\t\r\n]", r"^'+[=+\-@\t\r\n]"


def guard_text(text: str) -> str:
    """A cell as a csv file for people holds it."""
    return f"'{text}" if re.match(FORMULA, text) and not re.match(PLAIN, text) else text


def guard_cells(table: pl.DataFrame) -> pl.DataFrame:
    """A table as a csv file for people holds it, its header included."""
    texts = [name for name, kind in table.schema.items() if kind in (pl.String, pl.Categorical)]
    cells = pl.col(texts).cast(pl.String)
    is_formula = cells.str.contains(FORMULA) & ~cells.str.contains(PLAIN)
    guarded = table.with_columns(pl.when(is_formula).then(pl.lit("'") + cells).otherwise(cells).name.keep())
    return guarded.rename({name: guard_text(name) for name in table.columns if guard_text(name) != name})


def unguard_cells(table: pl.DataFrame) -> pl.DataFrame:
    """A table of texts as it was before `guard_cells`."""
    names = {name: name[1:] for name in table.columns if re.match(GUARDED, name)}
    quoted = table.select(pl.col(pl.String).str.starts_with("'").any())
    columns = [name for name in quoted.columns if quoted[name][0]]
    if columns:
        cells = pl.col(columns)
        bare = pl.when(cells.str.contains(GUARDED)).then(cells.str.slice(1)).otherwise(cells)
        table = table.with_columns(bare.name.keep())
    return (
        table.rename(names)
        if names and len({*table.columns} | {*names.values()}) == table.width + len(names)
        else table
    )
