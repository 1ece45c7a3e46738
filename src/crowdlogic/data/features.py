"""Items with numeric features: columns of numbers or lists in a table, or the arrays of an npz file.

Axes: i item, d feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.files import read_npz
from crowdlogic.data.intake.building import code_labels
from crowdlogic.data.intake.columns import find_roles, require_columns
from crowdlogic.data.intake.contract import TableSource, number_column, require_unique_items, row_error, text_column
from crowdlogic.data.names import Classes, as_text, find
from crowdlogic.data.reading import read_table
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, FormatError, OptionError, name_list
from crowdlogic.numerics.arrays import Floats, Ints

NAMES = ("items", "item", "ids", "id", "names", "name")
"""Accepted names of the array of item names in an npz file."""
GOLD = ("labels", "label", "gold", "y")
"""Accepted names of the array of true classes in an npz file."""


def is_npz(path: str | None) -> bool:
    """Return whether a path names an npz file."""
    return path is not None and path.lower().endswith(".npz")


def read_featured_items(
    path: str, features: str | None, *, format: str | None = None, columns: Mapping[str, str] | None = None
) -> Corpus:
    """Read items with numeric features.

    Args:
        path: A table with a column for the item, and perhaps its text and gold; or an npz file with ids.
        features: Columns with numbers, or lists of numbers: comma-separated names and patterns such as f*. Or an npz
            file with ids, in which the items are looked up. Required for tables.
        format: Name of the table's format; None to detect it.
        columns: role -> column, if the column names are not recognised.
    """
    if is_npz(path):
        return read_npz_items(path)
    if features is None:
        raise OptionError(f"{path}: name the columns with the features, such as --features 'f*'.")
    table, source = read_table(path, format=format)
    return featured_items_from_table(table, source, features, columns)


def featured_items_from_table(
    table: pl.DataFrame, source: TableSource, features: str, columns: Mapping[str, str] | None = None
) -> Corpus:
    """Return items with numeric features from a table; see `read_featured_items` for the arguments."""
    roles = find_roles(table.columns, columns, where=source.name, gold=True)
    require_columns(roles, ("item",), table.columns, source=source, purpose="A table of items with features")
    items = table[roles["item"]]
    require_unique_items(items, source, "Give each item once.")
    if is_npz(features):
        known = read_npz_items(features)
        at = find(as_text(items), as_text(known.items))
        lost = np.flatnonzero(at < 0)
        if len(lost):
            raise row_error(
                source,
                lost,
                f"item {items[int(lost[0])]!r} has no features in {features}",
                "Add a row for it, or remove the item.",
                error=CorpusError,
            )
        numbers, names = np.asarray(known.features)[at], known.feature_names
    else:
        numbers, names = _feature_columns(table, source, features, taken=set(roles.values()))
    texts = None
    if "text" in roles:
        column = text_column(table[roles["text"]], "text", source, error=CorpusError)
        texts = tuple(column.fill_null("").to_list())
    gold, classes = code_labels(table[roles["label"]], source) if "label" in roles else (None, ())
    return Corpus(items, texts=texts, features=numbers, feature_names=names, classes=classes, gold=gold)


def _feature_columns(
    table: pl.DataFrame, source: TableSource, patterns: str, *, taken: set[str]
) -> tuple[Floats, tuple[str, ...]]:
    """Return features[i, d] from the columns that match a pattern, and the name of each feature."""
    wanted = [one.strip() for one in patterns.split(",") if one.strip()]
    chosen = []
    for pattern in wanted:
        exact = [name for name in table.columns if name == pattern]
        found = exact or [name for name in table.columns if fnmatchcase(name, pattern) and name not in taken]
        if not found:
            raise OptionError(
                f"{source.name}: no column matches --features {pattern!r} among {name_list(table.columns)}. "
                f"Correct the pattern."
            )
        chosen += [name for name in found if name not in chosen]
    parts: list[Floats] = []
    names: list[str] = []
    for name in chosen:
        column = table[name]
        if isinstance(column.dtype, pl.List | pl.Array):
            lengths = column.list.len() if isinstance(column.dtype, pl.List) else pl.Series([column.dtype.size])
            if column.null_count() or lengths.n_unique() > 1:
                raise CorpusError(
                    f"{source.name}: the lists of {name} differ in length. Give all items the same number of values."
                )
            numbers = column.explode().cast(pl.Float64, strict=False)
            size = int(lengths[0]) if len(lengths) else 0
            block = numbers.to_numpy().reshape(len(table), size)
            names += [f"{name}[{d}]" for d in range(size)]
        else:
            block = number_column(column, name, source, error=CorpusError).to_numpy()[:, None]
            names.append(name)
        wrong = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if len(wrong):
            remedy = "Fill in a number, or remove the item."
            raise row_error(source, wrong, f"no number in the column {name}", remedy, error=CorpusError)
        parts.append(np.asarray(block, dtype=np.float64))
    return np.concatenate(parts, axis=1), tuple(names)


def read_npz_items(path: str) -> Corpus:
    """Read the items of an npz file: an array of ids, a table of numbers, and perhaps the true classes."""
    arrays = read_npz(path)
    items = next((arrays[name] for name in NAMES if name in arrays), None)
    tables = [name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "fiub"]
    if items is None or items.ndim != 1 or len(tables) != 1:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise FormatError(
            f"{path}: expected an array of ids ({', '.join(NAMES[:4])}) and one table of numbers with a row for each, "
            f"found: {found}. Save it with numpy.savez(path, items=..., features=...)."
        )
    numbers = arrays[tables[0]].astype(np.float64)
    if len(numbers) != len(items):
        raise FormatError(f"{path}: {pluralise(len(items), 'id')} for {pluralise(len(numbers), 'row')} of numbers.")
    source = TableSource(path)
    names = pl.Series("item", _plain(items))
    require_unique_items(names, source, "Give each item once.")
    wrong = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
    if len(wrong):
        raise CorpusError(f"{path}: the features of item {names[int(wrong[0])]!r} contain NaN or infinities.")
    gold: Ints | None = None
    classes: Classes = ()
    truth = next((arrays[name] for name in GOLD if name in arrays), None)
    if truth is not None and truth.shape == (len(items),):
        gold, classes = code_labels(as_text(pl.Series("label", _plain(truth))), source)
    return Corpus(names, features=numbers, classes=classes, gold=gold)


def _plain(array: NDArray[Any]) -> Sequence[Any]:
    """Convert names to integers or text."""
    if array.dtype.kind == "S":
        return [one.decode("utf-8", errors="replace") for one in array.tolist()]
    return [str(one) for one in array.tolist()] if array.dtype.kind not in "iu" else array.tolist()
