"""Labels of token sequences from a table of (item, annotator, tags): the input contract for sentences.

A row is what one annotator did with one sentence. A row without tags, like a sentence without a row, was not seen; a
tag of ? is a token that was not seen. Axes: r row of the table, t tag (a token of a row).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.building import annotator_kinds, encode_names, parse_weights_and_times
from crowdlogic.data.intake.cells import code_labels
from crowdlogic.data.intake.contract import Duplicates, Intake, TableSource, row_error
from crowdlogic.data.intake.duplicates import deduplicate
from crowdlogic.data.intake.odd_labels import odd_classes
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names, encode
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.errors import LabelError
from crowdlogic.numerics.arrays import Bools, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class TagRows:
    """The rows of a table of tags, with names as codes.

    Attributes:
        item: item[r], the sentence of each row.
        annotator: annotator[r], who tagged it.
        items: The name of each sentence.
        annotators: The name of each annotator.
        lengths: lengths[r], the number of tags; 0 where the sentence was not seen.
        source: How the rows are numbered in messages.
    """

    item: Ints
    annotator: Ints
    items: Names
    annotators: Names
    lengths: Ints
    source: TableSource

    @cached_property
    def tagged(self) -> Ints:
        """The positions of the rows that have tags."""
        return np.flatnonzero(self.lengths)

    @cached_property
    def row_of_tag(self) -> Ints:
        """row[t], the row that tag t belongs to."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


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
    rows = _code_rows(table, tags, source)
    offsets = np.concatenate([[0], np.cumsum(_common_lengths(rows))])
    kept, repeats = deduplicate(
        rows.item[rows.tagged],
        rows.annotator[rows.tagged],
        label=lambda: _code_sentences(tags, rows),
        place=rows.tagged,
        names=(rows.items, rows.annotators),
        policy=policy,
        source=source,
    )
    label, names, seen = _code_tags(tags.filter(pl.Series(rows.lengths > 0)).explode(), rows, classes)
    keep = np.isin(rows.row_of_tag, rows.tagged[kept]) & seen
    row = rows.row_of_tag[keep]
    first_tag = np.cumsum(rows.lengths) - rows.lengths  # first[r], the first tag of row r
    weight, time = parse_weights_and_times(table, source, row)
    return CrowdLabels(
        unit=offsets[rows.item[row]] + np.flatnonzero(keep) - first_tag[row],
        annotator=rows.annotator[row],
        label=label[keep],
        items=rows.items,
        annotators=rows.annotators,
        classes=names,
        offsets=offsets,
        weight=weight,
        time=time,
        kind=annotator_kinds(table, rows.annotators, source),
        intake=Intake(
            rows=len(table),
            missing=len(table) - len(rows.tagged),
            duplicates=repeats,
            policy=policy,
            notices=odd_classes(names),
        ),
    )


def _code_rows(table: pl.DataFrame, tags: Names, source: TableSource) -> TagRows:
    item, items = encode_names(table["item"], "item", source)
    annotator, annotators = encode_names(table["annotator"], "annotator", source)
    lengths = tags.list.len().fill_null(0).to_numpy().astype(np.int64)
    return TagRows(item=item, annotator=annotator, items=items, annotators=annotators, lengths=lengths, source=source)


def split_tags(tags: Names, source: TableSource) -> Names:
    """Tags as lists: lists as they are, text split at white space."""
    if tags.dtype == pl.String:
        bracketed = tags.str.strip_chars().str.starts_with("[").arg_true().to_numpy()
        if len(bracketed):
            remedy = "Write tags as lists throughout, or as text separated by spaces throughout."
            raise row_error(
                source, bracketed, f"the tags {tags[int(bracketed[0])]!r} are a list written as text", remedy
            )
        return _split_words(tags)
    if not isinstance(tags.dtype, pl.List) or tags.dtype.inner.is_nested():
        raise LabelError(
            f"{source.name}: the column of tags holds {tags.dtype}. Give lists of tags, or tags separated by spaces."
        )
    return tags


def _split_words(text: Names) -> Names:
    return text.str.split(" ").list.eval(pl.element().str.strip_chars().replace("", None).drop_nulls())


def _code_sentences(tags: Names, rows: TagRows) -> Ints:
    """A code for the whole list of tags of each tagged row: the same code for the same tags."""
    return encode(tags.gather(rows.tagged).cast(pl.List(pl.String)).list.join("\n", ignore_nulls=False))[0]


def _common_lengths(rows: TagRows) -> Ints:
    """length[s], the number of tokens of each sentence, on which its annotators must agree; 0 when nobody tagged it."""
    tagged, lengths = rows.tagged, rows.lengths
    common = np.zeros(len(rows.items), dtype=np.int64)
    first = tagged[np.unique(rows.item[tagged], return_index=True)[1]]  # the first tagged row of each sentence
    common[rows.item[first]] = lengths[first]
    wrong = tagged[lengths[tagged] != common[rows.item[tagged]]]
    if len(wrong):
        row = int(wrong[0])
        what = (
            f"annotator {rows.annotators[int(rows.annotator[row])]!r} gives {lengths[row]} tags to "
            f"{rows.items[int(rows.item[row])]!r}, where another gave {common[rows.item[row]]}"
        )
        raise row_error(rows.source, wrong, what, "Every annotator of a sequence needs one tag per token.")
    return common


def _code_tags(flat: Names, rows: TagRows, classes: Sequence[Any] | None) -> tuple[Ints, tuple[Any, ...], Bools]:
    """label[t], the classes, and whether each tag was given (a token may be marked as not seen)."""
    seen = (flat != NOT_SEEN).fill_null(value=True).to_numpy() if flat.dtype == pl.String else np.ones(len(flat), bool)
    known = flat if seen.all() else flat.set(pl.Series(~seen), None)
    label, names = code_labels(known, rows.source.take(rows.row_of_tag), classes)
    empty = np.unique(rows.row_of_tag[(label < 0) & seen])
    if len(empty):
        remedy = f"Give every token a tag, {NOT_SEEN} for one not seen."
        raise row_error(rows.source, empty, "a token has no tag", remedy)
    return label, names, seen
