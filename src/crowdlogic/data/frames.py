"""CrowdLabels from what people hold in memory: long and wide frames, a matrix, a dict of dicts, lists of tags.

Frames of pandas, polars or pyarrow go straight in. However they arrive, rows pass through `build`, the one place where
names become codes and the input contract is applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from crowdlogic.data.cells import code_labels, kinds, times, weights, without_blanks
from crowdlogic.data.columns import require, roles_of
from crowdlogic.data.foreign import as_polars, column
from crowdlogic.data.intake import Duplicates, Intake, Source, lookalikes, refuse
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import LARGE, Names, encode
from crowdlogic.data.repeats import settled_rows
from crowdlogic.errors import LabelError, OptionError
from crowdlogic.numerics.arrays import Ints

FRAME = Source("the table")
LABEL_ROLES = ("item", "annotator", "label", "weight", "time", "kind")


def from_frame(
    frame: Any,
    *,
    columns: Mapping[str, str] | None = None,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
    source: Source = FRAME,
) -> CrowdLabels:
    """Labels from a long frame: one row per label, with columns for the item, the annotator and the label.

    Args:
        frame: A frame of pandas, polars or pyarrow. Optional columns: weight, time, kind (human, llm or code). A column
            `tags` instead of `label` holds a list of tags (or tags separated by spaces), one per token.
        columns: role -> column, when the columns' names are not recognised.
        classes: The classes, in the order that decides ties; those found, sorted, when not given.
        duplicates: What to do when an annotator labels an item twice: error, first, last or keep.
        source: What to call the table in messages.
    """
    table = as_polars(frame, source)
    roles = roles_of(table.columns, columns, where=source.name)
    if "label" not in roles and "tags" in roles:
        require(roles, ("item", "annotator", "tags"), table.columns, where=source.name, purpose="A table of tags")
        picked = table.select(pl.col(roles[role]).alias(role) for role in ("item", "annotator", "tags"))
        return build_sequences(picked, source, classes=classes, duplicates=duplicates)
    require(roles, ("item", "annotator", "label"), table.columns, where=source.name, purpose="A label table")
    picked = table.select(pl.col(roles[role]).alias(role) for role in LABEL_ROLES if role in roles)
    return build(picked, source, classes=classes, duplicates=duplicates)


def from_arrays(
    items: Sequence[Any], annotators: Sequence[Any], labels: Sequence[Any], *, weight: ArrayLike | None = None,
    classes: Sequence[Any] | None = None, duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:  # fmt: skip
    """Labels from three aligned lists of names: annotators[n] gave items[n] the label labels[n]."""
    if not len(items) == len(annotators) == len(labels):
        raise LabelError(
            f"{len(items):,} items, {len(annotators):,} annotators and {len(labels):,} labels. "
            f"Give lists of one length."
        )
    table = {
        "item": column("item", items),
        "annotator": column("annotator", annotators),
        "label": column("label", labels),
    }
    if weight is not None:
        table["weight"] = pl.Series(np.asarray(weight, dtype=np.float64))
    return build(pl.DataFrame(table), Source("the lists"), classes=classes, duplicates=duplicates)


def from_wide(
    frame: Any, *, item: str | None = None, annotators: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None, abstain: Any = None, source: Source = FRAME,
) -> CrowdLabels:  # fmt: skip
    """Labels from a wide frame: one row per item, one column per annotator, missing cells where an annotator gave none.

    Args:
        frame: A frame of pandas, polars or pyarrow.
        item: The column that names the items; the rows are numbered from 0 when not given.
        annotators: The annotators' columns; all but the item's when not given.
        classes: The classes, in the order that decides ties.
        abstain: A value that means "no label", such as -1, beside missing cells.
        source: What to call the table in messages.
    """
    table = as_polars(frame, source)
    named = [name for name in table.columns if name != item] if annotators is None else list(annotators)
    for name in [*named, *([item] if item else [])]:
        if name not in table.columns:
            raise LabelError(f"{source.name}: no column {name!r} among {', '.join(table.columns)}.")
    items = pl.Series("item", np.arange(len(table))) if item is None else table[item].alias("item")
    long = pl.DataFrame([items, *(table[name] for name in named)]) if named else pl.DataFrame([items])
    try:
        melted = long.unpivot(index="item", variable_name="annotator", value_name="label")
    except (pl.exceptions.PolarsError, TypeError) as problem:
        raise LabelError(
            f"{source.name}: the annotators' columns are of different types. Give all as text or all as numbers."
        ) from problem
    if abstain is not None:
        melted = melted.with_columns(
            pl.when(pl.col("label") == abstain).then(None).otherwise(pl.col("label")).alias("label")
        )
    return build(melted, source, classes=classes, absent_is_missing=False)


def from_matrix(
    matrix: ArrayLike, *, missing: int = -1, classes: Sequence[Any] | None = None,
    items: Sequence[Any] | None = None, annotators: Sequence[Any] | None = None,
) -> CrowdLabels:  # fmt: skip
    """Labels from a dense matrix[item, annotator] of whole numbers, with -1 where there is no label.

    With `classes` the numbers are positions among them, else they name the classes themselves.
    """
    dense = np.asarray(matrix)
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
        unit=row, annotator=annotator, label=codes,
        items=pl.Series(np.arange(dense.shape[0]) if items is None else items),
        annotators=pl.Series(np.arange(dense.shape[1]) if annotators is None else annotators),
        classes=tuple(found.tolist()) if classes is None else tuple(classes),
        intake=Intake(rows=len(row)),
    )  # fmt: skip


def from_dict(labels: Mapping[Any, Mapping[Any, Any]], *, classes: Sequence[Any] | None = None) -> CrowdLabels:
    """Labels from {item: {annotator: label}}; None means no label."""
    rows = [(item, annotator, label) for item, given in labels.items() for annotator, label in given.items()]
    items, annotators, values = zip(*rows, strict=True) if rows else ((), (), ())
    return from_arrays(items, annotators, values, classes=classes)


def from_sequences(
    rows: Iterable[tuple[Any, Any, Sequence[Any]]], *, classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error, source: Source = FRAME,
) -> CrowdLabels:  # fmt: skip
    """Labels of token sequences from (item, annotator, tags) rows.

    A sequence that an annotator saw and left without entities is a row of O's; one that was not seen has no row.
    """
    items, annotators, tags = zip(*rows, strict=True) if (rows := list(rows)) else ((), (), ())
    flat = column("tags", [tag for sentence in tags for tag in sentence])
    lengths = np.array([len(sentence) for sentence in tags], dtype=np.int64)
    return _sequences(
        column("item", items), column("annotator", annotators), flat, lengths, source, classes, Duplicates(duplicates)
    )


def build(
    table: pl.DataFrame, source: Source, *, classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error, absent_is_missing: bool = True,
) -> CrowdLabels:  # fmt: skip
    """CrowdLabels from a long table with the columns item, annotator, label and, when known, weight, time and kind.

    Items and annotators all of whose labels are missing stay in the table, without labels.
    """
    policy = _policy(duplicates)
    with ThreadPoolExecutor(2 if len(table) >= LARGE else 1) as pool:  # coding waits for memory, not for Python
        coded_items = pool.submit(_coded, table["item"], "item", source)
        coded_people = pool.submit(_coded, table["annotator"], "annotator", source)
        coded_labels = pool.submit(code_labels, table["label"], source, classes)
    (item, items), (annotator, annotators) = coded_items.result(), coded_people.result()
    label, names = coded_labels.result()
    given = np.flatnonzero(label >= 0) if (label < 0).any() else None
    missing = 0 if given is None else len(label) - len(given)
    if given is not None:
        item, annotator, label = item[given], annotator[given], label[given]
    rows, repeats = settled_rows(item, annotator, given, (items, annotators), policy, source)
    place = rows if given is None else given[rows]
    return CrowdLabels(
        unit=item[rows], annotator=annotator[rows], label=label[rows],
        items=items, annotators=annotators, classes=names,
        weight=weights(table["weight"], source)[place] if "weight" in table.columns else None,
        time=times(table["time"], source)[place] if "time" in table.columns else None,
        kind=kinds(table["kind"], table["annotator"], annotators, source) if "kind" in table.columns else None,
        intake=Intake(len(table), missing if absent_is_missing else 0, repeats, policy, lookalikes(names)),
    )  # fmt: skip


def build_sequences(
    table: pl.DataFrame,
    source: Source,
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """CrowdLabels of token sequences from a table with the columns item, annotator and tags."""
    tags = table["tags"]
    if tags.dtype == pl.String:
        tags = tags.str.strip_chars().str.split(" ").list.eval(pl.element().filter(pl.element() != ""))
    if not isinstance(tags.dtype, pl.List):
        raise LabelError(
            f"{source.name}: the column of tags holds {tags.dtype}. Give lists of tags, or tags separated by spaces."
        )
    seen = tags.is_not_null() & (tags.list.len() > 0)
    kept = table.filter(seen)
    lengths = tags.filter(seen).list.len().to_numpy().astype(np.int64)
    flat = tags.filter(seen).explode()
    made = _sequences(kept["item"], kept["annotator"], flat, lengths, source, classes, _policy(duplicates))
    return replace(made, intake=made.intake + Intake(rows=len(table) - len(kept), missing=len(table) - len(kept)))


def _sequences(
    items: Names,
    annotators: Names,
    flat: Names,
    lengths: Ints,
    source: Source,
    classes: Sequence[Any] | None,
    policy: Duplicates,
) -> CrowdLabels:
    item, names = _coded(items, "item", source)
    annotator, people = _coded(annotators, "annotator", source)
    label, classes_found = code_labels(flat, Source(source.name), classes)
    row_of_tag = np.repeat(np.arange(len(lengths)), lengths)
    if (label < 0).any():
        rows = row_of_tag[np.flatnonzero(label < 0)]
        raise refuse(
            source, np.unique(rows), "a token has no tag", "Give one tag per token, or leave the whole row out."
        )
    length = _length_of(item, names, annotator, people, lengths, source)
    offsets = np.concatenate([[0], np.cumsum(length)])
    rows, repeats = settled_rows(item, annotator, None, (names, people), policy, source)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    stays = np.zeros(len(lengths), dtype=bool)
    stays[rows] = True
    within = np.arange(len(label)) - np.repeat(starts[:-1], lengths)
    keep = stays[row_of_tag]
    return CrowdLabels(
        unit=(offsets[item[row_of_tag]] + within)[keep], annotator=annotator[row_of_tag][keep], label=label[keep],
        items=names, annotators=people, classes=classes_found, offsets=offsets,
        intake=Intake(len(lengths), 0, repeats, policy, lookalikes(classes_found)),
    )  # fmt: skip


def _length_of(item: Ints, names: Names, annotator: Ints, people: Names, lengths: Ints, source: Source) -> Ints:
    """The number of tokens of each sequence, on which its annotators must agree."""
    length = np.zeros(len(names), dtype=np.int64)
    first = np.unique(item, return_index=True)[1]
    length[item[first]] = lengths[first]
    wrong = np.flatnonzero(lengths != length[item])
    if len(wrong):
        row = int(wrong[0])
        what = (
            f"annotator {people[int(annotator[row])]!r} gives {lengths[row]} tags to {names[int(item[row])]!r}, "
            f"where another gave {length[item[row]]}"
        )
        raise refuse(source, wrong, what, "Every annotator of a sequence needs one tag per token.")
    return length


def _coded(names: Names, what: str, source: Source) -> tuple[Ints, Names]:
    """Codes for items or annotators, every one of which must have a name."""
    if not (names.dtype in (pl.String, pl.Boolean) or names.dtype.is_integer()):
        names = names.cast(pl.String, strict=False)
    codes, found = without_blanks(*encode(names))
    absent = np.flatnonzero(codes < 0)
    if len(absent):
        raise refuse(source, absent, f"no {what} is named", f"Fill in the {what}, or remove the row.")
    return codes, found


def _policy(duplicates: Duplicates | str) -> Duplicates:
    try:
        return Duplicates(duplicates)
    except ValueError:
        raise OptionError(f"duplicates: {duplicates!r} is none of {', '.join(Duplicates)}.") from None
