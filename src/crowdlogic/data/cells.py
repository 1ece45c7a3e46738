"""What may stand in the cells of a label table: one category per cell, a finite weight, a time, a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.intake import Source, refuse
from crowdlogic.data.labels import KINDS
from crowdlogic.data.names import Classes, Names, as_text, encode, find, listed, sort_classes
from crowdlogic.errors import LabelError, OptionError
from crowdlogic.numerics.arrays import Floats, Ints

MISSING_NOTE = "An empty cell, null or NaN means that no label was given."


def categorical(labels: Names, source: Source, *, classes: Sequence[Any] | None = None) -> Names:
    """The label column as text, whole numbers or booleans, null where there is no label.

    Lists (several labels at once) and fractions (measurements) are refused: this is about one class per label.
    """
    if labels.dtype in (pl.Categorical, pl.Enum):
        labels = labels.cast(pl.String)
    if labels.dtype == pl.String:
        return _text_labels(labels, source, checked=classes is None)
    if labels.dtype.is_float():
        return _whole(labels.fill_nan(None), source)
    if labels.dtype == pl.Null:
        return labels.cast(pl.String)
    if labels.dtype.is_integer() or labels.dtype == pl.Boolean:
        return labels
    raise LabelError(
        f"{source.name}: a label is one class, but the column holds {labels.dtype}. For the tags of a sentence name "
        f"the column 'tags'; for several labels at once make one table per class, with yes or no as labels."
    )


def _text_labels(labels: Names, source: Source, *, checked: bool) -> Names:
    given = labels.set(labels.str.strip_chars() == "", None) if (labels == "").any() or labels.null_count() else labels
    if checked:
        names = given.unique().drop_nulls()
        _refuse_lists(given, names, source)
        numbers = names.str.strip_chars().cast(pl.Float64, strict=False)
        if len(names) and numbers.null_count() == 0 and ((numbers % 1 != 0) | numbers.is_nan()).any():
            _whole(given.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None), source)
    return given


def _refuse_lists(labels: Names, names: Names, source: Source) -> None:
    bracketed = names.filter(names.str.contains(r"^\s*\[.*\]\s*$") | names.str.contains(r"^\s*\{.*\}\s*$"))
    if len(bracketed):
        row = (labels == bracketed[0]).arg_true().to_numpy()
        raise refuse(
            source, row, f"{bracketed[0]!r} looks like several labels at once",
            "Give one class per row; for several labels at once make one table per class, with yes or no as labels.",
        )  # fmt: skip


def _whole(numbers: Names, source: Source) -> Names:
    """Numbers that name classes (1.0 is class 1); a fraction is a measurement and is refused."""
    fraction = (numbers % 1 != 0) | numbers.is_infinite()
    if fraction.any():
        rows = fraction.arg_true().to_numpy()
        raise refuse(
            source, rows, f"the label {numbers[int(rows[0])]} is a number, not a class",
            "Numeric answers cannot be voted on: round or bin them into classes first, or name the classes.",
        )  # fmt: skip
    return numbers.cast(pl.Int64)


def code_classes(labels: Names, source: Source, classes: Sequence[Any] | None) -> tuple[Ints, Classes]:
    """Codes of the labels (-1 where there is none) among the given classes, or among those found, sorted."""
    codes, found = encode(labels)
    if classes is None:
        names = sort_classes(found.to_list())
        position = {name: k for k, name in enumerate(names)}
        rank = np.array([*(position[name] for name in found.to_list()), -1], dtype=np.int32)
        return rank[codes], names
    given = tuple(classes)
    if len(set(given)) != len(given) or not given:
        raise OptionError(f"classes: {listed(given)} names a class twice or none at all. Give each class once.")
    rank = np.array(
        [*find(as_text(found), pl.Series([str(name) for name in given], dtype=pl.String)), -1], dtype=np.int32
    )
    unknown = np.flatnonzero((rank[codes] < 0) & (codes >= 0))
    if len(unknown):
        what = f"the label {labels[int(unknown[0])]!r} is not among the classes {listed(given)}"
        raise refuse(source, unknown, what, "Mend the label, or add it to the classes.")
    return rank[codes], given


def weights(column: Names, source: Source) -> Floats:
    """weight[n], finite and not negative."""
    numbers = column.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() | ~numbers.is_finite() | (numbers < 0)).fill_null(value=True)
    if wrong.any():
        rows = wrong.arg_true().to_numpy()
        what = f"the weight {column[int(rows[0])]!r} is not a finite number of 0 or more"
        raise refuse(source, rows, what, "Mend the weight, or drop the column to count every label once.")
    return numbers.to_numpy().copy()


def times(column: Names, source: Source) -> Floats:
    """time[n] in seconds: numbers are taken as they are, dates and times as seconds since 1970; NaN where unknown."""
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_null(np.nan).to_numpy().copy()
    moments = column
    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        if numbers.null_count() == column.null_count():
            return numbers.fill_null(np.nan).to_numpy().copy()
        moments = _parsed_moments(column)
    if (
        not moments.dtype.is_temporal()
        or moments.dtype in (pl.Time, pl.Duration)
        or moments.null_count() > column.null_count()
    ):
        rows = (moments.is_null() & column.is_not_null()).arg_true().to_numpy() if moments.dtype.is_temporal() else [0]
        what = f"{column[int(rows[0]) if len(rows) else 0]!r} is not a time"
        raise refuse(
            source,
            rows if len(rows) else [0],
            what,
            "Write times as 2024-05-31T12:00:00 or as seconds, or drop the column.",
        )
    return moments.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e6


def _parsed_moments(column: Names) -> Names:
    """Times written as text; of the usual ways of writing them the one that reads the most rows."""
    tidy = column.str.strip_chars().str.replace("T", " ", literal=True).str.replace(r"(Z|[+-]00:?00)$", "")
    formats = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d")
    read = [tidy.str.to_datetime(form, strict=False, time_unit="us") for form in formats]
    return min(read, key=lambda moments: moments.null_count())


def kinds(column: Names, annotator_column: Names, annotators: Names, source: Source) -> tuple[str, ...]:
    """kind[j], what each annotator is; "" where no row says."""
    said = pl.DataFrame(
        {"annotator": annotator_column, "kind": column.cast(pl.String).str.strip_chars().str.to_lowercase()}
    )
    wrong = (said["kind"].is_not_null() & (said["kind"] != "") & ~said["kind"].is_in(KINDS)).arg_true().to_numpy()
    if len(wrong):
        what = f"the kind {column[int(wrong[0])]!r} is none of {', '.join(KINDS)}"
        raise refuse(source, wrong, what, "Use one of them, or leave the cell empty.")
    pairs = said.filter(pl.col("kind").is_not_null() & (pl.col("kind") != "")).unique(maintain_order=True)
    twice = pairs.filter(pairs["annotator"].is_duplicated())
    if len(twice):
        raise LabelError(
            f"{source.name}: annotator {twice['annotator'][0]!r} is both {twice['kind'][0]} and {twice['kind'][1]}. "
            f"Give an annotator one kind."
        )
    kind_of = dict(zip(pairs["annotator"].to_list(), pairs["kind"].to_list(), strict=True))
    return tuple(kind_of.get(name, "") for name in annotators.to_list())
