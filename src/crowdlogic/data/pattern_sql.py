"""The SQL that groups items by their labels, for a warehouse that holds them, and that joins the answers back.

A wide table has a row per item and a column per annotator; a long one a row per label. Either way the result is a table
of patterns: a column per annotator, and n_items. Names are quoted, so that any name is a name and never SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crowdlogic.errors import OptionError

COUNT = "n_items"
"""The column that says how many items a pattern stands for."""

CONFLICTS = "n_conflicts"
"""The column that says for how many of them an annotator gave several labels, where a long table was grouped."""


@dataclass(frozen=True, kw_only=True)
class LongColumns:
    """The columns of a long table: a row per label."""

    item: str
    annotator: str
    label: str


def quote_name(name: str, mark: str = '"') -> str:
    """A column's name as SQL has it; a mark within it is doubled."""
    if "\0" in name:
        raise OptionError(f"{name!r}: is no name of a column.")
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def quote_text(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def quote_table(name: str, mark: str = '"') -> str:
    """A table's name, such as analytics.verdicts: each part is quoted by itself."""
    return ".".join(quote_name(part, mark) for part in name.split("."))


def group_wide_sql(table: str, annotators: Sequence[str], mark: str = '"') -> str:
    """The GROUP BY of a wide table.

    Args:
        table: The table, as SQL has it.
        annotators: The columns that hold labels.
        mark: The quotation mark of names: a backtick in BigQuery, MySQL and Spark.
    """
    listed = ", ".join(quote_name(name, mark) for name in annotators)
    return f"SELECT {listed}, count(*) AS {quote_name(COUNT, mark)}\nFROM {table}\nGROUP BY {listed}\nORDER BY {listed}"


def group_long_sql(table: str, columns: LongColumns, annotators: Sequence[str], mark: str = '"') -> str:
    """The GROUP BY of a long table: first a row per item, then the GROUP BY of these.

    Args:
        table: The table, as SQL has it.
        columns: Its columns.
        annotators: The names of all annotators.
        mark: The quotation mark of names.
    """
    item, who, label = (quote_name(name, mark) for name in (columns.item, columns.annotator, columns.label))
    theirs = [f"CASE WHEN {who} = {quote_text(name)} THEN {label} END" for name in annotators]
    listed = [quote_name(name, mark) for name in annotators]
    wide = [f"min({case}) AS {name}" for case, name in zip(theirs, listed, strict=True)]
    twice = " OR ".join(f"min({case}) <> max({case})" for case in theirs)
    conflict, names = quote_name("conflict", mark), ", ".join(listed)
    count, conflicts = quote_name(COUNT, mark), quote_name(CONFLICTS, mark)
    lines = [
        f"SELECT {names}, count(*) AS {count}, sum({conflict}) AS {conflicts}",
        "FROM (",
        "  SELECT",
        *(f"    {one}," for one in wide),
        f"    CASE WHEN {twice} THEN 1 ELSE 0 END AS {conflict}",
        f"  FROM {table}",
        f"  GROUP BY {item}",
        ") AS items",
        f"GROUP BY {names}",
        f"ORDER BY {names}",
    ]
    return "\n".join(lines)


def join_sql(
    table: str,
    answers: str,
    *,
    annotators: Sequence[str],
    kept: Mapping[str, str],
    added: Sequence[str],
    mark: str = '"',
) -> str:
    """The answers of patterns joined back to a wide table, in which a missing label equals a missing label.

    Args:
        table: The wide table, as SQL has it.
        answers: The table of the patterns' answers, as SQL has it.
        annotators: The columns that both have.
        kept: The columns of the wide table to keep, and what to call them.
        added: The columns of the answers to add.
        mark: The quotation mark of names.
    """
    columns = [f"t.{quote_name(name, mark)} AS {quote_name(new, mark)}" for name, new in kept.items()]
    columns += [f"a.{quote_name(name, mark)}" for name in added]
    pairs = ((f"t.{quote_name(name, mark)}", f"a.{quote_name(name, mark)}") for name in annotators)
    same = "\n  AND ".join(f"{left} IS NOT DISTINCT FROM {right}" for left, right in pairs)
    return f"SELECT {', '.join(columns)}\nFROM {table} AS t\nLEFT JOIN {answers} AS a ON {same}"
