"""CrowdLabels from what people hold in memory: long and wide frames, a matrix, a dict of dicts, lists of tags.

Frames of pandas, polars or pyarrow go straight in. However they arrive, rows pass through `build_labels` or
`build_sequences`, where names become codes and the input contract is applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from crowdlogic.data.intake.building import build_labels, build_sequences, odd_classes, unused_confidence
from crowdlogic.data.intake.columns import find_roles, require_columns
from crowdlogic.data.intake.contract import (
    FRAME_NAME,
    Duplicates,
    Intake,
    TableSource,
    text_column,
    to_column,
    to_polars,
)
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import LabelError, OptionError, name_list

FRAME = TableSource(FRAME_NAME, in_memory=True)
LISTS = TableSource("the lists", in_memory=True)
EMPTY = pl.List(pl.String)
LABEL_ROLES = ("item", "annotator", "label", "negated", "weight", "time", "kind")
TAG_ROLES = ("item", "annotator", "tags", "weight", "time", "kind")


def from_frame(
    frame: Any,
    *,
    columns: Mapping[str, str] | None = None,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    empty_label: str | None = None,
    source: TableSource = FRAME,
) -> CrowdLabels:
    """Return labels from a long frame: one row per label, with columns for the item, the annotator and the label.

    Args:
        frame: A frame of pandas, polars or pyarrow. Optional columns: weight, time, kind (human, llm or code). A column
            `tags` instead of `label` holds a list of tags (or tags separated by spaces), one per token.
        columns: role -> column, when the columns' names are not recognised.
        classes: The classes, in the order that decides ties; those found, sorted, when not given.
        duplicates: What to do when an annotator labels an item twice: error (labels that are the same count once,
            others are refused), first, last or keep.
        empty_label: Class that an empty cell stands for; None if it stands for no label.
        source: Name of the table in messages.
    """
    table = to_polars(frame, source)
    roles = find_roles(table.columns, columns, where=source.name)
    if "label" not in roles and "tags" in roles:
        require_columns(roles, ("item", "annotator", "tags"), table.columns, source=source, purpose="A table of tags")
        if empty_label is not None:
            raise OptionError("empty_label: is for labels of whole items; in a table of tags every token has a tag.")
        picked = table.select(pl.col(roles[role]).alias(role) for role in TAG_ROLES if role in roles)
        return build_sequences(picked, source, classes=classes, duplicates=duplicates)
    require_columns(roles, ("item", "annotator", "label"), table.columns, source=source, purpose="A label table")
    picked = table.select(pl.col(roles[role]).alias(role) for role in LABEL_ROLES if role in roles)
    picked, filled = _fill_empty(picked, empty_label, source)
    labels = build_labels(picked, source, classes=classes, duplicates=duplicates)
    labels = _without_notice(labels, about=empty_label)  # its class was named on purpose
    return labels.with_notices(*filled, *unused_confidence(table.columns, roles.values(), source))


def _without_notice(labels: CrowdLabels, *, about: str | None) -> CrowdLabels:
    """Return the same labels without the question whether a class means that there is no label."""
    if about is None:
        return labels
    kept = tuple(one for one in labels.intake.notices if not one.startswith(f"The label {about!r} is taken as a class"))
    return replace(labels, intake=replace(labels.intake, notices=kept))


def _fill_empty(table: pl.DataFrame, name: str | None, source: TableSource) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the table with its empty labels taken as the class of that name, and how many there were, in words."""
    if name is None:
        return table, ()
    label = text_column(table["label"], "label", source)
    empty = label.is_null() | (label.str.strip_chars() == "").fill_null(value=False)
    count = int(empty.sum())
    table = table.with_columns(label.set(empty, name).alias("label"))
    return table, (f"{pluralise(count, 'empty answer')} of {len(table):,} taken as the class {name!r}.",)


def from_arrays(
    items: Sequence[Any],
    annotators: Sequence[Any],
    labels: Sequence[Any],
    *,
    weight: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """Return labels from three aligned lists of names: annotators[n] gave items[n] the label labels[n]."""
    if not len(items) == len(annotators) == len(labels):
        raise LabelError(
            f"{pluralise(len(items), 'item')}, {pluralise(len(annotators), 'annotator')} and "
            f"{pluralise(len(labels), 'label')}. "
            f"Give lists of one length."
        )
    table = {
        "item": to_column("item", items),
        "annotator": to_column("annotator", annotators),
        "label": to_column("label", labels),
    }
    if weight is not None:
        table["weight"] = to_column("weight", np.asarray(weight).tolist())
        if len(table["weight"]) != len(labels):
            given = pluralise(len(table["weight"]), "weight")
            raise LabelError(f"{given} for {pluralise(len(labels), 'label')}. Give one weight per label.")
    return build_labels(pl.DataFrame(table), LISTS, classes=classes, duplicates=duplicates)


def from_wide(
    frame: Any,
    *,
    item: str | None = None,
    annotators: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    abstain: Any = None,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    source: TableSource = FRAME,
) -> CrowdLabels:
    """Labels from a wide frame: one row per item, one column per annotator, missing cells where an annotator gave none.

    Args:
        frame: A frame of pandas, polars or pyarrow.
        item: The column that names the items; when not given, one with a usual name (item, task, id, ...), and if there
            is none the rows are numbered from 0.
        annotators: The annotators' columns; all but the item's, the text's and the gold's when not given.
        classes: The classes, in the order that decides ties.
        abstain: A value that means "no label", such as -1, in addition to missing cells.
        columns: role -> column for the text and the gold, when the columns' names are not recognised.
        duplicates: What to do when an item has two rows.
        source: Name of the table in messages.
    """
    table = to_polars(frame, source)
    item = find_roles(table.columns).get("item") if item is None and annotators is None else item
    named, left_out = annotator_columns(table.columns, item, columns) if annotators is None else (list(annotators), [])
    known = set(table.columns)  # asked of polars, they take a while each time
    for name in [*named, *([item] if item else [])]:
        if name not in known:
            raise LabelError(f"{source.name}: no column {name!r} among {', '.join(table.columns)}.")
    items = pl.Series(np.arange(len(table))) if item is None else table[item]
    if annotators is None:
        _refuse_long(table, items, source)
    melted = _melt(items, [table[name] for name in named], named, source)
    if abstain is not None:
        abstained = text_column(melted["label"], "label", source) == str(abstain)
        melted = melted.with_columns(melted["label"].zip_with(~abstained.fill_null(value=False), pl.Series([None])))
    rows = source.take(np.tile(np.arange(len(table)), len(named)))
    labels = build_labels(melted, rows, classes=classes, duplicates=duplicates)
    notices = (*odd_classes(labels.classes), *_left_out_notices(left_out))
    intake = replace(labels.intake, rows=labels.n_labels, missing=0, notices=notices)
    return replace(labels, intake=intake)


def _refuse_long(table: pl.DataFrame, items: pl.Series, source: TableSource) -> None:
    """Refuse a long table: one whose items repeat, and that has columns for the annotator and the label."""
    roles = find_roles(table.columns, where=source.name)
    if {"item", "annotator", "label"} <= set(roles) and items.n_unique() < len(items):
        leave = source.advise("leave --wide out", "use from_frame")
        raise LabelError(
            f"{source.name}: is a long table, one row per label ({roles['item']}, {roles['annotator']}, "
            f"{roles['label']}), and not a wide one with a column per annotator. To read it, {leave}."
        )


def _left_out_notices(columns: Sequence[str]) -> tuple[str, ...]:
    return (f"The columns {name_list(columns)} were not read as annotators' labels.",) if columns else ()


def annotator_columns(
    columns: Sequence[str], item: str | None, chosen: Mapping[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """Return the columns of a wide table that are annotators, and those that hold the text or the gold."""
    roles = find_roles(columns, {**(chosen or {}), **({} if item is None else {"item": item})}, gold=True)
    left_out = [roles[role] for role in ("text", "tokens", "label", "tags") if role in roles]
    return [name for name in columns if name != item and name not in left_out], left_out


def _melt(items: pl.Series, columns: Sequence[pl.Series], names: Sequence[str], source: TableSource) -> pl.DataFrame:
    """Return one row per cell. Cells of all annotators must be of one type, whole numbers with holes aside."""
    try:
        cells = pl.concat([column.alias("label").to_frame() for column in columns], how="vertical_relaxed")["label"]
    except (pl.exceptions.PolarsError, TypeError, ValueError) as problem:
        raise LabelError(
            f"{source.name}: the annotators' columns are of different types. Give all as text or all as numbers."
        ) from problem
    who = pl.Series(list(names), dtype=pl.String).gather(np.repeat(np.arange(len(names)), len(items)))
    which = items.gather(np.tile(np.arange(len(items)), len(names)))
    return pl.DataFrame({"item": which, "annotator": who, "label": cells})


def from_matrix(
    matrix: ArrayLike,
    *,
    missing: int = -1,
    classes: Sequence[Any] | None = None,
    items: Sequence[Any] | None = None,
    annotators: Sequence[Any] | None = None,
) -> CrowdLabels:
    """Return labels from a dense matrix[item, annotator] of whole numbers, with -1 where there is no label.

    With `classes` the numbers are positions among them, else they name the classes themselves.
    """
    try:
        dense = np.asarray(matrix)
    except ValueError:
        raise LabelError("A label matrix has rows of one length; this one is ragged.") from None
    if dense.ndim != 2 or not np.issubdtype(dense.dtype, np.integer):
        raise LabelError(f"A label matrix has two axes and whole numbers; this one is {dense.ndim}-d of {dense.dtype}.")
    row, annotator = np.nonzero(dense != missing)
    given = dense[row, annotator]
    found, codes = np.unique(given, return_inverse=True)
    if classes is not None:
        if len(found) and (found[0] < 0 or found[-1] >= len(classes)):
            raise LabelError(f"The matrix holds labels from {found[0]} to {found[-1]} for {len(classes)} classes.")
        codes = given
    return CrowdLabels(
        unit=row,
        annotator=annotator,
        label=codes,
        items=_axis_names("items", items, dense.shape[0]),
        annotators=_axis_names("annotators", annotators, dense.shape[1]),
        classes=tuple(found.tolist()) if classes is None else tuple(classes),
        intake=Intake(rows=len(row)),
    )


def _axis_names(what: str, given: Sequence[Any] | None, size: int) -> pl.Series:
    names = pl.Series(np.arange(size)) if given is None else to_column(what, given)
    if len(names) != size or names.n_unique() != size:
        raise LabelError(f"{len(names):,} {what} are named for {size:,} in the matrix. Name each once.")
    return names


def from_dict(labels: Mapping[Any, Mapping[Any, Any]], *, classes: Sequence[Any] | None = None) -> CrowdLabels:
    """Return labels from {item: {annotator: label}}; None means no label."""
    rows = [(item, annotator, label) for item, given in labels.items() for annotator, label in given.items()]
    items, annotators, values = zip(*rows, strict=True) if rows else ((), (), ())
    return from_arrays(items, annotators, values, classes=classes)


def from_sequences(
    rows: Iterable[tuple[Any, Any, Sequence[Any]]],
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    source: TableSource = FRAME,
) -> CrowdLabels:
    """Return labels of token sequences from (item, annotator, tags) rows.

    A sequence that an annotator saw and left without entities is a row of O's; one that was not seen has no row.
    """
    items, annotators, tags = zip(*given, strict=True) if (given := _check_rows(rows)) else ((), (), ())
    table = pl.DataFrame(
        {
            "item": to_column("item", items),
            "annotator": to_column("annotator", annotators),
            "tags": to_column("tags", [list(sentence) for sentence in tags]) if tags else pl.Series([], dtype=EMPTY),
        }
    )
    return build_sequences(table, source, classes=classes, duplicates=duplicates)


def _check_rows(rows: Any) -> list[tuple[Any, Any, Sequence[Any]]]:
    """Return the rows of `from_sequences`; anything else is refused in one sentence."""
    if isinstance(rows, Mapping | str) or hasattr(rows, "columns") or not isinstance(rows, Iterable):
        hint = " A frame of them is read with from_frame." if hasattr(rows, "columns") else ""
        raise LabelError(f"from_sequences: a {type(rows).__name__} where rows are expected. {SEQUENCE_ROWS}{hint}")
    given = list(rows)
    for number, row in enumerate(given):
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 3:
            raise LabelError(f"from_sequences: row {number} is {f'{row!r}'[:60]}. {SEQUENCE_ROWS}")
        if isinstance(row[2], str) or not isinstance(row[2], Iterable):
            raise LabelError(f"from_sequences: the tags of row {number} are {f'{row[2]!r}'[:60]}. {SEQUENCE_ROWS}")
    return given


SEQUENCE_ROWS = 'Give a list of (item, annotator, tags), such as [("s1", "ann", ["B-PER", "O"])].'
"""Expected argument of `from_sequences`, used in messages."""


def as_labels(labels: Any, where: str) -> CrowdLabels:
    """Return labels as they are, or from a frame; anything else is refused in one sentence.

    Args:
        labels: What was given.
        where: The function that it was given to, for the message.
    """
    if isinstance(labels, CrowdLabels):
        return labels
    if hasattr(labels, "columns") and not isinstance(labels, type):
        return from_frame(labels)
    given = f"{labels!r}"[:60] if isinstance(labels, str) else f"a {type(labels).__name__}"
    hint = "Read a file with read_labels(path)" if isinstance(labels, str) else "Make them with from_frame or from_dict"
    raise LabelError(f"{where}: {given} where labels are expected. {hint}.")
