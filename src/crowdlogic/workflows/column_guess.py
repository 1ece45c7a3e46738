"""Which columns of a table may be the item, the annotator, the label and the text, by what they hold.

In a table of labels an item stands in several rows, each annotator once for each item, and annotators often agree.
Where exactly one choice of columns is like that, it is worth asking about; nothing is read by it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from itertools import permutations

import polars as pl

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.detection import detect_format
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.intake.columns import find_roles

MOST_COLUMNS = 8
"""Tables with more columns than this that could be something are left alone."""
MOST_CLASSES = 50
"""More different values than this are hardly classes."""
MOST_REPEATED = 0.1
"""Share of labels that an annotator may give to an item that they labelled already."""
TEXT_LENGTH = 25
"""A column whose cells have more characters than this on average holds texts."""
NEEDED = ("item", "annotator", "label")
GUESSED = (*NEEDED, "text")
"""The roles of columns that are guessed by what they hold."""


def guess_columns(table: pl.DataFrame, known: Mapping[str, str]) -> dict[str, str]:
    """Role -> column as far as the contents decide it, those that are known among them; empty where they do not.

    Args:
        table: The table.
        known: Role -> column, for those that are known already.
    """
    cells = table.select(pl.all().cast(pl.String, strict=False)).unique(maintain_order=True)
    free = [name for name in cells.columns if name not in known.values()]
    texts = [name for name in free if _mean_length(cells[name]) > TEXT_LENGTH]
    counts = {name: cells[name].n_unique() for name in cells.columns}
    likely = [name for name in free if name not in texts and 1 < counts[name] < len(cells)]
    missing = [role for role in NEEDED if role not in known]
    if not missing or not len(missing) <= len(likely) <= MOST_COLUMNS:
        return {}
    choices = (dict(zip(missing, chosen, strict=True)) for chosen in permutations(likely, len(missing)))
    found = [{**known, **one} for one in choices if _is_like_labels(cells, {**known, **one}, counts)]
    exact = [one for one in found if not _has_repeats(cells, one)]
    found = exact or found
    if len(found) > 1:  # a date or a shop is the same in all rows of an item; annotators of labels do not always agree
        found = [one for one in found if _has_disagreement(cells, one, counts)]
    if len(found) != 1:
        return {}
    return {**found[0], **_text_column(cells, found[0], texts)}


def suggest_columns(path: str, format: str | None, chosen: Mapping[str, str] | None) -> str:
    """The options --column that name the columns of a table of labels, if their contents leave one choice; else empty.

    Args:
        path: The file.
        format: The name of its format; None to detect it.
        chosen: Role -> column, as given.
    """
    file = InputFile(path)
    found = detect_format(file, format)
    if not isinstance(found, TableFormat):
        return ""
    table = found.read_table(file)[0]
    if not {*(chosen or {}).values()} <= {*table.columns}:
        return ""
    known = find_roles(table.columns, chosen)
    guessed = guess_columns(table, {role: name for role, name in known.items() if role in GUESSED})
    return " ".join(f"--column {shlex.quote(f'{role}={name}')}" for role, name in guessed.items())


def _mean_length(column: pl.Series) -> float:
    mean = column.str.len_chars().mean()
    return float(mean) if isinstance(mean, int | float) else 0.0


def _is_like_labels(cells: pl.DataFrame, roles: Mapping[str, str], counts: Mapping[str, int]) -> bool:
    """Whether annotators label an item once, but for a few repeats, and some annotators of an item agree."""
    item, annotator, label = (roles[role] for role in NEEDED)
    if counts[label] > MOST_CLASSES or counts[annotator] >= counts[item]:
        return False
    given = cells.select(item, annotator, label).unique()
    pairs = given.select(item, annotator).n_unique()
    return pairs >= (1 - MOST_REPEATED) * len(given) and given.select(item, label).n_unique() < pairs


def _has_repeats(cells: pl.DataFrame, roles: Mapping[str, str]) -> bool:
    """Whether some annotator labelled an item twice, in different rows."""
    return cells.select(roles["item"], roles["annotator"]).n_unique() < len(cells)


def _has_disagreement(cells: pl.DataFrame, roles: Mapping[str, str], counts: Mapping[str, int]) -> bool:
    """Whether some item has two different labels."""
    return cells.select(roles["item"], roles["label"]).n_unique() > counts[roles["item"]]


def _text_column(cells: pl.DataFrame, roles: Mapping[str, str], texts: list[str]) -> dict[str, str]:
    """The one column of texts that belong to the items, if there is exactly one."""
    n_items = cells[roles["item"]].n_unique()
    fitting = [name for name in texts if cells.select(roles["item"], name).n_unique() == n_items]
    return {"text": fitting[0]} if "text" not in roles and len(fitting) == 1 else {}
