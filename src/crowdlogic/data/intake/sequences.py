"""Labels of token sequences from a table of (item, annotator, tags): the input contract for sentences.

A row is what one annotator did with one sentence. A row without tags, like a sentence without a row, was not seen; a
tag of ? is a token that was not seen. Axes: r row of the table, t tag (a token of a row).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.building import annotator_kinds, encode_names, parse_weights_and_times
from crowdlogic.data.intake.cells import code_labels
from crowdlogic.data.intake.contract import Duplicates, Intake, TableSource, row_error, suspicious_classes
from crowdlogic.data.intake.duplicates import deduplicate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.errors import LabelError
from crowdlogic.numerics.arrays import Bools, Ints


def build_sequences(
    table: pl.DataFrame,
    source: TableSource,
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """CrowdLabels from a table with the columns item, annotator, tags and, when known, weight, time and kind."""
    policy = Duplicates.parse(duplicates)
    tags = split_tags(table["tags"], source)
    lengths = tags.list.len().fill_null(0).to_numpy().astype(np.int64)
    item, items = encode_names(table["item"], "item", source)
    annotator, annotators = encode_names(table["annotator"], "annotator", source)
    tagged = np.flatnonzero(lengths)
    names = (items, annotators)
    offsets = np.concatenate([[0], np.cumsum(_common_lengths(item, annotator, lengths, tagged, names, source))])
    rows, repeats = deduplicate(item[tagged], annotator[tagged], tagged, names, policy, source)
    label, found, seen = _code_tags(tags.filter(pl.Series(lengths > 0)).explode(), lengths, source, classes)
    row_of_tag = np.repeat(np.arange(len(lengths)), lengths)
    keep = np.isin(row_of_tag, tagged[rows]) & seen
    row = row_of_tag[keep]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    within = np.flatnonzero(keep) - starts[row]
    weight, time = parse_weights_and_times(table, source, row)
    return CrowdLabels(
        unit=offsets[item[row]] + within,
        annotator=annotator[row],
        label=label[keep],
        items=items,
        annotators=annotators,
        classes=found,
        offsets=offsets,
        weight=weight,
        time=time,
        kind=annotator_kinds(table, annotators, source),
        intake=Intake(len(table), len(table) - len(tagged), repeats, policy, suspicious_classes(found)),
    )


def split_tags(tags: Names, source: TableSource) -> Names:
    """Tags as lists: lists as they are, text split at white space."""
    if tags.dtype == pl.String:
        bracketed = tags.str.strip_chars().str.starts_with("[").arg_true().to_numpy()
        if len(bracketed):
            remedy = "Write tags as lists throughout, or as text separated by spaces throughout."
            raise row_error(
                source, bracketed, f"the tags {tags[int(bracketed[0])]!r} are a list written as text", remedy
            )
        return _words(tags)
    if not isinstance(tags.dtype, pl.List) or tags.dtype.inner.is_nested():
        raise LabelError(
            f"{source.name}: the column of tags holds {tags.dtype}. Give lists of tags, or tags separated by spaces."
        )
    return tags


def _words(text: Names) -> Names:
    return text.str.split(" ").list.eval(pl.element().str.strip_chars().replace("", None).drop_nulls())


def _common_lengths(
    item: Ints, annotator: Ints, lengths: Ints, tagged: Ints, names: tuple[Names, Names], source: TableSource
) -> Ints:
    """The number of tokens of each sentence, on which its annotators must agree; 0 when nobody tagged it."""
    common = np.zeros(len(names[0]), dtype=np.int64)
    first = tagged[np.unique(item[tagged], return_index=True)[1]]
    common[item[first]] = lengths[first]
    wrong = tagged[lengths[tagged] != common[item[tagged]]]
    if len(wrong):
        row = int(wrong[0])
        what = (
            f"annotator {names[1][int(annotator[row])]!r} gives {lengths[row]} tags to {names[0][int(item[row])]!r}, "
            f"where another gave {common[item[row]]}"
        )
        raise row_error(source, wrong, what, "Every annotator of a sequence needs one tag per token.")
    return common


def _code_tags(
    flat: Names, lengths: Ints, source: TableSource, classes: Sequence[Any] | None
) -> tuple[Ints, tuple[Any, ...], Bools]:
    """label[t], the classes, and whether each tag was given (a token may be marked as not seen)."""
    row_of_tag = np.repeat(np.arange(len(lengths)), lengths)
    seen = (flat != NOT_SEEN).fill_null(value=True).to_numpy() if flat.dtype == pl.String else np.ones(len(flat), bool)
    known = flat if seen.all() else flat.set(pl.Series(~seen), None)
    label, names = code_labels(known, source.take(row_of_tag), classes)
    empty = np.unique(row_of_tag[(label < 0) & seen])
    if len(empty):
        raise row_error(source, empty, "a token has no tag", f"Give every token a tag, {NOT_SEEN} for one not seen.")
    return label, names, seen
