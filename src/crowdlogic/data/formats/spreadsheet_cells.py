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
    return f"'{text}" if re.match(FORMULA, text) and not re.fullmatch(PLAIN, text) else text


def guard_cells(table: pl.DataFrame) -> pl.DataFrame:
    """A table as a csv file for people holds it, its header included."""
    table = table.with_columns(pl.col(pl.Categorical).cast(pl.String))
    names = _columns_below(table, "A")  # all signs that matter come before the letters
    if names:
        cells = pl.col(names)
        is_formula = cells.str.contains(FORMULA) & ~cells.str.contains(PLAIN)
        table = table.with_columns(pl.when(is_formula).then(pl.lit("'") + cells).otherwise(cells).name.keep())
    return table.rename({name: guard_text(name) for name in table.columns if guard_text(name) != name})


def unguard_cells(table: pl.DataFrame) -> pl.DataFrame:
    """A table of texts as it was before `guard_cells`."""
    names = _columns_below(table, "(")  # the sign after the quote
    if names:
        cells = pl.col(names)
        bare = pl.when(cells.str.contains(GUARDED)).then(cells.str.slice(1)).otherwise(cells)
        table = table.with_columns(bare.name.keep())
    headers = {name: name[1:] for name in table.columns if re.match(GUARDED, name)}
    is_unique = len({*table.columns, *headers.values()}) == table.width + len(headers)
    return table.rename(headers) if headers and is_unique else table


def _columns_below(table: pl.DataFrame, sign: str) -> list[str]:
    """The columns of text that hold a cell which sorts before a sign: a quick look, so that most are left alone."""
    if pl.String not in table.schema.values() or not table.height:
        return []
    found = table.select((pl.col(pl.String) < sign).any())
    return [name for name in found.columns if found[name][0]]
