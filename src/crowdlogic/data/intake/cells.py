"""What the cells of a label table may hold: one category per cell, a finite weight, a time, a kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.columns import normalise_name
from crowdlogic.data.intake.contract import TableSource, row_error
from crowdlogic.data.intake.conversions import number_column, text_column
from crowdlogic.data.labels import KINDS
from crowdlogic.data.names import Classes, Names, as_text, encode, find, sort_classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import LabelError, OptionError, name_list
from crowdlogic.numerics.arrays import Floats, Ints

LARGEST_NUMBER = 2.0**53
"""From here on a float cannot distinguish whole numbers, so it names no class."""


def code_labels(labels: Names, source: TableSource, classes: Sequence[Any] | None = None) -> tuple[Ints, Classes]:
    """Codes of a column of labels, and the classes they mean: those given, or those found, sorted.

    An empty cell, null or NaN means that no label was given, and has the code -1. A label that is not among given
    classes is refused; so are lists (several labels at once) and fractions (measurements): a label is one class.
    """
    codes, names = encode(_to_one_type(labels, source))
    codes, names = drop_blank_names(codes, names)
    if classes is not None:
        return _code_among(codes, names, tuple(classes), source)
    if names.dtype == pl.String:
        _refuse_lists(codes, names, source)
        _refuse_fractions(codes, names.str.strip_chars().cast(pl.Float64, strict=False), source)
    ordered = sort_classes(names.to_list())
    position = {name: k for k, name in enumerate(ordered)}
    rank = np.array([*(position[name] for name in names.to_list()), -1], dtype=np.int32)
    return rank[codes], ordered


def drop_blank_names(codes: Ints, names: Names) -> tuple[Ints, Names]:
    """The same codes with -1 where the name is only white space, and the names without it."""
    if names.dtype != pl.String:
        return codes, names
    filled = (names.str.strip_chars() != "").to_numpy()
    if filled.all():
        return codes, names
    renumbered = np.append(np.where(filled, np.cumsum(filled) - 1, -1), -1).astype(np.int32)
    return renumbered[codes], names.filter(pl.Series(filled))


def _to_one_type(labels: Names, source: TableSource) -> Names:
    """The labels as text, whole numbers or booleans."""
    if labels.dtype in (pl.Categorical, pl.Enum, pl.Null):
        return labels.cast(pl.String)
    if labels.dtype.is_float():
        numbers = labels.fill_nan(None)
        codes, names = encode(numbers)
        _refuse_fractions(codes, names.cast(pl.Float64), source)
        return numbers.cast(pl.Int64)
    if labels.dtype == pl.String or labels.dtype.is_integer() or labels.dtype == pl.Boolean:
        return labels
    raise LabelError(
        f"{source.name}: a label is one class, but the column holds {labels.dtype}. For the tags of a sentence name "
        f"the column 'tags'; for several labels at once make one table per class, with yes or no as labels."
    )


def _refuse_lists(codes: Ints, names: Names, source: TableSource) -> None:
    """Text such as ["a", "b"] is several labels at once."""
    bracketed = names.str.contains(r"""(?s)^\s*(\[.*[,"'].*\]|\{.*\}|\[\])\s*$""").arg_true()
    if len(bracketed):
        rows = np.flatnonzero(codes == bracketed[0])
        raise row_error(
            source,
            rows,
            f"{names[bracketed[0]]!r} looks like several labels at once",
            "Give one class per row; for several labels at once make one table per class, with yes or no as labels.",
        )


def _refuse_fractions(codes: Ints, numbers: Names, source: TableSource) -> None:
    """Labels that are all numbers, some with a fraction (or infinite), are measurements."""
    if numbers.null_count() or not len(numbers):
        return
    fraction = ((numbers % 1 != 0) | ~(numbers.abs() < LARGEST_NUMBER)).to_numpy()
    rows = np.flatnonzero(np.append(fraction, False)[codes])
    if len(rows):
        raise row_error(
            source,
            rows,
            f"the label {numbers[int(codes[rows[0]])]} is a number, not a class",
            "Numeric answers cannot be voted on: round or bin them into classes first, or name the classes.",
        )


def _code_among(codes: Ints, names: Names, classes: Classes, source: TableSource) -> tuple[Ints, Classes]:
    """Codes among given classes. Names are compared as text, so that --classes 0,1 fits a column of numbers."""
    if len(set(classes)) != len(classes) or not classes:
        raise OptionError(f"classes: {name_list(classes)} names a class twice or none at all. Give each class once.")
    position = find(as_text(names), pl.Series([str(name) for name in classes], dtype=pl.String))
    rank = np.append(position, -1).astype(np.int32)
    unknown = np.flatnonzero((rank[codes] < 0) & (codes >= 0))
    if len(unknown):
        what = f"the label {names[int(codes[unknown[0]])]!r} is not among the classes {name_list(classes)}"
        raise row_error(source, unknown, what, "Correct the label, or add it to the classes.")
    return rank[codes], classes


def parse_weights(column: Names, source: TableSource, rows: Ints) -> Floats:
    """Weight of the rows that are taken, finite and not negative."""
    taken = column.gather(rows)
    numbers = number_column(taken, "weight", source)
    wrong = (numbers.is_null() | ~numbers.is_finite() | (numbers < 0)).fill_null(value=True)
    if wrong.any():
        at = np.sort(rows[wrong.arg_true().to_numpy()])
        found = (
            "is missing"
            if column[int(at[0])] is None
            else f"{column[int(at[0])]!r} is not a finite number of 0 or more"
        )
        raise row_error(
            source, at, f"the weight {found}", "Correct the weight, or drop the column to count every label once."
        )
    return numbers.to_numpy().copy()


def parse_times(column: Names, source: TableSource) -> Floats:
    """time[n] in seconds: numbers are taken as they are, dates and times as seconds since 1970; NaN where unknown."""
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_null(np.nan).to_numpy().copy()
    moments = column
    if column.dtype == pl.String:
        column = column.set(column.str.strip_chars() == "", None)
        numbers = number_column(column, "time", source)
        if numbers.null_count() == column.null_count():
            return numbers.fill_null(np.nan).to_numpy().copy()
        moments = _parse_moments(column)
    if moments.dtype not in (pl.Date, pl.Datetime) or moments.null_count() > column.null_count():
        known = moments.dtype in (pl.Date, pl.Datetime)
        rows = (
            (moments.is_null() & column.is_not_null()).arg_true().to_numpy() if known else np.zeros(1, dtype=np.int64)
        )
        remedy = "Write times as 2024-05-31T12:00:00 or as seconds, or drop the column."
        raise row_error(source, rows, f"{column[int(rows[0])]!r} is not a time", remedy)
    return moments.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e6


def _parse_moments(column: Names) -> Names:
    """Times written as text; of the usual ways of writing them the one that reads the most rows."""
    tidy = column.str.strip_chars().str.replace("T", " ", literal=True).str.replace(r"(Z|[+-]00:?00)$", "")
    formats = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d")
    read = [tidy.str.to_datetime(form, strict=False, time_unit="us") for form in formats]
    return min(read, key=lambda moments: moments.null_count())


def parse_kinds(column: Names, annotator_column: Names, annotators: Names, source: TableSource) -> tuple[str, ...]:
    """kind[j], what each annotator is; "" where no row has it."""
    kinds = text_column(column, "kind", source).str.strip_chars().str.to_lowercase()
    said = pl.DataFrame({"annotator": annotator_column, "kind": kinds})
    wrong = (said["kind"].is_not_null() & (said["kind"] != "") & ~said["kind"].is_in(KINDS)).arg_true().to_numpy()
    if len(wrong):
        what = f"the kind must be one of {', '.join(KINDS)}; got {column[int(wrong[0])]!r}"
        raise row_error(source, wrong, what, "Use one of them, or leave the cell empty.")
    pairs = said.filter(pl.col("kind").is_not_null() & (pl.col("kind") != "")).unique(maintain_order=True)
    twice = pairs.filter(pairs["annotator"].is_duplicated())
    if len(twice):
        raise LabelError(
            f"{source.name}: annotator {twice['annotator'][0]!r} is both {twice['kind'][0]} and {twice['kind'][1]}. "
            f"Give an annotator one kind."
        )
    kind_of = dict(zip(pairs["annotator"].to_list(), pairs["kind"].to_list(), strict=True))
    return tuple(kind_of.get(name, "") for name in annotators.to_list())


# What looks like a mistake in a table of labels but may be none: it is said, and the labels are taken as they are.

MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none", "nil", "-", "?"})
"""Words that often mean "no label"; as labels they are classes like any other, but are pointed out."""

SEPARATORS = ("|", ";", ",", "/", "+", "&")
"""Signs with which several labels are written into one cell."""

CONFIDENCES = frozenset({"confidence", "certainty", "sureness", "probability", "prob", "score"})
"""Names of columns that say how sure an annotator was."""


def odd_classes(classes: Iterable[object]) -> tuple[str, ...]:
    """Notices about class names that look like mistakes."""
    names = [name for name in classes if isinstance(name, str)]
    absent = [
        f"The label {name!r} is taken as a class; if it means that there is no label, leave the cell empty."
        for name in names
        if name.strip().casefold() in MISSING_WORDS
    ]
    return (*_alike_classes(names), *absent, *_joined_classes(names))


def single_class(classes: Sequence[object]) -> tuple[str, ...]:
    """A notice where all labels are one class."""
    if len(classes) != 1:
        return ()
    return (f"All labels are {classes[0]!r}: there is nothing to decide. Is the column of the label the right one?",)


def _alike_classes(names: Sequence[str]) -> list[str]:
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(" ".join(name.split()).casefold(), []).append(name)
    return [
        f"The classes {', '.join(map(repr, group))} differ only in case or spaces; are they one class?"
        for group in folded.values()
        if len(group) > 1
    ]


def _joined_classes(names: Sequence[str]) -> list[str]:
    """A notice where classes are made of other classes, such as toxic|insult beside toxic and insult."""
    for separator in SEPARATORS:
        parts = {name: {part.strip() for part in name.split(separator)} - {""} for name in names}
        joined = [name for name in names if len(parts[name]) > 1 and _is_known(name, parts)]
        if joined:
            return [
                f"{pluralise(len(joined), 'class', 'classes')} of {len(names):,} join others with {separator!r}, such "
                f"as {joined[0]!r}. Several labels at once are not supported: each combination counts as a class of "
                f"its own. Ask one question per label instead, with yes or no as labels, in a table of its own."
            ]
    return []


def _is_known(name: str, parts: dict[str, set[str]]) -> bool:
    """Whether all parts of a class are classes, or parts of other classes, too."""
    others: set[str] = set().union(*(found for other, found in parts.items() if other != name))
    return parts[name] <= others


def unused_confidence(header: Iterable[str], used: Collection[str], source: TableSource) -> tuple[str, ...]:
    """A notice about columns that look like confidences and are not used."""
    unused = [name for name in header if name not in used and normalise_name(name) in CONFIDENCES]
    as_weight = source.advise("--column weight={0}", 'columns={{"weight": "{0}"}}')
    return tuple(
        f"The column {name!r} is not used: every label counts the same. If it says how much a label should count, name "
        f"it: {as_weight.format(name)}."
        for name in unused
    )


def empty_labels(missing: int, source: TableSource) -> tuple[str, ...]:
    """A notice about empty cells, which were left out as no labels and may be answers."""
    if not missing:
        return ()
    name_it = source.advise("--empty-label NAME", 'empty_label="NAME"')
    return (f"If an empty cell is an answer, such as none of these, name its class: {name_it}.",)
