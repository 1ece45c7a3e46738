"""Cells of csv and tsv files that a spreadsheet would read as formulas.

Spreadsheets run what a csv cell says: =HYPERLINK(...), @SUM(...) or -2+3+cmd|... . Values are nevertheless written
unchanged, since a changed id no longer joins with the data it came from; a warning says which files have such cells.
With the option `spreadsheet_safe` these cells get a leading quote (').
"""

from __future__ import annotations

import re
import warnings

import polars as pl

from crowdlogic.data.wording import pluralise
from crowdlogic.errors import SpreadsheetWarning

PLAIN = r"^(?:[+-]|[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)$"
"""A number, or a sign alone: the labels -1, +1, + and - are no formulas."""

FORMULA = r"^'*[=+\-@\t\r\n]"


def guard_text(text: str) -> str:
    """Return a cell with a leading quote if a spreadsheet would read it as a formula."""
    return f"'{text}" if re.match(FORMULA, text) and not re.fullmatch(PLAIN, text) else text


def guard_cells(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table in which `guard_text` was applied to every cell and column name."""
    table = table.with_columns(pl.col(pl.Categorical).cast(pl.String))
    names = _suspicious_columns(table)
    if names:
        cells = pl.col(names)
        table = table.with_columns(pl.when(_is_formula(cells)).then(pl.lit("'") + cells).otherwise(cells).name.keep())
    return table.rename({name: guard_text(name) for name in table.columns if guard_text(name) != name})


def warn_of_formulas(table: pl.DataFrame, target: str) -> bool:
    """Warn if a table that is written to `target` has cells that a spreadsheet would read as formulas."""
    names = _suspicious_columns(table)
    if not names:
        return False
    counts = table.select(_is_formula(pl.col(names)).sum()).row(0)
    if sum(counts):
        column = names[counts.index(max(counts))]
        example = table.filter(_is_formula(pl.col(column)))[column][0]
        warnings.warn(
            f"{target}: a spreadsheet would read {pluralise(sum(counts), 'cell')} as formulas, such as "
            f"{example[:40]!r}. They are written unchanged; --spreadsheet-safe (spreadsheet_safe=True) quotes them.",
            SpreadsheetWarning,
            stacklevel=2,
        )
    return any(counts)


def _is_formula(cells: pl.Expr) -> pl.Expr:
    return cells.str.contains(FORMULA) & ~cells.str.contains(PLAIN)


def _suspicious_columns(table: pl.DataFrame) -> list[str]:
    """Return the text columns with a cell that sorts before "A", as all signs of formulas do: a quick first look."""
    if pl.String not in table.schema.values() or not table.height:
        return []
    found = table.select((pl.col(pl.String) < "A").any())
    return [name for name in found.columns if found[name][0]]
