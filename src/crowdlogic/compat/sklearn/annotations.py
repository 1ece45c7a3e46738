"""Annotations as scikit-learn's users hold them, as CrowdLabels.

A dense matrix[item, annotator] has NaN, None or (for whole numbers) -1 where there is no label; a sparse one holds
labels only, zeros that are stored included; a wide frame has a column per annotator; a long frame has a row per label,
and its items are row numbers of X; a vector is one annotator's.

Axes: i item, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from crowdlogic.data.frames import FRAME, from_frame
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.dataframes import to_polars
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import find
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import LabelError
from crowdlogic.numerics.arrays import Bools, Ints

MISSING = -1
"""What stands for no label in a matrix of whole numbers."""


class LabelKindError(LabelError, TypeError):
    """A label is neither text nor a number."""


Cells = tuple[Ints, Ints, NDArray[Any]]
"""The row, the column and the value of each label."""


def read_annotations(
    given: Any, n_items: int, *, annotators: Sequence[Any] | None = None, classes: Sequence[Any] | None = None
) -> CrowdLabels:
    """Annotations of n items in any of these forms.

    Args:
        given: The annotations.
        n_items: Number of items.
        annotators: The annotators that a model knows; the labels of others are left out.
        classes: The classes that a model knows; labels of other classes are left out.
    """
    if isinstance(given, CrowdLabels):
        labels = given
    elif is_long_frame(given):
        labels = _by_row_number(from_frame(given), n_items)
    else:
        (row, column, value), shape, names = _cells(given)
        if shape[0] != n_items:
            raise LabelError(
                f"Found annotations of {pluralise(shape[0], 'item')} and {pluralise(n_items, 'item')} in X. Give a "
                f"row for each."
            )
        labels = _from_cells(
            row, column, value, names=list(range(shape[1])) if names is None else names, n_items=n_items
        )
    return labels if annotators is None else _known(labels, annotators, classes if classes is not None else ())


def is_long_frame(given: Any) -> bool:
    """Whether it is a frame with columns for the item, the annotator and the label."""
    header = [str(name) for name in getattr(given, "columns", ())]
    return bool(header) and {"item", "annotator", "label"} <= set(find_roles(header))


def _cells(given: Any) -> tuple[Cells, tuple[int, int], Sequence[Any] | None]:
    """The labels of a matrix, its shape, and the names of its columns where it has some."""
    if sparse.issparse(given):
        held: Any = given
        entries = sparse.coo_array(held)
        return (entries.row, entries.col, _whole(entries.data)), entries.shape, None
    if getattr(given, "columns", None) is not None:
        table = to_polars(given, FRAME)
        columns = [np.array(table[name].to_list(), dtype=object) for name in table.columns]
        return _present(_plain(np.stack(columns, axis=1))), table.shape, table.columns
    dense = _dense(given)
    if dense.ndim not in (1, 2):
        raise LabelError(f"Annotations are a matrix of items x annotators; these have {dense.ndim} axes.")
    if dense.dtype.kind == "c":
        raise LabelError("Complex data not supported: labels are names or numbers.")
    matrix = dense if dense.ndim == 2 else dense[:, None]
    return _present(matrix, vector=dense.ndim == 1), matrix.shape, None


def _dense(given: Any) -> NDArray[Any]:
    # numpy would turn a list of text and numbers into text
    return _plain(np.array(given, dtype=object) if isinstance(given, list | tuple) else np.asarray(given))


def _plain(cells: NDArray[Any]) -> NDArray[Any]:
    """A matrix of objects as one of numbers, where all its labels are numbers."""
    if cells.dtype != object:
        return cells
    there = ~_missing(cells)
    kinds = {type(value) for value in cells[there]}
    odd = [kind for kind in kinds if not issubclass(kind, str | int | float | np.generic)]
    if odd:
        raise LabelKindError(f"A label argument must be a string or a number, not a {odd[0].__name__}.")
    if kinds and kinds <= {int, float, np.int64, np.int32, np.float64}:
        numbers = np.full(cells.shape, np.nan)
        numbers[there] = cells[there].astype(np.float64)
        return numbers
    return cells


def _missing(cells: NDArray[Any]) -> Bools:
    """Which cells of a matrix of objects are None or NaN."""
    return np.array([value is None or value != value for value in cells.ravel()], dtype=bool).reshape(cells.shape)  # noqa: PLR0124 (NaN differs from itself)


def _present(cells: NDArray[Any], *, vector: bool = False) -> Cells:
    if cells.dtype == object:
        there = ~_missing(cells)
    elif cells.dtype.kind == "f":
        there = ~np.isnan(cells)
    else:
        there = np.ones(cells.shape, dtype=bool)
    if cells.dtype.kind in "if" and not vector:
        there &= cells != MISSING
    row, column = np.nonzero(there)
    return row, column, _whole(cells[row, column])


def _whole(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as such: NaN among labels makes all of them floating-point."""
    if values.dtype.kind == "f" and len(values) and (values == np.round(values)).all() and np.abs(values).max() < 2**53:
        return values.astype(np.int64)
    return values


def _from_cells(row: Ints, column: Ints, value: NDArray[Any], *, names: Sequence[Any], n_items: int) -> CrowdLabels:
    try:
        classes, codes = np.unique(value, return_inverse=True)
    except TypeError as problem:
        raise LabelError(
            "Labels mix types, such as text and numbers. Give all as text, or all as numbers."
        ) from problem
    return CrowdLabels(
        unit=row,
        annotator=column,
        label=codes,
        items=pl.Series(np.arange(n_items)),
        annotators=pl.Series(list(names)),
        classes=tuple(classes.tolist()),
    )


def _by_row_number(labels: CrowdLabels, n_items: int) -> CrowdLabels:
    """The labels of a long frame, whose items are row numbers of X."""
    where = find(labels.items, pl.Series(np.arange(n_items)))
    if len(where) and (where < 0).any():
        lost = labels.items[int(np.flatnonzero(where < 0)[0])]
        raise LabelError(
            f"Found annotations of {len(labels.items):,} items and {n_items:,} items in X, and item {lost!r} is no row "
            f"number of X. Give a row for every item, or name items by their row number from 0."
        )
    order = np.asarray(where)[labels.unit]
    return CrowdLabels(
        unit=order,
        annotator=labels.annotator,
        label=labels.label,
        items=pl.Series(np.arange(n_items)),
        annotators=labels.annotators,
        classes=labels.classes,
        weight=labels.weight,
    )


def _known(labels: CrowdLabels, annotators: Sequence[Any], classes: Sequence[Any]) -> CrowdLabels:
    """The labels over the annotators and classes that a model knows."""
    people = {str(name): j for j, name in enumerate(annotators)}
    kinds = {str(name): k for k, name in enumerate(classes)}
    who = np.array([people.get(str(name), -1) for name in labels.annotators], dtype=np.int64)
    what = np.array([kinds.get(str(name), -1) for name in labels.classes], dtype=np.int64)
    rows = (who[labels.annotator] >= 0) & (what[labels.label] >= 0)
    return CrowdLabels(
        unit=labels.unit[rows],
        annotator=who[labels.annotator[rows]],
        label=what[labels.label[rows]],
        items=labels.items,
        annotators=pl.Series(list(annotators)),
        classes=tuple(classes),
        offsets=labels.offsets,
        weight=None if labels.weight is None else labels.weight[rows],
    )
